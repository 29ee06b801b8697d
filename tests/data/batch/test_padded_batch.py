from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.support.outcomes import outcomes, resumed
from tests.data.support.runs_node import RunsNode, pull_all
from tfrkit import BytesColumn, Dataset, Ragged
from tfrkit.data.batch.padded_batch import PaddedBatchNode, pad_column, pad_values
from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk
from tfrkit.data.elements.columns import Padded, RowList
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.element_spec import TensorSpec

RAGGED = Ragged.from_list([[1, 2], [], [3], [4, 5, 6]])


def test_columns_and_objects_are_padded_alike():
    columns = Dataset.from_tensor_slices(RAGGED)
    expected = [[[1, 2], [0, 0]], [[3, 0, 0], [4, 5, 6]]]
    assert outcomes(columns.padded_batch(2)) == expected
    assert outcomes(columns.map(lambda x: x).padded_batch(2)) == expected


def test_strings_are_padded_with_nothing_or_what_is_given():
    rows = Dataset.from_tensor_slices(Ragged.from_list([["a"], ["b", "c"]]))
    assert outcomes(rows.padded_batch(2)) == [[[b"a", b""], [b"b", b"c"]]]
    assert outcomes(rows.padded_batch(2, padded_shapes=[3], padding_values="z")) == [
        [[b"a", b"z", b"z"], [b"b", b"c", b"z"]]
    ]


def test_rows_to_be_padded_by_another_default_take_the_argument():
    spec = TensorSpec([None], "int64")
    chunk = ColumnChunk(Padded(RAGGED, 9), 4)
    found = pull_all(PaddedBatchNode(RunsNode((chunk,), spec), 4, False, None, np.int64(-1)))
    assert found[0].tolist() == [[1, 2, -1], [-1, -1, -1], [3, -1, -1], [4, 5, 6]]


def test_rows_of_any_shape_as_decoding_gives_them():
    rows = RowList([np.ones((1, 2)), np.ones((2, 1))])
    assert pad_column(rows, (None, 3), 0.5, 0).shape == (2, 2, 3)
    strings = RowList([np.array([b"a"], object), np.array([b"b", b"c"], object)])
    assert pad_column(strings, (None,), b"-", 0).to_list() == [[b"a", b"-"], [b"b", b"c"]]


def test_too_small_a_shape_is_an_error_of_its_batch():
    dataset = Dataset.from_tensor_slices(RAGGED).padded_batch(3, padded_shapes=[2])
    assert outcomes(dataset) == [
        [[1, 2], [0, 0], [3, 0]],
        "DataLossError: Attempted to pad to a smaller size than the input element.",
    ]
    with pytest.raises(DataLossError):
        pad_values([np.ones((2, 2)), np.ones((1, 3))], (2, 2), 0.0, 0)


def test_another_rank_is_an_error_of_its_batch():
    dataset = Dataset.range(4).map(lambda x: np.zeros((1,) * (2 if x == 1 else 1))).padded_batch(2)
    text = (
        "InvalidArgumentError: All elements in a batch must have the same rank as the padded shape for component0: "
        "expected rank 1 but got element with rank 2"
    )
    assert outcomes(dataset) == [text, [[0.0], [0.0]]]


def test_after_a_function_arguments_are_checked_when_its_elements_come():
    dataset = Dataset.range(2).map(lambda x: np.zeros(int(x))).padded_batch(2, padding_values=1)
    text = (
        "TypeError: Invalid `padding_values`. `padding_values` values type <dtype: 'int32'> does not match type "
        "<dtype: 'float64'> of the corresponding input component."
    )
    assert outcomes(dataset) == [text]


def test_before_a_function_they_are_checked_at_once():
    with pytest.raises(ValueError, match=r"^The padded shape \(2,\) is not compatible with the shape \(\)"):
        Dataset.range(2).padded_batch(2, padded_shapes=[2])


def test_types_that_differ_are_refused():
    chunk = ObjectChunk([np.zeros(1, np.int32), np.zeros(1, np.int64)])
    (error,) = pull_all(
        PaddedBatchNode(RunsNode((chunk,), TensorSpec([None], "int32")), 2, False, None, None)
    )
    assert isinstance(error, InvalidArgumentError)
    assert str(error).startswith("Cannot batch tensors with different types in component 0.")


def test_none_is_refused():
    with pytest.raises(TypeError, match=r"is not a subclass of TensorSpec: `NoneTensorSpec\(\)`\.$"):
        Dataset.from_tensor_slices(([1, 2], None)).padded_batch(2)


def test_elements_of_no_rows():
    empty = Dataset.from_tensor_slices(np.zeros((2, 0))).padded_batch(2)
    assert next(iter(empty)).shape == (2, 0)


def test_spec_says_what_is_padded_to():
    rows = Dataset.from_tensor_slices((RAGGED, [1, 2, 3, 4]))
    first, second = rows.padded_batch(2, ([5], []), drop_remainder=True).element_spec
    assert (first.shape, second.shape) == ((2, 5), (2,))
    assert rows.padded_batch(3).cardinality() == 2
    assert rows.padded_batch(3).node.label == "padded_batch(3)"


@pytest.mark.parametrize("at", range(3))
def test_states_between_batches(at):
    make = lambda: Dataset.from_tensor_slices(RAGGED).padded_batch(3)  # noqa: E731
    assert resumed(make, at) == outcomes(make())[at:]


@given(
    shapes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4),
    strings=st.booleans(),
)
def test_any_matrices_are_padded_as_by_hand(shapes, strings):
    values = [np.arange(a * b).reshape(a, b) for a, b in shapes]
    height, width = np.max(shapes, axis=0)
    expected = np.full((len(values), height, width), -7)
    for number, value in enumerate(values):
        expected[number, : value.shape[0], : value.shape[1]] = value
    if strings:
        columns = [BytesColumn.from_list(np.vectorize(_text, otypes=[object])(value)) for value in values]
        found = pad_values(columns, (None, None), b"-7", 0)
        assert found.to_numpy().tolist() == np.vectorize(_text, otypes=[object])(expected).tolist()
    else:
        assert pad_values(values, (None, None), -7, 0).tolist() == expected.tolist()


def _text(value):
    return str(value).encode()
