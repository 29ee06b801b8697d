"""Tensors in TensorFlow and in tfrkit.tf: constants, operators, indexing, text."""

from __future__ import annotations

import copy
import operator
import pickle

import numpy as np
import pytest

from tests.oracle.support.cpu_dependent import cpu_dependent
from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

TYPES = [
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "half", "bfloat16", "float32", "float64",
    "complex64", "complex128", "bool", "string",
]  # fmt: skip
PLAIN = [
    True, [True], 1, 1.5, 1j, "a", b"a", 2**40, 2**63, 300, -1, [1, 2**40], [1, 1.5], [True, 1], [1, True],
    [1.5, True],
    [1j, 1], [1, 1j], [], [[]], [[1, 2], [3, 4]], (1, 2), range(3), 1e300, 0.1, [0.1], float("nan"), [1, "a"],
    ["a", 1],
    [[1], [2, 3]], [1, [2]], None, [None], {}, bytearray(b"ab"), -(2**70), "é", "\ud800",
]  # fmt: skip
OF_NUMPY = [
    np.bool_(True), np.float64(1.5), np.int64(3), [np.float64(1.5)], [np.int64(2**40)], [np.bool_(True)],
    [1, np.int8(1)],
    np.array([1.7, -1.7]), np.array([300, -1]), np.array(["1"]), np.array([b"1"]), np.array([1.5, "a"], object),
    np.array([b"1"], object), np.zeros((0, 3)), np.array(5), [np.array([1, 2]), [3, 4]], np.array([1 + 2j]),
    np.datetime64("2020-01-01"), np.array([1, 2], ">i4"), np.str_("a"), [np.str_("a")], np.uint64(2**63),
    [np.int64(3), np.float32(1)], [2.5, np.int64(3)], np.arange(6).reshape(2, 3)[:, ::2],
]  # fmt: skip


def unlike(value, dtype):
    """Cases in which TensorFlow fails in a way that is not worth having: a SystemError, texts of other packages."""
    text = repr(value)
    if dtype == "string" and "datetime" in text:
        return True
    return (dtype == "uint64" and text in ("-1", str(-(2**70)))) or (
        dtype == "bfloat16" and text.startswith("array([")
    )


@tf_rule("6 tensor constants")
@pytest.mark.parametrize("dtype", [None, *TYPES])
def test_constant_of_python_values(dtype):
    for value in PLAIN:
        if not unlike(value, dtype):
            same(lambda tf, value=value: tf.constant(value, dtype))


@tf_rule("6 tensor constants")
@pytest.mark.parametrize("dtype", [None, *TYPES])
def test_constant_of_numpy_values(dtype):
    for value in OF_NUMPY:
        if not unlike(value, dtype):
            same(lambda tf, value=value: tf.constant(value, dtype))


@tf_rule("6 tensor constants")
def test_constant_with_a_shape():
    for value, shape in [
        (3, [2, 2]),
        ([1, 2, 3, 4], [2, 2]),
        ([1], [4]),
        ("a", [2]),
        (1, [0]),
        (1, []),
        ([1], ()),
    ]:
        same(lambda tf, value=value, shape=shape: tf.constant(value, shape=shape))
    for value, shape in [([1, 2, 3], [2, 2]), ([1, 2], [4]), ([], [2])]:
        fails(
            lambda tf, value=value, shape=shape: tf.constant(value, shape=shape),
            "TypeError",
            "unsupported shape",
        )
    fails(lambda tf: tf.constant(3, shape=-1), "ValueError", "Dimension -1 must be >= 0")
    fails(lambda tf: tf.constant(3, "nope"), "TypeError", "Cannot convert the argument `type_value`: 'nope'")


@tf_rule("6 tensor constants")
def test_convert_to_tensor():
    same(lambda tf: tf.convert_to_tensor(1, dtype_hint=tf.float32))
    same(lambda tf: tf.convert_to_tensor(1.5, dtype_hint=tf.int32))
    same(lambda tf: tf.convert_to_tensor(np.zeros(2), tf.float32))
    same(lambda tf: tf.convert_to_tensor([tf.constant([1, 2]), [3, 4]]))
    same(lambda tf: tf.convert_to_tensor([tf.constant(1, tf.int64), 2]))
    same(lambda tf: tf.convert_to_tensor([[tf.constant(1, tf.uint8), 2], [3, 4]]))
    same(lambda tf: tf.convert_to_tensor(tf.TensorShape([1, 2])))
    fails(lambda tf: tf.convert_to_tensor(tf.TensorShape([1, None])), "ValueError", "partially known")
    fails(
        lambda tf: tf.convert_to_tensor(tf.constant(1), tf.float32), "ValueError", "requested dtype float32"
    )
    fails(lambda tf: tf.convert_to_tensor([tf.constant(1), tf.constant(2.0)]), "InvalidArgumentError", "Pack")
    fails(
        lambda tf: tf.constant(tf.constant(1), tf.float32) and None,
        "TypeError",
        "Expected tensor 1 with dtype",
    )


