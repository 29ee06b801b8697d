"""SparseFeature in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import tensorflow
from tests.oracle.support.parsed import Dense, Sparse, check, invalid, wrong
from tests.oracle.support.wire import entry, example, floats, ints, strings
from tests.support.rules import tf_rule

NONE = example()


def record(indices, values, second=None):
    entries = [entry(b"i", ints(*indices)), entry(b"v", floats(*values))]
    if second is not None:
        entries.append(entry(b"j", ints(*second)))
    return example(*entries)


def sparse(data, index="i", size=10, dtype="float32", *, ordered=False):
    def case(lib):
        spec = {"s": lib.SparseFeature(index, "v", dtype, size, ordered)}
        return (
            lib.parse_example(data, spec) if isinstance(data, list) else lib.parse_single_example(data, spec)
        )

    return case


@tf_rule("3 Sparse fields")
def test_the_class_is_a_tuple_of_its_fields():
    for space in (tensorflow().io, tfr):
        feature = space.SparseFeature("i", "v", "int64", 5)
        assert feature._fields == ("index_key", "value_key", "dtype", "size", "already_sorted")
        assert tuple(feature) == ("i", "v", "int64", 5, False)


@tf_rule("3 Sparse shape")
def test_dense_shape_is_the_size():
    check(sparse(record([1, 4], [1.5, 2])), {"s": ([[1], [4]], [1.5, 2.0], [10])})
    check(
        sparse([record([1, 4], [1.5, 2]), NONE, record([0], [3])]),
        {"s": ([[0, 1], [0, 4], [2, 0]], [1.5, 2.0, 3.0], [3, 10])},
    )


@tf_rule("3 Sparse types")
@pytest.mark.parametrize(
    ("body", "dtype", "values"),
    [(ints(7, 8), "int64", [7, 8]), (strings(b"x", b"y"), "string", [b"x", b"y"])],
)
def test_values_of_each_type(body, dtype, values):
    data = example(entry(b"i", ints(2, 5)), entry(b"v", body))
    check(sparse(data, dtype=dtype), {"s": ([[2], [5]], values, [10])})
    check(sparse([data], dtype=dtype), {"s": ([[0, 2], [0, 5]], values, [1, 10])})


@tf_rule("3 Sparse several keys")
def test_one_column_for_each_index_key():
    data = record([1, 0], [1, 2], [3, 2])
    check(sparse(data, ["i", "j"], [4, 5]), {"s": ([[0, 2], [1, 3]], [2.0, 1.0], [4, 5])})
    check(sparse(data, ["j", "i"], [5, 4]), {"s": ([[2, 0], [3, 1]], [2.0, 1.0], [5, 4])})
    check(sparse([data, NONE], ["i", "j"], [4, 5]), {"s": ([[0, 0, 2], [0, 1, 3]], [2.0, 1.0], [2, 4, 5])})
    check(sparse([record([1], [1])], ["i"], [4]), {"s": ([[0, 1]], [1.0], [1, 4])})


@tf_rule("3 Sparse sorted")
def test_entries_are_sorted():
    check(sparse(record([4, 1, 3], [1, 2, 3])), {"s": ([[1], [3], [4]], [2.0, 3.0, 1.0], [10])})
    check(
        sparse([record([4, 1], [1, 2]), record([3, 0], [5, 6])]),
        {"s": ([[0, 1], [0, 4], [1, 0], [1, 3]], [2.0, 1.0, 6.0, 5.0], [2, 10])},
    )


@tf_rule("3 Sparse already_sorted")
def test_already_sorted_keeps_the_order():
    data = record([4, 1, 3], [1, 2, 3])
    check(sparse(data, ordered=True), {"s": ([[4], [1], [3]], [1.0, 2.0, 3.0], [10])})
    check(sparse([data], ordered=True), {"s": ([[0, 4], [0, 1], [0, 3]], [1.0, 2.0, 3.0], [1, 10])})


@tf_rule("3 Sparse unchecked")
@pytest.mark.parametrize("index", [-1, 10, 2**40, -(2**63)])
def test_indices_are_not_checked(index):
    check(sparse(record([index], [1])), {"s": ([[index]], [1.0], [10])})
    check(sparse([record([index], [1])]), {"s": ([[0, index]], [1.0], [1, 10])})


@tf_rule("3 Sparse duplicates")
def test_duplicates_stay_in_their_order():
    data = record([5, 3, 5, 3, 5], [1, 2, 3, 4, 5])
    check(sparse(data), {"s": ([[3], [3], [5], [5], [5]], [2.0, 4.0, 1.0, 3.0, 5.0], [10])})
    check(
        sparse([data]), {"s": ([[0, 3], [0, 3], [0, 5], [0, 5], [0, 5]], [2.0, 4.0, 1.0, 3.0, 5.0], [1, 10])}
    )


@tf_rule("3 Sparse mismatch")
@pytest.mark.parametrize(("indices", "values"), [([1, 2], [1]), ([1], [1, 2]), ([], [1])], ids=str)
def test_unequal_counts(indices, values):
    data = record(indices, values)
    message = f"Dimensions {len(indices)} and {len(values)} are not compatible"
    check(sparse(data), wrong(message))
    check(sparse([data]), wrong(message))


@tf_rule("3 Sparse index type")
def test_indices_must_be_int64():
    data = example(entry(b"i", floats(1)), entry(b"v", floats(1)))
    text = "Data types don't match. Expected type: int64, Actual type: float"
    check(sparse(data), invalid(f"Key: i.  {text}"))
    check(sparse([data]), invalid(f"Name: <unknown>, Key: i, Index: 0.  {text}"))


@tf_rule("3 Sparse missing")
def test_nothing_of_both_is_an_empty_tensor():
    none = Dense("float32", (0,), [])
    check(sparse(NONE), lambda found: found["s"] == Sparse([], none, [10]))
    check(sparse([NONE, NONE]), lambda found: found["s"] == Sparse([], none, [2, 10]))
    check(sparse([NONE], ["i", "j"], [4, 5]), lambda found: found["s"] == Sparse([], none, [1, 4, 5]))


@tf_rule("3 Sparse incomplete")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, "v", "float32", 5), "Missing index_key for SparseFeature"),
        (("i", None, "float32", 5), "Missing value_key for SparseFeature"),
        (("i", "v", None, 5), "Missing type for feature s."),
    ],
    ids=["index", "value", "type"],
)
def test_incomplete(arguments, message):
    check(lambda lib: lib.parse_example([NONE], {"s": lib.SparseFeature(*arguments)}), wrong(message))


@tf_rule("3 Sparse incomplete")
def test_as_many_sizes_as_index_keys():
    check(sparse([NONE], ["i", "j"], [5]), wrong(""))


@tf_rule("3 Sparse shares keys")
def test_features_may_share_keys():
    data = record([4, 1], [1, 2])

    def case(lib):
        spec = {
            "s": lib.SparseFeature("i", "v", "float32", 10),
            "t": lib.SparseFeature("i", "v", "float32", 20, True),
            "v": lib.VarLenFeature("float32"),
        }
        return lib.parse_example([data], spec)

    check(
        case,
        {
            "s": ([[0, 1], [0, 4]], [2.0, 1.0], [1, 10]),
            "t": ([[0, 4], [0, 1]], [1.0, 2.0], [1, 20]),
            "v": ([[0, 0], [0, 1]], [1.0, 2.0], [1, 2]),
        },
    )
