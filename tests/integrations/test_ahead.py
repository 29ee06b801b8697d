"""Ahead: results in order, the end, and errors in their places."""

from __future__ import annotations

import pytest

from tfrkit.integrations.ahead import Ahead


def test_ahead_stops_where_its_function_does():
    numbers = iter(range(4))
    ahead = Ahead(lambda: next(numbers), 1)
    assert [ahead.take() for _ in range(4)] == [0, 1, 2, 3]
    for _ in range(2):
        with pytest.raises(StopIteration):
            ahead.take()


def test_ahead_that_was_closed_gives_nothing():
    ahead = Ahead(lambda: 1, 3)
    ahead.take()
    ahead.close()
    with pytest.raises(StopIteration):
        ahead.take()


def test_error_comes_in_its_place():
    numbers = iter([1, 0, 2])
    ahead = Ahead(lambda: 6 // next(numbers), 2)
    assert ahead.take() == 6
    with pytest.raises(ZeroDivisionError):
        ahead.take()
    assert ahead.take() == 3
