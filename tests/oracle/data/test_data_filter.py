"""filter in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

from tests.oracle.support.data_scenarios import USER, agree, attempt, expect, facts, fails, ours, theirs
from tests.support.rules import tf_rule


@tf_rule("5 filter")
@tf_rule("5 cardinality unknown")
def test_keeps_what_is_true():
    agree(lambda lib: lib.Dataset.range(6).filter(lambda x: x % 2 == 1), [1, 3, 5])


@tf_rule("5 filter")
@pytest.mark.parametrize("kept", [True, False])
def test_constant(kept):
    agree(lambda lib: lib.Dataset.range(3).filter(lambda x: kept), [0, 1, 2] if kept else [])


@tf_rule("5 filter")
def test_parts_of_tuples_are_arguments_and_dicts_are_not():
    agree(lambda lib: lib.Dataset.range(4).enumerate(2).filter(lambda i, x: i + x > 4), [(4, 2), (5, 3)])
    agree(lambda lib: lib.Dataset.from_tensor_slices({"a": [1, 2]}).filter(lambda d: d["a"] > 1), [{"a": 2}])


@tf_rule("5 filter type")
@pytest.mark.parametrize(
    ("predicate", "shown"),
    [
        (lambda lib: lambda x: x, "TensorSpec(shape=(), dtype=tf.int64, name=None)."),
        (lambda lib: lambda x: lib.full(2, x) == x, "TensorSpec(shape=(2,), dtype=tf.bool, name=None)."),
        (lambda lib: lib.text, "TensorSpec(shape=(), dtype=tf.string, name=None)."),
    ],
    ids=["number", "vector", "string"],
)
def test_what_is_no_bool(predicate, shown):
    """TensorFlow says so when it is built; tfrkit when the function runs, as it knows the type only then."""
    text = f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {shown}"
    case = lambda lib: lib.Dataset.range(3).filter(predicate(lib))  # noqa: E731
    expect(facts(theirs(), case), fails("ValueError", text))
    found = attempt(lambda: next(iter(case(ours()))))
    assert (found.name, found.message[: len(text)]) == ("ValueError", text)


@tf_rule("5 filter error")
def test_failing_function():
    agree(lambda lib: lib.Dataset.range(5).filter(lambda x: lib.check(x != 2, x > 0)), [1, USER, 3, 4])


@tf_rule("5 filter error")
def test_errors_of_the_input_pass():
    agree(
        lambda lib: lib.Dataset.range(5).map(lambda x: lib.check(x != 2, x)).filter(lambda x: x != 3),
        [0, 1, USER, 4],
    )


@tf_rule("5 filter")
def test_after_batch():
    agree(lambda lib: lib.Dataset.range(7).batch(3).filter(lambda x: lib.amount(x) != 12), [[0, 1, 2], [6]])
