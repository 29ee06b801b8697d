from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.data.support.outcomes import outcomes, resumed
from tests.data.support.same import same
from tfrkit import BytesColumn, Dataset, Ragged, Sparse
from tfrkit.data.elements.chunk import ColumnChunk
from tfrkit.data.engine.node import Context
from tfrkit.errors import InvalidArgumentError


def test_rows_are_given_as_columns():
    run = Dataset.from_tensor_slices({"a": np.arange(10), "b": ["x"] * 10}).node.begin(Context()).pull(4)
    assert run is not None
    assert isinstance(run.chunk, ColumnChunk)
    assert len(run.chunk) == 4


def test_values_become_what_tensorflow_makes_of_them():
    found = list(Dataset.from_tensor_slices(([1, 2], [0.5, 1], ["\u00fc", b"b"], np.uint8([3, 4]))))
    assert same(found[0], (np.int32(1), np.float32(0.5), "\u00fc".encode(), np.uint8(3)))


def test_rows_of_arrays_are_copies_for_whom_they_are_handed_out_to():
    array = np.zeros((2, 3))
    dataset = Dataset.from_tensor_slices(array)
    next(iter(dataset))[0] = 1
    assert not array.any()
    array[0] = 1  # it is still the caller's
    assert next(iter(dataset)).tolist() == [1, 1, 1]


def test_strings_of_any_shape():
    found = list(Dataset.from_tensor_slices([["a", "b"], ["c", ""]]))
    assert [row.tolist() for row in found] == [[b"a", b"b"], [b"c", b""]]
    batch = next(iter(Dataset.from_tensor_slices([["a", "b"], ["c", ""]]).batch(2)))
    assert isinstance(batch, BytesColumn)
    assert batch.shape == (2, 2)


def test_ragged_and_sparse_go_by_rows():
    ragged = Ragged.from_list([[1, 2], [], [3]])
    sparse = Sparse([[0, 1], [2, 0]], np.array([5, 6]), [3, 2])
    found = list(Dataset.from_tensor_slices((ragged, sparse)))
    assert [row.tolist() for row, _ in found] == [[1, 2], [], [3]]
    assert [row.to_dense().tolist() for _, row in found] == [[0, 5], [0, 0], [6, 0]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (([1, 2], [3]), "Dimensions 2 and 1 are not compatible"),
        ((1, [3]), "Unbatching a tensor is only supported for rank >= 1"),
        ("abc", "Unbatching a tensor is only supported for rank >= 1"),
        ({}, "Invalid `element`. `element` should not be empty."),
        (
            [[1], [2, 3]],
            "Can't convert non-rectangular Python sequence to Tensor. Rows of several lengths need a Ragged.",
        ),
    ],
)
def test_values_without_rows_are_refused(value, text):
    with pytest.raises(ValueError, match=r".") as caught:
        Dataset.from_tensor_slices(value)
    assert str(caught.value) == text


def test_from_tensors_is_one_element():
    dataset = Dataset.from_tensors({"a": [1, 2], "b": "x"})
    assert outcomes(dataset) == [{"a": [1, 2], "b": b"x"}]
    assert len(dataset) == 1
    with pytest.raises(InvalidArgumentError, match=r"must be at least minimum 1$"):
        Dataset.from_tensors(())


@pytest.mark.parametrize("at", range(6))
def test_states_are_positions(at):
    make = lambda: Dataset.from_tensor_slices(np.arange(5))  # noqa: E731
    assert resumed(make, at) == list(range(5))[at:]
    one = lambda: Dataset.from_tensors(7)  # noqa: E731
    assert resumed(one, min(at, 1)) == [7][min(at, 1) :]


def test_none_is_kept():
    assert outcomes(Dataset.from_tensor_slices(([1, 2], None)).batch(2)) == [([1, 2], None)]


def test_it_pickles():
    dataset = Dataset.from_tensor_slices({"a": ["x", "y"], "b": Ragged.from_list([[1], []])})
    assert outcomes(pickle.loads(pickle.dumps(dataset))) == outcomes(dataset)