@tf_rule("6 tensor constants")
def test_later_changes_of_an_array_do_not_show():
    def later(make):
        array = np.zeros((4, 4), np.float32)
        made = make(array)
        array[0] = 5
        return made

    same(lambda tf: [later(make) for make in (tf.constant, tf.convert_to_tensor, tf.identity)])
    same(lambda tf: later(lambda array: tf.reshape(array, [16])))
    same(lambda tf: later(tf.transpose))


OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "lt": operator.lt, "ge": operator.ge,
    "eq": operator.eq, "ne": operator.ne, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
}  # fmt: skip
OPERANDS = {
    "one": 1, "half": 1.5, "true": True, "text": "x", "int64": np.int64(1), "ints": np.array([1, 2]), "list": [1, 2],
    "floats": [1.5], "large": 2**40, "complex": 1j, "trues": [True], "bytes": b"x", "negative": -1, "300": 300,
    "nan": np.nan,
    "mixed": [1, "a"], "dict": {}, "none": [None],
}  # fmt: skip
LEFT = {
    "int32": [1, 2], "float32": [1.0, 2.0], "uint8": [1, 2], "bool": [True, False], "string": ["a", "b"],
    "complex128": [1 + 2j, 3], "int64": [5, -5],
}  # fmt: skip
WITHIN = {"complex128": 1e-13}  # quotients and powers of complex numbers are rounded otherwise
NOT_OF_NUMPY = {  # where TensorFlow leaves the work to numpy or fails for a reason of its own
    *((name, key, dtype) for name in ("or",) for key in OPERANDS for dtype in LEFT),
    *(("mul", key, "string") for key in ("ints", "int64")),
    *(("truediv", key, dtype) for key in ("ints", "int64") for dtype in ("bool", "string")),
    *((name, key, "complex128") for name in ("floordiv", "mod") for key in OPERANDS),
}  # fmt: skip


@cpu_dependent
@tf_rule("6 tensor operands")
@pytest.mark.parametrize("dtype", LEFT)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_with_python_and_numpy_values(name, dtype):
    apply = OPERATORS[name]
    for key, other in OPERANDS.items():
        if (name, key, dtype) not in NOT_OF_NUMPY:
            same(
                lambda tf, other=other: apply(tf.constant(LEFT[dtype], dtype), other),
                within=WITHIN.get(dtype, 0),
            )
            same(
                lambda tf, other=other: apply(other, tf.constant(LEFT[dtype], dtype)),
                within=WITHIN.get(dtype, 0),
            )


@cpu_dependent
@tf_rule("6 tensor operators")
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_with_tensors(name):
    apply = OPERATORS[name]
    for one, left in LEFT.items():
        for two, right in LEFT.items():
            if name not in ("floordiv", "mod") or one != "complex128":
                same(
                    lambda tf, one=one, left=left, two=two, right=right: apply(
                        tf.constant(left, one), tf.constant(right, two)
                    )
                )


@tf_rule("6 tensor operators")
@pytest.mark.parametrize("dtype", [*LEFT, "int8", "uint16", "float16", "float64", "bfloat16"])
def test_unary_operators(dtype):
    given = LEFT.get(dtype, [1, 3])
    for apply in (operator.neg, abs, operator.invert):
        same(lambda tf, apply=apply: apply(tf.constant(given, dtype)))


