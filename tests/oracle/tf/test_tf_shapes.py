"""The shape of tensors in TensorFlow and in tfrkit.tf: reshape, stack, split, transpose, pad and the like."""

from __future__ import annotations

from tests.oracle.support.tf_scenarios import same_lines
from tests.support.rules import tf_rule

NAMES = {
    "a": lambda tf: tf.constant([1, 2]),
    "m": lambda tf: tf.constant([[1, 2, 3], [4, 5, 6]]),
    "f": lambda tf: tf.constant([[1.0, 2.0], [3.0, 4.0]]),
    "s": lambda tf: tf.constant(["a", "b", "c"]),
    "b": lambda tf: tf.constant([True, False]),
    "sc": lambda tf: tf.constant(5),
    "z": lambda tf: tf.zeros([2, 0]),
}


@tf_rule("6 reshape")
def test_reshape():
    same_lines(
        """
        tf.reshape(m, [3, 2])
        tf.reshape(m, [-1])
        tf.reshape(m, -1)
        tf.reshape(m, 6)
        tf.reshape(m, [4])
        tf.reshape(m, [-1, 4])
        tf.reshape(m, [-1, -1])
        tf.reshape(m, [-2, 3])
        tf.reshape(m, [2.0, 3])
        tf.reshape(m, [])
        tf.reshape(sc, [])
        tf.reshape([1], [])
        tf.reshape(m, tf.constant([3, 2], tf.int64))
        tf.reshape(m, tf.constant([3.0, 2.0]))
        tf.reshape(m, [tf.constant(3), -1])
        tf.reshape(m, [tf.constant(3, tf.int64), -1])
        tf.reshape(m, tf.TensorShape([3, 2]))
        tf.reshape(m, [[3, 2]])
        tf.reshape(m, None)
        tf.reshape(m, [None, 2])
        tf.reshape(m, "a")
        tf.reshape(z, [-1])
        tf.reshape(z, [0, -1])
        tf.reshape(s, [2, 1])
        tf.reshape(m, np.array([3, 2], np.uint8))
        tf.reshape(m, [2, -1, 3])
        tf.reshape(m, [-1, 0])
        tf.reshape(m, (3, 2))
        tf.reshape([[1, 2], [3, 4]], [4])
        tf.reshape(m, [2 ** 40, -1])
        tf.reshape(tensor=m, shape=[6])
        """,
        **NAMES,
    )


@tf_rule("6 stack and split")
def test_unstack():
    same_lines(
        """
        tf.unstack(m)
        tf.unstack(m, axis=1)
        tf.unstack(m, axis=2)
        tf.unstack(m, num=3)
        tf.unstack(sc)
        tf.unstack(m, axis=-3)
        tf.unstack(s)
        tf.unstack(m, 3)
        tf.unstack([1, 2])
        tf.unstack(tf.zeros([0, 2]))
        """,
        **NAMES,
    )


@tf_rule("6 stack and split")
def test_split():
    same_lines(
        """
        tf.split(m, 2)
        tf.split(m, 3, axis=1)
        tf.split(m, 2, 1)
        tf.split(m, [1, 2], 1)
        tf.split(m, [1, -1], 1)
        tf.split(m, [1, 1], 1)
        tf.split(m, [-1, -1], 1)
        tf.split(m, 0)
        tf.split(m, -1)
        tf.split(sc, 1)
        tf.split(m, 2, axis=2)
        tf.split(m, 2, axis=-1)
        tf.split(s, 2)
        tf.split(m, tf.constant([1, 2]), 1)
        tf.split(m, [1, 2], 1, num=3)
        tf.split(m, 1.5)
        tf.split(m, [0, 3], 1)
        tf.split(m, [4, -1], 1)
        tf.split(m, [[1, 2]], 1)
        tf.split(m, 3, -2)
        """,
        **NAMES,
    )


@tf_rule("6 stack and split")
def test_tile():
    same_lines(
        """
        tf.tile(a, [2])
        tf.tile(m, [1, 2])
        tf.tile(m, [2])
        tf.tile(a, 2)
        tf.tile(a, [-1])
        tf.tile(a, [0])
        tf.tile(s, [2])
        tf.tile(sc, [])
        tf.tile(a, [1.5])
        tf.tile(a, [[1]])
        """,
        **NAMES,
    )


