"""cache: only a complete pass is kept, shared by the iterators of a dataset, and made again from a state."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.calls import END, outcomes
from tests.data.support.suite import StageSuite
from tfrkit.data.elements.chunk import ColumnChunk, RecordChunk
from tfrkit.data.engine.node import Context


class Counter:
    """A function that notes what it is called with, and fails for some of it."""

    def __init__(self, *fail: int) -> None:
        self.calls: list[int] = []
        self.fail = fail

    def __call__(self, x: np.int64) -> np.int64:
        self.calls.append(int(x))
        if x in self.fail:
            raise KeyError(int(x))
        return x

    def taken(self) -> list[int]:
        """The calls since the last time."""
        calls, self.calls = self.calls, []
        return calls


def double(x: np.int64) -> np.int64:
    return x * 2


def fails_at_two(x: np.int64) -> int:
    return 10 // int(x - 2)


class TestCache(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(7).map(double).cache()


class TestRepeatedCache(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(5).shuffle(4, seed=7).cache().repeat(3)


class TestCacheWithErrors(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(5).map(fails_at_two).cache().repeat(2)


class TestCacheTakenInPart(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.range(6).shuffle(6, seed=2).cache().take(2).repeat(3)


def test_a_part_is_not_kept() -> None:
    count = Counter()
    cached = tfr.Dataset.range(5).map(count).cache()
    assert [int(x) for x in cached.take(2)] == [0, 1]
    assert [int(x) for x in cached.take(2)] == [0, 1]
    assert count.taken() == [0, 1, 0, 1]
    assert [int(x) for x in cached] == [0, 1, 2, 3, 4]
    assert count.taken() == [0, 1, 2, 3, 4]
    assert [int(x) for x in cached] == [0, 1, 2, 3, 4]
    assert [int(x) for x in cached.take(2)] == [0, 1]
    assert count.taken() == []


def test_a_pass_is_complete_with_the_last_element_if_the_number_is_known() -> None:
    count = Counter()
    cached = tfr.Dataset.range(3).map(count).cache()
    outcomes(iter(cached), 3)
    assert len(list(cached)) == 3
    assert count.taken() == [0, 1, 2]


def test_a_pass_is_complete_with_its_end_if_the_number_is_not_known() -> None:
    count = Counter()
    cached = tfr.Dataset.range(3).map(count).filter(lambda x: True).cache()
    outcomes(iter(cached), 3)
    assert count.taken() == [0, 1, 2]
    assert len(list(cached)) == 3
    assert count.taken() == [0, 1, 2]
    assert len(list(cached)) == 3
    assert count.taken() == []


def test_a_pass_is_not_complete_before_its_last_element_was_asked_for() -> None:
    cached = tfr.Dataset.range(6).shuffle(6, seed=1).cache()
    first = outcomes(iter(cached), 5)
    second = outcomes(iter(cached))
    assert first != second[:5]
    assert outcomes(iter(cached)) == second


def test_errors_are_not_kept() -> None:
    count = Counter(2)
    cached = tfr.Dataset.range(4).map(count).cache()
    assert outcomes(iter(cached)) == [0, 1, ("KeyError", "2"), 3, END]
    assert outcomes(iter(cached)) == [0, 1, 3, END]
    assert count.taken() == [0, 1, 2, 3]


def test_the_first_complete_pass_is_kept() -> None:
    made = iter(range(100))
    cached = tfr.Dataset.range(4).map(lambda _: next(made)).cache()
    first, second = iter(cached), iter(cached)
    assert [int(next(first)), int(next(second))] == [0, 1]
    assert [int(x) for x in first] == [2, 3, 4]
    assert [int(x) for x in second] == [5, 6, 7]
    assert [int(x) for x in cached] == [0, 2, 3, 4]


def test_an_iterator_that_began_before_does_not_read_what_is_kept() -> None:
    made = iter(range(100))
    cached = tfr.Dataset.range(2).map(lambda _: next(made)).cache()
    early = iter(cached)
    assert [int(x) for x in cached] == [0, 1]
    assert [int(x) for x in early] == [2, 3]


def test_the_kept_order_is_that_of_the_first_pass() -> None:
    repeated = tfr.Dataset.range(5).shuffle(5, seed=1).cache().repeat(2)
    assert [int(x) for x in repeated] == [0, 4, 3, 1, 2] * 2


def test_a_state_does_not_hold_what_is_kept_but_makes_it_again() -> None:
    def build(count: Counter) -> tfr.Dataset:
        return tfr.Dataset.range(50).shuffle(50, seed=1).map(count).cache().repeat(2)

    iterator = iter(build(Counter()))
    found = outcomes(iterator, 60)
    state = json.dumps(iterator.state())
    assert len(state) < 2000
    count = Counter()
    assert outcomes(build(count).iter_from(json.loads(state))) == outcomes(iterator)
    assert count.taken() == [int(x) for x in found[:50]]


def test_a_pass_with_errors_without_end_behind_it_can_be_made_again() -> None:
    def build() -> tfr.Dataset:
        return tfr.Dataset.range(5).assert_cardinality(3).cache()

    cached = build()
    outcomes(iter(cached), 3)
    iterator = iter(cached)
    assert outcomes(iterator, 1) == [0]
    assert outcomes(build().iter_from(iterator.state())) == [1, 2, END]


def test_a_dataset_that_has_kept_a_pass_reads_it_from_a_state() -> None:
    count = Counter()
    cached = tfr.Dataset.range(5).map(count).cache()
    assert len(list(cached)) == 5
    iterator = iter(cached)
    outcomes(iterator, 2)
    count.taken()
    assert outcomes(cached.iter_from(iterator.state())) == [2, 3, 4, END]
    assert count.taken() == []


def test_what_is_kept_is_not_pickled() -> None:
    cached = tfr.Dataset.range(10_000).map(double).cache()
    assert len(list(cached)) == 10_000
    data = pickle.dumps(cached)
    assert len(data) < 1000
    assert len(list(pickle.loads(data))) == 10_000


def test_records_and_columns_are_kept_as_they_are(tmp_path: Path) -> None:
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_many([b"x", b"yy"])
    for dataset, kind in (
        (tfr.TFRecordDataset(tmp_path / "a"), RecordChunk),
        (tfr.Dataset.range(3), ColumnChunk),
    ):
        cached = dataset.cache()
        list(cached)
        run = cached.node.start(Context()).pull(10)
        assert run is not None
        assert isinstance(run.chunk, kind)


def test_a_cache_has_the_size_and_the_spec_of_its_input() -> None:
    cached = tfr.Dataset.range(3).cache()
    assert cached.cardinality() == 3
    assert cached.element_spec == tfr.Dataset.range(3).element_spec


def test_a_file_is_refused() -> None:
    with pytest.raises(tfr.errors.InvalidArgumentError, match="expected no filename"):
        tfr.Dataset.range(3).cache("there")


def test_what_a_filter_hands_on_of_a_cache_is_the_users_own():
    ds = (
        tfr.Dataset.from_tensor_slices({"x": np.arange(3).reshape(1, 3)}).cache().filter(lambda element: True)
    )
    for _ in range(3):
        (element,) = ds
        assert element["x"].tolist() == [0, 1, 2]
        element["x"] += 1
        element["y"] = 0
        assert list(element) == ["x", "y"]
    (element,) = ds
    assert list(element) == ["x"]
