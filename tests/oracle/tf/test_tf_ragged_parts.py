"""Parts of RaggedTensors by number, split and mapped; functions of SparseTensors; rarer forms of queues and strings."""

from __future__ import annotations

import operator

import pytest

from tests.oracle.support.cpu_dependent import cpu_dependent
from tests.oracle.support.tf_scenarios import fails, ours, same, same_lines
from tests.support.rules import tf_rule


def flat(tf):
    return tf.ragged.constant([[1, 2], [3], []])


def words(tf):
    return tf.ragged.constant([["a", "b"], ["c"], []])


def deep(tf):
    return tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])


def wide(tf):
    return tf.RaggedTensor.from_row_splits([[1, 2], [3, 4]], [0, 1, 2])


def own(tf):
    return tf.ragged.constant([[1, 0], [], [0]])


CASES = {"flat": flat, "words": words, "deep": deep, "wide": wide, "own": own}


@tf_rule("6 ragged.gather")
def test_gather_along_dimensions():
    same_lines(
        """
        tf.gather(deep, [2, 0], validate_indices=True, axis=0)
        tf.gather(deep, [0], axis=1)
        tf.gather(deep, [0], axis=2)
        tf.gather(wide, [1], axis=2)
        tf.gather(flat, [0], axis=-1)
        tf.gather(flat, own, axis=1)
        tf.gather(flat, [0], axis=2)
        """,
        **CASES,
    )


@tf_rule("6 ragged.gather")
def test_gather_in_batches():
    same_lines(
        """
        tf.gather(flat[:2], [[1], [0]], batch_dims=1)
        tf.gather(flat[:2], [[0], [1]], batch_dims=1)
        tf.gather([[1, 2], [3, 4], [5, 6]], own, batch_dims=1)
        tf.gather(deep, own, batch_dims=1)
        tf.gather(deep, own, axis=1, batch_dims=1)
        tf.gather(deep, [[0], [0], [0]], batch_dims=1)
        tf.gather(deep, tf.ragged.constant([[[0], [0, 1]], [], [[2]]]), batch_dims=2)
        tf.gather(flat, [[0], [0]], batch_dims=1)
        tf.gather(flat, [0, 1], batch_dims=2)
        """,
        **CASES,
    )


@tf_rule("6 ragged.gather")
def test_gather_nd():
    same_lines(
        """
        tf.gather_nd(flat, [[0, 1], [1, 0]])
        tf.gather_nd(flat, [[0], [2]])
        tf.gather_nd(flat, [0])
        tf.gather_nd(flat, [0, 1])
        tf.gather_nd(flat, [[]])
        tf.gather_nd(flat, [[[0, 1]], [[1, 0]]])
        tf.gather_nd(words, [[0, 1], [1, 0]])
        tf.gather_nd(deep, [[0, 1], [2, 0]])
        tf.gather_nd(deep, [[0, 1, 1], [2, 0, 2]])
        tf.gather_nd([[1, 2], [3, 4]], tf.ragged.constant([[[0, 1]], [[1, 0], [0, 0]]], ragged_rank=1))
        tf.gather_nd(flat, [[5, 0]])
        tf.gather_nd(flat, [[0, 1, 0]])
        tf.gather_nd(flat, 0)
        tf.gather_nd(flat, [[0, 1]], batch_dims=1)
        """,
        **CASES,
    )


@tf_rule("6 ragged.split")
def test_split():
    same_lines(
        """
        tf.split(flat, 3)
        tf.split(words, [1, 2])
        tf.split(deep, tf.constant([2, 1]), axis=-3)
        tf.split(wide, 2, axis=2)
        tf.split(flat, 1, axis=1)
        tf.split(flat, 2)
        tf.split(flat, [1, 1])
        tf.split(flat, [1, -1])
        tf.split(flat, 0)
        tf.split(flat, 3, axis=5)
        tf.split(flat, [[1]])
        """,
        **CASES,
    )
    with pytest.raises(
        ValueError, match="Cannot split a ragged dimension"
    ):  # TensorFlow names its kind of shape
        ours().split(flat(ours()), 2, axis=1)


