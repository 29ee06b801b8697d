"""Ragged and Sparse against tf.RaggedTensor and tf.SparseTensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.support.columns import ragged_columns
from tests.oracle.support.oracle import Failure, tensorflow
from tfrkit import BytesColumn, Ragged, Sparse

EXAMPLES = settings(max_examples=60)


def plain(value: Any) -> Any:
    """What is in it, whoever made it, as lists."""
    if isinstance(value, Sparse):
        return value.indices.tolist(), plain(value.values), value.dense_shape.tolist()
    if isinstance(value, (BytesColumn, Ragged)):
        return value.to_list()
    if hasattr(value, "dense_shape"):
        return value.indices.numpy().tolist(), plain(value.values), value.dense_shape.numpy().tolist()
    if hasattr(value, "to_list"):
        return value.to_list()
    return value.numpy().tolist() if hasattr(value, "numpy") else np.asarray(value).tolist()


def to_tf(column: Any) -> Any:
    tf = tensorflow()
    if isinstance(column, Ragged):
        return tf.RaggedTensor.from_row_splits(to_tf(column.values), column.row_splits.astype(np.int64))
    if isinstance(column, Sparse):
        return tf.SparseTensor(column.indices, to_tf(column.values), column.dense_shape)
    if isinstance(column, BytesColumn):
        return tf.constant(column.to_numpy(), tf.string)
    return tf.constant(column)


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return plain(call())
    except Exception as error:
        return Failure.of(error)


@EXAMPLES
@given(ragged_columns())
def test_shape_and_row_lengths(made):
    column, _ = made
    theirs = to_tf(column)
    assert list(column.shape) == theirs.shape.as_list()
    assert column.row_lengths().tolist() == theirs.row_lengths().numpy().tolist()
    assert column.ragged_rank == theirs.ragged_rank
    assert column.to_list() == theirs.to_list()


@EXAMPLES
@given(ragged_columns())
def test_padded_is_to_tensor(made):
    column, _ = made
    assert plain(column.to_padded()) == plain(to_tf(column).to_tensor())
    assert column.to_padded().shape == tuple(to_tf(column).to_tensor().shape)


@EXAMPLES
@given(ragged_columns(), st.integers(0, 5), st.integers(0, 5))
def test_padded_to_lengths_is_to_tensor_with_a_shape(made, first, second):
    column, _ = made
    lengths = [first, second][: column.ragged_rank]
    default: Any = b"?" if isinstance(column.flat_values, BytesColumn) else 7
    shape = [None, *lengths, *column.flat_values.shape[1:]]
    expected = to_tf(column).to_tensor(
        default_value=tensorflow().constant(default, to_tf(column).dtype), shape=shape
    )
    found = column.to_padded(default, lengths if len(lengths) > 1 else first)
    assert (found.shape, plain(found)) == (tuple(expected.shape), plain(expected))


def test_padded_with_a_default_of_the_inner_shape():
    column = Ragged(np.arange(6).reshape(3, 2), [0, 1, 3])
    assert plain(column.to_padded([7, 8])) == plain(to_tf(column).to_tensor(default_value=[7, 8]))


@EXAMPLES
@given(ragged_columns())
def test_sparse_is_to_sparse(made):
    column, _ = made
    ours, theirs = column.to_sparse(), to_tf(column).to_sparse()
    assert plain(ours) == plain(theirs)
    assert ours.indices.shape == tuple(theirs.indices.shape)


@st.composite
def sparse_columns(draw: st.DrawFn) -> Sparse:
    """Coordinates that are often right, and now and then out of order, repeated or out of bounds."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    places = draw(st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1)), max_size=5))
    if draw(st.booleans()):
        places = sorted(set(places))
    if draw(st.booleans()):
        counts = draw(st.lists(st.integers(0, columns), min_size=rows, max_size=rows))
        places = [(row, column) for row, count in enumerate(counts) for column in range(count)]
    if places and draw(st.sampled_from([False, False, True])):
        places[-1] = (rows - 1 + draw(st.integers(0, 2)), columns + draw(st.integers(-1, 0)))
    texts = draw(st.booleans())
    values = [b"%d" % i for i in range(len(places))] if texts else np.arange(len(places)) + 1
    indices = np.array(places, np.int64).reshape(-1, 2)
    return Sparse(indices, BytesColumn.from_list(values) if texts else values, [rows, columns])


@EXAMPLES
@given(sparse_columns())
def test_dense_is_to_dense(column):
    tf = tensorflow()
    assert outcome(column.to_dense) == outcome(lambda: tf.sparse.to_dense(to_tf(column)))


@EXAMPLES
@given(sparse_columns())
def test_ragged_is_from_sparse(column):
    tf = tensorflow()
    ours, theirs = outcome(column.to_ragged), outcome(lambda: tf.RaggedTensor.from_sparse(to_tf(column)))
    if isinstance(theirs, Failure):
        assert isinstance(ours, Failure)
        assert theirs.name in (ours.name, "ValueError")  # which ours derives from
        if "right-ragged" in theirs.message:
            assert "SparseTensor is not right-ragged" in ours.message
    elif (column.indices[1:, 0] < column.indices[:-1, 0]).any():
        assert isinstance(ours, Failure)  # TensorFlow puts values into the wrong rows
    else:
        assert ours == theirs


@pytest.mark.parametrize("part", [slice(1, 3), slice(0, 0), slice(2, None)], ids=str)
def test_slice_is_that_of_a_ragged_tensor(part):
    column = Ragged.from_list([[1], [2, 3], [], [4]])
    assert plain(column[part]) == plain(to_tf(column)[part])


def test_slice_of_sparse_is_sparse_slice():
    tf = tensorflow()
    column = Sparse([[0, 1], [1, 0], [2, 2]], np.array([1, 2, 3]), [4, 3])
    assert plain(column[1:3]) == plain(tf.sparse.slice(to_tf(column), [1, 0], [2, 3]))


def test_concat_is_tensorflows():
    tf = tensorflow()
    ragged = Ragged.from_list([[1], [2, 3], []])
    assert plain(Ragged.concat([ragged, ragged[1:]])) == plain(
        tf.concat([to_tf(ragged), to_tf(ragged[1:])], 0)
    )
    first, second = Sparse([[0, 1]], [1], [2, 2]), Sparse([[1, 4]], [2], [2, 5])
    expected = tf.sparse.concat(0, [to_tf(first), to_tf(second)], expand_nonconcat_dims=True)
    assert plain(Sparse.concat([first, second])) == plain(expected)
