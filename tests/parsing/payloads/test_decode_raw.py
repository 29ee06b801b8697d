"""decode_raw: shapes, types, orders of bytes and refusals, without TensorFlow."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError, MissingExtraError

NUMBERS = np.arange(24, dtype=np.int16).reshape(4, 6)
STRINGS = [row.tobytes() for row in NUMBERS]


@pytest.mark.parametrize(
    "strings",
    [
        STRINGS,
        tuple(STRINGS),
        np.array(STRINGS, object),
        tfr.BytesColumn.from_list(STRINGS),
        tfr.BytesColumn.from_list([b"odd", *STRINGS])[1:],
        tfr.Block.from_records(STRINGS),
        tfr.Block.from_records([b"a", b"bcd", *STRINGS])[2:],
        tfr.Block.from_records(STRINGS).take([0, 1, 2, 3]),
        [bytearray(entry) for entry in STRINGS],
    ],
    ids=[
        "list",
        "tuple",
        "objects",
        "column",
        "sliced column",
        "block",
        "sliced block",
        "taken",
        "bytearrays",
    ],
)
def test_every_holder_of_strings_gives_the_same(strings):
    decoded = tfr.decode_raw(strings, "int16")
    np.testing.assert_array_equal(decoded, NUMBERS)
    assert decoded.dtype == np.int16
    assert decoded.flags.aligned


def test_a_column_is_decoded_without_copying():
    column = tfr.BytesColumn(NUMBERS, np.arange(0, 49, 12))
    assert np.shares_memory(tfr.decode_raw(column, "int16"), column.data)


def test_a_block_in_any_order_is_decoded():
    decoded = tfr.decode_raw(tfr.Block.from_records(STRINGS).take([3, 0, 0, 2]), "int16")
    np.testing.assert_array_equal(decoded, NUMBERS[[3, 0, 0, 2]])


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        (b"", (0,)),
        (b"abcd", (2,)),
        ("é", (1,)),
        ([], (0, 0)),
        ([b"", b""], (2, 0)),
        ([[b"ab", b"cd", b"ef"]], (1, 3, 1)),
        (np.zeros((0, 3), object), (0, 3, 0)),
        (tfr.BytesColumn.from_list([b"ab"] * 6).reshape((3, 2)), (3, 2, 1)),
    ],
)
def test_shape_is_that_of_the_input_and_one_more(given, shape):
    assert tfr.decode_raw(given, "int16").shape == shape


@pytest.mark.parametrize(
    "dtype",
    ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "complex64"],
)
def test_both_orders_of_bytes(dtype):
    values = np.arange(1, 9).astype(dtype)
    np.testing.assert_array_equal(tfr.decode_raw(values.tobytes(), dtype), values)
    swapped = values.byteswap().tobytes()
    np.testing.assert_array_equal(tfr.decode_raw(swapped, dtype, little_endian=False), values)


def test_any_byte_but_zero_is_true():
    decoded = tfr.decode_raw(b"\0\1\2\xff", bool)
    assert decoded.tolist() == [False, True, True, True]
    assert decoded.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_bfloat16_comes_from_ml_dtypes():
    decoded = tfr.decode_raw(b"\x80\x3f\x00\x40", "bfloat16")
    assert decoded.dtype.name == "bfloat16"
    assert decoded.astype(np.float32).tolist() == [1.0, 2.0]
    assert tfr.decode_raw(b"\x3f\x80", "bfloat16", little_endian=False).astype(float).tolist() == [1.0]


def test_bfloat16_without_ml_dtypes_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "ml_dtypes":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr("importlib.import_module", without)
    with pytest.raises(
        MissingExtraError, match=r"an array of bfloat16 needs .* pip install 'tfrkit\[bfloat16\]'"
    ):
        tfr.decode_raw(b"ab", "bfloat16")


def test_fixed_length_cuts_and_fills_up():
    decoded = tfr.decode_raw([b"\1", b"\1\2\3\4\5", b"", b"\7\7"], "int16", fixed_length=4)
    assert decoded.tolist() == [[1, 0], [0x201, 0x403], [0, 0], [0x707, 0]]
    swapped = tfr.decode_raw([b"\1", b"\1\2\3\4\5"], "int16", little_endian=False, fixed_length=4)
    assert swapped.tolist() == [[0x100, 0], [0x102, 0x304]]


@pytest.mark.parametrize("length", [2, 4, 8])
def test_fixed_length_of_equal_strings(length):
    expected = tfr.decode_raw([entry[:length].ljust(length, b"\0") for entry in [b"abcd"] * 3], "uint16")
    np.testing.assert_array_equal(tfr.decode_raw([b"abcd"] * 3, "uint16", fixed_length=length), expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: tfr.decode_raw(b"abcde", "int32"),
            "Input to DecodeRaw has length 5 that is not a multiple of 4, the size of int32",
        ),
        (
            lambda: tfr.decode_raw([b"ab", b"ab", b"c"], "uint8"),
            "DecodeRaw requires input strings to all be the same size, but element 2 has size 2 != 1",
        ),
        (
            lambda: tfr.decode_raw([b"a"], "int16", fixed_length=3),
            "fixed_length (3) must be a multiple of the size of out_type (2)",
        ),
        (
            lambda: tfr.decode_raw([b"a"], "int16", fixed_length=0),
            "fixed_length (0) must be greater than zero.",
        ),
        (
            lambda: tfr.decode_raw([b"a"], "int16", fixed_length=2**31),
            "fixed_length (2147483648) must be at most 2147483647.",
        ),
        (lambda: tfr.decode_raw([b"a"], "int16", fixed_length=[2]), "k must be scalar, got shape [1]"),
        (
            lambda: tfr.decode_raw(b"abcd", "uint32"),
            (
                "Value for attr 'out_type' of uint32 is not in the list of allowed values: half, float, double, int32, "
                "uint16, uint8, int16, int8, int64, complex64, complex128, bool, bfloat16"
            ),
        ),
        (
            lambda: tfr.decode_raw(b"abcd", "bool", fixed_length=4),
            (
                "Value for attr 'out_type' of bool is not in the list of allowed values: half, float, double, int32, "
                "uint16, uint8, int16, int8, int64, bfloat16"
            ),
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tfr.decode_raw(5, "int8"), TypeError, "Cannot convert 5 to EagerTensor of dtype string"),
        (lambda: tfr.decode_raw(np.arange(3), "int8"), TypeError, "Cannot convert array([0, 1, 2])"),
        (lambda: tfr.decode_raw([5], "int8"), TypeError, "Cannot convert [5]"),
        (lambda: tfr.decode_raw(None, "int8"), ValueError, "Attempt to convert a value (None)"),
        (
            lambda: tfr.decode_raw([b"a", 5], "int8"),
            ValueError,
            "Can't convert Python sequence with mixed types",
        ),
        (lambda: tfr.decode_raw([[b"a"], [b"a", b"b"]], "int8"), ValueError, "Can't convert non-rectangular"),
        (lambda: tfr.decode_raw([[b"a"], b"b"], "int8"), ValueError, "Can't convert non-rectangular Python"),
        (lambda: tfr.decode_raw(b"a", "nonsense"), TypeError, "Expected DataType for argument 'out_type'"),
        (
            lambda: tfr.decode_raw(b"a", None),
            TypeError,
            "Expected DataType for argument 'out_type' not None.",
        ),
        (
            lambda: tfr.decode_raw(b"a", "int8", 0),
            TypeError,
            "Expected bool for argument 'little_endian' not 0.",
        ),
        (
            lambda: tfr.decode_raw(b"a", "int8", fixed_length=2.0),
            TypeError,
            "Cannot convert 2.0 to EagerTensor",
        ),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(message)
