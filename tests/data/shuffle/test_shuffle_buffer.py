"""The native buffer of a shuffle: what it refuses, and that threads may share it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tfrkit._core import ShuffleBuffer


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def make(count: int) -> ShuffleBuffer:
    buffer = ShuffleBuffer(1, 2)
    buffer.append(np.zeros(count, np.int64), np.arange(count), np.full(count, 10))
    return buffer


def test_drawing_more_than_there_is():
    buffer = make(3)
    with pytest.raises(ValueError, match="there are not so many elements"):
        buffer.draw(4)
    with pytest.raises(ValueError, match="there are not so many elements"):
        buffer.draw(3, 2)
    with pytest.raises(ValueError, match="there are not so many elements"):
        buffer.draw(1, 4)
    with pytest.raises(ValueError, match="there are not so many elements"):
        buffer.exchange(rows(0, 0), rows(3, 4), rows(1, 1), 1)
    assert len(buffer) == 3
    assert sorted(buffer.draw(3)[1].tolist()) == [0, 1, 2]


@pytest.mark.parametrize(("chunk", "row"), [(-1, 0), (0, -1), (2**31 - 1, 0), (0, 2**31 - 1), (2**40, 0)])
def test_numbers_out_of_range(chunk, row):
    buffer = make(3)
    with pytest.raises(IndexError, match=r"expected chunks and rows of 0 to 2\^31 - 2"):
        buffer.append(rows(chunk), rows(row), rows(1))
    with pytest.raises(IndexError, match=r"expected chunks and rows of 0 to 2\^31 - 2"):
        buffer.exchange(rows(chunk), rows(row), rows(1))
    with pytest.raises(IndexError, match=r"expected chunks and rows of 0 to 2\^31 - 2"):
        buffer.relocate(rows(0), rows(chunk), rows(row))
    assert len(buffer) == 3


def test_arrays_of_different_sizes():
    buffer = make(3)
    with pytest.raises(ValueError, match="rows"):
        buffer.append(rows(0), rows(1, 2), rows(1))
    with pytest.raises(ValueError, match="sizes"):
        buffer.append(rows(0), rows(1), rows(1, 2))
    with pytest.raises(ValueError, match="places"):
        buffer.relocate(rows(0), rows(1, 1), rows(0, 1))


@pytest.mark.parametrize("place", [-1, 3, 2**40])
def test_places_without_an_element(place):
    with pytest.raises(IndexError, match="expected places of elements"):
        make(3).relocate(rows(place), rows(1), rows(0))


def test_moved_elements_are_counted_where_they_are():
    buffer = make(5)
    chunks, found, places = buffer.contents(np.ones(1, np.uint8))
    assert (chunks.tolist(), found.tolist(), places.tolist()) == ([0] * 5, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4])
    buffer.relocate(places[1:3], rows(2, 2), rows(0, 1))
    live, live_bytes = buffer.live()
    assert (live.tolist(), live_bytes.tolist(), buffer.live_bytes) == ([3, 0, 2], [30, 0, 20], 50)
    assert buffer.contents(np.array([0, 0, 1], np.uint8))[2].tolist() == [1, 2]


def test_threads_may_share_it():
    buffer = make(40_000)
    found: list[int] = []

    def draw() -> None:
        for _ in range(100):
            found.extend(buffer.draw(100)[1].tolist())
            buffer.contents(np.zeros(1, np.uint8))
            buffer.live()

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(40_000))
