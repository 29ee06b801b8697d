"""RaggedTensor and tf.ragged: the same programs through TensorFlow and through tfrkit.tf."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

ROWS = [[1, 2], [], [3]]
DEEP = [[[1], [2, 3]], [], [[4, 5, 6]]]


def flat(tf):
    return tf.ragged.constant(ROWS)


def deep(tf):
    return tf.ragged.constant(DEEP)


def wide(tf):
    return tf.RaggedTensor.from_row_splits([[1, 2], [3, 4], [5, 6]], [0, 2, 2, 3])


def even(tf):
    return tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2)


def words(tf):
    return tf.ragged.constant([["a"], ["b", "c"]])


KINDS = [flat, deep, wide, even, words]
MADE = {
    "from_row_splits": [
        [0, 2, 2, 3], [0, 2, 5], [1, 2, 3], [0, 2, 1, 3], [], [0, 2, 2], 3, [[0, 3]], [0.0, 3.0],
        np.array([0, 3], "i4"), np.array([0, 3], "i2"),
    ],
    "from_row_lengths": [[2, 0, 1], [2, 0, 2], [-1, 4], [], np.array([3], "i4")],
    "from_row_starts": [[0, 2], [1, 2], [0, 5], [0, 2, 1], np.array([0, 0, 1], "i4")],
    "from_row_limits": [[2, 3], [2, 2], [2, 1, 3], [-1, 3]],
    "from_value_rowids": [[0, 0, 2], [0, 2, 1], [0, 0], [-1, 0, 0]],
}  # fmt: skip


@tf_rule("6 ragged.make")
@pytest.mark.parametrize("name", MADE)
def test_made_of_rows(name):
    for rows in MADE[name]:
        same(lambda tf: getattr(tf.RaggedTensor, name)([1, 2, 3], rows))
        same(lambda tf: getattr(tf.RaggedTensor, name)(tf.constant(["a", "b", "c"]), rows))
    same(lambda tf: getattr(tf.RaggedTensor, name)([], [0] if name == "from_row_splits" else []))


@tf_rule("6 ragged.make")
def test_made_otherwise():
    for count in (5, 2, -1):
        same(lambda tf: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=count))
    for length in (1, 2, -1):
        same(lambda tf: tf.RaggedTensor.from_uniform_row_length([1, 2, 3], length))
    same(lambda tf: tf.RaggedTensor.from_uniform_row_length([], 0, nrows=3))
    same(
        lambda tf: (
            tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2, 3], [4], []]), 2).shape
        )
    )
    same(lambda tf: tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]]))
    same(lambda tf: tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]]))
    same(lambda tf: tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]]))
    same(lambda tf: tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]], [3, 2]))


@tf_rule("6 ragged.from_tensor")
def test_from_tensor():
    square, cube = [[1, 2, 0], [3, 0, 0]], [[[1, 2], [0, 0]], [[3, 4], [0, 0]]]
    for options in (
        {}, {"padding": 0}, {"lengths": [1, 2]}, {"lengths": [1, 5]}, {"lengths": [1]},
        {"lengths": [1, 2], "padding": 0},
        {"padding": 0.5}, {"row_splits_dtype": "int32"}, {"ragged_rank": 0}, {"ragged_rank": 2},
    ):  # fmt: skip
        same(lambda tf: tf.RaggedTensor.from_tensor(square, **options))
    same(lambda tf: tf.RaggedTensor.from_tensor(square).shape)
    for options in (
        {"padding": [0, 0]},
        {"ragged_rank": 2},
        {"ragged_rank": 2, "padding": 0},
        {"ragged_rank": 3},
    ):
        same(lambda tf: tf.RaggedTensor.from_tensor(cube, **options))
    same(lambda tf: tf.RaggedTensor.from_tensor(cube, lengths=([2, 1], [1, 2, 1])))
    same(lambda tf: tf.RaggedTensor.from_tensor([["a", ""], ["", ""]], padding=""))
    same(lambda tf: tf.RaggedTensor.from_tensor([[1, 0, 2], [0, 0, 0]], padding=0))
    fails(lambda tf: tf.RaggedTensor.from_tensor([1, 2]), "ValueError", "The rank of a RaggedTensor")


@tf_rule("6 ragged.from_sparse")
def test_from_sparse():
    for indices, shape in (
        ([[0, 0], [0, 1], [2, 0]], [3, 4]),
        ([[0, 1], [0, 2], [2, 0]], [3, 4]),
        ([[0], [1], [2]], [3]),
    ):
        same(lambda tf: tf.RaggedTensor.from_sparse(tf.SparseTensor(indices, [1, 2, 3], shape)))
    fails(lambda tf: tf.RaggedTensor.from_sparse(5), "TypeError")


CONSTANTS = [
    [[1, 2], [3.5]], [[1, 2], 3], [1, 2], 1, [], [[]], [[], []], [[1], [2**40]], [[True], []], [["a", b"b"], []],
    ["a", "b"], [[1, 2], ["a"]], [[[1, 2]], [[3], []]], [[np.float64(1)]], [np.array([1, 2]), np.array([3])],
    [[[], [1]], []], ((1, 2), (3,)), [[[]], []],
]  # fmt: skip


@tf_rule("6 ragged.constant")
def test_constant():
    for value in CONSTANTS:
        same(lambda tf: tf.ragged.constant(value))
    for options in (
        {"dtype": "float64"},
        {"dtype": "int64"},
        {"row_splits_dtype": "int32"},
        {"ragged_rank": 1},
    ):
        same(lambda tf: tf.ragged.constant(ROWS, **options))
    same(lambda tf: tf.ragged.constant([[], []], dtype="string"))
    same(lambda tf: tf.ragged.constant([[[1, 2]], []], ragged_rank=1))
    same(lambda tf: tf.ragged.constant([[[1, 2]], [[3]]], ragged_rank=1))
    same(lambda tf: tf.ragged.constant([[[1, 2]], []], inner_shape=(2,)))
    same(lambda tf: tf.ragged.constant([[1]], ragged_rank=2))


@tf_rule("6 ragged.properties")
@pytest.mark.parametrize("make", KINDS)
def test_properties(make):
    for name in (
        "shape", "dtype", "ragged_rank", "values", "flat_values", "row_splits", "nested_row_splits",
        "uniform_row_length",
    ):  # fmt: skip
        same(lambda tf: getattr(make(tf), name))
    for name in (
        "to_list", "to_tensor", "to_sparse", "row_lengths", "row_starts", "row_limits", "value_rowids",
        "nrows", "bounding_shape", "nested_row_lengths", "nested_value_rowids", "get_shape", "consumers",
    ):  # fmt: skip
        same(lambda tf: getattr(make(tf), name)())
    same(lambda tf: repr(make(tf).numpy()))
    same(lambda tf: repr(make(tf)))
    same(lambda tf: str(make(tf)))
    same(lambda tf: list(make(tf)))
    same(lambda tf: make(tf).nrows(out_type=tf.int32))
    same(lambda tf: make(tf).with_row_splits_dtype(tf.int32))
    for use in (len, bool, hash):
        fails(lambda tf: use(make(tf)), "TypeError")


@tf_rule("6 ragged.properties")
def test_long_text():
    same(lambda tf: repr(tf.ragged.constant([list(range(30)), [1], []])))
    same(lambda tf: repr(tf.ragged.constant([[0.1, 2.0], [3.25]])))
    same(lambda tf: repr(tf.ragged.constant([["a\n", "é"], []])))
    same(lambda tf: repr(tf.ragged.constant([[True], []])))
    same(lambda tf: repr(tf.ragged.constant([list(range(number)) for number in range(12)])))


@tf_rule("6 ragged.to_tensor")
def test_to_tensor():
    for options in (
        {"default_value": -1}, {"shape": [None, 4]}, {"shape": [2, 1]}, {"shape": [5, None]}, {"shape": [4]},
        {"default_value": "a"}, {"default_value": 1.5}, {"shape": [2, 5], "default_value": 9},
    ):  # fmt: skip
        same(lambda tf: flat(tf).to_tensor(**options))
    same(lambda tf: deep(tf).to_tensor(shape=[None, 1, 2]))
    same(lambda tf: deep(tf).to_tensor(7, shape=[4, 3, 4]))
    for default in ([9, 9], 7, [1, 2, 3]):
        same(lambda tf: wide(tf).to_tensor(default))
    same(lambda tf: words(tf).to_tensor("-", shape=[3, 3]))


@tf_rule("6 ragged.rows")
def test_rows():
    for axis in (0, 1, 2, -1, 3):
        same(lambda tf: deep(tf).row_lengths(axis=axis))
        same(lambda tf: wide(tf).row_lengths(axis=axis))
    for axis in (1, [0, 2], None):
        same(lambda tf: deep(tf).bounding_shape(axis=axis))
    same(lambda tf: flat(tf).bounding_shape(out_type=tf.int32))
    for outer, inner in ((0, 1), (1, 2), (0, 2), (0, -1), (1, 1), (2, 1), (0, 5)):
        same(lambda tf: deep(tf).merge_dims(outer, inner))
    same(lambda tf: wide(tf).merge_dims(1, 2))
    same(lambda tf: flat(tf).with_values([7, 8, 9]))
    same(lambda tf: deep(tf).with_flat_values(tf.constant(["a"] * 6)))
    fails(lambda tf: flat(tf).with_values([7, 8]), "ValueError", "incompatible")
    fails(lambda tf: deep(tf).with_flat_values([7, 8]), "ValueError", "incompatible")


ALL = slice(None)
KEYS = [
    0, -1, 3, -4, slice(1, None), slice(None, None, 2), slice(None, None, -1), slice(5, None), (ALL, 0),
    (ALL, slice(0, 1)), (ALL, slice(-1, None)), (ALL, slice(None, None, 2)), (ALL, slice(None, None, -1)),
    (ALL, slice(1, 5)), (0, 1), (0, 5), (0, -1), Ellipsis, (Ellipsis, slice(0, 1)), (Ellipsis, 0), (ALL, None), None,
    (None, ALL, slice(0, 1)), (0, 1, 0), (ALL, ALL, slice(0, 1)), (ALL, slice(0, 1), slice(0, 1)), (0, ALL, 0),
    (ALL, ALL, 0), (ALL, ALL, ALL), [0, 1], 0.5, "a", (slice(0, 2), slice(-2, -1)), (ALL, slice(-3, None, -1)),
]  # fmt: skip


@tf_rule("6 ragged.index")
@pytest.mark.parametrize("make", KINDS)
def test_index(make):
    for key in KEYS:
        same(lambda tf: make(tf)[key])
    same(lambda tf: make(tf)[tf.constant(1)])
    same(lambda tf: make(tf)[tf.constant(0) : tf.constant(2)])


rows = st.lists(st.lists(st.integers(-5, 5), max_size=4), max_size=5)
bounds = st.none() | st.integers(-6, 6)
slices = st.builds(slice, bounds, bounds, st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]))


@tf_rule("6 ragged.index")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows, slices, slices)
def test_any_slices(values, outer, inner):
    same(lambda tf: tf.ragged.constant(values, dtype="int32", ragged_rank=1)[outer, inner])


OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip


@tf_rule("6 ragged.operators")
@pytest.mark.parametrize("use", OPERATORS)
def test_operators(use):
    same(lambda tf: use(flat(tf), 2))
    same(lambda tf: use(2, flat(tf)))
    same(lambda tf: use(flat(tf), flat(tf)))
    same(lambda tf: use(deep(tf), deep(tf)))
    same(lambda tf: use(flat(tf), tf.constant(2)))
    same(lambda tf: use(tf.constant(2), flat(tf)))
    same(lambda tf: use(flat(tf), tf.constant([[10], [20], [30]])))
    same(lambda tf: use(wide(tf), tf.constant([1, 2])))


@tf_rule("6 ragged.operators")
def test_other_operators():
    same(lambda tf: -flat(tf))
    same(lambda tf: abs(flat(tf)))
    same(lambda tf: ~(flat(tf) > 1))
    for use in (operator.and_, operator.or_, operator.xor):
        same(lambda tf: use(flat(tf) > 1, flat(tf) < 3))
    same(lambda tf: words(tf) + "x")
    same(lambda tf: words(tf) == "a")
    same(lambda tf: flat(tf) == tf.ragged.constant([[1], [], [4]]))
    same(lambda tf: deep(tf) * tf.constant([[[10]]]))


@tf_rule("6 ragged.operators")
def test_rows_that_differ():
    for other in ([[1], [2], [3, 4]], [[1, 2], [], [3, 4]]):
        fails(lambda tf: flat(tf) + tf.ragged.constant(other), "InvalidArgumentError", "Condition x == y")
    for other in ([10, 20, 30], [[1, 2], [3, 4], [5, 6]]):
        fails(lambda tf: flat(tf) + tf.constant(other), "InvalidArgumentError", "Condition x == y")
    fails(lambda tf: flat(tf) + 1.5, "InvalidArgumentError")


@tf_rule("6 ragged.dispatch")
def test_functions_entry_by_entry():
    same(lambda tf: tf.add(flat(tf), 1))
    same(lambda tf: tf.cast(flat(tf), tf.float32))
    same(lambda tf: tf.equal(flat(tf), 1))
    same(lambda tf: tf.square(deep(tf)))
    same(lambda tf: tf.maximum(flat(tf), 2))
    same(lambda tf: tf.zeros_like(flat(tf)))
    same(lambda tf: tf.ones_like(deep(tf)))
    same(lambda tf: tf.identity(flat(tf)))
    same(lambda tf: tf.math.add_n([flat(tf), flat(tf)]))
    same(lambda tf: tf.one_hot(flat(tf), 4))
    same(lambda tf: tf.one_hot(flat(tf), 4, on_value=5, off_value=1))
    same(
        lambda tf: tf.nn.embedding_lookup(
            tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), flat(tf)
        )
    )
    same(lambda tf: tf.clip_by_value(flat(tf), 2, 5))
    fails(lambda tf: tf.one_hot(flat(tf), 4, axis=1), "ValueError", "must be greater than")
    same(lambda tf: tf.ragged.map_flat_values(lambda x: x * 2, deep(tf)))
    same(lambda tf: tf.ragged.map_flat_values(tf.add, flat(tf), flat(tf)))


@tf_rule("6 ragged.joined")
def test_joined():
    for axis in (0, 1, -1, 2):
        same(lambda tf: tf.concat([flat(tf), flat(tf)], axis=axis))
        same(lambda tf: tf.concat([deep(tf), deep(tf)], axis=axis))
        same(lambda tf: tf.stack([flat(tf), flat(tf)], axis=axis))
        same(lambda tf: tf.expand_dims(flat(tf), axis))
        same(lambda tf: tf.expand_dims(deep(tf), axis))
    same(lambda tf: tf.concat([flat(tf), [[9], [8], [7]]], axis=1))
    same(lambda tf: tf.concat([flat(tf), [[9]]], axis=0))
    same(lambda tf: tf.ragged.stack([[1, 2], [3]]))
    same(lambda tf: tf.ragged.stack([flat(tf), [[1]]]))
    same(lambda tf: tf.ragged.stack([flat(tf), flat(tf)], axis=1))
    same(lambda tf: tf.squeeze(tf.expand_dims(flat(tf), 0), 0))
    same(lambda tf: tf.tile(flat(tf), [2, 1]))
    same(lambda tf: tf.tile(flat(tf), [1, 2]))
    same(lambda tf: tf.reverse(flat(tf), [1]))
    same(lambda tf: (tf.size(flat(tf)), tf.rank(deep(tf))))
    fails(lambda tf: tf.ragged.stack([]), "ValueError", "may not be empty")
    fails(
        lambda tf: tf.concat([flat(tf), tf.ragged.constant([[1]])], axis=1),
        "InvalidArgumentError",
        "incompatible shapes",
    )
    fails(lambda tf: tf.expand_dims(flat(tf), 5), "ValueError", "out of bounds")


@tf_rule("6 ragged.gather")
def test_gather():
    for numbers in ([2, 0], 1, [[0], [2]], [], [5], [-1]):
        same(lambda tf: tf.gather(flat(tf), tf.constant(numbers, tf.int32)))
    same(lambda tf: tf.gather(tf.constant([10, 20, 30]), tf.ragged.constant([[0, 2], [1]])))
    same(lambda tf: tf.gather(flat(tf), tf.ragged.constant([[0, 2], [1]])))
    same(lambda tf: tf.gather(deep(tf), [2, 0]))
    same(lambda tf: tf.where(flat(tf) > 1))
    same(lambda tf: tf.where(flat(tf) > 1, flat(tf), 0))


@tf_rule("6 ragged.reduce")
@pytest.mark.parametrize("name", ["all", "any"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_numbers_are_true_unless_they_are_zero(name, axis):
    same(lambda tf: getattr(tf, f"reduce_{name}")(tf.ragged.constant([[1.0, 2.0], [0.0], []]), axis=axis))
    same(lambda tf: getattr(tf, f"reduce_{name}")(tf.ragged.constant([[1, 0], [3]]), axis=axis))


@tf_rule("6 ragged.reduce")
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
def test_reduce(name):
    for axis in (None, 0, 1, -1, [0, 1], 2):
        for keep in (False, True):
            same(lambda tf: getattr(tf, f"reduce_{name}")(flat(tf), axis=axis, keepdims=keep))
        same(lambda tf: getattr(tf, f"reduce_{name}")(deep(tf), axis=axis))
        same(lambda tf: getattr(tf, f"reduce_{name}")(wide(tf), axis=axis))
        same(
            lambda tf: getattr(tf, f"reduce_{name}")(tf.cast(deep(tf), tf.float32) / 3, axis=axis),
            within=1e-6,
        )


@tf_rule("6 ragged.reduce")
def test_reduce_truths():
    for axis in (None, 0, 1):
        same(lambda tf: tf.reduce_any(flat(tf) > 1, axis=axis))
        same(lambda tf: tf.reduce_all(flat(tf) > 1, axis=axis))
        same(lambda tf: tf.math.reduce_variance(tf.cast(deep(tf), tf.float32), axis=axis), within=1e-6)
        same(lambda tf: tf.math.reduce_std(tf.cast(flat(tf), tf.float32), axis=axis), within=1e-6)


@tf_rule("6 ragged.functions")
def test_functions():
    same(lambda tf: tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]))
    same(lambda tf: tf.ragged.boolean_mask([[1, 2], [3, 4]], [True, False]))
    same(lambda tf: tf.ragged.boolean_mask(flat(tf), [True, False, True]))
    same(lambda tf: tf.ragged.boolean_mask(flat(tf), tf.ragged.constant([[True, False], [], [True]])))
    fails(lambda tf: tf.ragged.boolean_mask([1, 2, 3], [True, False]), "ValueError", "incompatible")


def test_it_pickles():
    from tfrkit import tf

    again = pickle.loads(pickle.dumps(even(tf)))
    assert again.to_list() == [[1, 2], [3, 4]]
    assert again.shape == [2, 2]