@tf_rule("6 reshape")
def test_shape_size_rank():
    same_lines(
        """
        tf.shape(m)
        tf.shape(m, out_type=tf.int64)
        tf.shape(sc)
        tf.shape(s)
        tf.shape([[1]])
        tf.shape("a")
        tf.size(m)
        tf.size(sc)
        tf.size(s, tf.int64)
        tf.rank(m)
        tf.rank(1)
        tf.shape(m, tf.float32)
        tf.size([])
        tf.shape(m, out_type="int64")
        tf.shape(None)
        tf.size(input=m)
        """,
        **NAMES,
    )


@tf_rule("6 reshape")
def test_squeeze():
    same_lines(
        """
        tf.squeeze([[1], [2]])
        tf.squeeze([[1]])
        tf.squeeze([[1, 2]], 0)
        tf.squeeze([[1, 2]], 1)
        tf.squeeze([[1, 2]], [0])
        tf.squeeze([[1, 2]], 2)
        tf.squeeze([[1, 2]], -3)
        tf.squeeze([["a"]])
        tf.squeeze([[1, 2]], axis=-2)
        tf.squeeze(m, [0, 0])
        tf.squeeze([[1]], [0, 0])
        tf.squeeze(m, [])
        tf.squeeze(5)
        tf.compat.v1.squeeze([[1]], squeeze_dims=[0])
        tf.squeeze([[1]], "a")
        """,
        **NAMES,
    )


@tf_rule("6 reshape")
def test_expand_dims():
    same_lines(
        """
        tf.expand_dims(a, 0)
        tf.expand_dims(a, -1)
        tf.expand_dims(a, 2)
        tf.expand_dims(a, -3)
        tf.expand_dims(a, [0])
        tf.expand_dims(a, [0, 1])
        tf.expand_dims(s, 1)
        tf.expand_dims(sc, 0)
        tf.expand_dims("a", 0)
        tf.expand_dims(a, tf.constant(1, tf.int64))
        tf.expand_dims(a, 1.5)
        tf.expand_dims(input=a, axis=1)
        tf.compat.v1.expand_dims(a, dim=1)
        """,
        **NAMES,
    )


@tf_rule("6 transpose and pad")
def test_transpose():
    same_lines(
        """
        tf.transpose(m)
        tf.transpose(m, [1, 0])
        tf.transpose(m, [0])
        tf.transpose(m, [0, 0])
        tf.transpose(m, [0, 2])
        tf.transpose(m, [-1, 0])
        tf.transpose(sc)
        tf.transpose(a)
        tf.transpose([s])
        tf.transpose(tf.constant([[1 + 1j]]), conjugate=True)
        tf.transpose(tf.zeros([2, 3, 4])).shape
        tf.transpose(m, perm=tf.constant([1, 0], tf.int64))
        tf.transpose(m, [[1, 0]])
        tf.transpose(m, [1.0, 0.0])
        tf.transpose(a=m)
        """,
        **NAMES,
    )


@tf_rule("6 transpose and pad")
def test_reverse_and_roll():
    same_lines(
        """
        tf.reverse(m, [0])
        tf.reverse(m, [1])
        tf.reverse(m, [0, 1])
        tf.reverse(m, [2])
        tf.reverse(m, [0, 0])
        tf.reverse(m, 0)
        tf.reverse(m, [])
        tf.reverse(s, [0])
        tf.reverse(m, [-1])
        tf.reverse(m, [-3])
        tf.reverse(sc, [])
        tf.roll(a, 1, 0)
        tf.roll(m, [1, 1], [0, 1])
        tf.roll(m, 1, 2)
        tf.roll(m, [1], [0, 1])
        tf.roll(sc, 1, 0)
        tf.roll(m, -1, 1)
        tf.roll(s, 1, 0)
        tf.roll(m, [1, 2], [1, 1])
        tf.roll(m, 1.5, 0)
        tf.roll(m, 1, -1)
        tf.roll(m, 1, -3)
        """,
        **NAMES,
    )


