"""FixedLenFeature, and what all of parse_example has in common, in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import (
    OURS,
    OURS_BY_DEFAULT,
    Dense,
    Ragged,
    Sparse,
    check,
    invalid,
    outcome,
    summary,
    theirs,
    wrong,
)
from tests.oracle.support.wire import entry, example, field, floats, ints, strings
from tests.support.rules import tf_rule

TYPES = {
    "int64": (ints(1, 2), ints()),
    "float32": (floats(1.5, 2), floats()),
    "string": (strings(b"a", b"b"), strings()),
}
A = example(entry(b"a", ints(5)))
TWO = example(entry(b"a", ints(1, 2)))
NONE = example()


def single(record, shape=(), dtype="int64", default=None):
    return lambda lib: lib.parse_single_example(
        record, {"a": lib.FixedLenFeature(list(shape), dtype, default)}
    )


def batch(records, shape=(), dtype="int64", default=None, **options):
    spec = lambda lib: {"a": lib.FixedLenFeature(list(shape), dtype, default)}  # noqa: E731
    return lambda lib: lib.parse_example(records, spec(lib), **options)


@tf_rule("3 dtypes")
@pytest.mark.parametrize("dtype", ["int64", np.int64, np.dtype("int64"), "TF"], ids=repr)
def test_types_may_be_named_in_many_ways(dtype):
    dtype = tensorflow().int64 if dtype == "TF" else dtype
    check(single(A, (), dtype), {"a": 5})


@tf_rule("3 dtypes")
@pytest.mark.parametrize(
    ("dtype", "value"), [("int64", [1, 2]), ("float32", [1.5, 2]), ("string", [b"a", b"b"])]
)
def test_the_three_types(dtype, value):
    record = example(entry(b"a", TYPES[dtype][0]))
    check(single(record, [2], dtype), {"a": value})
    check(batch([record, record], [2], dtype), {"a": [value, value]})


@tf_rule("3 other types")
@pytest.mark.parametrize("dtype", ["int32", "bool", "float64", "uint8"])
def test_other_types_are_refused(dtype):
    shown = {"float64": "double"}.get(dtype, dtype)
    allowed = "is not in the list of allowed values: float, int64, string"
    check(single(A, (), dtype), invalid(f"Value for attr 'Tdense' of {shown} {allowed}"))
    check(batch([A], (), dtype), invalid(f"Value for attr 'Tdense' of {shown} {allowed}"))
    check(
        lambda lib: lib.parse_example([A], {"a": lib.VarLenFeature(dtype)}),
        invalid(f"Value for attr 'sparse_types' of {shown} {allowed}"),
    )


@tf_rule("3 result keys")
def test_result_has_the_keys_of_the_spec():
    record = example(entry(b"a", ints(5)), entry(b"b", ints(6)), entry(b"c", ints(7)))
    check(
        lambda lib: lib.parse_example([record], {key: lib.FixedLenFeature([], "int64") for key in "ca"}),
        {"a": [5], "c": [7]},
    )


@tf_rule("3 single takes a scalar")
@pytest.mark.parametrize("records", [[A], [[A]], [A, A]])
def test_single_takes_one_record_only(records):
    check(single(records), wrong("Input serialized must be a scalar"))


@tf_rule("3 single ignores names")
def test_single_ignores_names():
    missing = lambda lib: lib.parse_single_example(  # noqa: E731
        NONE, {"a": lib.FixedLenFeature([], "int64")}, example_names="x"
    )
    check(missing, invalid("Feature: a (data type: int64) is required but could not be found."))


@tf_rule("3 batch takes a scalar")
def test_batch_takes_one_record_as_single():
    check(batch(A), {"a": 5})
    check(batch(NONE), invalid("Feature: a (data type: int64) is required but could not be found."))


@tf_rule("3 matrix")
@pytest.mark.parametrize(
    "records", [[[A]], [[A, A]], np.array([[A], [A]], object)], ids=["1x1", "1x2", "array"]
)
def test_matrix_is_refused(records):
    rows, columns = np.shape(np.array(records, object))
    check(
        batch(records),
        invalid(f"Expected serialized to be a scalar or vector, got shape: [{rows},{columns}]"),
    )


@tf_rule("3 batch of one")
def test_batch_of_one_keeps_its_dimension():
    check(batch([A]), {"a": [5]})
    check(batch([A], [1]), {"a": [[5]]})


@tf_rule("3 empty batch")
def test_empty_batch():
    empty = np.zeros(0, object)
    spec = lambda lib: {  # noqa: E731
        "d": lib.FixedLenFeature([2], "int64"),
        "v": lib.VarLenFeature("string"),
        "s": lib.FixedLenSequenceFeature([3], "float32", allow_missing=True),
        "r": lib.RaggedFeature("int64"),
        "x": lib.SparseFeature("i", "w", "float32", 7),
    }

    def judge(found):
        return (
            found["d"] == Dense("int64", (0, 2), [])
            and found["v"] == Sparse([], Dense("string", (0,), []), [0, 0])
            and found["s"] == Dense("float32", (0, 0, 3), [])
            and found["r"] == Ragged([("int32", [0])], Dense("int64", (0,), []))
            and found["x"] == Sparse([], Dense("float32", (0,), []), [0, 7])
        )

    check(lambda lib: lib.parse_example(empty, spec(lib)), judge)


@tf_rule("3 empty list")
def test_empty_list_is_an_empty_batch_for_tfrkit_only():
    case = batch([])
    assert outcome(theirs(), case).name == "ValueError"
    assert outcome(OURS_BY_DEFAULT, case) == {"a": Dense("int64", (0,), [])}


@tf_rule("3 names shape")
@pytest.mark.parametrize(("names", "shape"), [(["x"], "[1]"), ([["x", "y"]], "[1,2]")])
def test_names_of_another_shape_are_refused(names, shape):
    message = f"Expected names have the same shape as serialized: name.shape={shape}, serialized.shape=[2]"
    check(batch([A, A], example_names=names), invalid(message))


@tf_rule("3 unparsable")
@pytest.mark.parametrize("record", [b"nonsense", field(1, b"\x0a\x03\x0a\x01a")[:-1], b"\x0a\x02\x12\x01"])
def test_unparsable(record):
    for make in (single, lambda *a: batch([A, record], *a[1:])):
        check(make(record), invalid(f"Could not parse example input, value: '{record.decode()}'"), OURS)
        text = outcome(OURS_BY_DEFAULT, make(record))
        assert isinstance(text, Failure)
        assert text.message.startswith("Could not parse example input, value: '")


MISSING = "Feature: a (data type: {}) is required but could not be found."


@tf_rule("3 missing single")
@pytest.mark.parametrize("record", [NONE, b"", example(entry(b"a", b"")), example(entry(b"b", ints(1)))])
@pytest.mark.parametrize(("dtype", "shown"), [("int64", "int64"), ("float32", "float"), ("string", "string")])
def test_missing_single(record, dtype, shown):
    check(single(record, [], dtype), invalid(MISSING.format(shown)))


@tf_rule("3 missing batch")
@tf_rule("3 names in messages")
@pytest.mark.parametrize("record", [NONE, b"", example(entry(b"a", b"")), example(entry(b"b", ints(1)))])
@pytest.mark.parametrize(("dtype", "shown"), [("int64", "int64"), ("float32", "float"), ("string", "string")])
def test_missing_batch(record, dtype, shown):
    good = example(entry(b"a", {"int64": ints(1), "float32": floats(1), "string": strings(b"")}[dtype]))
    check(batch([good, record], [], dtype), invalid("Name: <unknown>, " + MISSING.format(shown)))
    check(
        batch([good, record], [], dtype, example_names=["one", "two"]),
        invalid("Name: two, " + MISSING.format(shown)),
    )


KINDS = [("int64", ints(1), "int64"), ("float32", floats(1), "float"), ("string", strings(b"x"), "string")]
BODIES = {dtype: body for dtype, body, _ in KINDS}


@tf_rule("3 fixed type single")
@tf_rule("3 fixed type batch")
@tf_rule("3 type names")
@pytest.mark.parametrize(("dtype", "_", "shown"), KINDS, ids=[kind[0] for kind in KINDS])
@pytest.mark.parametrize(("other", "body", "found"), KINDS, ids=[kind[0] for kind in KINDS])
def test_wrong_type(dtype, _, shown, other, body, found):
    if dtype == other:
        return
    record, good = example(entry(b"a", body)), example(entry(b"a", BODIES[dtype]))
    text = f"Data types don't match. Data type: {found} but expected type: {shown}"
    check(single(record, [], dtype), invalid(f"Key: a.  {text}"))
    check(batch([record], [], dtype), invalid(f"Name: <unknown>, Key: a, Index: 0.  {text}"))
    check(batch([good, record], [], dtype), invalid(f"Name: <unknown>, Key: a, Index: 1.  {text}"))


@tf_rule("3 count single")
@tf_rule("3 count batch")
@tf_rule("3 shapes in messages")
@pytest.mark.parametrize("count", [0, 1, 3, 5])
@pytest.mark.parametrize(("dtype", "shown"), [("int64", "int64"), ("float32", "float")])
@pytest.mark.parametrize(("shape", "printed"), [([], "[]"), ([2], "[2]"), ([1, 2], "[1,2]")])
def test_wrong_count_of_numbers(count, dtype, shown, shape, printed):
    if count == int(np.prod(shape)):
        return
    record = example(entry(b"a", (ints if dtype == "int64" else floats)(*range(count))))
    check(
        single(record, shape, dtype),
        invalid(f"Key: a.  Can't parse serialized Example: Some {shown}_list slice was not parsed."),
    )
    check(
        batch([record], shape, dtype),
        invalid(
            f"Name: <unknown>, Key: a, Index: 0.  Number of {shown} values != expected.  "
            f"Values size: {count} but output shape: {printed}"
        ),
    )


@tf_rule("3 few bytes single")
@tf_rule("3 few bytes batch")
@pytest.mark.parametrize("count", [0, 1])
def test_too_few_strings(count):
    record = example(entry(b"a", strings(*[b"x"] * count)))
    text = "Can't parse serialized Example: Some bytes_list slice was not parsed."
    check(single(record, [2], "string"), invalid(f"Key: a.  {text}"))
    check(
        batch([record], [2], "string"),
        invalid(
            "Name: <unknown>, Key: a, Index: 0.  Number of bytes values != expected.  "
            f"Values size: {count} but output shape: [2]"
        ),
    )


@tf_rule("3 many bytes single")
@tf_rule("3 many bytes batch")
@pytest.mark.parametrize("count", [3, 4])
def test_too_many_strings(count):
    record = example(entry(b"a", strings(*[b"x"] * count)))
    text = "Can't parse serialized Example"
    check(single(record, [2], "string"), invalid(f"Key: a.  {text}: Parsing bytes_list failed."))
    check(batch([record], [2], "string"), invalid(f"Name: <unknown>, Key: a, Index: 0.  {text}."))


MALFORMED = {
    "int64": field(3, field(1, b"\xff" * 11)),
    "float32": field(2, b"\x0a\x05\x01"),
    "string": field(1, b"\x0a\x05a"),
}


@tf_rule("3 malformed single")
@tf_rule("3 malformed batch")
@pytest.mark.parametrize(("dtype", "shown"), [("int64", "int64"), ("float32", "float"), ("string", "bytes")])
def test_malformed_list(dtype, shown):
    record = example(entry(b"a", MALFORMED[dtype]))
    text = "Can't parse serialized Example"
    check(single(record, [2], dtype), invalid(f"Key: a.  {text}: Parsing {shown}_list failed."), OURS)
    check(batch([record], [2], dtype), invalid(f"Name: <unknown>, Key: a, Index: 0.  {text}."), OURS)
    for case in (single(record, [2], dtype), batch([record], [2], dtype)):
        assert outcome(OURS_BY_DEFAULT, case).name == "InvalidArgumentError"


@pytest.mark.parametrize("run", [b"\x0a\xff", b"\x0a\x04", b"\x0a"], ids=bytes.hex)
@pytest.mark.parametrize(("kind", "dtype"), [(2, "float32"), (3, "int64")])
def test_a_run_without_a_body_is_not_an_empty_list(kind, dtype, run):
    record = example(entry(b"a", field(kind, run)))
    variable = lambda lib: lib.parse_example([record], {"a": lib.VarLenFeature(dtype)})  # noqa: E731
    for case in (single(record, [0], dtype), batch([record], [0], dtype), variable):
        check(case, lambda _: True, OURS)
        assert outcome(OURS_BY_DEFAULT, case).name == "InvalidArgumentError"


@tf_rule("3 FixedLen fields")
def test_the_class_is_a_tuple_of_its_fields():
    for space in (tensorflow().io, tfr):
        feature = space.FixedLenFeature([2], "int64")
        assert feature._fields == ("shape", "dtype", "default_value")
        assert tuple(feature) == ([2], "int64", None)


@tf_rule("3 FixedLen shape forms")
@pytest.mark.parametrize("shape", [[2], (2,), "TF", [2, 1], (1, 2, 1)], ids=str)
def test_shape_may_be_a_list_a_tuple_or_a_tensorshape(shape):
    shape = tensorflow().TensorShape([2]) if shape == "TF" else shape
    expected = np.reshape([1, 2], shape).tolist()
    case = lambda lib: lib.parse_single_example(TWO, {"a": lib.FixedLenFeature(shape, "int64")})  # noqa: E731
    check(case, {"a": expected})


@tf_rule("3 FixedLen shape forms")
def test_shape_may_be_a_number():
    case = lambda lib: lib.parse_example([TWO], {"a": lib.FixedLenFeature(2, "int64")})  # noqa: E731
    check(case, {"a": [[1, 2]]})


@tf_rule("3 FixedLen default")
@pytest.mark.parametrize(
    ("shape", "dtype", "default", "expected"),
    [
        ([], "int64", 7, 7),
        ([], "float32", 7, 7.0),
        ([], "string", "x", b"x"),
        ([], "string", b"", b""),
        ([2], "int64", [7, 8], [7, 8]),
        ([2, 1], "int64", [7, 8], [[7], [8]]),
        ([2], "string", ["x", b"y"], [b"x", b"y"]),
        ([1], "int64", 7, [7]),
        ([2], "float32", np.float32([1.5, 2]), [1.5, 2.0]),
        ([], "int64", [7], 7),
    ],
    ids=str,
)
@pytest.mark.parametrize("record", [NONE, example(entry(b"a", b""))], ids=["missing", "unset"])
def test_default_is_reshaped_and_used_for_the_missing_and_the_unset(record, shape, dtype, default, expected):
    check(single(record, shape, dtype, default), {"a": expected})
    good = example(entry(b"a", TYPES[dtype][0])) if shape in ([2], [2, 1]) else record
    check(
        batch([record, good, record], shape, dtype, default), lambda found: summary(found["a"])[0] == expected
    )


@tf_rule("3 FixedLen default shape")
def test_default_that_does_not_fit_the_shape():
    text = "Input to reshape is a tensor with {} values, but the requested shape has {}"
    check(single(NONE, [2], "int64", 7), invalid(text.format(1, 2)))
    check(batch([NONE], [2], "int64", [7, 8, 9]), invalid(text.format(3, 2)))


@tf_rule("3 FixedLen default type")
@pytest.mark.parametrize(
    ("dtype", "default"), [("int64", 1.5), ("int64", "x"), ("float32", "x"), ("string", 5)]
)
def test_default_of_another_type(dtype, default):
    message = f"Cannot convert {default!r} to EagerTensor of dtype {dtype.replace('float32', 'float')}"
    check(single(NONE, [], dtype, default), Failure("TypeError", message))
    check(batch([NONE], [], dtype, default), Failure("TypeError", message))


@tf_rule("3 FixedLen empty list")
def test_an_empty_list_is_a_count_error_and_not_the_default():
    record = example(entry(b"a", ints()))
    text = "Can't parse serialized Example: Some int64_list slice was not parsed."
    check(single(record, [], "int64", 7), invalid(f"Key: a.  {text}"))
    check(
        batch([record], [], "int64", 7),
        invalid(
            "Name: <unknown>, Key: a, Index: 0.  Number of int64 values != expected.  Values size: 0 but"
        ),
    )


@tf_rule("3 FixedLen shape 0")
@pytest.mark.parametrize("dtype", sorted(TYPES))
def test_shape_of_no_values(dtype):
    empty = example(entry(b"a", TYPES[dtype][1]))
    shown = {"float32": "float"}.get(dtype, dtype)
    check(single(empty, [0], dtype), {"a": []})
    check(batch([empty, empty], [0], dtype), {"a": [[], []]})
    for default in (None, []):
        check(single(NONE, [0], dtype, default), invalid(MISSING.format(shown)))
        check(batch([NONE], [0], dtype, default), invalid("Name: <unknown>, " + MISSING.format(shown)))


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        pytest.param(
            lambda lib: lib.FixedLenFeature([None], "int64"),
            "First dimension of shape for feature a unknown. Consider using FixedLenSequenceFeature. Received feature=",
            marks=tf_rule("3 FixedLen unknown first"),
        ),
        pytest.param(
            lambda lib: lib.FixedLenFeature([2, None], "int64"),
            "All dimensions of shape for feature a need to be known but received [2, None].",
            marks=tf_rule("3 FixedLen unknown dimension"),
        ),
        pytest.param(
            lambda lib: lib.FixedLenFeature(None, "int64"),
            "Missing shape for feature a. Received feature=",
            marks=tf_rule("3 FixedLen no shape"),
        ),
        pytest.param(
            lambda lib: lib.FixedLenFeature([], None),
            "Missing type for feature a. Received feature=",
            marks=tf_rule("3 FixedLen no type"),
        ),
    ],
    ids=["first", "other", "shape", "type"],
)
def test_incomplete_features(feature, message):
    check(lambda lib: lib.parse_example([A], {"a": feature(lib)}), wrong(message))
    check(lambda lib: lib.parse_single_example(A, {"a": feature(lib)}), wrong(message))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {}, "Argument `features` cannot be None or falsy. Got {}", marks=tf_rule("3 no features batch")
        ),
        pytest.param(
            None,
            "Argument `features` cannot be None or falsy. Got None",
            marks=tf_rule("3 no features batch"),
        ),
        pytest.param({"a": 5}, "Unsupported int 5 for key 'a'", marks=tf_rule("3 unsupported feature")),
    ],
    ids=str,
)
def test_argument_errors_of_a_batch(spec, message):
    check(lambda lib: lib.parse_example([A], spec), wrong(message))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {}, "Invalid argument: features cannot be empty.", marks=tf_rule("3 no features single")
        ),
        pytest.param(
            None, "Invalid argument: features cannot be None.", marks=tf_rule("3 no features single")
        ),
        pytest.param({"a": 5}, "Unsupported int 5 for key 'a'", marks=tf_rule("3 unsupported feature")),
    ],
    ids=str,
)
def test_argument_errors_of_a_single(spec, message):
    check(lambda lib: lib.parse_single_example(A, spec), wrong(message))


@tf_rule("3 sorted order")
def test_keys_are_looked_at_in_sorted_order():
    def wrong_spec(lib):
        features = {"b": lib.FixedLenFeature([], None), "a": lib.FixedLenFeature(None, "int64")}
        return lib.parse_example([A], features)

    check(wrong_spec, wrong("Missing shape for feature a."))
