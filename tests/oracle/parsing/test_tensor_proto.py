"""serialize_tensor and parse_tensor in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core
from tests.support.rules import tf_rule

TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip
FIELDS = {
    "float_val": st.floats(width=32),
    "double_val": st.floats(),
    "int_val": st.integers(-(2**31), 2**31 - 1),
    "string_val": st.binary(max_size=3),
    "scomplex_val": st.floats(width=32),
    "int64_val": st.integers(-(2**63), 2**63 - 1),
    "bool_val": st.booleans(),
    "dcomplex_val": st.floats(),
    "half_val": st.integers(-(2**31), 2**31 - 1),
    "uint32_val": st.integers(0, 2**32 - 1),
    "uint64_val": st.integers(0, 2**64 - 1),
}
REFUSED = "Cannot parse tensor from proto: "


def attempt(call):
    """What a call gives in a form that compares by bits, or its failure; TensorFlow's dump of a message is cut off."""
    try:
        found = call()
    except Exception as error:
        text = core(str(getattr(error, "message", error)))
        return Failure(type(error).__name__, REFUSED if text.startswith(REFUSED) else text)
    if isinstance(found, bytes):
        return "string", (), found
    array = np.asarray(found)
    values = array.tolist() if array.dtype == object else array.tobytes()
    return array.dtype.name if array.dtype != object else "string", array.shape, values


def parse_both(data, dtype):
    """What TensorFlow's parse_tensor gives, after seeing that tfrkit's gives the same."""
    reference = attempt(lambda: tensorflow().io.parse_tensor(data, dtype).numpy())
    found = attempt(lambda: tfr.parse_tensor(data, dtype))
    assert found == reference
    return reference


ADDED = (  # to TensorFlow's texts: what to do
    "",
    " It does not fit int64.",
    " Convert its values to one type first.",
    " Rows of several lengths need a Ragged.",
)


def serialize_both(value):
    """The bytes of both, which must be the same; of errors, ours begins with TensorFlow's text."""
    reference = attempt(lambda: tensorflow().io.serialize_tensor(value).numpy())
    found = attempt(lambda: tfr.serialize_tensor(value))
    if isinstance(reference, Failure):
        assert isinstance(found, Failure)
        assert found.name == reference.name
        assert found.message.startswith(reference.message)
        assert found.message.removeprefix(reference.message) in ADDED
    else:
        assert found == reference
    return reference


def proto(dtype, shape, **fields):
    """A TensorProto made by TensorFlow's own class."""
    tensorflow()
    from tensorflow.core.framework import tensor_pb2

    message = tensor_pb2.TensorProto(dtype=dtype, **fields)
    for size in shape:
        message.tensor_shape.dim.add(size=size)
    return message.SerializeToString()


@tf_rule("3 serialize_tensor layout")
def test_layout():
    expected = bytes.fromhex("08 03 12 04 12 02 08 02 22 08 01000000 02000000")
    assert serialize_both(np.int32([1, 2]))[2] == expected


@tf_rule("3 serialize_tensor types")
@pytest.mark.parametrize("dtype", [*TYPES, "bfloat16"])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0), (1, 2, 3)], ids=str)
def test_every_type_and_shape(dtype, shape):
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(tensorflow().as_dtype(dtype).as_numpy_dtype)
    assert isinstance(serialize_both(array), tuple)
    parse_both(tfr.serialize_tensor(array), dtype)


@tf_rule("3 serialize_tensor strings")
@pytest.mark.parametrize(
    "value", ["ab", b"\xff", ["a", b"", "é"], [[b"x"], [b"y" * 200]], np.zeros((0, 2), object)], ids=repr
)
def test_strings(value):
    data = serialize_both(value)[2]
    assert parse_both(data, "string")[0] == "string"


