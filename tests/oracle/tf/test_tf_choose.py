"""Choosing and ordering elements in TensorFlow and in tfrkit.tf: gather, slice, where, sort, unique."""

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


@tf_rule("6 gather")
def test_gather():
    same_lines(
        """
        tf.gather(m, [0, 1, 1])
        tf.gather(m, 0)
        tf.gather(m, [2])
        tf.gather(m, [-1])
        tf.gather(m, [0, 2], axis=1)
        tf.gather(m, [[0, 1]], axis=1)
        tf.gather(m, [0], axis=2)
        tf.gather(m, [0], axis=-1)
        tf.gather(s, [2, 0])
        tf.gather(sc, [0])
        tf.gather(m, [0.5])
        tf.gather(m, [[0, 1], [1, 2]], batch_dims=1)
        tf.gather(m, [0, 1], axis=1, batch_dims=1)
        tf.gather(m, [[0, 1], [1, 2]], axis=1, batch_dims=1)
        tf.gather(m, [3], axis=1)
        tf.gather(m, [[0], [1], [2]], batch_dims=1)
        tf.gather(m, tf.constant([0], tf.int64))
        tf.gather(m, tf.constant([0], tf.uint8))
        tf.gather(m, [])
        tf.gather(m, tf.zeros([0], tf.int32))
        tf.gather(params=m, indices=[0])
        tf.gather(m, [0], batch_dims=2)
        tf.gather(z, [0])
        tf.gather(m, [0, 5, 9])
        tf.gather(m, [[0, 7]])
        tf.gather(m, [0], axis=-3)
        tf.gather(m, [0], batch_dims=-1)
        """,
        **NAMES,
    )


@tf_rule("6 gather")
def test_gather_nd():
    same_lines(
        """
        tf.gather_nd(m, [[0, 1], [1, 2]])
        tf.gather_nd(m, [0, 1])
        tf.gather_nd(m, [[0], [1]])
        tf.gather_nd(m, [[2, 0]])
        tf.gather_nd(m, [[0, 0, 0]])
        tf.gather_nd(m, [[-1, 0]])
        tf.gather_nd(s, [[1]])
        tf.gather_nd(m, [[1], [0]], batch_dims=1)
        tf.gather_nd(m, 1)
        tf.gather_nd(m, [[[0, 1]]])
        tf.gather_nd(m, [[0.5]])
        tf.gather_nd(m, [[]])
        tf.gather_nd(m, tf.zeros([2, 0], tf.int32))
        """,
        **NAMES,
    )


@tf_rule("6 gather")
def test_slice():
    same_lines(
        """
        tf.slice(m, [0, 1], [2, 2])
        tf.slice(m, [0, 1], [-1, -1])
        tf.slice(m, [0], [1])
        tf.slice(m, [0, 1], [2, 3])
        tf.slice(m, [0, -1], [2, 1])
        tf.slice(s, [1], [1])
        tf.slice(m, [0, 4], [1, 0])
        tf.slice(m, [0, 3], [1, 0])
        tf.slice(m, [0, 0], [0, 1])
        tf.slice(m, [0, 0], [1, -2])
        tf.slice(m, [0.0, 0], [1, 1])
        tf.slice(m, [[0, 0]], [[1, 1]])
        tf.slice(m, (0, 0), (1, 1))
        tf.slice(m, tf.constant([0, 0], tf.int64), [1, 1])
        tf.slice(m, [0, 0], tf.constant([1, 1], tf.int64))
        tf.strided_slice(m, [0, 0], [2, 3], [1, 2])
        tf.strided_slice(m, [0, 0], [2, 3])
        tf.strided_slice(m, [0], [1])
        tf.strided_slice(m, [0, 0], [2, 3], begin_mask=1)
        tf.strided_slice(m, [1, 0], [2, 3], shrink_axis_mask=1)
        tf.strided_slice(m, [0, 0], [2, 3], end_mask=3)
        tf.strided_slice(m, [0, 0], [2, 3], new_axis_mask=1)
        tf.strided_slice(m, [0, 0], [2, 3], ellipsis_mask=1)
        """,
        **NAMES,
    )


@tf_rule("6 gather")
def test_boolean_mask():
    same_lines(
        """
        tf.boolean_mask(m, [True, False])
        tf.boolean_mask(m, [True, False, True], axis=1)
        tf.boolean_mask(m, [[True, False, True], [False, True, False]])
        tf.boolean_mask(m, [True])
        tf.boolean_mask(m, True)
        tf.boolean_mask(s, [True, False, True])
        tf.boolean_mask(m, [1, 0])
        tf.boolean_mask(m, [True, True, True])
        tf.boolean_mask(m, [True, False], axis=1)
        tf.boolean_mask(m, np.array([True, False]))
        tf.boolean_mask(m, [[True, False]])
        tf.boolean_mask(m, [True, False, True], axis=-1)
        tf.boolean_mask([1, 2], [0.5, 0.0])
        """,
        **NAMES,
    )


