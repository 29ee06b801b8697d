"""Reductions, running sums and counts in TensorFlow and in tfrkit.tf."""

from __future__ import annotations

from tests.oracle.support.cpu_dependent import cpu_dependent
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


@cpu_dependent
@tf_rule("6 reductions")
def test_reductions():
    same_lines(
        """
        tf.reduce_mean([2 ** 31 - 1, 2 ** 31 - 1])
        tf.reduce_mean(tf.constant([2 ** 62, 2 ** 62, 2 ** 62], tf.int64))
        tf.reduce_mean([2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 3])
        tf.reduce_mean(tf.zeros([0], tf.uint8))
        tf.reduce_mean(tf.constant([7, 8], tf.int64))
        tf.reduce_mean(tf.constant([255] * 300, tf.uint8))
        tf.reduce_sum(m)
        tf.reduce_sum(m, 0)
        tf.reduce_sum(m, [0, 1])
        tf.reduce_sum(m, 1, True)
        tf.reduce_sum(m, 2)
        tf.reduce_sum(m, -3)
        tf.reduce_sum(m, [0, 0])
        tf.reduce_sum(m, [])
        tf.reduce_sum(s)
        tf.reduce_sum([True])
        tf.reduce_sum(tf.constant([200, 200], tf.uint8))
        tf.reduce_sum(z)
        tf.reduce_sum(z, 1)
        tf.reduce_sum(5)
        tf.reduce_sum(m, "a")
        tf.reduce_sum(m, 1.0)
        tf.reduce_sum(m, tf.constant(0, tf.int64))
        tf.reduce_sum(m, keepdims=True)
        tf.reduce_sum([1.5, 2])
        tf.reduce_sum(None)
        tf.reduce_sum(m, None)
        tf.reduce_sum(m, (0, 1))
        tf.reduce_sum(m, [[0]])
        tf.reduce_mean(m)
        tf.reduce_mean([1, 2])
        tf.reduce_mean([-1, -2])
        tf.reduce_mean(f)
        tf.reduce_mean([True])
        tf.reduce_mean(z)
        tf.reduce_mean(z, 0)
        tf.reduce_mean(tf.zeros([0], tf.int32))
        tf.reduce_mean(tf.constant([200, 200], tf.uint8))
        tf.reduce_mean(tf.constant([200, 201], tf.int8))
        tf.reduce_mean("a")
        tf.reduce_max(m, 1)
        tf.reduce_max(z)
        tf.reduce_max(tf.zeros([0], tf.int32))
        tf.reduce_min(tf.zeros([0], tf.uint8))
        tf.reduce_min(tf.zeros([0]))
        tf.reduce_max(s)
        tf.reduce_max([True])
        tf.reduce_max([float("nan"), 1.0])
        tf.reduce_min([float("nan"), 1.0])
        tf.reduce_max([1.0, float("nan")])
        tf.reduce_prod(m)
        tf.reduce_prod(z)
        tf.reduce_any([True, False])
        tf.reduce_any([1, 0])
        tf.reduce_any(a)
        tf.reduce_all([])
        tf.reduce_all(tf.zeros([0], tf.bool))
        tf.reduce_any(tf.zeros([2, 0], tf.bool), 1)
        tf.reduce_all([[True, False]], 1, keepdims=True)
        tf.math.reduce_std(f)
        tf.math.reduce_std(m)
        tf.math.reduce_variance(f)
        tf.math.reduce_variance(m, 0)
        tf.math.reduce_variance([1 + 1j, 2])
        tf.reduce_logsumexp(f)
        tf.reduce_logsumexp(f, 0, True)
        tf.reduce_logsumexp(m)
        tf.reduce_logsumexp([-1000.0, -1000.0])
        tf.reduce_logsumexp([float("-inf")])
        tf.math.reduce_euclidean_norm(f)
        tf.math.reduce_euclidean_norm(m)
        tf.math.count_nonzero(m)
        tf.math.count_nonzero([0, 1], dtype=tf.int32)
        tf.math.count_nonzero(s)
        tf.math.count_nonzero([[0, 1]], axis=0, keepdims=True)
        tf.math.count_nonzero([True, False])
        tf.compat.v1.reduce_sum(m, reduction_indices=0)
        tf.math.zero_fraction([0, 1.0])
        tf.math.zero_fraction([0, 1])
        tf.nn.moments(f, [0])
        tf.math.l2_normalize(f)
        tf.norm(f)
        tf.norm(f, axis=1)
        tf.norm(f, 1)
        tf.norm(f, np.inf)
        tf.norm(m)
        tf.norm(f, "fro", [0, 1])
        tf.norm(f, 3)
        tf.norm(f, "x")
        """,
        within=2e-6,
        **NAMES,
    )


