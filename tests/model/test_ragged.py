from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.support.columns import indices_of, ragged_columns, slices
from tfrkit import BytesColumn, Ragged

ROWS = [[1, 2], [], [3], [4, 5, 6]]


@pytest.fixture
def ragged() -> Ragged:
    return Ragged.from_list(ROWS)


@pytest.fixture
def nested() -> Ragged:
    return Ragged.from_list([[[1, 2], []], [], [[3]]])


@pytest.fixture
def words() -> Ragged:
    return Ragged.from_list([["x", b"yy"], [], ["z"]])


# -- making ---------------------------------------------------------------------------------------------------------


def test_constructor_shares_values_and_splits():
    values, splits = np.arange(3.0), np.array([0, 1, 3])
    ragged = Ragged(values, splits)
    assert ragged.values is values
    assert np.shares_memory(ragged.row_splits, splits)


def test_splits_of_int32_stay_and_others_become_int64():
    assert Ragged([1], np.array([0, 1], np.int32)).row_splits.dtype == np.int32
    assert Ragged([1], np.array([0, 1], np.uint8)).row_splits.dtype == np.int64
    assert Ragged([1], [0, 1]).row_splits.dtype == np.int64


@pytest.mark.parametrize("splits", [[1, 3], [0, 2], [0, 2, 1, 3], [0, 4], [0, -1, 3]], ids=str)
def test_splits_that_do_not_fit_are_refused(splits):
    with pytest.raises(
        ValueError, match=r"^expected row_splits that ascend from 0 to 3, the number of values"
    ):
        Ragged(np.arange(3), splits)


@pytest.mark.parametrize("splits", [[], [[0, 3]], [0.0, 3.0], None], ids=str)
def test_splits_of_another_form_are_refused(splits):
    with pytest.raises(
        ValueError, match=r"^expected row_splits of one dimension with at least one integer but got"
    ):
        Ragged(np.arange(3), splits)


def test_values_without_dimension_are_refused():
    with pytest.raises(ValueError, match=r"^expected a list or array of values but got 3, a single one$"):
        Ragged(np.int64(3), [0])


def test_from_lengths():
    assert Ragged.from_lengths(np.arange(3), [2, 0, 1]).to_list() == [[0, 1], [], [2]]
    assert Ragged.from_lengths(np.arange(0), []).to_list() == []
    assert Ragged.from_lengths([1], np.array([1], np.int32)).row_splits.dtype == np.int32
    with pytest.raises(ValueError, match="row_splits that ascend"):
        Ragged.from_lengths(np.arange(3), [4, -1])
    with pytest.raises(ValueError, match="one dimension, integers"):
        Ragged.from_lengths(np.arange(3), [1.5, 1.5])


def test_from_list_chooses_the_kind_of_values():
    assert Ragged.from_list([[1], []]).dtype == np.int64
    assert Ragged.from_list([[1.5]]).dtype == np.float64
    assert Ragged.from_list([[1.5]], "float32").dtype == np.float32
    assert Ragged.from_list([[True]]).dtype == np.bool_
    assert isinstance(Ragged.from_list([["a"], [b"b"]]).values, BytesColumn)
    assert isinstance(Ragged.from_list([[], []], bytes).values, BytesColumn)
    assert Ragged.from_list([]).shape == (0, None)


def test_from_list_takes_arrays_as_rows():
    ragged = Ragged.from_list([np.zeros((2, 3), np.float32), np.ones((1, 3), np.float32)])
    assert (ragged.shape, ragged.dtype) == ((2, None, 3), np.float32)
    assert Ragged.from_list([BytesColumn.from_list([b"a"]), BytesColumn.from_list([])]).to_list() == [
        [b"a"],
        [],
    ]


def test_from_list_goes_as_deep_as_the_deepest_row():
    assert Ragged.from_list([[], [[1]], [[]]]).shape == (3, None, None)
    assert Ragged.from_list([[[[1]], []], []]).shape == (2, None, None, None)


@pytest.mark.parametrize("rows", [[[1], 2], [[1, [2]]], ["ab"], [[b"a"], b"b"]], ids=str)
def test_values_at_different_depths_are_refused(rows):
    with pytest.raises(ValueError, match="at one depth"):
        Ragged.from_list(rows)


