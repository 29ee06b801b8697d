"""decode_raw in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core, invalid
from tests.support.rules import tf_rule

TYPES = [
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool",
    "complex64", "complex128",
]  # fmt: skip
OTHERS = ["uint32", "uint64", "string", "qint8"]
SIXTEEN = bytes(range(16))


def attempt(call):
    """Type, shape and bytes of what a call gives, or its failure."""
    try:
        found = call()
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))
    array = np.asarray(found)
    values = (array != 0).tolist() if array.dtype == bool else array.tobytes()
    return array.dtype.name, array.shape, values


def both(*arguments, **options):
    """What TensorFlow gives, after seeing that tfrkit gives the same."""
    reference = attempt(lambda: tensorflow().io.decode_raw(*arguments, **options).numpy())
    found = attempt(lambda: tfr.decode_raw(*arguments, **options))
    if isinstance(reference, Failure) and isinstance(found, Failure):
        assert found.name == reference.name
        assert found.message.startswith(reference.message)
    else:
        assert found == reference
    return reference


@tf_rule("3 decode_raw types")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("little_endian", [True, False])
def test_every_type_in_both_orders(dtype, little_endian):
    found = both([SIXTEEN, SIXTEEN[::-1]], dtype, little_endian=little_endian)
    assert found[:2] == (dtype, (2, 16 // tensorflow().as_dtype(dtype).size))


@tf_rule("3 decode_raw types")
@pytest.mark.parametrize("dtype", OTHERS)
def test_other_types_are_refused(dtype):
    found = both([SIXTEEN], dtype)
    assert found.message.startswith(
        f"Value for attr 'out_type' of {dtype} is not in the list of allowed values: half, "
    )
    assert both([SIXTEEN], dtype, fixed_length=16).message.endswith("int8, int64, bfloat16")


@tf_rule("3 decode_raw shape")
@pytest.mark.parametrize(
    ("given_", "shape"),
    [
        (SIXTEEN, (8,)),
        ([SIXTEEN], (1, 8)),
        ([[SIXTEEN, SIXTEEN], [SIXTEEN, SIXTEEN]], (2, 2, 8)),
        (np.array([SIXTEEN, SIXTEEN], object), (2, 8)),
        ("abcd", (2,)),
    ],
    ids=["one", "list", "nested", "array", "text"],
)
def test_shape(given_, shape):
    assert both(given_, "int16")[1] == shape


@tf_rule("3 decode_raw empty")
def test_empty_strings_and_empty_tensors():
    assert both(b"", "int16")[1] == (0,)
    assert both([b"", b""], "int16")[1] == (2, 0)
    assert both(np.zeros(0, object), "int16")[1] == (0, 0)
    assert both(np.zeros((0, 3), object), "int16")[1] == (0, 3, 0)
    assert both([], "int16")[1] == (0, 0)
    assert both(np.zeros(0, object), "int16", fixed_length=4)[1] == (0, 2)


@tf_rule("3 decode_raw length")
@pytest.mark.parametrize("dtype", [name for name in TYPES if name not in {"int8", "uint8", "bool"}])
def test_length_must_be_a_multiple_of_the_size(dtype):
    size = tensorflow().as_dtype(dtype).size
    shown = {"float16": "half", "float32": "float", "float64": "double"}.get(dtype, dtype)
    text = f"Input to DecodeRaw has length {size + 1} that is not a multiple of {size}, the size of {shown}"
    assert both([b"a" * (size + 1)], dtype) == invalid(text)


@tf_rule("3 decode_raw same size")
def test_strings_must_have_the_same_size():
    text = "DecodeRaw requires input strings to all be the same size, but element {} has size {} != {}"
    assert both([b"a", b"ab"], "uint8") == invalid(text.format(1, 1, 2))
    assert both([b"ab", b"ab", b"abc", b"a"], "int16") == invalid(text.format(2, 2, 3))


@tf_rule("3 decode_raw fixed_length")
@pytest.mark.parametrize("little_endian", [True, False])
@pytest.mark.parametrize("length", [2, 4, 8])
def test_fixed_length_pads_and_truncates_before_the_swap(little_endian, length):
    strings = [b"", b"\1", b"\1\2\3", b"\1\2\3\4\5\6\7\x08\x09"]
    for dtype in ("int16", "uint16", "int8", "uint8", "bfloat16"):
        both(strings, dtype, little_endian=little_endian, fixed_length=length)
    expected = np.frombuffer(b"\1\0\0\0", ">i2" if not little_endian else "<i2").tolist()
    assert tfr.decode_raw(b"\1", "int16", little_endian=little_endian, fixed_length=4).tolist() == expected


@tf_rule("3 decode_raw fixed_length errors")
@pytest.mark.parametrize(
    ("length", "message"),
    [
        (3, "fixed_length (3) must be a multiple of the size of out_type (2)"),
        (0, "fixed_length (0) must be greater than zero."),
        (-2, "fixed_length (-2) must be greater than zero."),
        ([2], "k must be scalar, got shape [1]"),
    ],
)
def test_fixed_length_errors(length, message):
    assert both([b"abc"], "int16", fixed_length=length) == invalid(message)


@tf_rule("3 decode_raw fixed_length types")
@pytest.mark.parametrize("dtype", ["bool", "complex64", "complex128"])
def test_fixed_length_has_fewer_types(dtype):
    found = both([SIXTEEN], dtype, fixed_length=16)
    assert found.message.startswith(
        f"Value for attr 'out_type' of {dtype} is not in the list of allowed values"
    )


@tf_rule("3 decode_raw fixed_length half")
def test_fixed_length_of_half_works_in_tfrkit_only():
    theirs = attempt(lambda: tensorflow().io.decode_raw([b"\0\x3c"], "float16", fixed_length=4))
    assert theirs.name == "NotFoundError"
    assert tfr.decode_raw([b"\0\x3c"], "float16", fixed_length=4).tolist() == [[1.0, 0.0]]


@tf_rule("3 decode_raw arguments")
@pytest.mark.parametrize(
    ("arguments", "failure"),
    [
        ((5, "int8"), Failure("TypeError", "Cannot convert 5 to EagerTensor of dtype string")),
        (
            ([b"a", 5], "int8"),
            Failure("ValueError", "Can't convert Python sequence with mixed types to Tensor."),
        ),
        (
            ([[b"a"], [b"a", b"b"]], "int8"),
            Failure("ValueError", "Can't convert non-rectangular Python sequence"),
        ),
        (
            (b"a", "nonsense"),
            Failure("TypeError", "Expected DataType for argument 'out_type' not 'nonsense'."),
        ),
        ((b"a", None), Failure("TypeError", "Expected DataType for argument 'out_type' not None.")),
        ((b"a", "int8", 0), Failure("TypeError", "Expected bool for argument 'little_endian' not 0.")),
        ((b"a", "int8", True, 2.0), Failure("TypeError", "Cannot convert 2.0 to EagerTensor of dtype int32")),
    ],
    ids=["number", "mixed", "uneven", "name", "None", "order", "length"],
)
def test_wrong_arguments(arguments, failure):
    found = both(*arguments)
    assert found.name == failure.name
    assert found.message.startswith(failure.message)


@tf_rule("3 decode_raw types")
@settings(max_examples=150)
@given(
    st.lists(st.binary(max_size=17), max_size=4)
    | st.binary(max_size=40)
    | st.lists(st.binary(min_size=16, max_size=16)),
    st.sampled_from(TYPES),
    st.booleans(),
    st.none() | st.integers(-1, 40),
)
def test_any_strings(strings, dtype, little_endian, fixed_length):
    if fixed_length is not None and dtype == "float16":
        return
    if strings == []:
        strings = np.zeros(0, object)
    both(strings, dtype, little_endian=little_endian, fixed_length=fixed_length)