@tf_rule("6 transpose and pad")
def test_pad():
    same_lines(
        """
        tf.pad(m, [[1, 1], [0, 2]])
        tf.pad(m, [[1, 1]])
        tf.pad(m, [[-1, 1], [0, 0]])
        tf.pad(m, [[1, 1], [0, 0]], constant_values=9)
        tf.pad(m, [[1, 1], [0, 0]], constant_values=9.5)
        tf.pad(m, [[1, 1], [1, 1]], "REFLECT")
        tf.pad(m, [[1, 1], [1, 1]], "SYMMETRIC")
        tf.pad(m, [[2, 1], [1, 1]], "REFLECT")
        tf.pad(m, [[3, 1], [1, 1]], "SYMMETRIC")
        tf.pad(m, [[1, 1], [1, 1]], "reflect")
        tf.pad(m, [[1, 1], [1, 1]], "foo")
        tf.pad(s, [[1, 1]])
        tf.pad(s, [[1, 1]], constant_values="x")
        tf.pad(sc, [])
        tf.pad(m, [1, 1])
        tf.pad(m, [[1, 1, 1], [1, 1, 1]])
        tf.pad(m, tf.constant([[1, 1], [0, 0]], tf.int64))
        tf.pad(m, [[1.0, 1.0], [0, 0]])
        tf.pad([True], [[1, 1]])
        tf.pad(m, [[0, 0], [0, 0]], constant_values=tf.constant(3))
        tf.pad([1.0], [[1, 0]], constant_values=3)
        tf.pad([1.0], [[1, 0]], constant_values="a")
        tf.pad(m, [[1, 1], [1, 1]], 5)
        tf.pad(m, [[1, 1], [1, 1]], "REFLECT", constant_values=3)
        """,
        **NAMES,
    )


@tf_rule("6 stack and split")
def test_stack_and_concat():
    same_lines(
        """
        tf.stack([a, f])
        tf.stack([a, [3, 4]])
        tf.stack([[3, 4], a])
        tf.stack([1, 2.5])
        tf.stack([f, 1])
        tf.stack([np.array([1, 2]), a])
        tf.stack([np.array([1, 2]), np.array([1, 2])])
        tf.stack([1, 2])
        tf.stack([a, tf.constant([1, 2, 3])])
        tf.stack([])
        tf.stack(a)
        tf.stack(1)
        tf.stack([a, a], axis=2)
        tf.stack([a, a], axis=-3)
        tf.stack([a, a], axis=1)
        tf.stack(["a", "b"])
        tf.stack([f, np.array([1.5, 2])])
        tf.stack([a, np.array([1.5, 2])])
        tf.stack(np.array([[1, 2]]))
        tf.stack([[1, 2], [3]])
        tf.stack((a, a))
        tf.concat([a, a], 0)
        tf.concat([a, f], 0)
        tf.concat([a, [1]], 0)
        tf.concat([[1], a], 0)
        tf.concat([[1.5], a], 0)
        tf.concat([a, [1.5]], 0)
        tf.concat([a, np.array([1.5])], 0)
        tf.concat([np.array([1]), np.array([1.5])], 0)
        tf.concat(a, 0)
        tf.concat([a], 0)
        tf.concat([a], 5)
        tf.concat([a, a], 1)
        tf.concat([a, [[1]]], 0)
        tf.concat([[[1, 2]], [[1]]], 0)
        tf.concat([1, 2], 0)
        tf.concat([["a"], ["b"]], 0)
        tf.concat([a, a], -1)
        tf.concat([a, a], -2)
        tf.concat([a, a], axis=tf.constant(0))
        tf.concat([a, a], 1.5)
        tf.concat([tf.zeros([0]), [1.0]], 0)
        tf.concat([tf.zeros([0]), tf.ones([1, 1])], 0)
        tf.concat(0, [a])
        tf.concat([a, a], [0])
        """,
        **NAMES,
    )


@tf_rule("6 reshape")
def test_broadcast_and_repeat():
    same_lines(
        """
        tf.broadcast_to([1, 2], [3, 2])
        tf.broadcast_to(1, [2])
        tf.broadcast_to([1, 2], [3])
        tf.broadcast_to([[1, 2]], [2])
        tf.broadcast_to(s, [2, 3])
        tf.broadcast_to([1], [0])
        tf.broadcast_to(1, [])
        tf.broadcast_to([1, 2], [-1, 2])
        tf.broadcast_to([1, 2], [2.0, 2.0])
        tf.broadcast_static_shape(tf.TensorShape([1, 2]), tf.TensorShape([3, 1]))
        tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))
        tf.repeat([1, 2], 2)
        tf.repeat([1, 2], [1, 2])
        tf.repeat(m, 2, axis=1)
        tf.repeat(m, [1, 2], axis=0)
        tf.repeat(m, 2)
        tf.repeat(s, 2)
        tf.repeat([1, 2], [1])
        tf.repeat([1, 2], [1, 2, 3])
        tf.repeat([1, 2], -1)
        tf.repeat(m, [1, 2, 3], axis=0)
        tf.repeat(3, 4)
        tf.repeat(m, 2, axis=2)
        tf.repeat([1, 2], 1.5)
        """,
        **NAMES,
    )