@tf_rule("6 reductions")
def test_argmax():
    same_lines(
        """
        tf.argmax(m)
        tf.argmax(m, 1)
        tf.argmax(m, axis=-1, output_type=tf.int32)
        tf.argmax(m, 2)
        tf.argmax(s)
        tf.argmax([True, False])
        tf.argmax([1.0, float("nan"), 3.0])
        tf.argmin([1.0, float("nan"), 0.0])
        tf.argmax([float("nan"), 1.0])
        tf.argmax(z, 1)
        tf.argmax(z, 0)
        tf.argmax(5)
        tf.argmax([3, 3])
        tf.argmin(m, 1)
        tf.argmax(m, output_type=tf.float32)
        tf.argmax(m, None)
        tf.argmax(m, [0])
        tf.argmax(m, output_type=tf.uint16)
        tf.argmin(m, output_type=tf.uint16)
        tf.compat.v1.argmax(m, dimension=1)
        tf.argmax(tf.zeros([0]))
        """,
        **NAMES,
    )


@tf_rule("6 reductions")
def test_clip():
    same_lines(
        """
        tf.clip_by_value([1, 5, 9], 2, 6)
        tf.clip_by_value([1.0, 5.0], 2, 3)
        tf.clip_by_value([1, 5], 2.5, 3)
        tf.clip_by_value(m, [1, 2, 3], 4)
        tf.clip_by_value(a, 6, 2)
        tf.clip_by_value(s, "a", "b")
        tf.clip_by_value(f, tf.constant(2), 3)
        tf.clip_by_value([float("nan")], 0.0, 1.0)
        tf.clip_by_value(tf.constant([1, 200], tf.uint8), 10, 100)
        tf.clip_by_value(5, 1, 3)
        tf.clip_by_value(a, np.array([1.5]), 3)
        tf.clip_by_value(a, [1, 2, 3], 4)
        tf.clip_by_value([[1], [2]], [[0, 0]], 4)
        tf.clip_by_norm([3.0, 4.0], 1.0)
        tf.clip_by_value(True, False, True)
        """,
        within=1e-6,
        **NAMES,
    )


@tf_rule("6 reductions")
def test_cumulative():
    same_lines(
        """
        tf.cumsum([1, 2, 3])
        tf.cumsum([1, 2, 3], exclusive=True)
        tf.cumsum([1, 2, 3], reverse=True)
        tf.cumsum([1, 2, 3], exclusive=True, reverse=True)
        tf.cumsum(m, 1)
        tf.cumsum(m, 2)
        tf.cumsum(m, -1)
        tf.cumsum(5)
        tf.cumsum(s)
        tf.cumsum([True])
        tf.math.cumprod([1, 2, 3])
        tf.math.cumprod([1, 2, 3], exclusive=True)
        tf.cumsum(m, [0])
        tf.cumsum(tf.constant([200, 100], tf.uint8))
        tf.cumsum(m, 1.5)
        """,
        **NAMES,
    )


@tf_rule("6 counts")
def test_bincount():
    same_lines(
        """
        tf.math.bincount([1, 1, 3])
        tf.math.bincount([1, 1, 3], minlength=6)
        tf.math.bincount([1, 1, 3], maxlength=2)
        tf.math.bincount([1, 2], weights=[0.5, 1.5])
        tf.math.bincount([[1, 2], [0, 0]], axis=-1)
        tf.math.bincount([-1])
        tf.math.bincount([])
        tf.math.bincount([1, 2], dtype=tf.int64)
        tf.math.bincount([1, 2], binary_output=True)
        tf.math.bincount(tf.constant([1], tf.int64))
        tf.math.bincount([1.5])
        tf.math.bincount([1, 1], weights=[1, 2])
        """,
        **NAMES,
    )


@cpu_dependent
@tf_rule("6 reductions")
def test_softmax_and_products():
    same_lines(
        """
        tf.nn.softmax([1.0, 2.0])
        tf.nn.softmax(m)
        tf.nn.softmax([[1.0, 2.0]], axis=0)
        tf.nn.log_softmax([1.0, 2.0])
        tf.nn.softmax([])
        tf.tensordot(m, m, [[1], [1]])
        tf.tensordot([1, 2], [3, 4], 1)
        tf.tensordot([1, 2], [3, 4], 0)
        tf.einsum("ij,kj->ik", m, m)
        tf.einsum("ij->ji", m)
        tf.einsum("i,i", a, a)
        tf.linalg.norm([3.0, 4.0])
        """,
        within=1e-6,
        **NAMES,
    )
