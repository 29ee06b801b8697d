"""RaggedFeature and its partitions, and keys that features share, in TensorFlow and in tfrkit."""

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
    check,
    invalid,
    outcome,
    theirs,
    wrong,
)
from tests.oracle.support.wire import entry, example, floats, ints, strings
from tests.support.rules import tf_rule

NONE = example()
VALUES = (1, 2, 3, 4, 5, 6)


def record(values=VALUES, **parts):
    entries = [entry(b"v", ints(*values))]
    return example(*entries, *(entry(key.encode(), ints(*part)) for key, part in parts.items()))


def ragged(data, *partitions, dtype="int64", **options):
    """A case whose partitions are pairs of the class's name and its argument."""

    def case(lib):
        parts = [getattr(lib.RaggedFeature, name)(argument) for name, argument in partitions]
        spec = {"r": lib.RaggedFeature(dtype, "v", parts, **options)}
        return (
            lib.parse_example(data, spec) if isinstance(data, list) else lib.parse_single_example(data, spec)
        )

    return case


@tf_rule("3 Ragged fields")
def test_the_class_and_its_partitions_are_tuples():
    for space in (tensorflow().io, tfr):
        cls = space.RaggedFeature
        assert cls._fields == ("dtype", "value_key", "partitions", "row_splits_dtype", "validate")
        feature = cls(np.float32)
        assert (feature.value_key, tuple(feature.partitions), feature.validate) == (None, (), False)
        assert feature.row_splits_dtype in ("int32", tensorflow().int32)
        for name in ("RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds"):
            assert getattr(cls, name)("k") == ("k",)
            assert getattr(cls, name)._fields == ("key",)
        assert cls.UniformRowLength(3) == (3,)
        assert cls.UniformRowLength._fields == ("length",)


@tf_rule("3 Ragged without partitions")
@pytest.mark.parametrize(
    ("body", "dtype", "values"),
    [
        (ints(3, 1), "int64", [3, 1]),
        (floats(1.5), "float32", [1.5]),
        (strings(b"a", b""), "string", [b"a", b""]),
    ],
)
def test_without_partitions(body, dtype, values):
    data = example(entry(b"v", body))
    check(ragged(data, dtype=dtype), {"r": values})
    check(
        ragged([NONE, data, data], dtype=dtype), {"r": ([[0, 0, len(values), 2 * len(values)]], values * 2)}
    )
    check(ragged(NONE, dtype=dtype), {"r": []})


@tf_rule("3 Ragged value_key")
def test_value_key_is_the_key_by_default():
    data = record()
    check(lambda lib: lib.parse_single_example(data, {"v": lib.RaggedFeature("int64")}), {"v": list(VALUES)})
    check(
        lambda lib: lib.parse_example([data], {"v": lib.RaggedFeature("int64")}),
        {"v": ([[0, 6]], list(VALUES))},
    )


PARTITIONS = [
    ("RowSplits", [0, 2, 2, 6]),
    ("RowLengths", [2, 0, 4]),
    ("RowStarts", [0, 2, 2]),
    ("RowLimits", [2, 2, 6]),
    ("ValueRowIds", [0, 0, 2, 2, 2, 2]),
]


@tf_rule("3 Ragged partitions")
@pytest.mark.parametrize(("name", "part"), PARTITIONS, ids=[name for name, _ in PARTITIONS])
def test_each_partition_alone(name, part):
    data = record(p=part)
    check(ragged(data, (name, "p")), {"r": ([[0, 2, 2, 6]], list(VALUES))})
    check(ragged([data, data], (name, "p")), {"r": ([[0, 3, 6], [0, 2, 2, 6, 8, 8, 12]], list(VALUES) * 2)})


