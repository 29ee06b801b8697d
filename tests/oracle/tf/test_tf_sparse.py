"""SparseTensor and tf.sparse: the same programs through TensorFlow and through tfrkit.tf."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest

from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule


def plain(tf):
    return tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])


def words(tf):
    return tf.sparse.SparseTensor([[0, 0], [1, 1]], ["a", "b"], [2, 2])


def mixed(tf):
    return tf.SparseTensor([[2, 0], [0, 1]], [6, 5], [3, 2])


def other(tf):
    return tf.SparseTensor([[1, 1], [2, 0]], [9, -7], [3, 2])


def floats(tf):
    return tf.SparseTensor([[0, 1], [2, 0], [2, 1]], [0.5, 1.25, -3.0], [4, 2])


MADE = [
    ([[0, 1]], [5, 6], [3, 2]), ([[0, 1], [1, 1]], [5, 6], [3]), ([0, 1], [5, 6], [3]), ([[0, 1]], 5, [3, 2]),
    ([[0, 1]], [5], 3), ([[0, 1]], [5], [3, -2]), ([[0.5, 1]], [5], [3, 2]), ([[5, 5]], [5], [3, 2]), ([], [], [3]),
    (np.zeros((0, 2), "i8"), [], [3, 2]), (np.array([[0, 1]], "i4"), [5], [3, 2]),
]  # fmt: skip


@tf_rule("6 sparse.make")
def test_made():
    for parts in MADE:
        same(lambda tf: tf.SparseTensor(*parts))
    same(lambda tf: tf.SparseTensor.from_value(tf.compat.v1.SparseTensorValue([[0, 1]], [5], [3, 2])))
    same(lambda tf: tf.SparseTensor.from_value(plain(tf)))
    fails(lambda tf: tf.SparseTensor.from_value(5), "TypeError")


@tf_rule("6 sparse.properties")
@pytest.mark.parametrize("make", [plain, words, floats])
def test_properties(make):
    for name in ("shape", "dtype", "indices", "values", "dense_shape"):
        same(lambda tf: getattr(make(tf), name))
    same(lambda tf: make(tf).get_shape())
    same(lambda tf: repr(make(tf)))
    same(lambda tf: make(tf).consumers())
    same(lambda tf: tf.cast(plain(tf), tf.float32))
    same(lambda tf: (tf.shape(make(tf)), tf.rank(make(tf)), tf.size(make(tf)), tf.identity(make(tf))))
    same(lambda tf: plain(tf).with_values([7, 8]))
    fails(lambda tf: plain(tf).with_values([7]), "ValueError", "not compatible")
    for use in (len, list, operator.neg):
        fails(lambda tf: use(make(tf)), "TypeError")


@tf_rule("6 sparse.to_dense")
def test_to_dense():
    for make in (plain, words, mixed, floats):
        for check in (True, False):
            same(lambda tf: tf.sparse.to_dense(make(tf), validate_indices=check))
    same(lambda tf: tf.sparse.to_dense(plain(tf), default_value=-1))
    same(lambda tf: tf.sparse.to_dense(words(tf), default_value="z"))
    for places in ([[0, 0], [0, 0]], [[0, 0], [5, 5]]):
        for check in (True, False):
            same(
                lambda tf: tf.sparse.to_dense(tf.SparseTensor(places, [1, 2], [1, 1]), validate_indices=check)
            )
    fails(lambda tf: tf.sparse.to_dense(5), "TypeError", "Input must be a SparseTensor.")
    for default in ("a", 1.5):
        fails(lambda tf: tf.sparse.to_dense(plain(tf), default_value=default), "TypeError")
    same(lambda tf: tf.compat.v1.sparse_tensor_to_dense(plain(tf)))
    same(lambda tf: tf.compat.v1.sparse_to_dense([[0, 1]], [2, 2], [5]))
    same(lambda tf: tf.compat.v1.sparse_to_dense([1, 2], [3], 5, default_value=7))


@tf_rule("6 sparse.from_dense")
def test_from_dense():
    for array in (
        [[0, 5], [0, 0], [6, 0]],
        ["a", "", "b"],
        [[True, False]],
        np.zeros((2, 2)),
        [0.0, -0.0, float("nan")],
    ):
        same(lambda tf: tf.sparse.from_dense(array))
    fails(lambda tf: tf.sparse.from_dense(5), "InvalidArgumentError")


@tf_rule("6 sparse.shapes")
def test_other_shapes():
    for make in (plain, mixed, words):
        same(lambda tf: tf.sparse.reorder(make(tf)))
    for shape in (None, [5, 5], [2, 2], [5]):
        same(lambda tf: tf.sparse.reset_shape(plain(tf), shape))
    for shape in ([6], [2, -1], [5], [-1, -1], [4, -1], [1, 2, 3]):
        same(lambda tf: tf.sparse.reshape(plain(tf), shape))


@tf_rule("6 sparse.parts")
def test_parts():
    for start, size in (([0, 0], [2, 2]), ([2, 0], [5, 1]), ([0], [2])):
        same(lambda tf: tf.sparse.slice(plain(tf), start, size))
    for count, axis in ((2, 0), (2, 1), (3, 0), (3, 1)):
        same(lambda tf: tf.sparse.split(plain(tf), count, axis))
    same(lambda tf: tf.compat.v1.sparse_split(sp_input=plain(tf), num_split=2, axis=0))


@tf_rule("6 sparse.math")
def test_math():
    same(lambda tf: tf.sparse.map_values(tf.add, plain(tf), 1))
    same(lambda tf: plain(tf) * 2)
    same(lambda tf: plain(tf) / 2)
    same(lambda tf: plain(tf) * [[1, 2], [3, 4], [5, 6]])


@tf_rule("6 sparse.to_indicator")
def test_to_indicator():
    for values in ([2, 0], [2, 5]):
        same(lambda tf: tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 0]], values, [2, 1]), 3))


def test_it_pickles():
    from tfrkit import tf

    again = pickle.loads(pickle.dumps(words(tf)))
    assert tf.sparse.to_dense(again).numpy().tolist() == [[b"a", b""], [b"", b"b"]]
