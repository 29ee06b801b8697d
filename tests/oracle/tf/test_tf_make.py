"""Making tensors in TensorFlow and in tfrkit.tf: ranges, zeros, one-hot rows, casts."""

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


@tf_rule("6 make")
def test_range():
    same_lines(
        """
        tf.range(5)
        tf.range(2, 5)
        tf.range(5, 2, -1)
        tf.range(0, 1, 0.25)
        tf.range(0, 5, 0)
        tf.range(5, 2)
        tf.range(2, 5, -1)
        tf.range(5.0)
        tf.range(1.5, 4)
        tf.range(5, dtype=tf.float32)
        tf.range(tf.constant(5, tf.int64))
        tf.range(tf.constant(1, tf.int64), tf.constant(5))
        tf.range(1, tf.constant(5, tf.int64))
        tf.range(1, 5.5)
        tf.range([5])
        tf.range("a")
        tf.range(0, 10, 3)
        tf.range(10, 0, -3)
        tf.range(0, 1, 0.1)
        tf.range(3, dtype=tf.string)
        tf.range(True)
        tf.range(start=1, limit=4)
        tf.range(np.int64(3))
        tf.range(0.0, 1.0, 0.3)
        tf.range(2 ** 40, 2 ** 40 + 2)
        tf.range(-3)
        tf.range(np.float64(3))
        tf.range(3, dtype="int64")
        tf.range(2.5, dtype=tf.int32)
        tf.range(tf.constant(3), dtype=tf.int64)
        tf.range(None)
        """,
        **NAMES,
    )


@tf_rule("6 make")
def test_linspace_and_matrices():
    same_lines(
        """
        tf.linspace(0.0, 1.0, 5)
        tf.linspace(0, 1, 5)
        tf.linspace(0.0, 1.0, 1)
        tf.linspace(0.0, 1.0, 0)
        tf.linspace(0.0, 1.0, -1)
        tf.linspace([0.0, 1.0], [1.0, 2.0], 3)
        tf.linspace([0.0, 1.0], [1.0, 2.0], 3, axis=-1)
        tf.linspace(0.0, 1.0, 5.5)
        tf.linspace(0.0, 1.0, 7)
        tf.linspace(tf.constant(0.0, tf.float64), 1.0, 5)
        tf.linspace(1.0, 0.0, 4)
        tf.linspace(0, 10, 3)
        tf.eye(2)
        tf.eye(2, 3)
        tf.eye(2, batch_shape=[2])
        tf.eye(2, dtype=tf.int32)
        tf.eye(0)
        tf.eye(-1)
        tf.eye(2, dtype=tf.string)
        tf.eye(2, dtype=tf.bool)
        tf.eye(tf.constant(2))
        tf.linalg.band_part([[1, 2], [3, 4]], 0, -1)
        """,
        **NAMES,
    )


@tf_rule("6 make")
def test_zeros_ones_fill():
    same_lines(
        """
        tf.zeros([2, 2])
        tf.zeros(3)
        tf.zeros([])
        tf.zeros([2], tf.string)
        tf.zeros([2], "int64")
        tf.zeros([-1])
        tf.zeros([1.5])
        tf.zeros(tf.constant([2]))
        tf.zeros(tf.TensorShape([2]))
        tf.zeros([None])
        tf.zeros([2], tf.bool)
        tf.zeros([tf.constant(2), 3])
        tf.zeros([[2]])
        tf.zeros("a")
        tf.zeros(np.array([2, 3]))
        tf.zeros(tf.constant([2.0, 3.0]))
        tf.ones([2], tf.string)
        tf.ones([2], tf.bool)
        tf.ones([-1])
        tf.ones(())
        tf.ones([1.5])
        tf.ones(2)
        tf.fill([2, 2], 5)
        tf.fill([2], "a")
        tf.fill([], 1)
        tf.fill(2, 1)
        tf.fill([-1], 1)
        tf.fill([2], [1])
        tf.fill([1.5], 1)
        tf.fill([[2]], 1)
        tf.fill([2], True)
        tf.fill(tf.constant([2], tf.int64), 1.5)
        tf.fill([2], None)
        tf.zeros_like(m)
        tf.zeros_like(s)
        tf.zeros_like(m, tf.float32)
        tf.ones_like(s)
        tf.ones_like(m, dtype=tf.string)
        tf.ones_like([True])
        tf.zeros_like([1, 2.5])
        tf.ones_like("a")
        tf.compat.v1.zeros_like(m, tf.int64)
        tf.compat.v1.zeros_like(tensor=m)
        tf.zeros_like(input=m)
        """,
        **NAMES,
    )


@tf_rule("6 make")
def test_one_hot():
    same_lines(
        """
        tf.one_hot([0, 2], 3)
        tf.one_hot(1, 3)
        tf.one_hot([0, -1, 5], 3)
        tf.one_hot([0], 3, on_value=5, off_value=1)
        tf.one_hot([0], 3, on_value="a", off_value="b")
        tf.one_hot([0], 3, on_value=5)
        tf.one_hot([0], 3, 5.0, 2)
        tf.one_hot([0], 3, dtype=tf.int32)
        tf.one_hot([0], 3, on_value=1.5, dtype=tf.int32)
        tf.one_hot([[0, 1]], 3, axis=0)
        tf.one_hot([0, 1], 3, axis=1)
        tf.one_hot([0, 1], 3, axis=2)
        tf.one_hot([0.5], 3)
        tf.one_hot([0], -1)
        tf.one_hot([0], 0)
        tf.one_hot([0], [3])
        tf.one_hot(tf.constant([0], tf.uint8), 3)
        tf.one_hot(tf.constant([0], tf.int16), 3)
        tf.one_hot([0], 3, True, False)
        tf.one_hot([0], 3, dtype=tf.bool)
        tf.one_hot([0], 3, dtype=tf.string)
        tf.one_hot([0], tf.constant(3))
        tf.one_hot([0], 3, on_value=1, off_value=0.5)
        tf.one_hot([0], 3, off_value=2, dtype=tf.uint8)
        tf.one_hot([], 3)
        tf.one_hot(tf.zeros([0], tf.int32), 3)
        tf.one_hot([0], 3, axis=-2)
        """,
        **NAMES,
    )