@tf_rule("3 Ragged rank")
@pytest.mark.parametrize(
    ("outer", "outer_part"), [("RowSplits", [0, 1, 3]), ("RowLengths", [1, 2]), ("ValueRowIds", [0, 1, 1])]
)
@pytest.mark.parametrize(("inner", "inner_part"), PARTITIONS, ids=[name for name, _ in PARTITIONS])
def test_partitions_are_listed_outermost_first(outer, outer_part, inner, inner_part):
    data = record(o=outer_part, i=inner_part)
    check(ragged(data, (outer, "o"), (inner, "i")), {"r": ([[0, 1, 3], [0, 2, 2, 6]], list(VALUES))})
    check(
        ragged([data, data], (outer, "o"), (inner, "i")),
        {"r": ([[0, 2, 4], [0, 1, 3, 4, 6], [0, 2, 2, 6, 8, 8, 12]], list(VALUES) * 2)},
    )


@tf_rule("3 Ragged uniform innermost")
def test_innermost_uniform_lengths_are_dimensions():
    data = record(p=[1, 2])
    rows = np.reshape(VALUES, (3, 2)).tolist()
    check(ragged(data, ("RowLengths", "p"), ("UniformRowLength", 2)), {"r": ([[0, 1, 3]], rows)})
    check(
        ragged([data, data], ("RowLengths", "p"), ("UniformRowLength", 2)),
        {"r": ([[0, 2, 4], [0, 1, 3, 4, 6]], rows * 2)},
    )
    check(
        ragged([data], ("UniformRowLength", 3), ("UniformRowLength", 2)),
        lambda found: found["r"].values.shape == (1, 3, 2) and found["r"].splits == [("int32", [0, 1])],
    )


@tf_rule("3 Ragged uniform outer")
def test_outer_uniform_lengths_stay_ragged():
    data = record(p=[1, 2, 0, 3])
    check(
        ragged(data, ("UniformRowLength", 2), ("RowLengths", "p")),
        {"r": ([[0, 2, 4], [0, 1, 3, 3, 6]], list(VALUES))},
    )
    check(
        ragged([data, data], ("UniformRowLength", 2), ("RowLengths", "p")),
        {"r": ([[0, 2, 4], [0, 2, 4, 6, 8], [0, 1, 3, 3, 6, 7, 9, 9, 12]], list(VALUES) * 2)},
    )


@tf_rule("3 Ragged uniform only")
def test_single_with_uniform_lengths_only_is_dense():
    check(
        ragged(record(), ("UniformRowLength", 2)),
        lambda found: found["r"] == Dense("int64", (3, 2), [[1, 2], [3, 4], [5, 6]]),
    )
    check(
        ragged(record(), ("UniformRowLength", 3), ("UniformRowLength", 2)),
        lambda found: found["r"].shape == (1, 3, 2),
    )


@tf_rule("3 Ragged uniform remainder")
def test_uniform_length_that_leaves_a_rest():
    text = "Input to reshape is a tensor with 6 values, but the requested shape requires a multiple of 4"
    check(ragged(record(), ("UniformRowLength", 4)), invalid(text))
    check(ragged([record()], ("UniformRowLength", 4)), invalid(text))


@tf_rule("3 Ragged splits type")
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_splits_have_the_asked_type(dtype):
    def of_type(depth):
        return lambda found: [kind for kind, _ in found["r"].splits] == [dtype] * depth

    data = record(p=[2, 4])
    given = getattr(np, dtype)
    check(ragged([data], row_splits_dtype=given), of_type(1))
    check(ragged(data, ("RowLengths", "p"), row_splits_dtype=given), of_type(1))
    check(ragged([data], ("RowLengths", "p"), row_splits_dtype=given), of_type(2))


@tf_rule("3 Ragged partitions are int64")
def test_partition_features_are_int64():
    data = example(entry(b"v", ints(1)), entry(b"p", floats(1)))
    text = "Data types don't match. Expected type: int64, Actual type: float"
    check(ragged(data, ("RowLengths", "p")), invalid(f"Key: p.  {text}"))
    check(ragged([data], ("RowLengths", "p")), invalid(f"Name: <unknown>, Key: p, Index: 0.  {text}"))