@tf_rule("6 order")
def test_sort():
    same_lines(
        """
        tf.sort([3, 1, 2])
        tf.sort([3, 1, 2], direction="DESCENDING")
        tf.sort(m, axis=0)
        tf.sort(m, axis=2)
        tf.sort(s)
        tf.sort([3.0, float("nan"), 1.0])
        tf.sort([3, 1], direction="x")
        tf.sort(5)
        tf.sort([True, False])
        tf.sort(tf.constant([3, 1], tf.uint8))
        tf.argsort([3, 1, 2])
        tf.argsort([1, 1, 1], direction="DESCENDING")
        tf.argsort([1, 1, 1], stable=True)
        tf.argsort(m, axis=0)
        tf.argsort([[3, 1], [1, 2]])
        tf.argsort(s)
        tf.argsort([3.0, float("nan"), 1.0])
        tf.sort([float("nan"), 1.0, 2.0], direction="DESCENDING")
        tf.argsort(tf.constant([1, 2], tf.uint8), direction="DESCENDING")
        tf.argsort([-2 ** 31, 0])
        tf.sort([-2 ** 31, 5, 2 ** 31 - 1])
        tf.sort(tf.constant([0, 255], tf.uint8))
        """,
        **NAMES,
    )


@tf_rule("6 order")
def test_top_k():
    same_lines(
        """
        tf.math.top_k([1, 3, 2], 2)
        tf.math.top_k(m)
        tf.math.top_k(m, 4)
        tf.math.top_k(m, -1)
        tf.math.top_k(5)
        tf.math.top_k([1, 1, 1], 2)
        tf.math.top_k(s)
        tf.math.top_k([1, 3], 0)
        tf.math.top_k([1.0, float("nan"), 2.0], 2)
        tf.math.top_k([1, 3, 2], 2, index_type=tf.int64)
        tf.math.in_top_k([0], [[1.0, 2.0]], 1)
        tf.math.in_top_k([1], [[1.0, 2.0]], 1)
        """,
        **NAMES,
    )


@tf_rule("6 order")
def test_unique_and_searchsorted():
    same_lines(
        """
        tf.unique([1, 2, 1, 3])
        tf.unique(["a", "b", "a"])
        tf.unique(m)
        tf.unique([1, 1], tf.int64)
        tf.unique_with_counts([1, 2, 1])
        tf.unique([])
        tf.unique(5)
        tf.unique([1.0, float("nan"), float("nan")])
        tf.unique([0.0, -0.0])
        tf.searchsorted([1, 3, 5], [2, 3, 6])
        tf.searchsorted([1, 3, 5], [3], side="right")
        tf.searchsorted([1, 3, 5], 3)
        tf.searchsorted([[1, 3], [2, 4]], [[2], [3]])
        tf.searchsorted([1, 3, 5], [2], side="x")
        tf.searchsorted([1, 3], [2], out_type=tf.int64)
        tf.searchsorted([[1, 3], [2, 4]], [2])
        tf.searchsorted([1.0, 3.0], [2])
        tf.searchsorted([1, 3], [2.5])
        """,
        **NAMES,
    )


@tf_rule("6 gather")
def test_where():
    same_lines(
        """
        tf.where(True, 1, 2.5)
        tf.where([True, False], a, f)
        tf.where([True, False], a, 0)
        tf.where([True, False], 0, f)
        tf.where([True, False], a, 1.5)
        tf.where([1, 0], a, a)
        tf.where([True, False])
        tf.where([[1, 0], [2, 0]])
        tf.where(["a", ""])
        tf.where([True, False], ["a", "b"], "c")
        tf.where([True, False, True], a, a)
        tf.where(True, [1, 2], [3, 4])
        tf.where([True, False], 1, None)
        tf.where([[True, False], [False, True]])
        tf.compat.v1.where([True, False], [1, 2], [3, 4])
        tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
        """,
        **NAMES,
    )


@tf_rule("6 gather")
def test_scatter():
    same_lines(
        """
        tf.scatter_nd([[0], [2]], [5, 6], [4])
        tf.scatter_nd([[0], [0]], [5, 6], [2])
        tf.scatter_nd([[5]], [5], [2])
        tf.tensor_scatter_nd_update([1, 2, 3], [[0]], [9])
        tf.tensor_scatter_nd_add([1, 2, 3], [[0], [0]], [9, 1])
        tf.tensor_scatter_nd_update([1, 2, 3], [[5]], [9])
        tf.tensor_scatter_nd_update(s, [[0]], ["z"])
        tf.nn.embedding_lookup(f, [1, 0])
        """,
        **NAMES,
    )
