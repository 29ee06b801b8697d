"""Windows, groups, running states and choices among datasets, live against tf.data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle.support.data_scenarios import agree
from tests.support.rules import tf_rule


def numbers(lib: Any) -> Any:
    """An element fails."""
    return lib.Dataset.range(8).map(lambda x: lib.check(x != 3, x))


def lists(lib: Any, *lengths: int) -> Any:
    """Arrays of these lengths."""
    return lib.Dataset.from_generator(
        lambda: (np.full(length, length) for length in lengths),
        output_signature=lib.TensorSpec([None], "int64"),
    )


@tf_rule("5 take_while")
def test_take_while():
    agree(lambda lib: lib.Dataset.range(9).take_while(lambda x: x != 4), [0, 1, 2, 3])
    agree(lambda lib: lib.Dataset.range(3).take_while(lambda x: x < 9))
    agree(lambda lib: numbers(lib).take_while(lambda x: x != 5))
    agree(lambda lib: lib.Dataset.range(9).take_while(lambda x: x % 3 != 2).repeat(2))


@tf_rule("5 scan")
def test_scan():
    agree(lambda lib: lib.Dataset.range(5).scan(np.int64(0), lambda s, x: (s + x, s * x)), [0, 0, 2, 9, 24])
    agree(lambda lib: numbers(lib).scan(np.int64(1), lambda s, x: (s + x, (s, x))))
    agree(lambda lib: lib.Dataset.range(4).scan((np.int64(0), 1.0), lambda s, x: ((s[0] + x, s[1]), s[1])))
    agree(lambda lib: lib.Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s)).repeat(2))


@tf_rule("5 unique")
def test_unique():
    agree(lambda lib: lib.Dataset.from_tensor_slices([1, 2, 1, 3, 2]).unique(), [1, 2, 3])
    agree(lambda lib: lib.Dataset.from_tensor_slices(["a", "b", "a"]).unique())
    agree(lambda lib: lib.Dataset.from_tensor_slices([[1, 2], [1, 2], [2, 1]]).unique())
    agree(lambda lib: lib.Dataset.from_tensor_slices([1.0, 2.0]).unique())
    agree(lambda lib: lib.Dataset.from_tensor_slices(([1, 2], [1, 2])).unique())


@tf_rule("5 rebatch")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 3, 20, [1, 2], [4, 1]], ids=str)
def test_rebatch(size, drop):
    agree(lambda lib: lib.Dataset.range(10).batch(4).rebatch(size, drop_remainder=drop))
    agree(lambda lib: lib.Dataset.range(10).map(lambda x: {"a": x, "b": -x}).batch(3).rebatch(size, drop))
    agree(lambda lib: numbers(lib).batch(1).rebatch(size, drop))


@tf_rule("5 rebatch")
def test_rebatch_of_ragged_values():
    agree(lambda lib: lists(lib, 1, 0, 2, 3).ragged_batch(3).rebatch(2))


@tf_rule("5 rebatch")
def test_rebatch_of_scalars():
    agree(lambda lib: lib.Dataset.range(10).rebatch(3))


WINDOWS = [(1,), (3,), (3, 1), (3, 2), (2, 3), (3, 2, 2), (2, 5, 3), (9,), (4, 1, 3)]


@tf_rule("5 window")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("sizes", WINDOWS, ids=str)
def test_window(sizes, drop):
    agree(
        lambda lib: lib.Dataset.range(7).window(*sizes, drop_remainder=drop).flat_map(lambda w: w.batch(99))
    )
    agree(
        lambda lib: (
            lib.Dataset.range(7)
            .window(*sizes, drop_remainder=drop)
            .map(lambda w: lib.cast(w.cardinality(), "int64"))
        )
    )


@tf_rule("5 window")
def test_windows_of_several_parts():
    def pairs(lib):
        ds = lib.Dataset.zip(lib.Dataset.range(5), lib.Dataset.range(10, 15))
        return ds.window(2).flat_map(lambda a, b: lib.Dataset.zip(a.batch(2), b.batch(2)))

    agree(pairs)
    agree(lambda lib: lib.Dataset.from_tensor_slices({"a": [1, 2, 3]}).window(2).flat_map(lambda w: w["a"]))


@tf_rule("5 window")
@pytest.mark.parametrize("sizes", [(0,), (2, 0), (2, 1, 0), (-1,)], ids=str)
def test_window_sizes_are_positive(sizes):
    agree(lambda lib: lib.Dataset.range(7).window(*sizes))


@tf_rule("5 window")
@pytest.mark.parametrize("sizes", [(2, 1), (2, 2, 2), (3, 3)], ids=str)
def test_an_error_counts_for_the_windows_that_have_it(sizes):
    agree(lambda lib: numbers(lib).window(*sizes).flat_map(lambda window: window.batch(9)))


@tf_rule("5 group_by_window")
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_group_by_window(size):
    agree(lambda lib: lib.Dataset.range(10).group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), size))
    agree(
        lambda lib: lib.Dataset.range(10).group_by_window(
            lambda x: 2 - x % 3, lambda k, w: w.map(lambda x: x + k), size
        )
    )


@tf_rule("5 group_by_window")
def test_group_sizes_by_key():
    agree(
        lambda lib: lib.Dataset.range(10).group_by_window(
            lambda x: x % 3, lambda k, w: w.batch(4), window_size_func=lambda k: k + 1
        )
    )
    agree(lambda lib: lib.Dataset.range(10).group_by_window(lambda x: x % 3, lambda k, w: w))
    agree(lambda lib: lib.Dataset.range(3).group_by_window(lambda x: x, lambda k, w: w, 0))
    agree(lambda lib: numbers(lib).group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2))


@tf_rule("5 bucket_by_sequence_length")
@pytest.mark.parametrize("drop", [False, True])
def test_buckets(drop):
    lengths = 1, 2, 3, 4, 1, 1, 5, 2, 3
    agree(
        lambda lib: lists(lib, *lengths).bucket_by_sequence_length(
            lib.length, [2, 4], [2, 3, 2], drop_remainder=drop
        )
    )
    agree(
        lambda lib: lists(lib, *lengths).bucket_by_sequence_length(
            lib.length,
            [3, 6],
            [2, 2, 2],
            pad_to_bucket_boundary=True,
            padding_values=np.int64(-1),
        )
    )
    agree(
        lambda lib: lists(lib, 1, 2, 2, 1).bucket_by_sequence_length(lib.length, [2], [2, 2], no_padding=True)
    )
    agree(lambda lib: lists(lib, 1).bucket_by_sequence_length(lib.length, [2, 4], [1, 2]))


@tf_rule("5 choose_from_datasets")
@pytest.mark.parametrize("stop", [False, True])
def test_choose(stop):
    def chosen(lib):
        parts = [lib.Dataset.range(count * 10, count * 10 + count) for count in (3, 1, 4)]
        return lib.Dataset.choose_from_datasets(
            parts, lib.Dataset.range(3).repeat(5), stop_on_empty_dataset=stop
        )

    agree(chosen)


@tf_rule("5 choose_from_datasets")
def test_choose_wrongly():
    agree(lambda lib: lib.Dataset.choose_from_datasets([lib.Dataset.range(1)], lib.Dataset.range(2)))
    agree(lambda lib: lib.Dataset.choose_from_datasets([], lib.Dataset.range(2)))
    agree(
        lambda lib: lib.Dataset.choose_from_datasets(
            [lib.Dataset.range(1)], lib.Dataset.from_tensor_slices([0])
        )
    )


@tf_rule("5 sample_from_datasets")
@pytest.mark.parametrize("seed", [0, 1, 7, 12345])
@pytest.mark.parametrize(
    "weights", [None, [0.3, 0.7, 0.0], [1.0, 2.0, 5.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], ids=str
)
def test_sample(weights, seed):
    for stop in (False, True):
        agree(
            lambda lib, stop=stop: lib.Dataset.sample_from_datasets(
                [lib.Dataset.range(count * 100, count * 100 + count) for count in (9, 5, 12)],
                weights,
                seed=seed,
                stop_on_empty_dataset=stop,
            ).repeat(2)
        )


@tf_rule("5 sample_from_datasets")
def test_sample_with_changing_weights():
    def sampled(lib):
        weights = lib.Dataset.from_tensor_slices([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]).repeat()
        return lib.Dataset.sample_from_datasets(
            [lib.Dataset.range(9), lib.Dataset.range(50, 59)], weights, seed=3
        )

    agree(sampled)
    agree(lambda lib: lib.Dataset.sample_from_datasets([lib.Dataset.range(9)] * 2, [1, 1], seed=3))
    agree(lambda lib: lib.Dataset.sample_from_datasets([lib.Dataset.range(9).repeat()] * 2, seed=3), limit=40)
    agree(lambda lib: lib.Dataset.sample_from_datasets([lib.Dataset.range(9)], [0.5, 0.5], seed=3))


@tf_rule("5 random")
@pytest.mark.parametrize("again", [None, False, True])
def test_random(again):
    agree(lambda lib: lib.Dataset.random(seed=3, rerandomize_each_iteration=again).take(5).repeat(3))


@tf_rule("5 counter")
def test_counter():
    agree(lambda lib: lib.Dataset.counter().take(3), [0, 1, 2])
    agree(lambda lib: lib.Dataset.counter(3, -2).take(3), [3, 1, -1])


@tf_rule("5 sparse_batch")
def test_sparse_batch():
    agree(lambda lib: lists(lib, 1, 2, 0, 3, 1).sparse_batch(2, [5]))
    agree(lambda lib: lists(lib, 1, 2, 0, 3, 1).sparse_batch(2, [None]))
    agree(lambda lib: lists(lib, 1, 2, 3, 4, 1, 1).sparse_batch(2, [2]))
    agree(lambda lib: lib.Dataset.range(3).sparse_batch(2, []))