@tf_rule("3 Ragged splits rebased")
def test_splits_of_each_example_are_rebased():
    first, second = record((1, 2, 3), p=[0, 1, 3]), record((4, 5), p=[0, 0, 2])
    check(
        ragged([first, second], ("RowSplits", "p")),
        {"r": ([[0, 2, 4], [0, 1, 3, 3, 5]], [1, 2, 3, 4, 5])},
    )


@tf_rule("3 Ragged value rows")
def test_value_row_ids_make_as_many_rows_as_the_last_says():
    first, second = record((1, 2), p=[0, 3]), record((4, 5), p=[1, 1])
    check(
        ragged([first, NONE, second], ("ValueRowIds", "p")),
        {"r": ([[0, 4, 4, 6], [0, 1, 1, 1, 2, 2, 4]], [1, 2, 4, 5])},
    )
    check(ragged(first, ("ValueRowIds", "p")), {"r": ([[0, 1, 1, 1, 2]], [1, 2])})


@tf_rule("3 Ragged not validated")
def test_wrong_lengths_pass_without_validation():
    check(
        ragged(record(p=[2, 1]), ("RowLengths", "p")),
        lambda found: found["r"].splits == [("int32", [0, 2, 3])],
    )
    check(ragged([record(p=[2, 1])], ("RowLengths", "p")), lambda found: found["r"].splits[1][1] == [0, 2, 3])


@tf_rule("3 Ragged validate")
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("RowLengths", [2, 1]),
        ("RowLengths", [-1, 7]),
        ("RowSplits", [0, 2]),
        ("RowSplits", [0, 4, 2, 6]),
    ],
    ids=str,
)
def test_validation_finds_wrong_partitions(name, part):
    for data in (record(p=part), [record(p=part)]):
        case = ragged(data, (name, "p"), validate=True)
        check(case, lambda found: isinstance(found, Failure) and found.name == "InvalidArgumentError")


@tf_rule("3 Ragged missing splits single")
def test_missing_row_splits_single():
    def case(lib):
        return {"rank": np.int64(len(ragged(NONE, ("RowSplits", "p"))(lib)["r"].shape))}

    check(case, wrong("Dimension -1 must be >= 0"))


@tf_rule("3 Ragged missing partitions")
@pytest.mark.parametrize(("name", "part"), PARTITIONS, ids=[name for name, _ in PARTITIONS])
def test_missing_partitions_in_a_batch_are_an_empty_row(name, part):
    data = record(p=part)
    check(
        ragged([NONE, data, NONE], (name, "p")),
        {"r": ([[0, 0, 3, 3], [0, 2, 2, 6]], list(VALUES))},
    )


@tf_rule("3 Ragged shares keys")
def test_features_may_share_a_value_key():
    data = record(p=[2, 4])

    def case(lib):
        cls = lib.RaggedFeature
        spec = {
            "v": cls("int64"),
            "r": cls("int64", "v", [cls.RowLengths("p")]),
            "u": cls("int64", "v", [cls.UniformRowLength(3)]),
            "p": cls("int64"),
        }
        return lib.parse_example([data], spec)

    check(
        case,
        {
            "v": ([[0, 6]], list(VALUES)),
            "r": ([[0, 2], [0, 2, 6]], list(VALUES)),
            "u": ([[0, 2]], [[1, 2, 3], [4, 5, 6]]),
            "p": ([[0, 2]], [2, 4]),
        },
    )