def test_concat(ragged, nested, words):
    assert Ragged.concat([ragged, ragged[1:]]).to_list() == ROWS + ROWS[1:]
    assert Ragged.concat([nested, nested]).to_list() == nested.to_list() * 2
    assert Ragged.concat([words, words]).to_list() == words.to_list() * 2
    with pytest.raises(ValueError, match="at least one Ragged"):
        Ragged.concat([])
    with pytest.raises(ValueError, match="one depth"):
        Ragged.concat([ragged, nested])
    with pytest.raises(ValueError, match="one kind"):
        Ragged.concat([ragged, words])


# -- looking at it --------------------------------------------------------------------------------------------------


def test_attributes(ragged, nested, words):
    assert (ragged.shape, ragged.ragged_rank, ragged.ndim, ragged.dtype) == ((4, None), 1, 2, np.int64)
    assert (nested.shape, nested.ragged_rank, nested.ndim) == ((3, None, None), 2, 3)
    assert nested.flat_values.tolist() == [1, 2, 3]
    assert [splits.tolist() for splits in nested.nested_row_splits] == [[0, 2, 2, 3], [0, 2, 2, 3]]
    assert ragged.row_lengths().tolist() == [2, 0, 1, 3]
    assert (words.dtype, words.shape) == (object, (3, None))
    assert Ragged(np.zeros((3, 2, 5)), [0, 3]).shape == (1, None, 2, 5)


def test_repr_shows_shape_kind_and_first_values(ragged, words):
    assert repr(ragged) == "Ragged(shape=(4, None), dtype=int64, [[1, 2], [], [3], [4, 5, 6]])"
    assert repr(words) == "Ragged(shape=(3, None), dtype=bytes, [[b'x', b'yy'], [], [b'z']])"
    long = Ragged.from_list([list(range(100))] * 100)
    assert repr(long).endswith("[0, 1, 2, 3, 4, 5, ...], ...])")
    assert len(repr(long)) < 300


def test_it_cannot_be_changed_or_hashed(ragged):
    with pytest.raises(AttributeError, match=r"^a Ragged cannot be changed: 'values' is read-only$"):
        ragged.values = None
    with pytest.raises(AttributeError, match="cannot be changed"):
        del ragged.row_splits
    with pytest.raises(TypeError, match="unhashable"):
        hash(ragged)


# -- indexing -------------------------------------------------------------------------------------------------------


def test_integer_gives_a_row_as_a_view(ragged, nested, words):
    assert ragged[3].tolist() == ragged[-1].tolist() == ragged[np.int64(3)].tolist() == [4, 5, 6]
    assert np.shares_memory(ragged[0], ragged.values)
    assert nested[0] == Ragged.from_list([[1, 2], []], np.int64)
    assert words[0] == BytesColumn.from_list([b"x", b"yy"])


@pytest.mark.parametrize("index", [4, -5])
def test_integer_out_of_range_is_numpys_error(ragged, index):
    with pytest.raises(IndexError, match=rf"^index {index} is out of bounds for axis 0 with size 4$"):
        ragged[index]


def test_tuple_goes_inside(ragged, nested):
    assert ragged[3, 1] == 5
    assert ragged[3, 1:].tolist() == [5, 6]
    assert nested[0, 0, 1] == 2
    assert nested[2, 0].tolist() == [3]
    with pytest.raises(IndexError, match="out of bounds"):
        ragged[1, 0]
    with pytest.raises(TypeError, match="must begin with an integer"):
        ragged[1:, 0]


@given(ragged_columns(), slices)
def test_slice_is_that_of_a_list(made, part):
    column, rows = made
    found = column[part]
    assert found.to_list() == rows[part]
    assert found.row_splits[0] == 0
    assert found.row_splits[-1] == len(found.values)


def test_slice_of_step_one_shares_values(ragged):
    assert np.shares_memory(ragged[2:].values, ragged.values)
    assert np.shares_memory(ragged[:2].row_splits, ragged.row_splits)


@given(st.data())
def test_take_gives_those_rows(data):
    column, rows = data.draw(ragged_columns())
    indices = data.draw(indices_of(len(rows)))
    chosen = np.arange(len(rows))[np.asarray(indices, None if len(indices) else np.int64)]
    expected = [rows[row] for row in chosen]
    taken = column.take(indices)
    assert taken.to_list() == column[indices].to_list() == expected
    assert (taken.shape[1:], taken.row_splits.dtype) == (column.shape[1:], column.row_splits.dtype)


