"""reduce, get_single_element and apply in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.support.data_scenarios import USER, agree, agree_on, attempt, fails, ours, theirs, value
from tests.support.rules import tf_rule

ZERO = np.int64(0)


@tf_rule("5 reduce")
@pytest.mark.parametrize(
    ("start", "function", "result"),
    [
        (ZERO, lambda state, x: state + x, 10),
        ((ZERO, np.int64(1)), lambda state, x: (state[0] + x, state[1] * 2), (10, 32)),
        ({"n": ZERO}, lambda state, x: {"n": state["n"] + x}, {"n": 10}),
        (np.zeros(2, np.int64), lambda state, x: state + x, [10, 10]),
        (np.float32(0.5), lambda state, x: state * 2, 16.0),
    ],
    ids=["number", "tuple", "dict", "vector", "float"],
)
def test_reduce(start, function, result):
    agree_on(lambda lib: lib.Dataset.range(5).reduce(start, function), result)


@tf_rule("5 reduce")
def test_reduce_of_nothing_is_the_start():
    agree_on(lambda lib: lib.Dataset.range(0).reduce(np.int64(7), lambda state, x: state + x), 7)
    agree_on(lambda lib: lib.Dataset.range(0).reduce(3, lambda state, x: state), 3)


@tf_rule("5 reduce")
def test_element_is_one_argument():
    agree_on(
        lambda lib: lib.Dataset.range(5).enumerate().reduce(ZERO, lambda state, x: state + x[0] * x[1]), 30
    )
    agree_on(
        lambda lib: lib.Dataset.from_tensor_slices(["a", "b"]).reduce("", lambda state, x: state + x), b"ab"
    )


@tf_rule("5 reduce")
def test_shape_of_the_state_may_change():
    agree_on(
        lambda lib: lib.Dataset.range(3).reduce(np.zeros(0, np.int64), lambda state, x: lib.full(x + 1, x)),
        [2, 2, 2],
    )


@tf_rule("5 reduce types")
def test_state_of_another_type():
    text = "The element types for the new state must match the initial state."
    agree_on(
        lambda lib: lib.Dataset.range(5).reduce(np.int32(0), lambda state, x: x),
        fails("TypeError", text + " Expected <dtype: 'int32'> but got <dtype: 'int64'>."),
    )


@tf_rule("5 reduce error")
def test_errors_end_reduce():
    agree_on(
        lambda lib: lib.Dataset.range(5).reduce(ZERO, lambda state, x: lib.check(x != 3, state + x)), USER
    )
    agree_on(
        lambda lib: (
            lib.Dataset.range(5).map(lambda x: lib.check(x != 3, x)).reduce(ZERO, lambda state, x: state + x)
        ),
        USER,
    )


@tf_rule("5 get_single_element")
def test_single_element():
    agree_on(lambda lib: lib.Dataset.range(3, 4).get_single_element(), 3)
    agree_on(lambda lib: lib.Dataset.range(3).batch(9).get_single_element(), [0, 1, 2])
    agree_on(lambda lib: lib.Dataset.from_tensors({"a": ["x"]}).get_single_element(), {"a": [b"x"]})


@tf_rule("5 get_single_element")
def test_none_or_several():
    agree_on(
        lambda lib: lib.Dataset.range(0).get_single_element(),
        fails("InvalidArgumentError", "Dataset was empty."),
    )
    several = fails("InvalidArgumentError", "Dataset had more than one element.")
    agree_on(lambda lib: lib.Dataset.range(2).get_single_element(), several)
    agree_on(lambda lib: lib.Dataset.range(1).repeat().get_single_element(), several)


@tf_rule("5 get_single_element")
@pytest.mark.parametrize("fail", [0, 1])
def test_single_element_that_fails(fail):
    agree_on(
        lambda lib: lib.Dataset.range(2).map(lambda x: lib.check(x != fail, x)).get_single_element(), USER
    )


@tf_rule("5 apply")
def test_apply():
    agree(lambda lib: lib.Dataset.range(5).apply(lambda ds: ds.batch(2)), [[0, 1], [2, 3], [4]])


@tf_rule("5 apply")
def test_apply_wants_a_dataset():
    text = "`transformation_func` must return a `tf.data.Dataset` object. Got <class 'int'>."
    agree_on(lambda lib: lib.Dataset.range(5).apply(lambda ds: 3), fails("TypeError", text))


@tf_rule("5 reduce types")
def test_state_of_another_structure():
    number = "The number of components of the initial state and the reduce function output does not match."
    found = value(theirs(), lambda lib: lib.Dataset.range(5).reduce(ZERO, lambda state, x: (state, x)))
    assert found.message.startswith(number)
    mine = attempt(lambda: ours().Dataset.range(5).reduce(ZERO, lambda state, x: (state, x)))
    assert (mine.name, mine.message[: len(number)]) == (found.name, number)
