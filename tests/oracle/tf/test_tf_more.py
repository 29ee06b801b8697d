"""Segments, partitions and activations in TensorFlow and in tfrkit.tf."""

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


@tf_rule("6 segments")
def test_segments():
    same_lines(
        """
        tf.math.segment_sum([1, 2, 3], [0, 0, 1])
        tf.math.segment_sum(m, [0, 1])
        tf.math.segment_sum([1, 2, 3], [0, 0, 2])
        tf.math.segment_sum([1, 2], [1, 0])
        tf.math.segment_sum([1, 2, 3], [0, 1])
        tf.math.segment_sum([1, 2], [-1, 0])
        tf.math.segment_sum([0.5, 1.5, -3.0], [1, 1, 1])
        tf.math.segment_max([1, 2, 3], [0, 0, 2])
        tf.math.segment_max([-1.5, -2.5, 7.0], [0, 0, 2])
        tf.math.segment_max(m, [1, 1])
        tf.math.segment_max(tf.constant([3, 9, 1], tf.uint8), [2, 2, 3])
        tf.math.segment_max([True], [0])
        tf.math.segment_sum(["a"], [0])
        tf.math.segment_sum(5, 0)
        tf.math.segment_sum([], tf.zeros([0], tf.int32))
        """,
        **NAMES,
    )


@tf_rule("6 segments")
def test_partitions_and_scatter():
    same_lines(
        """
        tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)
        tf.dynamic_partition(m, [1, 0], 2)
        tf.dynamic_partition(s, [1, 0, 1], 3)
        tf.dynamic_partition([1, 2], [0, 5], 2)
        tf.dynamic_partition([1, 2], [0], 2)
        tf.dynamic_partition([1, 2], [0, 1], 0)
        tf.unravel_index(5, [2, 3])
        tf.unravel_index([5, 0], [2, 3])
        tf.unravel_index(7, [2, 3])
        tf.identity_n([a, s])
        tf.tuple([a, s])
        tf.tensor_scatter_nd_sub([1, 2, 3], [[0]], [9])
        tf.tensor_scatter_nd_max([1, 2, 3], [[0]], [9])
        tf.tensor_scatter_nd_min([1, 2, 3], [[2], [2]], [0, -1])
        tf.clip_by_global_norm([[3.0], [4.0]], 1.0)
        tf.linalg.global_norm([[3.0], [4.0]])
        """,
        within=1e-6,
        **NAMES,
    )


@cpu_dependent
@tf_rule("6 activations")
def test_activations():
    same_lines(
        """
        tf.nn.l2_loss([1.0, 2.0])
        tf.nn.l2_loss([1, 2])
        tf.nn.gelu([-1.0, 0.0, 2.0])
        tf.nn.gelu([-1.0, 0.0, 2.0], approximate=True)
        tf.nn.bias_add([[1.0, 2.0]], [1.0, 2.0])
        tf.nn.bias_add([[1.0, 2.0]], [1.0])
        tf.nn.depth_to_space(tf.reshape(tf.range(16), [1, 2, 2, 4]), 2)
        tf.nn.space_to_depth(tf.reshape(tf.range(16), [1, 4, 4, 1]), 2)
        tf.nn.space_to_depth(tf.reshape(tf.range(9), [1, 3, 3, 1]), 2)
        tf.nn.depth_to_space(tf.reshape(tf.range(4), [1, 2, 2, 1]), 2)
        tf.nn.space_to_depth(m, 2)
        tf.nn.space_to_depth(tf.reshape(tf.range(16), [1, 4, 4, 1]), 1)
        """,
        within=1e-6,
        **NAMES,
    )


@cpu_dependent
@tf_rule("6 compat")
def test_compat():
    same_lines(
        """
        tf.compat.as_bytes("é")
        tf.compat.as_bytes(b"a")
        tf.compat.as_bytes(1)
        tf.compat.as_text(b"\xc3\xa9")
        tf.compat.as_text("a")
        tf.compat.as_text(1)
        tf.compat.as_str(b"a")
        tf.compat.as_str_any(1)
        tf.compat.as_str_any(b"a")
        tf.compat.path_to_str("a")
        tf.compat.forward_compatible(2020, 1, 1)
        tf.compat.as_bytes(bytearray(b"a"))
        tf.compat.as_bytes("é", "latin-1")
        tf.compat.v1.div(7, 2)
        tf.compat.v1.div(-7, 2)
        tf.compat.v1.div(7.0, 2)
        tf.compat.v1.div_no_nan(1.0, 0.0)
        tf.compat.v1.to_int64(1.5)
        tf.compat.v1.to_double(1)
        tf.compat.v1.to_bfloat16(1)
        tf.compat.v1.to_complex64(1)
        tf.compat.v1.batch_gather(m, [[0], [1]])
        tf.compat.v1.segment_sum([1, 2], [0, 0])
        tf.compat.v1.space_to_depth(tf.reshape(tf.range(16), [1, 4, 4, 1]), 2).shape
        tf.compat.v1.norm([3.0, 4.0])
        tf.compat.v1.tile([1], [2])
        tf.compat.v1.reduce_sum(m, reduction_indices=1, keep_dims=True)
        tf.compat.v1.reduce_sum(tf.ragged.constant([[1, 2], [3]]), 1)
        tf.compat.v1.reduce_max(tf.ragged.constant([[1, 2], [3]]), reduction_indices=1)
        tf.compat.v1.zeros_like(tf.ragged.constant([[1, 2], [3]]))
        tf.compat.v1.squeeze(tf.ragged.constant([[[1], [2]], [[3]]]), 2)
        tf.compat.v1.squeeze(m, None, "thin"), tf.compat.v1.squeeze([[1]], squeeze_dims=[0])
        tf.compat.v1.expand_dims(a, dim=0), tf.compat.v1.expand_dims(a, -1, "wide")
        tf.compat.v1.transpose(m, [1, 0], "turn"), tf.compat.v1.shape(m, "sizes", tf.int64)
        tf.is_symbolic_tensor(a)
        tf.get_current_name_scope()
        tf.guarantee_const(a)
        """,
        **NAMES,
    )
