"""VarLenFeature, and FixedLenSequenceFeature of Examples, in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import tensorflow
from tests.oracle.support.parsed import OURS, Dense, Sparse, check, invalid, wrong
from tests.oracle.support.wire import entry, example, field, floats, ints, strings
from tests.support.rules import tf_rule
from tfrkit.parsing.encode import ExampleEncoder

NONE = example()
UNSET = example(entry(b"a", b""))
KINDS = [("int64", ints(1), "int64"), ("float32", floats(1), "float"), ("string", strings(b"x"), "string")]
EMPTY = {"int64": ints(), "float32": floats(), "string": strings()}


def record(*values):
    return example(entry(b"a", ints(*values)))


def single(data, dtype="int64"):
    return lambda lib: lib.parse_single_example(data, {"a": lib.VarLenFeature(dtype)})


def batch(records, dtype="int64", **options):
    return lambda lib: lib.parse_example(records, {"a": lib.VarLenFeature(dtype)}, **options)


@tf_rule("3 VarLen single")
@pytest.mark.parametrize(
    ("body", "dtype", "values"),
    [
        (ints(3, 1, 2), "int64", [3, 1, 2]),
        (floats(1.5), "float32", [1.5]),
        (strings(b"a", b""), "string", [b"a", b""]),
    ],
)
def test_single(body, dtype, values):
    indices = [[number] for number in range(len(values))]
    check(single(example(entry(b"a", body)), dtype), {"a": (indices, values, [len(values)])})


@tf_rule("3 VarLen batch")
def test_batch():
    check(
        batch([record(3, 1, 2), NONE, record(7)]),
        {"a": ([[0, 0], [0, 1], [0, 2], [2, 0]], [3, 1, 2, 7], [3, 3])},
    )
    strings_ = [example(entry(b"a", strings(b"x"))), example(entry(b"a", strings(b"", b"yz")))]
    check(batch(strings_, "string"), {"a": ([[0, 0], [1, 0], [1, 1]], [b"x", b"", b"yz"], [2, 2])})


@tf_rule("3 VarLen empty")
@pytest.mark.parametrize("dtype", sorted(EMPTY))
def test_missing_unset_and_empty(dtype):
    kind = {"float32": "float32"}.get(dtype, dtype)
    for data in (NONE, UNSET, example(entry(b"a", EMPTY[dtype])), b""):
        check(single(data, dtype), lambda found: found["a"] == Sparse([], Dense(kind, (0,), []), [0]))
        check(
            batch([data, data], dtype), lambda found: found["a"] == Sparse([], Dense(kind, (0,), []), [2, 0])
        )


CLASSES = {
    "VarLen": lambda lib, dtype: lib.VarLenFeature(dtype),
    "Ragged": lambda lib, dtype: lib.RaggedFeature(dtype),
    "Sparse": lambda lib, dtype: lib.SparseFeature("i", "a", dtype, 9),
}


@tf_rule("3 variable type single")
@tf_rule("3 variable type batch")
@tf_rule("3 variable type empty")
@pytest.mark.parametrize("feature", CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize("empty", [False, True], ids=["value", "empty"])
@pytest.mark.parametrize(("dtype", "_", "shown"), KINDS, ids=[kind[0] for kind in KINDS])
@pytest.mark.parametrize(("other", "body", "found"), KINDS, ids=[kind[0] for kind in KINDS])
def test_wrong_type(feature, empty, dtype, _, shown, other, body, found):
    if dtype == other:
        return
    data = example(entry(b"a", EMPTY[other] if empty else body))
    text = f"Data types don't match. Expected type: {shown}, Actual type: {found}"
    check(lambda lib: lib.parse_single_example(data, {"a": feature(lib, dtype)}), invalid(f"Key: a.  {text}"))
    for names, name in ((None, "<unknown>"), (["x", "y"], "y")):
        check(
            lambda lib, names=names: lib.parse_example(
                [NONE, data], {"a": feature(lib, dtype)}, example_names=names
            ),
            invalid(f"Name: {name}, Key: a, Index: 1.  {text}"),
        )


@tf_rule("3 malformed single")
@tf_rule("3 malformed bytes single")
@tf_rule("3 malformed batch")
@pytest.mark.parametrize(
    ("dtype", "body", "text"),
    [
        ("int64", field(3, field(1, b"\xff" * 11)), "Parsing int64_list failed."),
        ("float32", field(2, b"\x0a\x05\x01"), "Parsing float_list failed."),
        ("string", field(1, b"\x0a\x05a"), "Could not get num elements in bytes_list."),
    ],
)
def test_malformed_list(dtype, body, text):
    data = example(entry(b"a", body))
    message = "Can't parse serialized Example"
    check(single(data, dtype), invalid(f"Key: a.  {message}: {text}"), OURS)
    check(batch([data], dtype), invalid(f"Name: <unknown>, Key: a, Index: 0.  {message}."), OURS)


# --- FixedLenSequenceFeature ---


def steps(data, shape, dtype="int64", default=None, missing=True):
    def case(lib):
        spec = {"a": lib.FixedLenSequenceFeature(shape, dtype, missing, default)}
        return (
            lib.parse_example(data, spec) if isinstance(data, list) else lib.parse_single_example(data, spec)
        )

    return case


@tf_rule("3 FixedLenSequence fields")
def test_the_class_is_a_tuple_of_its_fields():
    for space in (tensorflow().io, tfr):
        feature = space.FixedLenSequenceFeature([2], "int64")
        assert feature._fields == ("shape", "dtype", "allow_missing", "default_value")
        assert tuple(feature) == ([2], "int64", False, None)


@tf_rule("3 FixedLenSequence allow_missing")
def test_allow_missing_must_be_true():
    message = "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
    check(steps(record(1), [], missing=False), wrong(message))
    check(steps([record(1)], [], missing=False), wrong(message))


@tf_rule("3 FixedLenSequence single")
def test_sequence_single():
    check(steps(record(1, 2, 3, 4), []), {"a": [1, 2, 3, 4]})
    check(steps(record(1, 2, 3, 4), [2]), {"a": [[1, 2], [3, 4]]})
    check(steps(record(1, 2, 3, 4), [2, 2]), {"a": [[[1, 2], [3, 4]]]})
    for data in (NONE, UNSET, record()):
        check(steps(data, [2], default=7), lambda found: found["a"] == Dense("int64", (0, 2), []))


@tf_rule("3 FixedLenSequence batch")
def test_sequence_batch():
    records = [record(1, 2, 3, 4), NONE, record(5, 6)]
    check(steps(records, []), {"a": [[1, 2, 3, 4], [0, 0, 0, 0], [5, 6, 0, 0]]})
    check(steps(records, [2]), {"a": [[[1, 2], [3, 4]], [[0, 0], [0, 0]], [[5, 6], [0, 0]]]})
    check(steps(records, [2], default=9), {"a": [[[1, 2], [3, 4]], [[9, 9], [9, 9]], [[5, 6], [9, 9]]]})
    floats_ = [example(entry(b"a", floats(1.5))), NONE]
    check(steps(floats_, [], "float32", -1), {"a": [[1.5], [-1.0]]})
    check(steps(floats_, [], "float32"), {"a": [[1.5], [0.0]]})
    words = [example(entry(b"a", strings(b"x", b"y"))), NONE]
    check(steps(words, [], "string"), {"a": [[b"x", b"y"], [b"", b""]]})
    check(steps(words, [2], "string", "no"), {"a": [[[b"x", b"y"]], [[b"no", b"no"]]]})


@tf_rule("3 FixedLenSequence default")
def test_default_must_be_one_value():
    text = "Input to reshape is a tensor with 2 values, but the requested shape has 1"
    check(steps([record(1)], [2], default=[1, 2]), invalid(text))


@tf_rule("3 fixed type single")
@tf_rule("3 fixed type batch")
def test_sequence_of_another_type():
    text = "Data types don't match. Data type: float but expected type: int64"
    data = example(entry(b"a", floats(1)))
    check(steps(data, []), invalid(f"Key: a.  {text}"))
    check(steps([record(1), data], []), invalid(f"Name: <unknown>, Key: a, Index: 1.  {text}"))


@tf_rule("3 stride single")
@pytest.mark.parametrize("shape", [[2], [1, 2], [2, 1]], ids=str)
def test_single_must_be_a_multiple_of_the_stride(shape):
    message = (
        "Error while parsing feature with key a: number of elements should be divisible by 2, found 3 instead"
    )
    check(steps(record(1, 2, 3), shape), invalid(message))


@tf_rule("3 stride batch")
@tf_rule("3 shapes in messages")
@pytest.mark.parametrize(
    ("body", "dtype", "shown", "count"),
    [
        (ints(1, 2, 3), "int64", "int64", 3),
        (floats(1), "float32", "float", 1),
        (strings(b"x"), "string", "bytes", 1),
    ],
)
def test_batch_must_be_a_multiple_of_the_stride(body, dtype, shown, count):
    check(
        steps([example(entry(b"a", body))], [2], dtype),
        invalid(
            f"Name: <unknown>, Key: a, Index: 0.  Number of {shown} values is not a multiple of stride length. "
            f"Saw {count} values but output shape is: [?,2]"
        ),
    )


@tf_rule("3 FixedLenSequence incomplete")
@pytest.mark.parametrize(
    ("shape", "dtype", "failure"),
    [
        ([], None, wrong("Missing type for feature a. Received feature=")),
        ([None], "int64", invalid("dense_shapes[0] has unknown rank or unknown inner dimensions: [?,?]")),
        (
            [2, None],
            "int64",
            invalid("dense_shapes[0] has unknown rank or unknown inner dimensions: [?,2,?]"),
        ),
    ],
    ids=["type", "first", "other"],
)
def test_incomplete(shape, dtype, failure):
    check(steps([record(1)], shape, dtype), failure)


@tf_rule("3 VarLen empty")
@pytest.mark.parametrize("dtype", sorted(EMPTY))
def test_empty_list_of_no_type_is_written_as_what_any_type_reads_as_missing(dtype):
    kind = {"float32": "float32"}.get(dtype, dtype)
    written = [
        tfr.make_example({"a": []}).SerializeToString(),
        tfr.encode_examples({"a": [[], []]})[1],
        ExampleEncoder().encode({"a": ()}),
    ]
    assert written == [UNSET] * 3
    check(batch(written, dtype), lambda found: found["a"] == Sparse([], Dense(kind, (0,), []), [3, 0]))
