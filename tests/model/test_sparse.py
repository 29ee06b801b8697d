from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.support.columns import indices_of, slices
from tfrkit import BytesColumn, Sparse
from tfrkit.errors import InvalidArgumentError


@st.composite
def sparse_arrays(draw: st.DrawFn) -> tuple[Sparse, np.ndarray]:
    """A sparse array with sorted coordinates and the dense one that it stands for."""
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
    dense = np.array(
        draw(st.lists(st.integers(0, 3), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))), int
    )
    dense = dense.reshape(shape)
    places = np.argwhere(dense)
    return Sparse(places, dense[tuple(places.T)], shape), dense


@pytest.fixture
def sparse() -> Sparse:
    return Sparse([[0, 1], [2, 0], [2, 2]], np.array([5, 6, 7]), [4, 3])


@pytest.fixture
def words() -> Sparse:
    return Sparse([[0, 0], [2, 1]], [b"a", "b"], [3, 2])


def test_constructor_makes_arrays(sparse, words):
    assert (sparse.indices.dtype, sparse.dense_shape.tolist(), sparse.shape) == (np.int64, [4, 3], (4, 3))
    assert isinstance(words.values, BytesColumn)
    assert (len(sparse), sparse.ndim, sparse.dtype, words.dtype) == (4, 2, np.int64, object)
    assert Sparse([], [], [3]).indices.shape == (0, 1)


@pytest.mark.parametrize(
    ("indices", "values", "shape", "message"),
    [
        ([[0, 0]], [1, 2], [2, 2], r"expected indices of shape \(2, 2\), .* but got \(1, 2\)"),
        ([[0], [1]], [1, 2], [2, 2], r"expected indices of shape \(2, 2\), .* but got \(2, 1\)"),
        ([[0]], [1], [-1], r"expected a dense_shape of sizes of at least 0 but got \[-1\]"),
        ([[0]], [[1]], [1], r"expected values of one dimension but got the shape \(1, 1\)"),
    ],
    ids=["number of values", "number of dimensions", "negative size", "values of two dimensions"],
)
def test_what_does_not_fit_is_refused(indices, values, shape, message):
    with pytest.raises(ValueError, match=message):
        Sparse(indices, values, shape)


def test_coordinates_outside_the_shape_are_kept():
    assert Sparse([[9, -1]], [1], [2, 2]).indices.tolist() == [[9, -1]]


def test_dense(sparse, words):
    assert sparse.to_dense().tolist() == [[0, 5, 0], [0, 0, 0], [6, 0, 7], [0, 0, 0]]
    assert sparse.to_dense(-1)[1].tolist() == [-1, -1, -1]
    assert words.to_dense().to_list() == [[b"a", b""], [b"", b""], [b"", b"b"]]
    assert words.to_dense("?")[1].to_list() == [b"?", b"?"]
    with pytest.raises(TypeError, match=r"^expected a default that int64 can hold but got 0.5 \(float\)$"):
        sparse.to_dense(0.5)


@given(sparse_arrays())
def test_dense_puts_values_where_they_belong(made):
    sparse, dense = made
    assert np.array_equal(sparse.to_dense(), dense)


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        (
            [[0, 1], [0, 0]],
            r"^indices\[1\] = \[0,0\] is out of order. Many sparse ops require sorted indices",
        ),
        ([[0, 1], [0, 1]], r"^indices\[1\] = \[0,1\] is repeated$"),
        ([[0, 1], [0, 3]], r"^indices\[1\] = \[0,3\] is out of bounds: need 0 <= index < \[2,3\]$"),
        ([[-1, 1], [0, 3]], r"^indices\[0\] = \[-1,1\] is out of bounds"),
        ([[1, 0], [0, 5]], r"^indices\[1\] = \[0,5\] is out of bounds"),
    ],
    ids=str,
)
def test_dense_refuses_wrong_coordinates(indices, message):
    with pytest.raises(InvalidArgumentError, match=message):
        Sparse(indices, [1, 2], [2, 3]).to_dense()


def test_ragged_needs_rows_without_gaps(sparse):
    with pytest.raises(InvalidArgumentError, match=r"^SparseTensor is not right-ragged"):
        sparse.to_ragged()
    with pytest.raises(ValueError, match="must be 2"):
        sparse[0].to_ragged()
    assert Sparse([[1, 0], [1, 1]], [3, 4], [3, 2]).to_ragged().to_list() == [[], [3, 4], []]
    assert Sparse([[0, 0], [0, 1]], [1, 2], [1, 1]).to_ragged().to_list() == [[1, 2]]
    assert Sparse([], np.zeros(0), [2, 0]).to_ragged().to_list() == [[], []]


@pytest.mark.parametrize(
    "indices",
    [[[0, 1]], [[0, 0], [0, 0]], [[1, 0], [0, 0]], [[5, 0]], [[-1, 0]]],
    ids=str,
)
def test_ragged_refuses_other_coordinates(indices):
    with pytest.raises(InvalidArgumentError, match="not right-ragged"):
        Sparse(indices, list(range(len(indices))), [2, 2]).to_ragged()