@tf_rule("6 make")
def test_sequence_mask_and_meshgrid():
    same_lines(
        """
        tf.sequence_mask([1, 3, 2])
        tf.sequence_mask([1, 3, 2], 5)
        tf.sequence_mask(2, 3)
        tf.sequence_mask([1, 3], dtype=tf.float32)
        tf.sequence_mask([[1], [2]])
        tf.sequence_mask([1, 3], [2])
        tf.sequence_mask([1.5, 2])
        tf.sequence_mask([])
        tf.sequence_mask([5], 3)
        tf.sequence_mask([-1, 2])
        tf.sequence_mask([1, 2], tf.constant(3))
        tf.sequence_mask([1, 2], dtype=tf.string)
        tf.meshgrid([1, 2], [3, 4, 5])
        tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")
        tf.meshgrid([1, 2], [3.0, 4.0])
        tf.meshgrid([1, 2], [3], indexing="x")
        tf.meshgrid(1, 2)
        tf.meshgrid([1, 2])
        tf.meshgrid([[1, 2]], [3])
        tf.meshgrid([1, 2], [3], foo=1)
        tf.meshgrid()
        """,
        **NAMES,
    )


@tf_rule("6 cast")
def test_cast():
    same_lines(
        """
        tf.cast(1.7, tf.int32)
        tf.cast([1, 2], tf.float32)
        tf.cast("a", tf.int32)
        tf.cast(1, tf.string)
        tf.cast(tf.constant(300), tf.uint8)
        tf.cast(-1.5, tf.uint8)
        tf.cast(300.0, tf.uint8)
        tf.cast(1e+20, tf.int32)
        tf.cast(float("nan"), tf.int32)
        tf.cast(1 + 2j, tf.float32)
        tf.cast([0.0, 0.1, float("nan")], tf.bool)
        tf.cast(True, tf.int8)
        tf.cast(1, "foo")
        tf.cast(None, tf.int32)
        tf.cast(tf.constant([1, 2]), tf.int32)
        tf.cast(1e+40, tf.float32)
        tf.cast(tf.constant(1e+40, tf.float64), tf.float32)
        tf.cast(tf.constant(10000000000.0), tf.int64)
        tf.cast(tf.constant([10000000000.0, -10000000000.0, 3000000000.0]), tf.uint32)
        tf.cast(tf.constant([1e+20, -1e+20]), tf.int64)
        tf.cast(tf.constant([1e+20, -1.0]), tf.uint64)
        tf.cast(tf.constant([70000.0, -70000.0]), tf.int16)
        tf.cast(tf.constant([70000.0, -70000.0, 10000000000.0]), tf.int8)
        tf.cast(tf.constant([10000000000.0, -10000000000.0]), tf.uint16)
        tf.saturate_cast([300, -5], tf.uint8)
        tf.saturate_cast([1.5, 10000000000.0, -10000000000.0], tf.int32)
        tf.saturate_cast([10000000000.0, float("nan")], tf.int32)
        tf.saturate_cast(1 + 2j, tf.float32)
        tf.saturate_cast(1, tf.bool)
        tf.saturate_cast("a", tf.int32)
        tf.saturate_cast(tf.constant(2 ** 40, tf.int64), tf.float16)
        tf.saturate_cast(tf.constant(1000000.0), tf.float16)
        tf.saturate_cast(tf.constant(-1), tf.uint64)
        tf.saturate_cast(tf.constant(3000000000.0), tf.int32)
        tf.saturate_cast(tf.constant(1e+19, tf.float32), tf.int64)
        tf.saturate_cast(True, tf.uint8)
        tf.cast(x=1, dtype=tf.float32, name="q")
        tf.cast(1, float)
        tf.cast(1, bool)
        """,
        **NAMES,
    )


@tf_rule("6 cast")
def test_bitcast_and_others():
    same_lines(
        """
        tf.bitcast(1.0, tf.int32)
        tf.bitcast([1.0, 2.0], tf.uint8)
        tf.bitcast(tf.constant([1, 2, 3, 4], tf.uint8), tf.int32)
        tf.bitcast(tf.constant([1, 2, 3], tf.uint8), tf.int32)
        tf.bitcast(1, tf.float64)
        tf.bitcast([[1, 2], [3, 4]], tf.float64)
        tf.bitcast(s, tf.int32)
        tf.bitcast(1, tf.bool)
        tf.bitcast(True, tf.int8)
        tf.identity([1, 2])
        tf.identity("a")
        tf.identity(None)
        tf.compat.v1.to_float(1)
        tf.compat.v1.to_int32(1.5)
        tf.dtypes.complex(1.0, 2.0)
        tf.dtypes.complex(1, 2)
        """,
        **NAMES,
    )
