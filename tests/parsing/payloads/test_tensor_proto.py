"""serialize_tensor and parse_tensor without TensorFlow: golden bytes, every form of a TensorProto, hostile bytes."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.tensor_message import tensor_message

INT32, STRING = 3, 7
TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


def message(dtype: int, *shape: int, **fields: object) -> bytes:
    built = tensor_message()(dtype=dtype, **fields)
    for size in shape:
        built.tensor_shape.dim.add(size=size)
    return built.SerializeToString()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, "08 03 12 00 22 04 05 00 00 00"),
        (np.int32([1, 2]), "08 03 12 04 12 02 08 02 22 08 01 00 00 00 02 00 00 00"),
        (2**40, "08 09 12 00 22 08 00 00 00 00 00 01 00 00"),
        (1.5, "08 01 12 00 22 04 00 00 c0 3f"),
        (True, "08 0a 12 00 22 01 01"),
        (1j, "08 12 12 00 22 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 f0 3f"),
        ("ab", "08 07 12 00 42 02 61 62"),
        ([b"a", b""], "08 07 12 04 12 02 08 02 42 01 61 42 00"),
        ([], "08 01 12 02 12 00"),
        (np.zeros((0, 3), np.int64), "08 09 12 06 12 00 12 02 08 03"),
        (np.array([1, 2], ">i4"), "08 03 12 04 12 02 08 02 22 08 01 00 00 00 02 00 00 00"),
        (tfr.BytesColumn.from_list([b"a", b""]), "08 07 12 04 12 02 08 02 42 01 61 42 00"),
        (np.float16(1), "08 13 12 00 22 02 00 3c"),
    ],
)
def test_golden_bytes(value, expected):
    assert tfr.serialize_tensor(value).hex(" ") == expected


@given(st.data())
def test_arrays_come_back(data):
    dtype = np.dtype(data.draw(st.sampled_from(TYPES)))
    array = data.draw(
        arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
    )
    back = tfr.parse_tensor(tfr.serialize_tensor(array), dtype)
    assert back.dtype == dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


@given(st.lists(st.lists(st.binary(max_size=5), min_size=2, max_size=2), max_size=4))
def test_strings_come_back(rows):
    array = np.array(rows, object).reshape(len(rows), 2)
    back = tfr.parse_tensor(tfr.serialize_tensor(array), "string")
    assert back.tolist() == rows
    assert back.shape == (len(rows), 2)


def test_without_dimensions_it_is_a_scalar():
    assert tfr.parse_tensor(tfr.serialize_tensor(7), "int32") == np.int32(7)
    assert isinstance(tfr.parse_tensor(tfr.serialize_tensor(7), "int32"), np.int32)
    assert tfr.parse_tensor(tfr.serialize_tensor("é"), str) == "é".encode()


def test_bfloat16_and_int4_come_back():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.float8_e5m2):
        array = np.array([-1, 0, 2], dtype)
        back = tfr.parse_tensor(tfr.serialize_tensor(array), dtype)
        assert back.dtype == array.dtype
        assert back.tolist() == array.tolist()


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        (message(INT32, 3, int_val=[1, 2]), "int32", [1, 2, 2]),
        (message(INT32, 1, int_val=[1, 2]), "int32", [1]),
        (message(INT32, 2), "int32", [0, 0]),
        (message(INT32, 0, int_val=[1]), "int32", []),
        (message(INT32, 2) + b"\x38\x05\x3a\x01\x06", "int32", [5, 6]),
        (message(INT32, 1, int_val=[7], tensor_content=b"\1\0\0\0"), "int32", [1]),
        (message(6, 3, int_val=[300, -1, 128]), "int8", [44, -1, -128]),
        (message(17, 2, int_val=[70000, -1]), "uint16", [4464, 65535]),
        (message(11, 2, int_val=[5]), "qint8", [5, 5]),
        (message(19, 2, half_val=[0x13C00]), "float16", [1, 1]),
        (message(10, 2, bool_val=[True]), "bool", [True, True]),
        (message(9, 1, int64_val=[-(2**63)]), "int64", [-(2**63)]),
        (message(23, 1, uint64_val=[2**64 - 1]), "uint64", [2**64 - 1]),
        (message(22, 1, uint32_val=[2**32 - 1]), "uint32", [2**32 - 1]),
        (message(8, 3, scomplex_val=[1, 2, 3, 4, 5]), "complex64", [1 + 2j, 3 + 4j, 3 + 4j]),
        (message(18, 1, dcomplex_val=[1]), "complex128", [0]),
        (message(STRING, 3, string_val=[b"a", b"b"]), "string", [b"a", b"b", b"b"]),
        (message(STRING, 2), "string", [b"", b""]),
        (message(STRING, 2, tensor_content=b"\1\2abc"), "string", [b"a", b"bc"]),
        (message(STRING, 1, tensor_content=b"\x81\x80\x80\x80\x10a"), "string", [b"a"]),
        (message(INT32, 1, int_val=[3]) + b"\xf8\x06\x05\xfb\x06\xfc\x06", "int32", [3]),
        (message(INT32, 2, int_val=[1, 2]) + message(INT32, 2, int_val=[3]), "int32", [[1, 2], [3, 3]]),
    ],
)
def test_every_form_that_a_tensor_may_have(data, dtype, expected):
    assert tfr.parse_tensor(data, dtype).tolist() == expected


@pytest.mark.parametrize(
    ("data", "dtype", "text"),
    [
        (b"zzz", "int32", "Could not parse `serialized` as TensorProto, base64: enp6"),
        (message(INT32, 1), "float32", "Type mismatch between parsed tensor (int32) and dtype (float)"),
        (message(19, 1), "bfloat16", "Type mismatch between parsed tensor (half) and dtype (bfloat16)"),
        (b"", "int32", "Cannot parse tensor from proto: dtype 0"),
        (message(101, 1), "int32", "Cannot parse tensor from proto: dtype 101"),
        (message(INT32, -1), "int32", "Cannot parse tensor from proto: its shape [-1]"),
        (message(INT32, 2**40, 2**40), "int32", "Cannot parse tensor from proto: its shape"),
        (
            message(INT32, 2**40),
            "int32",
            "Cannot parse tensor from proto: it repeats values to 4398046511104 bytes",
        ),
        (message(STRING, 2**40), "string", "Cannot parse tensor from proto: it repeats values"),
        (
            message(INT32, *[1] * 255),
            "int32",
            "Cannot parse tensor from proto: expected at most 254 dimensions",
        ),
        (message(INT32, *[1] * 100), "int32", "Cannot convert tensor with 100 dimensions to NumPy array."),
        (message(INT32, 0, 2**40, 2**40), "int32", "Failed to create numpy array from tensor of shape"),
        (
            message(INT32, 2, tensor_content=b"abcd"),
            "int32",
            "Cannot parse tensor from proto: expected 8 bytes",
        ),
        (
            message(10, 2, tensor_content=b"\1\2"),
            "bool",
            "Cannot parse tensor from proto: a bool in its content is 2",
        ),
        (
            message(STRING, 2, tensor_content=b"\1"),
            "string",
            "Cannot parse tensor from proto: the length of string 1 is cut off",
        ),
        (
            message(STRING, 1, tensor_content=b"\1ab"),
            "string",
            "Cannot parse tensor from proto: expected 1 bytes",
        ),
        (
            message(STRING, 1, tensor_content=b"\xff" * 9),
            "string",
            "Cannot parse tensor from proto: the length of",
        ),
        (message(20, 1), "resource", "Cannot convert a Tensor of dtype resource to a NumPy array."),
        (
            message(20, 1, tensor_content=b"a"),
            "resource",
            "Cannot parse tensor from proto: a resource has no",
        ),
        ([message(INT32, 1)], "int32", "Expected `serialized` to be a scalar, got shape: [1]"),
    ],
)
def test_refusals(data, dtype, text):
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_tensor(data, dtype)
    assert str(caught.value).startswith(text)


@given(st.binary(max_size=60), st.sampled_from([*TYPES, "string"]))
def test_any_bytes_give_an_array_or_our_error(data, dtype):
    with contextlib.suppress(InvalidArgumentError):
        tfr.parse_tensor(data, dtype)


@pytest.mark.parametrize("cut", [1, 3, 4, 5, 6, 7, *range(9, 22)])  # between fields it is a message
def test_a_cut_message_is_refused(cut):
    whole = tfr.serialize_tensor(np.int32([1, 2, 3]))
    with pytest.raises(InvalidArgumentError):
        tfr.parse_tensor(whole[:cut], "int32")