def test_take_of_values_that_are_not_contiguous():
    assert Ragged(np.arange(8)[::2], [0, 1, 4]).take([1, 0]).to_list() == [[2, 4, 6], [0]]


@pytest.mark.parametrize("index", [[4], [True, False], np.array([0.5]), "a"], ids=str)
def test_wrong_list_of_indices_is_an_index_error(ragged, index):
    with pytest.raises(IndexError):
        ragged[index]


@pytest.mark.parametrize("length", [[1, 2], []])
def test_padded_says_how_many_lengths_it_takes(ragged, length):
    with pytest.raises(ValueError, match=r"^expected a length for each of 1 ragged dimensions but got \["):
        ragged.to_padded(length=length)


@given(ragged_columns())
def test_iteration_gives_the_rows(made):
    column, rows = made
    assert [row.tolist() if isinstance(row, np.ndarray) else row.to_list() for row in column] == rows
    assert len(column) == len(rows)


# -- converting -----------------------------------------------------------------------------------------------------


@given(ragged_columns())
def test_equal_to_itself_after_a_round_trip(made):
    column, rows = made
    assert column == column[:]
    assert pickle.loads(pickle.dumps(column)) == column
    assert copy.deepcopy(column) == column
    assert copy.copy(column) is column
    if rows:
        assert column != column[1:]


def test_equality(ragged, words):
    assert ragged == Ragged(np.arange(1.0, 7.0), np.array([0, 2, 2, 3, 6], np.int32))
    assert ragged != Ragged(ragged.values, [0, 1, 2, 3, 6])
    assert ragged != words
    assert ragged != ROWS
    nan = Ragged(np.array([np.nan]), [0, 1])
    assert nan != Ragged(np.array([np.nan]), [0, 1])


def test_numpy_array_of_rows(ragged):
    rows = np.asarray(ragged)
    assert (rows.dtype, rows.shape) == (object, (4,))
    assert rows[3].tolist() == [4, 5, 6]
    assert np.asarray(Ragged.from_list([[1, 2], [3, 4]])).shape == (2,)
    with pytest.raises(ValueError, match="to_padded"):
        np.asarray(ragged, np.int64)


def test_padded(ragged, nested, words):
    assert ragged.to_padded().tolist() == [[1, 2, 0], [0, 0, 0], [3, 0, 0], [4, 5, 6]]
    assert ragged.to_padded(-1, 2).tolist() == [[1, 2], [-1, -1], [3, -1], [4, 5]]
    assert ragged.to_padded(length=5).shape == (4, 5)
    assert ragged.to_padded(length=0).shape == (4, 0)
    assert ragged.to_padded().dtype == np.int64
    assert nested.to_padded(9, [1, 3]).tolist() == [[[1, 2, 9]], [[9, 9, 9]], [[3, 9, 9]]]
    assert words.to_padded() == BytesColumn.from_list([b"x", b"yy", b"", b"", b"z", b""]).reshape(3, 2)
    assert words.to_padded(b"-", 1) == BytesColumn.from_list([b"x", b"-", b"z"]).reshape(3, 1)
    assert Ragged.from_list([]).to_padded().shape == (0, 0)


def test_padded_with_inner_dimensions():
    pairs = Ragged(np.arange(6).reshape(3, 2), [0, 1, 3])
    assert pairs.to_padded([7, 8]).tolist() == [[[0, 1], [7, 8]], [[2, 3], [4, 5]]]


@pytest.mark.parametrize(("default", "length"), [(1.5, None), ("x", None), (0, -1), (0, [1, 2])], ids=str)
def test_padded_refuses_what_does_not_fit(ragged, default, length):
    with pytest.raises((TypeError, ValueError), match=r"^expected"):
        ragged.to_padded(default, length)


@given(ragged_columns())
def test_sparse_and_back(made):
    column, rows = made
    sparse = column.to_sparse()
    assert len(sparse) == len(rows)
    if column.ndim == 2:
        assert sparse.to_ragged() == column
    dense = sparse.to_dense()
    padded = column.to_padded()
    assert dense == padded if isinstance(dense, BytesColumn) else np.array_equal(dense, padded)


@pytest.mark.parametrize("rows", [[[1], [2, "a"]], [[1.5, b"a"]], [["a", 1]]])
def test_numbers_and_strings_do_not_mix(rows):
    with pytest.raises(TypeError, match="expected"):
        Ragged.from_list(rows)