@tf_rule("3 serialize_tensor python values")
@pytest.mark.parametrize(
    "value",
    [
        5, -(2**31), 2**31, 2**63 - 1, 2**63, 1.5, 1e300, True, 1j, None, [], [[], []], [1, 2.5], [1, 2**40],
        [True, 1],
        [1, True], [1, "a"], ["a", 1], [[1], [2, 3]], [[1], 2], [np.float64(1), 2.0], [1.0, np.float64(2)],
        [np.int64(1)],
        [np.float16(1)], [1j, 1], [1.5, 1j], range(3), (1, 2), bytearray(b"ab"), [None], "\ud800",
        np.array([1], object),
        np.array([1, 2], ">i4"), np.asfortranarray([[1, 2], [3, 4]]), np.arange(6)[::2], np.longdouble(1),
        np.datetime64("2020"), np.zeros(1, [("a", "i4")]),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_what_python_values_become(value):
    serialize_both(value)


@tf_rule("3 parse_tensor mismatch")
@pytest.mark.parametrize(
    ("written", "asked", "names"),
    [("float32", "int32", "(float) and dtype (int32)"), ("float16", "float64", "(half) and dtype (double)"),
     ("int64", "string", "(int64) and dtype (string)"), ("bool", "bfloat16", "(bool) and dtype (bfloat16)")],
)  # fmt: skip
def test_type_mismatch(written, asked, names):
    found = parse_both(tfr.serialize_tensor(np.zeros(1, written)), asked)
    assert found == Failure("InvalidArgumentError", f"Type mismatch between parsed tensor {names}")


@tf_rule("3 parse_tensor unparsable")
@pytest.mark.parametrize(("data", "shown"), [(b"zzz", "enp6"), (b"zz", "eno="), (b"\xff\xfe\xfd", "//79")])
def test_unparsable(data, shown):
    message = f"Could not parse `serialized` as TensorProto, base64: {shown}"
    assert parse_both(data, "int32") == Failure("InvalidArgumentError", message)


@tf_rule("3 parse_tensor scalar")
def test_serialized_must_be_one_string():
    found = parse_both([proto(3, [1])], "int32")
    assert found == Failure("InvalidArgumentError", "Expected `serialized` to be a scalar, got shape: [1]")


@tf_rule("3 parse_tensor string content")
@pytest.mark.parametrize(
    "content",
    [b"\1\2abc", b"\1\2ab", b"\1\2abcd", b"\1", b"\x81\0\x02abc", b"\0\0", b"\x81\x80\x80\x80\x10\0a"],
)
def test_content_of_strings_is_lengths_then_bytes(content):
    parse_both(proto(7, [2], tensor_content=content), "string")


@tf_rule("3 parse_tensor listed values")
@settings(max_examples=200)
@given(st.data())
def test_values_one_by_one_and_the_last_repeated(data):
    number = data.draw(st.sampled_from([*range(1, 20), 22, 23]))
    shape = data.draw(st.lists(st.integers(0, 3), max_size=3))
    names = data.draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=2))
    fields = {name: data.draw(st.lists(FIELDS[name], max_size=5)) for name in names}
    parse_both(proto(number, shape, **fields), tensorflow().as_dtype(number))


@tf_rule("3 parse_tensor refused")
@pytest.mark.parametrize(
    "data",
    [
        b"", proto(0, [1]), proto(101, [1]), proto(500, [1]), proto(3, [-1]), proto(3, [2**40, 2**40]),
        proto(3, [2], tensor_content=b"abcd"), proto(3, [2], tensor_content=b"a" * 12), proto(3, [1] * 255),
        proto(10, [2], tensor_content=b"\1\2"), proto(3, [2**45]),
    ],
    ids=["empty", "type 0", "ref", "type 500", "negative", "overflow", "short", "long", "dims", "bool", "memory"],
)  # fmt: skip
def test_what_is_no_tensor(data):
    assert parse_both(data, "int32") == Failure("InvalidArgumentError", REFUSED)


@tf_rule("3 parse_tensor wire")
@settings(max_examples=300)
@given(st.data())
def test_any_bytes_that_were_once_a_tensor(data):
    dtype = np.dtype(data.draw(st.sampled_from(TYPES)))
    array = data.draw(
        arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    )
    content = bytearray(tfr.serialize_tensor(array))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        change = data.draw(st.sampled_from(["set", "cut", "add", "twice"]))
        if change == "set" and content:
            content[at] = data.draw(st.integers(0, 255))
        elif change == "cut":
            del content[at : at + data.draw(st.integers(1, 3))]
        elif change == "add":
            content[at:at] = data.draw(st.binary(max_size=3))
        else:
            content += content[at:]
    parse_both(bytes(content), dtype)
