"""A suite that every stage passes: states at every position, pickling, closing, going on after errors.

    class TestBatch(StageSuite):
        def make(self) -> tfr.Dataset:
            return tfr.Dataset.range(7).batch(3)

Functions of the datasets are at the top of their modules, or they would not pickle.
"""

from __future__ import annotations

import gc
import json
import pickle
import threading
import time
from abc import ABC, abstractmethod

import tfrkit as tfr
from tests.data.support.calls import END, LIMIT, difference, ended, outcomes, placeless, resume
from tests.data.support.changes import assert_changes_stay
from tfrkit.testing.plain_engine import plain

__all__ = ["StageSuite"]


class StageSuite(ABC):
    """Subclass it and say what to run; each call of `make` gives a new dataset, always the same one."""

    @abstractmethod
    def make(self) -> tfr.Dataset:
        """A dataset of not more than some 100 elements."""

    def test_it_equals_the_plain_engine(self) -> None:
        where = difference(placeless(outcomes(iter(self.make()))), placeless(outcomes(plain(self.make()))))
        assert not where, where

    def test_every_position_can_be_saved_and_resumed(self) -> None:
        iterator = iter(self.make())
        states, found = [json.dumps(iterator.state())], []
        while not ended(found) and len(found) < LIMIT:
            found += outcomes(iterator, 1)
            states.append(json.dumps(iterator.state()))
        for number, state in enumerate(states):
            rest = found[number:] or found[-1:]
            where = difference(outcomes(resume(self.make(), json.loads(state)), len(rest)), rest)
            assert not where, f"after {number}: {where}"

    def test_the_dataset_pickles(self) -> None:
        copy = pickle.loads(pickle.dumps(self.make()))
        where = difference(outcomes(iter(copy)), outcomes(iter(self.make())))
        assert not where, where
        state = iter(self.make()).state()
        assert iter(copy).state()["pipeline"] == state["pipeline"]

    def test_two_passes_equal_those_of_the_plain_engine(self) -> None:
        real, reference = self.make(), self.make()
        for _ in range(2):
            where = difference(placeless(outcomes(iter(real))), placeless(outcomes(plain(reference))))
            assert not where, where

    def test_writing_to_its_arrays_changes_nothing_else(self) -> None:
        assert_changes_stay(self.make(), self.make())

    def test_writing_to_arrays_of_a_cache_changes_nothing_else(self) -> None:
        assert_changes_stay(self.make().take(LIMIT).cache(), self.make().take(LIMIT).cache(), passes=3)

    def test_it_goes_on_after_an_error_and_stays_at_its_end(self) -> None:
        iterator = iter(self.make())
        found = outcomes(iterator)
        if ended(found):
            assert outcomes(iterator, 2) == [END]

    def test_a_closed_iterator_leaves_nothing_behind(self) -> None:
        for count in (0, 1, 2):
            iterator = iter(self.make())
            outcomes(iterator, count)
            iterator.close()
            iterator.close()
            del iterator
        gc.collect()
        _wait_for_threads()

    def test_it_says_what_it_is(self) -> None:
        dataset = self.make()
        assert dataset.node.label
        assert dataset.node.label.split("(")[0] in dataset.explain()
        assert isinstance(dataset.cardinality(), int)


def _wait_for_threads() -> None:
    """All threads but this one end by themselves when there is nothing to do."""
    for _ in range(200):
        if threading.active_count() == 1 or not [t for t in threading.enumerate() if "tfrkit" in t.name]:
            return
        time.sleep(0.02)
    raise AssertionError(f"still running: {threading.enumerate()}")
