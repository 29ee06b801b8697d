"""ignore_errors: what fails is left out, counted, and logged if that is wished."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.calls import END, outcomes
from tests.data.support.suite import StageSuite


def fails_at_odd(x: np.int64) -> np.int64:
    if x % 2:
        raise ArithmeticError(f"odd {x}")
    return x


class TestIgnoreErrors(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(9).map(fails_at_odd).ignore_errors()


class TestIgnoreErrorsOfBatches(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(20).map(fails_at_odd).batch(1).ignore_errors().shuffle(3, seed=1)


def test_failing_elements_are_left_out_and_counted() -> None:
    iterator = iter(tfr.Dataset.range(5).map(fails_at_odd).ignore_errors())
    assert outcomes(iterator) == [0, 2, 4, END]
    assert iterator.ignored == 2


def test_warnings_are_logged_if_wished(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        list(tfr.Dataset.range(4).map(fails_at_odd).ignore_errors())
        assert caplog.messages == []
        list(tfr.Dataset.range(4).map(fails_at_odd).ignore_errors(log_warning=True))
    assert caplog.messages == [f"Error raised with error message odd {x}" for x in (1, 3)]


def test_the_number_of_elements_is_not_known() -> None:
    assert tfr.Dataset.range(0).ignore_errors().cardinality() == tfr.UNKNOWN_CARDINALITY


def test_an_input_that_fails_for_ever_ends() -> None:
    dataset = tfr.Dataset.range(3).assert_cardinality(5).ignore_errors()
    assert outcomes(iter(dataset)) == [0, 1, 2, END]


def test_what_was_cancelled_is_not_ignored() -> None:
    def cancelled(x: np.int64) -> None:
        raise tfr.errors.CancelledError("no")

    found = outcomes(iter(tfr.Dataset.range(1).map(cancelled).ignore_errors()))
    assert [one[0] for one in found[:1]] == ["CancelledError"]


def test_a_function_may_raise_the_same_object_again_and_again() -> None:
    error = ValueError("told")

    def function(x: np.int64) -> np.int64:
        if x in (3, 4, 5, 8):
            raise error
        return x

    dataset = tfr.Dataset.range(10).map(function).ignore_errors()
    assert [int(x) for x in dataset] == [0, 1, 2, 6, 7, 9]
