from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.support.columns import byte_lists, bytes_columns, indices_of, slices
from tfrkit import BytesColumn

VALUES = [b"zero", b"", b"two", b"\xff\x00", b"four"]


@pytest.fixture
def column() -> BytesColumn:
    return BytesColumn.from_list(VALUES)


@pytest.fixture
def matrix() -> BytesColumn:
    return BytesColumn.from_list([b"%d" % i for i in range(24)]).reshape(2, 3, 4)


def array_of(column: BytesColumn) -> np.ndarray:
    return column.to_numpy()


def same(found: object, expected: object) -> bool:
    """A column against an array of objects, or bytes against bytes."""
    if isinstance(expected, bytes):
        return found == expected
    assert isinstance(found, BytesColumn)
    assert isinstance(expected, np.ndarray)
    return found.shape == expected.shape and found.to_numpy().tolist() == expected.tolist()


# -- making ---------------------------------------------------------------------------------------------------------


def test_constructor_wraps_any_buffer_without_copying():
    data = np.frombuffer(b"abcdef", np.uint8)
    column = BytesColumn(data, [0, 2, 2, 6])
    assert column.to_list() == [b"ab", b"", b"cdef"]
    assert np.shares_memory(column.data, data)
    assert BytesColumn(bytearray(b"xy"), np.array([0, 1, 2], np.int32)).to_list() == [b"x", b"y"]
    assert BytesColumn(memoryview(b"xy"), [1, 2]).to_list() == [b"y"]


def test_constructor_takes_a_shape():
    assert BytesColumn(b"abcd", [0, 1, 2, 3, 4], (2, 2)).to_list() == [[b"a", b"b"], [b"c", b"d"]]


def test_constructor_takes_an_empty_buffer():
    assert BytesColumn(b"", [0]).to_list() == []
    assert BytesColumn(np.zeros(0, np.uint8), [0, 0]).to_list() == [b""]


@pytest.mark.parametrize("offsets", [[0, 4], [2, 1], [-1, 2], [0, 3, 2, 3]], ids=str)
def test_offsets_that_leave_the_data_or_descend_are_refused(offsets):
    with pytest.raises(
        ValueError, match=r"^expected offsets that ascend from at least 0 to at most 3, the size"
    ):
        BytesColumn(b"abc", offsets)


@pytest.mark.parametrize("offsets", [[], [[0, 1]], [0.0, 1.0], 3], ids=str)
def test_offsets_of_another_form_are_refused(offsets):
    with pytest.raises(
        ValueError, match=r"^expected offsets of one dimension with at least one integer but got"
    ):
        BytesColumn(b"abc", offsets)


@pytest.mark.parametrize("shape", [(3,), (2, 2), (-1, -2), ()], ids=str)
def test_shape_of_another_size_is_refused(shape):
    with pytest.raises(ValueError, match=r"^expected a shape of 2 entries but got"):
        BytesColumn(b"abc", [0, 1, 3], shape)


def test_from_list_takes_str_and_buffers():
    values = ["ü", b"b", bytearray(b"c"), memoryview(b"d")]
    assert BytesColumn.from_list(values).to_list() == [b"\xc3\xbc", b"b", b"c", b"d"]
    wide = memoryview(np.array([1, 2], np.int16))
    assert BytesColumn.from_list([wide, b"x"]).to_list() == [b"\x01\x00\x02\x00", b"x"]


def test_from_list_takes_iterators_and_arrays():
    assert BytesColumn.from_list(iter([b"a"])).to_list() == [b"a"]
    assert BytesColumn.from_list(np.array([["a", "b"]])).to_list() == [[b"a", b"b"]]
    assert BytesColumn.from_list(np.array([b"a", b"bc"])).to_list() == [b"a", b"bc"]


@pytest.mark.parametrize("value", [7, None, 1.5, [b"x"]], ids=str)
def test_from_list_names_what_it_cannot_take(value):
    with pytest.raises(
        TypeError, match=rf"^expected bytes or str but got {type(value).__name__} at index 1$"
    ):
        BytesColumn.from_list([b"a", value])


