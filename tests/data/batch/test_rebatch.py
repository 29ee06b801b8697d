"""rebatch: the same rows as unbatch and batch give, in batches of one size or of several in turn."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.outcomes import outcomes
from tests.data.support.runs_node import RunsNode
from tests.data.support.same import same
from tests.data.support.suite import StageSuite
from tfrkit import Dataset
from tfrkit.data.batch.unbatch import RebatchNode
from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk
from tfrkit.data.engine.node import Context

ERROR = ValueError("told")


def fail_at_four(x):
    if x == 4:
        raise ZeroDivisionError
    return x


class TestOneSize(StageSuite):
    def make(self) -> tfr.Dataset:
        return Dataset.range(11).batch(4).rebatch(3)


class TestSizesInTurn(StageSuite):
    def make(self) -> tfr.Dataset:
        return Dataset.range(11).map(fail_at_four).batch(2).rebatch([1, 3, 2], drop_remainder=True)


class TestShuffled(StageSuite):
    def make(self) -> tfr.Dataset:
        return Dataset.range(9).shuffle(4, seed=3).batch(4).rebatch([2, 3]).repeat(2)


def columns() -> Dataset:
    """Every kind of column."""
    element = {
        "x": np.arange(12).reshape(6, 2),
        "r": tfr.Ragged.from_list([[1], [2, 3], [], [4], [5, 6], [7]]),
        "b": [b"a", b"", b"cd", b"e", b"f", b"g"],
    }
    return Dataset.from_tensors(element).repeat(3)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 4, 6, 7, 50])
def test_it_is_unbatch_and_batch(size, drop):
    dataset = columns().rebatch(size, drop)
    both = columns().unbatch().batch(size, drop)
    assert dataset.element_spec == both.element_spec
    found, expected = list(dataset), list(both)
    assert len(found) == len(expected)
    assert all(map(same, found, expected))


def test_columns_are_cut_and_not_made_of_rows():
    chunk = ObjectChunk([np.arange(2000)])
    run = RebatchNode(RunsNode((chunk,)), (100,), False).begin(Context()).pull(8)
    assert run is not None
    assert isinstance(run.chunk, ColumnChunk)
    assert len(run.chunk) == 8


def test_an_error_in_place_of_a_batch_leaves_the_turn_to_its_size():
    dataset = Dataset.range(9).map(fail_at_four).batch(1).rebatch([1, 2])
    found = [x.tolist() if hasattr(x, "tolist") else x for x in outcomes(dataset)]
    assert found == [[0], [1, 2], [3], "ZeroDivisionError: ", [5, 6], [7], [8]]


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="expected sizes of at least 1 for rebatch but got"):
        Dataset.range(4).batch(2).rebatch([1, 0])