@tf_rule("6 map_fn ragged")
def test_map_fn_gives_rows_like_those_it_takes():
    same_lines(
        """
        tf.map_fn(lambda row: row + 1, flat)
        tf.map_fn(lambda row: row[:1], flat)
        tf.map_fn(lambda row: row + 1, deep)
        tf.map_fn(tf.strings.upper, words)
        tf.map_fn(tf.size, words, fn_output_signature=tf.int32)
        """,
        **CASES,
    )


@tf_rule("6 ragged.index")
def test_wrong_indices():
    same_lines(
        """
        flat[1:3:0.5]
        flat[:, 1:3:0.5]
        flat[:, 0.5:1.5]
        flat[..., 0, 0, 0]
        flat[1:0:0]
        """,
        **CASES,
    )


@cpu_dependent
@tf_rule("6 ragged.dispatch")
def test_activations_entry_by_entry():
    for name in ("math.erf", "nn.gelu", "nn.elu", "nn.relu"):
        same(
            lambda tf, name=name: operator.attrgetter(name)(tf)(tf.ragged.constant([[0.5, -1.5], [], [2.0]])),
            within=1e-6,
        )


@cpu_dependent
@tf_rule("6 sparse.dispatch")
def test_functions_of_what_is_stored():
    for name in ("abs", "negative", "sign", "square", "sqrt", "sin", "tan", "atan", "tanh", "math.erf"):
        same(
            lambda tf, name=name: operator.attrgetter(name)(tf)(
                tf.SparseTensor([[0, 1], [2, 0]], [0.5, 0.25], [3, 2])
            ),
            within=1e-6,
        )


@tf_rule("6 strings.split v1")
def test_an_empty_string_has_no_pieces():
    same(lambda tf: tf.compat.v1.string_split(["a,b,,c", "", ","], ",", skip_empty=False))


@tf_rule("4 queue arguments")
def test_sizes_of_one_shape():
    same_lines(
        """
        tf.queue.FIFOQueue(5, tf.int32, shapes=(2, 3)).shapes
        tf.queue.FIFOQueue(5, [tf.int32], shapes=[2]).shapes
        tf.queue.FIFOQueue(5, tf.float32, shapes=()).dequeue_many(0)
        tf.queue.FIFOQueue(5, tf.int32, shapes=3)
        tf.queue.FIFOQueue(5, tf.int32, shapes=(None, 2))
        tf.queue.RandomShuffleQueue(5, 0, tf.int32, shapes=()).shapes
        """
    )


@tf_rule("4 queue elements")
def test_numbers_of_values():
    def queue(tf):
        return tf.queue.FIFOQueue(5, [tf.int32, tf.int32])

    fails(lambda tf: queue(tf).enqueue((1,)), "InvalidArgumentError", "have: resource, int32->")
    fails(lambda tf: queue(tf).enqueue("x"), "TypeError")
    same(lambda tf: queue(tf).enqueue((1, 2, 3)))


@tf_rule("6 elements")
def test_every_argument_has_its_name():
    same(lambda tf: list(tf.data.Dataset.range(2).concatenate(dataset=tf.data.Dataset.range(1), name="both")))


@tf_rule("6 elements of other kinds")
def test_later_elements_may_be_longer():
    def rows(tf):
        return tf.data.Dataset.range(24).map(lambda n: tf.fill([tf.where(n < 20, 2, 3)], n))

    same(lambda tf: list(rows(tf).window(8).flat_map(lambda part: part.padded_batch(8))))
    same(lambda tf: list(rows(tf).bucket_by_sequence_length(lambda row: tf.shape(row)[0], [3], [4, 4])))
    same(
        lambda tf: list(
            rows(tf).bucket_by_sequence_length(
                lambda row: tf.shape(row)[0], [3, 5], [4, 4, 4], pad_to_bucket_boundary=True
            )
        )
    )
    same(
        lambda tf: list(
            rows(tf).group_by_window(
                lambda row: tf.constant(0, tf.int64), lambda _, part: part.padded_batch(4), 8
            )
        )
    )
