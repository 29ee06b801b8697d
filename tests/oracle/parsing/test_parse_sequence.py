"""parse_sequence_example and parse_single_sequence_example in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.support.parsed import (
    OURS,
    OURS_BY_DEFAULT,
    Dense,
    Failure,
    Ragged,
    Sparse,
    check,
    invalid,
    outcome,
    wrong,
)
from tests.oracle.support.wire import (
    entry,
    example,
    feature_list,
    field,
    floats,
    ints,
    sequence_example,
    strings,
)
from tests.support.rules import tf_rule


def record(context=(), **lists):
    """A SequenceExample; lists are rows of bodies of Features."""
    return sequence_example(
        context, [entry(key.encode(), feature_list(*rows)) for key, rows in lists.items()]
    )


N = entry(b"n", ints(5))
STEPS = record([N], t=[ints(1), ints(2), ints(3)])
SHORT = record([N], t=[ints(9)])
RAGGED = record([N], t=[ints(1, 2), ints(), ints(3)])
NONE = record([N])
UNKNOWN = "Name: <unknown>, "


def sequence(data, context=None, lists=None, **options):
    """A case: functions of the library that make the specs."""

    def case(lib):
        specs = (context(lib) if context else None, lists(lib) if lists else None)
        if isinstance(data, list):
            return lib.parse_sequence_example(data, *specs, **options)
        return lib.parse_single_sequence_example(data, *specs, **options)

    return case


def fixed(dtype="int64", shape=(), default=None):
    return lambda lib: {"n": lib.FixedLenFeature(list(shape), dtype, default)}


def steps(dtype="int64", shape=(), **options):
    return lambda lib: {"t": lib.FixedLenSequenceFeature(list(shape), dtype, **options)}


def variable(dtype="int64"):
    return lambda lib: {"t": lib.VarLenFeature(dtype)}


def ragged(dtype="int64"):
    return lambda lib: {"t": lib.RaggedFeature(dtype)}


@tf_rule("3 sequence results")
def test_what_comes_back():
    check(sequence([STEPS, SHORT], fixed(), steps()), lambda found: len(found) == 3)
    check(sequence(STEPS, fixed(), steps()), lambda found: len(found) == 2)
    check(sequence([STEPS], fixed()), ({"n": [5]}, {}, {}))
    check(sequence([STEPS], None, steps()), ({}, {"t": [[1, 2, 3]]}, {"t": [3]}))


@tf_rule("3 sequence FixedLenSequence")
def test_steps():
    check(sequence(STEPS, fixed(), steps()), ({"n": 5}, {"t": [1, 2, 3]}))
    check(
        sequence([STEPS, SHORT], fixed(), steps()),
        ({"n": [5, 5]}, {"t": [[1, 2, 3], [9, 0, 0]]}, {"t": [3, 1]}),
    )
    pairs = record(t=[ints(1, 2), ints(3, 4)])
    check(sequence(pairs, None, steps(shape=[2])), ({}, {"t": [[1, 2], [3, 4]]}))
    check(sequence([pairs], None, steps(shape=[1, 2])), ({}, {"t": [[[[1, 2]], [[3, 4]]]]}, {"t": [2]}))
    words = record(t=[strings(b"a"), strings(b"b")])
    check(
        sequence([words, record(t=[strings(b"c")])], None, steps("string")),
        ({}, {"t": [[b"a", b"b"], [b"c", b""]]}, {"t": [2, 1]}),
    )
    check(sequence(record(t=[floats(1.5)]), None, steps("float32")), ({}, {"t": [1.5]}))


@tf_rule("3 sequence lengths")
def test_lengths_are_int64():
    check(
        sequence([STEPS, SHORT], None, steps()),
        lambda found: found[2] == {"t": Dense("int64", (2,), [3, 1])},
    )
    case = lambda lib: lib.parse_sequence_example(STEPS, None, steps()(lib))  # noqa: E731
    check(case, lambda found: found[2] == {"t": Dense("int64", (), 3)})


@tf_rule("3 sequence VarLen")
def test_variable_lists():
    check(sequence(RAGGED, None, variable()), ({}, {"t": ([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 2])}))
    check(
        sequence([RAGGED, SHORT], None, variable()),
        lambda found: (
            found[1]
            == {
                "t": Sparse(
                    [[0, 0, 0], [0, 0, 1], [0, 2, 0], [1, 0, 0]],
                    Dense("int64", (4,), [1, 2, 3, 9]),
                    [2, 3, 2],
                )
            }
        ),
    )


@tf_rule("3 sequence Ragged")
def test_ragged_lists():
    check(
        sequence(RAGGED, None, ragged()),
        lambda found: found[1] == {"t": Ragged([("int32", [0, 2, 2, 3])], Dense("int64", (3,), [1, 2, 3]))},
    )
    check(
        sequence([RAGGED, SHORT], None, ragged()),
        lambda found: (
            found[1]
            == {
                "t": Ragged(
                    [("int32", [0, 3, 4]), ("int32", [0, 2, 2, 3, 4])], Dense("int64", (4,), [1, 2, 3, 9])
                )
            }
        ),
    )


@tf_rule("3 sequence context")
def test_context_takes_three_kinds():
    data = record([N, entry(b"v", ints(1, 2)), entry(b"w", strings(b"x"))], t=[ints(1)])

    def context(lib):
        return {
            "n": lib.FixedLenFeature([], "int64"),
            "v": lib.VarLenFeature("int64"),
            "w": lib.RaggedFeature("string"),
            "d": lib.FixedLenFeature([2], "float32", [1, 2]),
        }

    check(
        sequence(data, context),
        ({"n": 5, "v": ([[0], [1]], [1, 2], [2]), "w": [b"x"], "d": [1.0, 2.0]}, {}),
    )
    check(
        sequence([data, data], context),
        (
            {
                "n": [5, 5],
                "v": ([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 1, 2], [2, 2]),
                "w": ([[0, 1, 2]], [b"x", b"x"]),
                "d": [[1.0, 2.0], [1.0, 2.0]],
            },
            {},
            {},
        ),
    )


@tf_rule("3 sequence unsupported")
def test_other_features_are_refused():
    check(
        sequence([STEPS], None, lambda lib: {"t": lib.FixedLenFeature([], "int64")}),
        lambda f: (
            f.name == "ValueError"
            and f.message.startswith("Unsupported FixedLenFeature FixedLenFeature(shape=[], dtype=")
        ),
    )
    check(
        sequence([STEPS], lambda lib: {"n": lib.SparseFeature("i", "v", "int64", 5)}),
        wrong("Unsupported SparseFeature SparseFeature(index_key='i', value_key='v', dtype="),
    )
    check(
        sequence(STEPS, lambda lib: {"n": lib.FixedLenSequenceFeature([], "int64", True)}),
        wrong("Unsupported FixedLenSequenceFeature FixedLenSequenceFeature("),
    )


@tf_rule("3 sequence nothing asked")
def test_neither_context_nor_lists():
    check(
        sequence([STEPS]),
        wrong(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        ),
    )
    check(
        sequence(STEPS),
        wrong("Both context_features and sequence_features are None, but at least one should have values."),
    )


@tf_rule("3 sequence default")
def test_steps_have_no_default():
    check(
        sequence([STEPS], None, steps(default_value=7)),
        lambda found: isinstance(found, Failure) and found.name == "ValueError",
    )
    check(
        sequence([STEPS], None, steps(default_value=7)),
        wrong("Value feature_list.dense_defaults[t] must be None"),
    )


REQUIRED = (
    "Feature list 't' is required but could not be found.  Did you mean to include it in "
    "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
)


@tf_rule("3 sequence missing steps")
def test_missing_steps():
    check(sequence(NONE, None, steps()), invalid(UNKNOWN + REQUIRED))
    check(sequence([STEPS, NONE], None, steps()), invalid(UNKNOWN + REQUIRED))
    check(sequence([STEPS, NONE], None, steps(), example_names=["x", "y"]), invalid("Name: y, " + REQUIRED))


@tf_rule("3 sequence allow_missing")
def test_missing_steps_may_be_allowed():
    check(sequence(NONE, None, steps(allow_missing=True)), ({}, {"t": []}))
    check(
        sequence([NONE, STEPS], None, steps(allow_missing=True)),
        ({}, {"t": [[0, 0, 0], [1, 2, 3]]}, {"t": [0, 3]}),
    )


@tf_rule("3 sequence missing variable")
def test_missing_variable_lists_are_empty():
    nothing = Dense("int64", (0,), [])
    check(sequence(NONE, None, variable()), lambda found: found[1]["t"] == Sparse([], nothing, [0, 0]))
    check(sequence([NONE], None, variable()), lambda found: found[1]["t"] == Sparse([], nothing, [1, 0, 0]))
    check(sequence(NONE, None, ragged()), lambda found: found[1]["t"] == Ragged([("int32", [0])], nothing))
    check(
        sequence([NONE], None, ragged()),
        lambda found: found[1]["t"] == Ragged([("int32", [0, 0]), ("int32", [0])], nothing),
    )


@tf_rule("3 sequence empty list")
def test_a_list_without_steps_is_fine():
    empty = record([N], t=[])
    check(sequence(empty, None, steps()), ({}, {"t": []}))
    check(sequence([empty, SHORT], None, steps()), ({}, {"t": [[0], [9]]}, {"t": [0, 1]}))


@tf_rule("3 sequence step count")
@pytest.mark.parametrize(
    ("shape", "counts", "index"),
    [
        ((), [1, 0], 1),
        ((), [1, 2], 1),
        ((), [0], 0),
        ((2,), [1, 3], 0),
        ((2,), [2, 4], 1),
        ((3, 1), [3, 1, 5], 1),
    ],
    ids=str,
)
def test_wrong_count_in_a_step(shape, counts, index):
    data = record(t=[ints(*range(count)) for count in counts])
    printed = "[" + ",".join(map(str, shape)) + "]"
    text = f"Key: t, Index: {index}.  Number of values != expected.  "
    text += f"values size: {counts[index]} but output shape: {printed}"
    check(sequence(data, None, steps(shape=shape)), invalid(UNKNOWN + text))
    check(sequence([data], None, steps(shape=shape)), invalid(UNKNOWN + text))


@tf_rule("3 sequence total count")
@pytest.mark.parametrize("shape", [(2,), (3, 1)], ids=str)
def test_wrong_count_in_all_steps_together(shape):
    data = record(t=[ints(*range(int(np.prod(shape)))), ints(1)])
    count = int(np.prod(shape)) + 1
    printed = ",".join(map(str, ("?", *shape)))
    text = "Feature list 't' has an unexpected number of values.  "
    text += f"Total values size: {count} is not consistent with output shape: [{printed}]"
    for case in (sequence(data, None, steps(shape=shape)), sequence([data], None, steps(shape=shape))):
        check(case, invalid(text), OURS)
        clearer = (
            UNKNOWN + "Key: t, Index: 1.  Number of values != expected.  values size: 1 but output shape: "
        )
        assert outcome(OURS_BY_DEFAULT, case).message.startswith(clearer)


@tf_rule("3 sequence unset step")
def test_an_unset_step_has_no_values():
    data = record(t=[ints(1), b"", ints(2)])
    check(sequence(data, None, variable()), ({}, {"t": ([[0, 0], [2, 0]], [1, 2], [3, 1])}))
    check(sequence(data, None, ragged()), ({}, {"t": ([[0, 1, 1, 2]], [1, 2])}))
    text = "Key: t, Index: 1.  Number of values != expected.  values size: 0 but output shape: []"
    check(sequence(data, None, steps()), invalid(UNKNOWN + text))


@tf_rule("3 sequence list type")
@pytest.mark.parametrize("body", [ints(1), ints()], ids=["value", "empty"])
def test_a_step_of_another_type(body):
    data = record(t=[floats(1), body])
    text = "Feature list: t, Index: 1.  Data types don't match. Expected type: float"
    for lists in (steps("float32"), variable("float32"), ragged("float32")):
        check(sequence(data, None, lists), invalid(UNKNOWN + text))
        check(sequence([data], None, lists), invalid(UNKNOWN + text))


@tf_rule("3 sequence context type")
@pytest.mark.parametrize("kind", ["FixedLen", "VarLen", "Ragged"])
def test_a_context_feature_of_another_type(kind):
    def context(lib):
        made = {
            "FixedLen": lib.FixedLenFeature([], "float32"),
            "VarLen": lib.VarLenFeature("float32"),
            "Ragged": lib.RaggedFeature("float32"),
        }
        return {"n": made[kind]}

    text = "Context feature: n.  Data types don't match. Expected type: float"
    check(sequence(STEPS, context), invalid(UNKNOWN + text))
    check(sequence([STEPS], context), invalid(UNKNOWN + text))


@tf_rule("3 sequence context count")
def test_a_context_feature_missing_or_of_another_count():
    text = "Inconsistent max number of elements for feature n: expected {}, but found {}"
    for data in (record(), record([entry(b"n", b"")])):
        for case in (sequence(data, fixed()), sequence([data], fixed())):
            check(case, invalid(text.format(1, 0)), OURS)
            clearer = "Feature: n (data type: int64) is required but could not be found."
            assert outcome(OURS_BY_DEFAULT, case).message.startswith(clearer)
    two = record([entry(b"n", ints(1, 2))])
    for case, wanted in ((sequence([two], fixed()), 1), (sequence(two, fixed(shape=[3])), 3)):
        check(case, invalid(text.format(wanted, 2)), OURS)
        assert outcome(OURS_BY_DEFAULT, case).name == "InvalidArgumentError"


@tf_rule("3 sequence context required")
def test_a_context_feature_that_another_example_has():
    message = "Feature: n (data type: int64) is required but could not be found."
    check(sequence([record(), STEPS], fixed()), invalid(message))


@tf_rule("3 sequence context default")
def test_context_defaults():
    check(sequence(record(), fixed(default=7)), ({"n": 7}, {}))
    check(sequence([record(), STEPS], fixed(default=7)), ({"n": [7, 5]}, {}, {}))
    unset = record([entry(b"n", b"")])
    message = "Unexpected number of elements in example {}"
    check(sequence(unset, fixed(default=7)), invalid(message.format("<unknown>")), OURS)
    assert outcome(OURS_BY_DEFAULT, sequence(unset, fixed(default=7))) == ({"n": Dense("int64", (), 7)}, {})
    check(
        sequence([STEPS, unset], fixed(default=7), example_names=["x", "y"]),
        invalid(message.format("y")),
        OURS,
    )


@tf_rule("3 sequence damage")
@pytest.mark.parametrize(
    "data", [b"nonsense", STEPS[:-1], field(1, b"\x12\x00")], ids=["text", "cut", "context"]
)
def test_damage_of_the_whole_message(data):
    message = "Invalid protocol message input, example id: {}"
    check(sequence(data, fixed(), steps()), invalid(message.format("<unknown>")), OURS)
    check(
        sequence([STEPS, data], fixed(), steps(), example_names=["x", "y"]),
        invalid(message.format("y")),
        OURS,
    )
    found = outcome(OURS_BY_DEFAULT, sequence(data, fixed(), steps()))
    assert isinstance(found, Failure) or data == field(1, b"\x12\x00")


@tf_rule("3 sequence entry order")
def test_a_map_entry_is_key_then_value():
    swapped = field(1, field(2, ints(5)) + field(1, b"n"))
    data = field(1, swapped)
    check(sequence(data, fixed()), invalid("Invalid protocol message input, example id: <unknown>"), OURS)
    assert outcome(OURS_BY_DEFAULT, sequence(data, fixed())) == ({"n": Dense("int64", (), 5)}, {})
    lists = field(2, field(1, field(2, feature_list(ints(1))) + field(1, b"t")))
    check(
        sequence(lists, None, steps()), invalid("Invalid protocol message input, example id: <unknown>"), OURS
    )


@tf_rule("3 sequence duplicates")
def test_of_duplicate_keys_the_last_wins():
    data = sequence_example(
        [N, entry(b"n", ints(6))],
        [entry(b"t", feature_list(ints(1), ints(2))), entry(b"t", feature_list(ints(3)))],
    )
    check(sequence(data, fixed(), steps()), ({"n": 6}, {"t": [3]}))
    check(sequence([data, data], fixed(), steps()), ({"n": [6, 6]}, {"t": [[3], [3]]}, {"t": [1, 1]}))


@tf_rule("3 sequence as example")
def test_an_example_is_a_context_and_the_reverse():
    check(sequence(example(N), fixed()), ({"n": 5}, {}))
    check(lambda lib: lib.parse_single_example(STEPS, {"n": lib.FixedLenFeature([], "int64")}), {"n": 5})


@tf_rule("3 sequence single is a batch")
def test_single_has_the_texts_of_the_batch():
    check(sequence(NONE, None, steps()), invalid(UNKNOWN))
    check(sequence(NONE, None, steps(), example_name="x"), invalid("Name: x, "))


@tf_rule("3 sequence scalar input")
def test_the_batch_function_takes_one_record():
    def case(lib):
        return lib.parse_sequence_example(RAGGED, fixed()(lib), ragged()(lib))

    check(case, lambda found: found[0]["n"] == Dense("int64", (), 5))