@tf_rule("6 tensor operators")
def test_division():
    numbers = [7, -7, 8, -8, 0]
    for dtype in ("int8", "int16", "int32", "int64", "float16", "float32", "float64"):
        for divisor in (3, -3, 2, -2, 127):
            for apply in (operator.truediv, operator.floordiv, operator.mod):
                same(lambda tf, a=apply, y=divisor, t=dtype: a(tf.constant(numbers, t), y))
                same(lambda tf, a=apply, y=divisor, t=dtype: a(y, tf.constant(numbers[:4], t)))
    for apply in (operator.floordiv, operator.mod):
        fails(
            lambda tf, a=apply: a(tf.constant([1, 2]), 0), "InvalidArgumentError", "Integer division by zero"
        )
        for x in (1.0, -1.0, np.inf, -4.0, 0.0):
            for y in (0.0, np.inf, -np.inf, 2.0, -2.0):
                same(lambda tf, a=apply, x=x, y=y: a(tf.constant(x), y))
    fails(lambda tf: tf.constant([2]) ** -1, "InvalidArgumentError", "Integers to negative integer powers")
    same(lambda tf: [tf.constant([2], tf.int8) ** 7, tf.constant(0) ** 0, tf.constant([-(2**31)]) // -1])


@tf_rule("6 tensor equality")
def test_equality():
    a = [1, 2]
    same(lambda tf: [tf.constant(a) == None, tf.constant(a) != None])  # noqa: E711
    for other in ([1, 2, 3], np.array([1, 2, 3]), [[1, 2], [1, 3]], 1):
        same(lambda tf, other=other: [tf.constant(a) == other, tf.constant(a) != other])
    same(lambda tf: tf.constant(["a", "b"]) == tf.constant([["a"], ["b"]]))


@tf_rule("6 tensor broadcasting")
@pytest.mark.parametrize("name", sorted(OPERATORS.keys() - {"and", "or", "xor"}))
def test_shapes_that_do_not_fit(name):
    apply = OPERATORS[name]
    same(lambda tf: apply(tf.ones([2]), tf.ones([3])))
    same(lambda tf: apply(tf.ones([2, 2]), tf.ones([3])))
    same(lambda tf: apply(tf.ones([4, 1, 2]), tf.ones([3, 1])))
    same(lambda tf: apply(tf.ones([0, 2]), tf.ones([1, 1])))
    assert isinstance(same(lambda tf: operator.add(tf.ones([2]), tf.ones([3]))), Failure)


@cpu_dependent
@tf_rule("6 tensor operators")
def test_matmul_operator():
    same(lambda tf: tf.constant([[1, 2]]) @ [[1, 2], [3, 4]])
    same(lambda tf: [[1, 2], [3, 4]] @ tf.constant([[1], [2]]))
    same(lambda tf: tf.constant([[1.0, 2]]) @ np.eye(2))
    for one, two in [([1, 2], [1, 2]), ([[1, 2]], [1, 2]), ([1, 2], [[1, 2]]), ([[1, 2]], [[1, 2]])]:
        same(lambda tf, one=one, two=two: tf.constant(one) @ tf.constant(two))
    fails(lambda tf: tf.constant([[1]]) @ 1.5, "InvalidArgumentError", "cannot compute MatMul as input #1")
    fails(lambda tf: tf.constant([[True]]) @ [[True]], "InvalidArgumentError", "Value for attr 'T' of bool")


KEYS = [
    0, 1, -1, 2, -3, 10**10, slice(5, None), slice(None, None, -1), slice(None, None, 0), slice(3, 1),
    slice(-9, 1), ..., None,
    (0, 1), (0, 1, 1), (..., 0), (..., ...), (slice(None), None), (None, ..., None), [0, 1], [0], [],
    (slice(1, None), 0), 1.0,
    "x", True, (True,), np.int64(1), np.array(1), np.array([0, 1]), np.array([True, False]), slice(None, 1.5),
    (..., 5),
    (0, ..., 7), (None, 9), (..., None, 9), (0, slice(0, 1, 0)), (..., slice(0, 1, 0)), (slice(10**18, None),),
    slice(None, np.array(1)), [True, False], slice(True, None),
]  # fmt: skip


@tf_rule("6 tensor indexing")
@pytest.mark.parametrize("value", [5, [1, 2], [[1, 2], [3, 4]], ["a", "b"], "a", [[[1, 2, 3]]]], ids=repr)
def test_indexing(value):
    for key in KEYS:
        same(lambda tf, key=key: tf.constant(value)[key])


@tf_rule("6 tensor indexing")
def test_indexing_with_tensors():
    keys = [
        lambda tf: tf.constant(1), lambda tf: tf.constant(1, tf.int64), lambda tf: tf.constant(1, tf.int16),
        lambda tf: tf.constant(1, tf.uint8), lambda tf: tf.constant(1.0), lambda tf: tf.constant([0, 1]),
        lambda tf: tf.constant([True, False]), lambda tf: tf.constant([[True, False], [True, True]]),
        lambda tf: tf.constant([True, False, True]), lambda tf: tf.constant(True),
        lambda tf: slice(tf.constant(1), None),
        lambda tf: (tf.constant(0), tf.constant(1)), lambda tf: tf.newaxis, lambda tf: slice(tf.constant([1]), None),
        lambda tf: tf.TensorShape([1])[0], lambda tf: tf.compat.v1.Dimension(1),
    ]  # fmt: skip
    for key in keys:
        for value in ([1, 2], [[1, 2], [3, 4]], ["a", "b"]):
            same(lambda tf, key=key, value=value: tf.constant(value)[key(tf)])


TEXTS = [
    0.1, 2.0**63, 1e-8, float("nan"), float("inf"), 1, True, "a\n", "é", b"\xff", [1, 2], [0.1, 2],
    [[1, 2], [3, 4]], ["a", "b"],
    [["a", "b"], ["c", "d"]], [[b"\x00a"]], 1 + 2j, [True], list(range(2000)), [1.0] * 30, [], [[]],
    [[[1], [2]], [[3], [4]]],
]  # fmt: skip


@tf_rule("6 tensor text")
def test_repr_and_str():
    for value in TEXTS:
        same(lambda tf, value=value: [repr(tf.constant(value)), str(tf.constant(value))])
    for dtype in ("float16", "float64", "bfloat16", "uint8", "int64", "complex64"):
        same(lambda tf, dtype=dtype: [repr(tf.cast(0.1, dtype)), str(tf.cast([1, 2], dtype))])
        same(lambda tf, dtype=dtype: [repr(tf.cast([0.1], dtype)), str(tf.cast(1, dtype))])


@tf_rule("6 tensor text")
def test_format():
    same(
        lambda tf: [
            f"{tf.constant(3):03d}",
            f"{tf.constant(1.5):.2f}",
            f"{tf.constant([1, 2])}",
            "%d" % tf.constant(3),  # noqa: UP031
        ]
    )
    same(lambda tf: f"{tf.constant([1, 2]):.1f}")
    same(lambda tf: f"{tf.constant('a')}")
    same(lambda tf: "{} {:>5}".format(tf.constant(1.5), tf.constant(7)))  # noqa: UP032


CONVERSIONS = [
    len, bool, int, float, complex, operator.index, hash, list, range, np.asarray, np.sum, np.array, sum, max, sorted,
    lambda x: np.add(x, 1), lambda x: np.asarray(x, np.float32), lambda x: list(reversed(x)),
    lambda x: [5, 6, 7, 8][x],
    lambda x: x.numpy(), lambda x: x.shape, lambda x: x.dtype, lambda x: x.ndim, lambda x: x.get_shape(),
    lambda x: x.set_shape([2]), lambda x: x.set_shape([None]), lambda x: x.set_shape([]), lambda x: x.name,
    lambda x: x.op, lambda x: x.graph, lambda x: x.device, lambda x: x.eval(), copy.copy, copy.deepcopy,
    lambda x: pickle.loads(pickle.dumps(x)), lambda x: repr(x.ref()), lambda x: x.ref().deref() is x,
    lambda x: x.cpu(),
    lambda x: x.ref() == x.ref(), lambda x: len({x.ref(), x.ref()}), lambda x: x.numpy().flags.writeable,
    lambda x: 1 in x,
    lambda x: [*enumerate(x)], lambda x: np.asarray(x).flags.writeable, lambda x: x.__array_priority__,
]  # fmt: skip


@tf_rule("6 tensor as a value")
@pytest.mark.parametrize(
    "value", [3, [1, 2], [[1, 2]], 1.5, [1.5], True, "a", "3", ["a", "b"], [], [[1, 2], [3, 4]]], ids=repr
)
def test_as_a_python_value(value):
    for number, use in enumerate(CONVERSIONS):
        if isinstance(same(lambda tf, use=use: kept(use, tf.constant(value))), Failure):
            continue
        assert number >= 0


def kept(use, tensor):
    """What a use gives; errors of Python and numpy by their class only, since their texts name the type."""
    try:
        return use(tensor)
    except (AttributeError, BufferError, RuntimeError, TypeError) as error:
        text = str(error)
        ours = ("Scalar tensor", "Cannot iterate", "Tensor is", "Tensor.", "eval is")
        return type(error).__name__, text if text.startswith(ours) else ""
