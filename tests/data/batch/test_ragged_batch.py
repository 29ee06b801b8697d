from __future__ import annotations

import numpy as np
import pytest

from tests.data.support.outcomes import resumed
from tests.data.support.same import same
from tfrkit import BytesColumn, Dataset, Ragged
from tfrkit.data.batch.ragged_batch import stack_ragged

ROWS = Ragged.from_list([[1, 2], [], [3]])


def test_rows_become_ragged_and_the_rest_arrays():
    found = list(Dataset.from_tensor_slices((ROWS, [1, 2, 3])).ragged_batch(2))
    assert [batch[0].to_list() for batch in found] == [[[1, 2], []], [[3]]]
    assert [batch[1].tolist() for batch in found] == [[1, 2], [3]]


def test_splits_are_of_the_type_that_is_asked_for():
    found = next(iter(Dataset.from_tensor_slices(ROWS).ragged_batch(3, row_splits_dtype="int32")))
    assert found.row_splits.dtype == np.int32
    mapped = Dataset.from_tensor_slices(ROWS).map(lambda x: x).ragged_batch(3, row_splits_dtype="int32")
    assert next(iter(mapped)).row_splits.dtype == np.int32


def test_of_arrays_that_a_function_made_all_dimensions_are_ragged():
    dataset = Dataset.range(3).map(lambda x: (x, np.ones((int(x), 2)), np.array([b"a"] * int(x), object)))
    numbers, matrices, strings = next(iter(dataset.ragged_batch(3)))
    assert numbers.tolist() == [0, 1, 2]
    assert matrices.shape == (3, None, None)
    assert matrices.to_list() == [[], [[1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]
    assert strings.to_list() == [[], [b"a"], [b"a", b"a"]]


def test_known_sizes_stay_inside():
    batch = next(iter(Dataset.from_tensor_slices(np.zeros((5, 2, 3))).batch(2).ragged_batch(3)))
    assert batch.shape == (3, None, 2, 3)
    assert Dataset.from_tensor_slices(np.zeros((5, 2))).ragged_batch(2).element_spec.shape == (None, 2)


def test_ragged_elements_get_a_dimension_more():
    batch = next(iter(Dataset.from_tensors(ROWS).repeat(2).ragged_batch(2)))
    assert batch.to_list() == [[[1, 2], [], [3]]] * 2


@pytest.mark.parametrize("depth", [1, 2])
def test_nothing_inside_keeps_type_and_depth(depth):
    made = stack_ragged([np.zeros((0, 4), np.uint8)] * 2, depth, np.dtype("int64"))
    assert made.ragged_rank == depth
    assert made.dtype == np.uint8
    strings = stack_ragged([BytesColumn.from_list([])] * 2, 1, np.dtype("int64"))
    assert isinstance(strings.values, BytesColumn)


@pytest.mark.parametrize("at", range(3))
def test_states_between_batches(at):
    make = lambda: Dataset.from_tensor_slices(ROWS).ragged_batch(2)  # noqa: E731
    assert same(resumed(make, at), list(make())[at:])