def test_concat_joins_rows(column, matrix):
    assert BytesColumn.concat([column, column[1:3]]).to_list() == VALUES + VALUES[1:3]
    assert BytesColumn.concat([matrix, matrix[1:]]).shape == (3, 3, 4)
    assert BytesColumn.concat([column]) is column


def test_concat_refuses_what_does_not_fit(column, matrix):
    with pytest.raises(ValueError, match=r"^expected at least one column"):
        BytesColumn.concat([])
    with pytest.raises(ValueError, match=r"differ in their first dimension only .*\(5,\), \(2, 3, 4\)"):
        BytesColumn.concat([column, matrix])


# -- looking at it --------------------------------------------------------------------------------------------------


def test_attributes(column, matrix):
    assert (column.shape, column.ndim, column.size, column.nbytes, column.dtype) == ((5,), 1, 5, 13, object)
    assert (matrix.shape, matrix.ndim, matrix.size, len(matrix)) == ((2, 3, 4), 3, 24, 2)
    assert column.lengths.tolist() == [4, 0, 3, 2, 4]
    assert matrix.lengths.shape == (2, 3, 4)


def test_data_of_others_is_read_only(column):
    for each in (column, column.take([0, 2]), BytesColumn.concat([column, column])):
        each.data[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        BytesColumn(bytearray(b"x"), [0]).data[0] = 1


def test_attributes_cannot_be_set_or_deleted(column):
    with pytest.raises(AttributeError, match=r"^a BytesColumn cannot be changed: 'data' is read-only$"):
        column.data = b""
    with pytest.raises(AttributeError, match="cannot be changed"):
        del column.shape


def test_no_hash(column):
    with pytest.raises(TypeError, match="unhashable"):
        hash(column)


def test_column_without_dimensions_has_no_length():
    scalar = BytesColumn(b"abc", [0, 3], ())
    assert scalar[()] == b"abc"
    assert repr(scalar) == "BytesColumn(shape=(), b'abc')"
    with pytest.raises(TypeError, match="unsized"):
        len(scalar)


def test_repr_shows_shape_and_first_values(column):
    assert repr(column) == r"BytesColumn(shape=(5,), [b'zero', b'', b'two', b'\xff\x00', b'four'])"
    assert repr(BytesColumn.from_list([b"x" * 100] * 9)).endswith("xxxx'..., ...])")
    assert (
        repr(column[:4].reshape(2, 2))
        == r"BytesColumn(shape=(2, 2), [[b'zero', b''], [b'two', b'\xff\x00']])"
    )
    assert len(repr(BytesColumn.from_list([b"\xff" * 1000] * 1000).reshape(10, 10, 10))) < 30_000


# -- indexing -------------------------------------------------------------------------------------------------------


def test_integer_gives_bytes(column):
    assert [column[0], column[-1], column[np.int64(2)], column[np.uint8(3)]] == [
        b"zero",
        b"four",
        b"two",
        b"\xff\x00",
    ]


@pytest.mark.parametrize("index", [5, -6, 2**70])
def test_integer_out_of_range_is_numpys_error(column, index):
    with pytest.raises(IndexError) as ours:
        column[index]
    if abs(index) < 2**60:
        with pytest.raises(IndexError) as numpys:
            array_of(column)[index]
        assert str(ours.value) == str(numpys.value)


@given(bytes_columns(), slices)
def test_slice_is_that_of_a_list(made, part):
    column, values = made
    assert column[part].to_list() == values[part]


def test_slice_of_step_one_and_row_are_views(column, matrix):
    assert np.shares_memory(column[1:3].data, column.data)
    assert np.shares_memory(column[1:3].offsets, column.offsets)
    assert np.shares_memory(matrix[1].offsets, matrix.offsets)
    assert np.shares_memory(matrix.reshape(-1).offsets, matrix.offsets)


INDICES = [
    0,
    -1,
    (0, 1),
    (1, 2, 3),
    (slice(None), 1),
    (Ellipsis, 2),
    (0, slice(None, None, -1)),
    (slice(1), slice(1, 3), [0, 2]),
    [1, 0, 1],
    np.array([[0, 1], [1, 0]]),
    np.array([True, False]),
    np.ones((2, 3), bool),
    None,
    (),
    [],
    slice(5, 2),
]


@pytest.mark.parametrize("index", INDICES, ids=[str(number) for number in range(len(INDICES))])
def test_indexing_is_numpys(matrix, index):
    assert same(matrix[index], array_of(matrix)[index])


@pytest.mark.parametrize(
    "index",
    [2, (0, 3), (0, 0, 0, 0), [2], [True, False, True], "a", 1.0, [0.5]],
    ids=str,
)
def test_wrong_index_is_numpys_error(matrix, index):
    with pytest.raises(IndexError) as numpys:
        array_of(matrix)[index]
    with pytest.raises(IndexError) as ours:
        matrix[index]
    assert str(ours.value) == str(numpys.value)


@given(st.data())
def test_take_gives_those_rows(data):
    column, values = data.draw(bytes_columns())
    indices = data.draw(indices_of(len(values)))
    expected = np.array([*values, None], object)[:-1][np.asarray(indices, None if len(indices) else np.int64)]
    assert column.take(indices).to_list() == column[indices].to_list() == expected.tolist()


def test_take_of_rows_of_several_dimensions(matrix):
    assert same(matrix.take([1, 0, 1]), array_of(matrix)[[1, 0, 1]])


def test_take_needs_no_more_memory_than_it_gives():
    column = BytesColumn.from_list([b"x" * 1000, b"y"])
    assert column.take([1]).data.nbytes == 1


def test_iteration_gives_entries_or_rows(column, matrix):
    assert list(column) == VALUES
    assert [row.shape for row in matrix] == [(3, 4)] * 2


def test_reshape_follows_numpy(column, matrix):
    assert matrix.reshape((6, 4)).shape == matrix.reshape(6, -1).shape == (6, 4)
    assert matrix.reshape(-1).shape == (24,)
    with pytest.raises(ValueError, match="cannot reshape array of size 5 into shape"):
        column.reshape(2, 3)


# -- converting -----------------------------------------------------------------------------------------------------


@given(byte_lists)
def test_list_comes_back(values):
    column = BytesColumn.from_list(values)
    assert column.to_list() == values
    assert column.to_numpy().tolist() == values
    assert column.to_numpy().dtype == object


def test_numpy_array(column, matrix):
    assert np.asarray(column).tolist() == VALUES
    assert np.asarray(matrix).shape == (2, 3, 4)
    assert np.asarray(column[:1], "S4").tolist() == [b"zero"]
    with pytest.raises(ValueError, match="only as a copy: leave out copy=False"):
        np.asarray(column, copy=False)


def test_equal_by_value(column):
    assert column == BytesColumn.from_list(VALUES)
    assert column[1:] == BytesColumn.from_list(VALUES[1:])
    assert column != BytesColumn.from_list(VALUES[:-1])
    assert column != BytesColumn.from_list([b"zer", b"o", b"two", b"\xff\x00", b"four"])
    assert column[:4] != column[:4].reshape(2, 2)
    assert column != VALUES


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles_the_bytes_in_use_only(protocol):
    column = BytesColumn.from_list([b"x" * 100_000, b"a", b"bc"])[1:]
    pickled = pickle.dumps(column, protocol)
    back = pickle.loads(pickled)
    assert back == column
    assert len(pickled) < 2000
    assert back.data.flags.writeable


def test_copies_are_the_same_object_and_deep_ones_have_memory_of_their_own(column):
    assert copy.copy(column) is column
    deep = copy.deepcopy(column)
    assert deep == column
    assert not np.shares_memory(deep.data, column.data)


def test_column_without_dimensions_says_how_its_value_is_taken():
    column = BytesColumn.from_list([b"a"]).reshape(())
    with pytest.raises(TypeError, match=r"^len\(\) of unsized object: .* is one value: take column\[\(\)\]$"):
        len(column)
    assert column[()] == b"a"


def test_memory_with_gaps_is_refused_with_what_to_pass():
    with pytest.raises(TypeError, match=r"but got one with gaps: pass bytes\(view\)$"):
        BytesColumn.from_list([memoryview(b"abcd")[::2]])
