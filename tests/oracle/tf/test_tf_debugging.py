"""Assertions: the same calls through TensorFlow and through tfrkit.tf, where they hold and where not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

PAIRS = [
    (1, 1), ([1, 2, 3], [1, 2, 4]), ([1, 2, 3, 4, 5], [1, 2, 4, 9, 9]), ([[1, 2], [3, 4]], [[1, 2], [3, 5]]),
    ([[1, 2], [3, 4]], [1, 2]), (1, [1, 2]), ([1, 2], [1, 2, 3]), (1, 1.0), (1.5, 2.5), ([], []), ([1, 1], 1),
    (float("nan"), float("nan")), ([2, 2], [1, 3]), (np.zeros((2, 2)), np.ones((2, 2))), (2, 1), ([0.1], [0.2]),
]  # fmt: skip
COMPARISONS = ["equal", "none_equal", "less", "less_equal", "greater", "greater_equal"]


@tf_rule("6 debugging.comparisons")
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name):
    for x, y in PAIRS:
        for options in ({}, {"message": "hi"}, {"summarize": 1}, {"summarize": -1}):
            same(lambda tf: getattr(tf.debugging, f"assert_{name}")(x, y, **options))
        same(lambda tf: getattr(tf.compat.v1, f"assert_{name}")(x, y, message="m"))
    same(lambda tf: getattr(tf.compat.v1.debugging, f"assert_{name}")([1], [1], ["q", 1]))
    same(lambda tf: getattr(tf.compat.v1, f"assert_{name}")([1, 3], [2, 2], data=["q", 1]))
    same(lambda tf: getattr(tf.compat.v1, f"assert_{name}")([1, 3], [2, 2], data=["q", 1], message="m"))


@tf_rule("6 debugging.comparisons")
def test_comparisons_of_other_types():
    same(lambda tf: tf.debugging.assert_equal(["a", "c"], ["a", "b"]))
    same(lambda tf: tf.debugging.assert_equal(True, False))
    same(lambda tf: tf.assert_equal(tf.constant(np.arange(100)), tf.constant(np.arange(100) + 1)))
    same(lambda tf: tf.assert_less(3, 2))
    same(lambda tf: tf.assert_greater(1, 2))
    fails(lambda tf: tf.debugging.assert_less(["a"], ["b"]), "InvalidArgumentError", "list of allowed values")
    fails(lambda tf: tf.debugging.assert_equal(1, None), "ValueError")


@tf_rule("6 debugging.signs")
@pytest.mark.parametrize("name", ["positive", "negative", "non_negative", "non_positive"])
def test_signs(name):
    for x in ([1, 2], [1, 0], 0, [1.5, -2.5], [-1, -2, -3, -4, -5, -6], [[1, 2], [0, -1]], [], -1):
        for options in ({}, {"message": "x"}, {"summarize": 2}):
            same(lambda tf: getattr(tf.debugging, f"assert_{name}")(x, **options))
    same(lambda tf: getattr(tf.compat.v1, f"assert_{name}")([0, -1, 1], data=["z"]))
    fails(lambda tf: getattr(tf.debugging, f"assert_{name}")(["a"]), "TypeError")


@tf_rule("6 debugging.assert_near")
def test_near():
    for x, y in (
        ([1.0, 2.0], [1.0, 2.1]),
        ([1.0, 2.0], [1.0, 2.0000001]),
        (np.float64(1), np.float64(1 + 1e-10)),
        (1, 2),
    ):
        same(lambda tf: tf.debugging.assert_near(x, y))
        same(lambda tf: tf.debugging.assert_near(x, y, summarize=1, message="m"))
    same(lambda tf: tf.debugging.assert_near(1.0, 1.5, rtol=0.5))
    same(lambda tf: tf.debugging.assert_near(1.0, 1.5, atol=0.25, rtol=0.1))
    same(lambda tf: tf.debugging.assert_near([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 5.0]]))


@tf_rule("6 debugging.ranks")
def test_ranks():
    for x in (1, [1, 2], [[1, 2]], "a"):
        for rank in (0, 1, 2):
            same(lambda tf: tf.debugging.assert_rank(x, rank))
            same(lambda tf: tf.debugging.assert_rank(x, rank, message="m"))
            same(lambda tf: tf.debugging.assert_rank_at_least(x, rank))
            same(lambda tf: tf.compat.v1.assert_rank(x, rank))
            same(lambda tf: tf.compat.v1.assert_rank_at_least(x, rank, message="m"))
        same(lambda tf: tf.debugging.assert_rank_in(x, (0, 2)))
        same(lambda tf: tf.compat.v1.assert_rank_in(x, (0, 1), message="m"))
        same(lambda tf: tf.debugging.assert_scalar(x))
        same(lambda tf: tf.debugging.assert_scalar(x, message="m"))
        same(lambda tf: tf.compat.v1.assert_scalar(x))
    fails(lambda tf: tf.debugging.assert_rank(1, 1.5), "TypeError")
    fails(lambda tf: tf.debugging.assert_rank(1, [1]), "ValueError", "Rank must be a scalar.")


@tf_rule("6 debugging.types")
def test_types():
    for x in (1, 1.5, "a", [True]):
        for dtype in ("int32", "float32", "string", "bool"):
            same(lambda tf: tf.debugging.assert_type(x, getattr(tf, dtype)))
            same(lambda tf: tf.compat.v1.assert_type(x, getattr(tf, dtype), message="m"))
        same(lambda tf: tf.debugging.assert_integer(x))
        same(lambda tf: tf.debugging.assert_integer(x, message="m"))
        same(lambda tf: tf.debugging.is_numeric_tensor(tf.constant(x)))
        same(lambda tf: tf.debugging.is_numeric_tensor(x))
    same(lambda tf: tf.debugging.assert_proper_iterable([1]))
    fails(lambda tf: tf.debugging.assert_proper_iterable("a"), "TypeError")
    fails(lambda tf: tf.debugging.assert_proper_iterable(1), "TypeError")
    same(lambda tf: tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)]))
    same(lambda tf: tf.debugging.assert_same_float_dtype())
    fails(lambda tf: tf.debugging.assert_same_float_dtype([tf.constant(1)]), "ValueError")
    different = ["float32", "float64"]
    fails(
        lambda tf: tf.debugging.assert_same_float_dtype([tf.constant(1.0, one) for one in different]),
        "ValueError",
    )


@tf_rule("6 debugging.assert_shapes")
def test_shapes():
    matrix, row = np.zeros((2, 3), "f4"), np.zeros(3, "f4")
    for shapes in (
        [(matrix, ("N", "M")), (row, ("M",))], [(matrix, ("N", "M")), (np.zeros(4, "f4"), ("M",))],
        [(matrix, ("N", 4))], [(matrix, ("N",))], [(matrix, ("N", "..."))], [(matrix, ("...", 4))],
        [(matrix, (None, 3)), (np.float32(0), ())], [(matrix, ("N", "N"))], [(matrix, "NM")], [(np.float32(0), (2,))],
        [(row, 3)], [(row, ())], [(row, ("a", "b"))], [(matrix, ("a", "b", "c"))],
    ):  # fmt: skip
        same(lambda tf: tf.debugging.assert_shapes([(tf.constant(x), shape) for x, shape in shapes]))
        same(
            lambda tf: tf.debugging.assert_shapes(
                [(tf.constant(x), shape) for x, shape in shapes], message="m"
            )
        )


@tf_rule("6 debugging.Assert")
def test_assert():
    for condition in (True, False):
        same(lambda tf: tf.debugging.Assert(condition, [1]))
        same(lambda tf: tf.Assert(condition, ["x is", 3]))
        same(lambda tf: tf.debugging.Assert(tf.constant(condition), [1.5]))
        same(lambda tf: tf.debugging.Assert(condition, [tf.constant([1, 2, 3, 4, 5]), "abc"]))
        same(lambda tf: tf.debugging.Assert(condition, [tf.constant([1, 2, 3, 4, 5])], summarize=5))


@tf_rule("6 debugging.check_numerics")
def test_check_numerics():
    nan, inf = float("nan"), float("inf")
    for x in ([1.0, nan], [1.0, inf], [1.0, -inf], [nan, inf], [1.0, 2.0], 1.0, nan):
        same(lambda tf: tf.debugging.check_numerics(x, "msg"))
        same(lambda tf: tf.debugging.assert_all_finite(x, "msg"))
        same(lambda tf: tf.compat.v1.verify_tensor_all_finite(x, "msg"))
    fails(
        lambda tf: tf.debugging.check_numerics([1, 2], "msg"),
        "InvalidArgumentError",
        "list of allowed values",
    )