CONSTRUCTIONS = [
    pytest.param(
        lambda cls: cls(np.int32),
        wrong("Argument `dtype` must be int64, float32, or bytes; got"),
        marks=tf_rule("3 Ragged refused dtype"),
        id="dtype",
    ),
    pytest.param(
        lambda cls: cls("int64", ""),
        wrong("Argument `value_key` must not be empty"),
        marks=tf_rule("3 Ragged refused key"),
        id="empty key",
    ),
    pytest.param(
        lambda cls: cls("int64", 5),
        wrong("Argument `value_key` must be a string; got 5"),
        marks=tf_rule("3 Ragged refused key"),
        id="key",
    ),
    pytest.param(
        lambda cls: cls("int64", "v", (), np.float32),
        wrong("Argument `row_splits_dtype` must be int32 or int64; got"),
        marks=tf_rule("3 Ragged refused splits"),
        id="splits",
    ),
    pytest.param(
        lambda cls: cls("int64", "v", 5),
        Failure("TypeError", "Argument `partitions` must be a list or tuple"),
        marks=tf_rule("3 Ragged refused types"),
        id="partitions",
    ),
    pytest.param(
        lambda cls: cls("int64", "v", ["p"]),
        Failure("TypeError", "Argument `partitions` cannot be cast to any of the partition types in "),
        marks=tf_rule("3 Ragged refused types"),
        id="partition",
    ),
    pytest.param(
        lambda cls: cls("int64", "v", (), np.int32, 1),
        Failure("TypeError", "Argument `validate` must be a bool; got 1"),
        marks=tf_rule("3 Ragged refused types"),
        id="validate",
    ),
]


@pytest.mark.parametrize(("make", "failure"), CONSTRUCTIONS)
def test_constructor_errors(make, failure):
    reference = outcome(theirs(), lambda lib: make(lib.RaggedFeature))
    for space in (tensorflow().io, tfr):
        with pytest.raises((ValueError, TypeError)) as caught:
            make(space.RaggedFeature)
        assert type(caught.value).__name__ == failure.name == reference.name
        assert str(caught.value).startswith(failure.message)


V = record(i=[1])
CONFLICTS = [
    pytest.param(
        lambda lib: {"v": lib.RaggedFeature("int64"), "w": lib.RaggedFeature("float32", "v")},
        "Conflicting type",
        marks=tf_rule("3 conflicting types"),
        id="types",
    ),
    pytest.param(
        lambda lib: {
            "v": lib.SparseFeature("i", "v", "int64", 9),
            "w": lib.SparseFeature("i", "v", "float32", 9),
        },
        "Conflicting type",
        marks=tf_rule("3 conflicting types"),
        id="sparse types",
    ),
    pytest.param(
        lambda lib: {
            "a": lib.RaggedFeature("int64", "v", (), np.int32),
            "b": lib.RaggedFeature("int64", "v", (), np.int64),
        },
        "Conflicting partition type",
        marks=tf_rule("3 conflicting partitions"),
        id="partitions",
    ),
    pytest.param(
        lambda lib: {"v": lib.FixedLenFeature([], "int64"), "s": lib.SparseFeature("i", "v", "int64", 9)},
        "Dense and sparse keys must not intersect; dense_keys: ['v'], sparse_keys: ['i', 'v'], intersection: {'v'}",
        marks=tf_rule("3 dense and sparse keys"),
        id="dense and sparse",
    ),
    pytest.param(
        lambda lib: {"v": lib.VarLenFeature("int64"), "r": lib.RaggedFeature("int64", "v")},
        "Ragged and sparse keys must not intersect;",
        marks=tf_rule("3 ragged and sparse keys"),
        id="ragged and sparse",
    ),
]


@pytest.mark.parametrize(("spec", "message"), CONFLICTS)
def test_keys_in_conflict(spec, message):
    check(lambda lib: lib.parse_example([V], spec(lib)), wrong(message))
    check(lambda lib: lib.parse_single_example(V, spec(lib)), wrong(message))


@tf_rule("3 dense and ragged keys")
def test_dense_and_ragged_keys():
    def case(lib):
        spec = {"v": lib.FixedLenFeature([], "int64"), "r": lib.RaggedFeature("int64", "v")}
        return lib.parse_example([V], spec)

    for library in (theirs(), OURS, OURS_BY_DEFAULT):
        found = outcome(library, case)
        assert found.name == "ValueError"
        assert "Dense and ragged keys must not intersect; dense_keys: " in found.message


@tf_rule("3 Ragged without partitions")
def test_a_row_of_values_has_a_row_for_each_example():
    check(
        lambda lib: lib.parse_example([record((7,)), NONE], {"v": lib.RaggedFeature("int64")}),
        lambda found: found["v"] == Ragged([("int32", [0, 1, 1])], Dense("int64", (1,), [7])),
    )
