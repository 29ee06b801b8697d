from __future__ import annotations

import numpy as np
import pytest

from tests.data.support.same import same
from tfrkit import BytesColumn, Ragged, Sparse
from tfrkit.data.elements.element_values import as_dtype, to_element, to_tensors, to_value

ARRAY = np.arange(3)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, np.int32(1)),
        (-(2**31), np.int32(-(2**31))),
        (2**31, np.int64(2**31)),
        (1.5, np.float32(1.5)),
        (True, np.bool_(True)),
        (1j, np.complex128(1j)),
        ("\u00fc", b"\xc3\xbc"),
        (b"x", b"x"),
        (np.str_("a"), b"a"),
        (np.float16(2), np.float16(2)),
        (np.array(7), np.int64(7)),
        (np.array("a"), b"a"),
        ([1, 2], np.array([1, 2], np.int32)),
        ((), ()),
        (np.array([1, 2], ">i2"), np.array([1, 2], np.int16)),
        (["a", b"b"], BytesColumn.from_list([b"a", b"b"])),
        (np.array([["a"]]), BytesColumn.from_list([b"a"]).reshape(1, 1)),
        ([np.arange(2), np.arange(2)], np.array([[0, 1], [0, 1]])),
        (None, None),
        ({"a": [1], "b": (2.5,)}, {"a": np.array([1], np.int32), "b": (np.float32(2.5),)}),
    ],
    ids=repr,
)
def test_values(value, expected):
    assert same(to_tensors(value), expected)


def test_lists_that_a_function_gives_back_are_tuples_and_those_inside_arrays():
    assert same(to_element([1, "a", [2, 3]]), (np.int32(1), b"a", np.array([2, 3], np.int32)))
    assert same(to_element(([1, 2],)), (np.array([1, 2], np.int32),))
    assert same(to_element(range(2)), (np.int32(0), np.int32(1)))


def test_parts_of_arrays_are_seen_through_views_that_cannot_be_written_to():
    whole = np.zeros(3)
    assert to_value(whole) is whole
    for convert in (to_value, to_element):
        found = convert(whole[1:])
        assert np.shares_memory(found, whole)
        assert whole.flags.writeable
        assert not found.flags.writeable
    alone = np.arange(6).reshape(2, 3)
    assert to_element(alone) is alone


@pytest.mark.parametrize(
    "value",
    [Ragged.from_list([[1]]), Sparse([[0]], [1], [1]), BytesColumn.from_list([b"a"])],
    ids=["r", "s", "b"],
)
def test_columns_pass_through(value):
    assert to_value(value) is value
    assert to_element(value) is value


def test_a_column_without_dimensions_is_its_entry():
    assert to_value(BytesColumn.from_list([b"a"]).reshape(())) == b"a"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**64, "Can't convert Python sequence with out-of-range integer to Tensor. It does not fit int64."),
        (1e300, "Can't convert Python sequence with a value out of range for a double-precision float."),
        (
            [True, 1],
            "Can't convert Python sequence with mixed types to Tensor. Convert its values to one type first.",
        ),
        (
            [[1], [2, 3]],
            "Can't convert non-rectangular Python sequence to Tensor. Rows of several lengths need a Ragged.",
        ),
        ({1}, "Attempt to convert a value ({1}) with an unsupported type (<class 'set'>) to a Tensor."),
        (
            np.array([1], "M8[s]"),
            "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: NPY_DATETIME).",
        ),
        ("\ud800", "Error converting unicode string while converting Python sequence to Tensor."),
    ],
    ids=repr,
)
def test_what_no_tensor_holds_is_refused(value, text):
    with pytest.raises(ValueError, match=r".") as caught:
        to_value(value)
    assert str(caught.value) == text


def test_types_by_any_name():
    assert as_dtype("bytes") == as_dtype(str) == as_dtype(np.dtype("S3")) == np.dtype(object)
    assert as_dtype(np.dtype(">f4")) == np.dtype("=f4")
    with pytest.raises(
        TypeError, match=r"^Cannot convert the argument `type_value`: 'no' to a TensorFlow DType\.$"
    ):
        as_dtype("no")
