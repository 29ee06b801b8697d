"""assert_cardinality: another number of elements than promised is an error."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.data.support.calls import END, Failure, outcomes
from tests.data.support.suite import StageSuite


def failure(expected: str, found: str) -> Failure:
    text = f"Input dataset was expected to contain {expected} but contained {found}."
    return Failure("FailedPreconditionError", text)


class TestAsPromised(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(5).assert_cardinality(5)


class TestTooFew(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(3).assert_cardinality(5)


class TestTooMany(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(6).assert_cardinality(3)


@pytest.mark.parametrize(
    ("size", "count", "expected"),
    [
        (5, 5, [0, 1, 2, 3, 4, END]),
        (2, 7, [0, 1, failure("7 elements", "only 2 elements"), failure("7 elements", "only 2 elements")]),
        (0, 1, [failure("1 element", "only 0 elements")]),
        (3, 1, [0, *(failure("1 element", f"at least {n} elements") for n in (2, 3))]),
        (1, 0, [failure("0 elements", "at least 1 element"), failure("0 elements", "only 1 element")]),
        (1, -1, [0, failure("an infinite number of elements", "only 1 element")]),
    ],
)
def test_another_number_is_an_error_in_its_place(size: int, count: int, expected: list[object]) -> None:
    dataset = tfr.Dataset.range(size).assert_cardinality(count)
    assert outcomes(iter(dataset), len(expected)) == expected
    assert dataset.cardinality() == count


def test_nothing_is_pulled_before_it_is_asked_for() -> None:
    calls = []
    dataset = tfr.Dataset.range(5).map(lambda x: calls.append(int(x)) or x).assert_cardinality(3)
    assert outcomes(iter(dataset), 3) == [0, 1, 2]
    assert calls == [0, 1, 2]