@given(st.data())
def test_rows_are_those_of_the_dense_array(data):
    sparse, dense = data.draw(sparse_arrays())
    part = data.draw(slices)
    assert np.array_equal(sparse[part].to_dense(), dense[part])
    indices = data.draw(indices_of(len(dense)))
    rows = np.asarray(indices, None if len(indices) else np.int64)
    assert np.array_equal(sparse[indices].to_dense(), dense[rows])
    for row in range(len(dense)):
        found = sparse[row]
        assert np.array_equal(found.to_dense() if isinstance(found, Sparse) else found, dense[row])
    assert len(list(sparse)) == len(dense)


def test_rows_of_coordinates_in_any_order():
    sparse = Sparse([[2, 0], [0, 1], [2, 2]], [6, 5, 7], [3, 3])
    assert sparse[2].to_dense().tolist() == [6, 0, 7]
    assert sparse[0:1].to_dense().tolist() == [[0, 5, 0]]
    assert sparse.take([2, 0]).to_dense().tolist() == [[6, 0, 7], [0, 5, 0]]


def test_values_of_one_dimension(words):
    assert words[0][0] == b"a"
    assert words[0][1] == b""
    assert words[2, 1] == b"b"
    assert Sparse([[1]], np.array([2.5], np.float32), [3])[0] == np.float32(0)
    with pytest.raises(IndexError, match=r"^index 3 is out of bounds for axis 0 with size 3$"):
        words[3]


def test_slices_share_values(sparse):
    assert np.shares_memory(sparse[2:].values, sparse.values)
    assert np.shares_memory(sparse[:2].indices, sparse.indices)


def test_concat(sparse, words):
    joined = Sparse.concat([sparse, Sparse([[1, 4]], [9], [2, 5])])
    assert joined.shape == (6, 5)
    assert joined.to_dense()[5].tolist() == [0, 0, 0, 0, 9]
    assert Sparse.concat([words, words]).to_dense().to_list() == words.to_dense().to_list() * 2
    with pytest.raises(ValueError, match="at least one Sparse"):
        Sparse.concat([])
    with pytest.raises(ValueError, match="one number of dimensions"):
        Sparse.concat([sparse, sparse[0]])
    with pytest.raises(ValueError, match="one kind"):
        Sparse.concat([sparse, words])


def test_equality_pickle_and_copy(sparse, words):
    for each in (sparse, words):
        assert pickle.loads(pickle.dumps(each)) == each
        assert copy.deepcopy(each) == each
        assert copy.copy(each) is each
    assert sparse != words
    assert sparse != Sparse(sparse.indices, sparse.values, [4, 4])
    assert sparse != Sparse(sparse.indices, sparse.values + 1, [4, 3])
    assert sparse != Sparse(sparse.indices[::-1], sparse.values, [4, 3])
    assert sparse != 5


def test_it_cannot_be_changed_hashed_or_made_an_array_by_chance(sparse):
    with pytest.raises(AttributeError, match=r"^a Sparse cannot be changed: 'values' is read-only$"):
        sparse.values = None
    with pytest.raises(AttributeError, match="cannot be changed"):
        del sparse.indices
    with pytest.raises(TypeError, match="unhashable"):
        hash(sparse)
    with pytest.raises(TypeError, match="to_dense"):
        np.asarray(sparse)


def test_repr_shows_shape_kind_and_first_values(sparse, words):
    assert repr(sparse) == "Sparse(dense_shape=(4, 3), dtype=int64, {(0, 1): 5, (2, 0): 6, (2, 2): 7})"
    assert repr(words) == "Sparse(dense_shape=(3, 2), dtype=bytes, {(0, 0): b'a', (2, 1): b'b'})"
    long = Sparse(np.stack([np.arange(99), np.arange(99)], axis=1), np.arange(99), [99, 99])
    assert repr(long).endswith("(5, 5): 5, ...})")


@pytest.mark.parametrize("index", [(slice(None), 0), ([0, 1], 0)])
def test_columns_are_not_taken_for_rows(index):
    with pytest.raises(TypeError, match="must begin with an integer"):
        Sparse([[0, 1], [2, 0]], np.array([5, 6]), [3, 2])[index]


def test_take_of_unsorted_rows_keeps_each_together():
    sparse = Sparse([[2, 0], [0, 1], [2, 1]], np.array([5, 6, 7]), [3, 2])
    taken = sparse.take([2, 1, 0, 2])
    assert taken.to_dense().tolist() == [[5, 7], [0, 0], [0, 6], [5, 7]]


@pytest.mark.parametrize("rows", [[0, 0, 2], [2, 0, 0]])
def test_iteration_gives_the_rows_in_order(rows):
    sparse = Sparse([[row, column] for column, row in enumerate(rows)], np.array([5, 6, 7]), [3, 3])
    assert list(sparse) == [sparse[row] for row in range(3)]
    flat = Sparse([[row] for row in rows], np.array([5, 6, 7]), [3])
    assert list(flat) == [flat[row] for row in range(3)]
