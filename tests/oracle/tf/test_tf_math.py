"""Functions of numbers in TensorFlow and in tfrkit.tf: values, types, and the types that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.oracle.support.cpu_dependent import cpu_dependent
from tests.oracle.support.tf_scenarios import same, same_lines
from tests.support.rules import tf_rule

TYPES = [
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "bool", "string",
]  # fmt: skip
EXACT = [
    "abs", "negative", "sign", "square", "sqrt", "floor", "math.ceil", "math.rint", "round", "math.is_nan",
    "math.is_inf", "math.is_finite", "logical_not", "bitwise.invert", "nn.relu", "nn.relu6",
]  # fmt: skip
CLOSE = [
    "exp", "math.expm1", "math.log", "math.log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "sigmoid", "math.softplus", "math.rsqrt", "math.reciprocal", "math.erf", "nn.elu",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "math.floordiv", "math.floormod", "maximum", "minimum", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "math.squared_difference", "math.divide_no_nan",
    "bitwise.bitwise_and", "bitwise.left_shift", "bitwise.right_shift",
    "logical_and", "logical_or", "math.logical_xor",
]  # fmt: skip
WITHIN = {"float16": 2e-3, "bfloat16": 2e-2, "complex64": 1e-6, "complex128": 1e-14, "float64": 1e-14}


def find(tf, name):
    for part in name.split("."):
        tf = getattr(tf, part)
    return tf


def numbers(dtype):
    if dtype == "string":
        return ["a", "b"]
    if dtype == "bool":
        return [True, False]
    if dtype.startswith("uint"):
        return [0, 1, 2, 100]
    if dtype.startswith("int"):
        return [0, 1, -1, 100, -7]
    if dtype.startswith("complex"):
        return [0.0, 1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 7.25]
    return [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 7.25]


def alike(case, within=0.0):
    """Compare, unless TensorFlow has no kernel for the type."""
    try:
        same(case, within=within)
    except AssertionError as error:
        if "Could not find device for node" not in str(error):
            raise


@tf_rule("6 functions")
@pytest.mark.parametrize("name", EXACT)
def test_exact_functions_of_every_type(name):
    for dtype in TYPES:
        alike(lambda tf, dtype=dtype: find(tf, name)(tf.constant(numbers(dtype), dtype)))


@cpu_dependent
@tf_rule("6 functions")
@pytest.mark.parametrize("name", CLOSE)
def test_other_functions_of_every_type(name):
    for dtype in TYPES:
        within = WITHIN.get(dtype, 1e-6)
        alike(lambda tf, dtype=dtype: find(tf, name)(tf.constant(numbers(dtype), dtype)), within)


@tf_rule("6 functions")
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name):
    for dtype in TYPES:
        shifted = numbers(dtype)[1:] + numbers(dtype)[1:2]
        within = 1e-6 if dtype.startswith("complex") else 0.0
        alike(
            lambda tf, dtype=dtype, shifted=shifted: find(tf, name)(
                tf.constant(numbers(dtype), dtype), tf.constant(shifted, dtype)
            ),
            within,
        )


@cpu_dependent
@tf_rule("6 functions")
@pytest.mark.parametrize("name", ["pow", "math.atan2"])
def test_other_functions_of_two_numbers(name):
    for dtype in TYPES:
        two = ["a", "b"] if dtype == "string" else [abs(number) or 1 for number in numbers(dtype)]
        two = [True, False] if dtype == "bool" else two
        alike(
            lambda tf, dtype=dtype, two=two: find(tf, name)(tf.constant(two, dtype), tf.constant(two, dtype)),
            WITHIN.get(dtype, 1e-6),
        )


@tf_rule("6 tensor operands")
def test_literals_among_arguments():
    same_lines(
        """
        tf.add(1, 2.5)
        tf.add(2.5, 1)
        tf.add(np.array([1]), np.array([1.5]))
        tf.add(a, np.array([1.5, 2]))
        tf.add(np.array([1.5, 2]), a)
        tf.add(1, f)
        tf.add([1, 2], f)
        tf.add(x=a, y=np.array([1.5, 2]))
        tf.maximum(1, 2.5)
        tf.maximum(2.5, a)
        tf.maximum(np.array([1.5]), a)
        tf.maximum(a, y=np.array([1.5]))
        tf.maximum(1, f)
        tf.equal(a, 1.5)
        tf.equal(1, f)
        tf.less(1, 2.5)
        tf.multiply(2, f)
        tf.multiply(2, 1.5)
        tf.divide(1, 2), tf.divide(a, 2), tf.math.divide(1.0, 2), tf.math.truediv(2, a)
        tf.divide(a, 1.5)
        tf.pow(2, 3), tf.pow(2, a)
        tf.pow(2.0, a)
        tf.math.mod(7.5, 2), tf.math.floordiv(-7, 2), tf.math.floormod(-7, 2)
        tf.logical_and(1, 0)
        tf.logical_and(a, a)
        tf.add(a, a, "sum"), tf.add(a, a, name="sum")
        tf.nn.relu(features=f), tf.nn.relu(f, name="r"), tf.math.atan2(x=f, y=[0.0, 0.0]), tf.sqrt(x=f)
        tf.nn.relu(x=f)
        tf.logical_not(x=[True, False]), tf.math.logical_xor(x=[True, False], y=[True, True])
        tf.math.logical_xor(a, a)
        tf.add_n([a, a]), tf.add_n([1, 2])
        tf.add_n([a, f])
        tf.add_n([])
        tf.add_n([f, [1, 2]])
        tf.add_n([a, tf.constant([1])])
        tf.add_n(["a", "b"])
        tf.abs([-1, 2]), tf.abs(3 + 4j), tf.abs("a") is None
        tf.round([0.5, 1.5, 2.5, -0.5]), tf.math.sign([-0.0, np.nan])
        tf.bitwise.left_shift(1, 40), tf.bitwise.left_shift(1, -1), tf.bitwise.right_shift(-5, 1)
        """,
        a=lambda tf: tf.constant([1, 2]),
        f=lambda tf: tf.constant([1.0, 2.0]),
    )


@cpu_dependent
@tf_rule("6 functions")
def test_matmul():
    same_lines(
        """
        tf.matmul([[1, 2], [3, 4]], [[1], [2]])
        tf.matmul(x, x, transpose_a=True)
        tf.matmul(x, x, transpose_b=True)
        tf.matmul(x, x)
        tf.matmul(x, x, adjoint_b=True)
        tf.matmul(x, x, transpose_a=True, adjoint_a=True)
        tf.matmul(tf.reshape(x, [1, 2, 3]), tf.reshape(x, [1, 3, 2]))
        tf.matmul(tf.ones([4, 2, 3]), tf.ones([3, 5]))
        tf.matmul(tf.ones([4, 2, 3]), tf.ones([2, 3, 5]))
        tf.matmul(tf.ones([4, 2, 3]), tf.ones([4, 2, 5]))
        tf.tensordot(x, x, [[0, 1], [0, 1]]), tf.tensordot(x, x, axes=0)
        tf.einsum("ij,kj->ik", x, x), tf.einsum("ij -> i", x)
        """,
        within=1e-6,
        x=lambda tf: tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    )


SHAPES = arrays.array_shapes(max_dims=3, max_side=5)
FLOATS = arrays.arrays(np.float32, SHAPES, elements=st.integers(-4000, 4000).map(lambda n: n / 4))
INTEGERS = arrays.arrays(np.int32, SHAPES)


@tf_rule("6 functions")
@settings(deadline=None, max_examples=30)
@given(FLOATS, st.integers(-400, 400).map(lambda n: n / 4))
def test_random_floats(values, other):
    same(lambda tf: [tf.constant(values) + other, tf.constant(values) - other, tf.constant(values) * other])
    same(lambda tf: [tf.constant(values) // other, tf.constant(values) % other, tf.constant(values) / other])
    same(
        lambda tf: [tf.constant(values) < other, tf.round(values), tf.floor(values), tf.sqrt(tf.abs(values))]
    )
    same(lambda tf: [tf.reduce_max(values, 0), tf.argmax(values, -1), tf.sort(values), tf.argsort(values)])
    same(lambda tf: [tf.cast(values, "int32"), tf.cast(values, "uint8"), tf.saturate_cast(values, "uint8")])


@tf_rule("6 reductions")
@settings(deadline=None, max_examples=30)
@given(FLOATS)
def test_random_sums(values):
    scale = float(np.abs(values).sum()) or 1.0
    spread = 1e-6 * scale
    for function in ("reduce_sum", "reduce_mean"):
        for axis in (None, 0, -1):
            pair = []
            same(
                lambda tf, axis=axis, f=function, pair=pair: pair.append(getattr(tf, f)(values, axis).numpy())
            )
            assert np.allclose(*pair, rtol=0, atol=spread)


@tf_rule("6 functions")
@settings(deadline=None, max_examples=30)
@given(INTEGERS, st.integers(1, 1000))
def test_random_integers(values, other):
    same(lambda tf: [tf.constant(values) + other, tf.constant(values) * other, tf.constant(values) // -other])
    same(lambda tf: [tf.constant(values) % other, tf.constant(values) / other, tf.constant(values) ^ other])
    same(
        lambda tf: [
            tf.reduce_sum(values),
            tf.reduce_mean(values, 0),
            tf.reduce_prod(values),
            tf.cumsum(values),
        ]
    )
    same(lambda tf: [tf.cast(values, "uint8"), tf.cast(values, "float32"), tf.saturate_cast(values, "int8")])
