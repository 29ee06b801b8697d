"""Files to arrays: tfrkit, TensorFlow in all its ways, protobuf's messages, the tfrecord package.

Each function goes through the files once and returns how many records it met. TensorFlow's pipelines read one file
after another: with `num_parallel_reads` small records come many times slower, so only one contender has it.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import specs
from benchmarks.harness import Contender, count, keep_alive
from benchmarks.rivals import tensorflow

BATCH = 1024


def ours(paths: Sequence[Path], spec: dict[str, Any]) -> int:
    """`read_blocks` and `parse_example`, CRC on."""
    import tfrkit as tfr

    first = next(iter(spec))
    return sum(len(tfr.parse_example(block, spec)[first]) for block in tfr.read_blocks(list(paths)))


def _dataset(paths: Sequence[Path], **options: Any) -> Any:
    return tensorflow().data.TFRecordDataset([str(path) for path in paths], **options)


def _rows(value: Any) -> int:
    """Rows of a batch: of a dense, ragged or sparse tensor."""
    return int(value.dense_shape[0]) if hasattr(value, "dense_shape") else int(value.shape[0])


def _drain(dataset: Any) -> int:
    """Take every batch, without turning it into numpy's arrays, and count its rows."""
    iterator = iter(dataset)
    keep_alive(iterator)
    return sum(_rows(next(iter(batch.values()))) for batch in iterator)


def tf_batched(paths: Sequence[Path], spec: dict[str, Any], batch: int = BATCH, **options: Any) -> int:
    """Batch, then parse_example with as many parallel calls as TensorFlow likes, prefetched."""
    tf = tensorflow()
    parse = lambda records: tf.io.parse_example(records, spec)  # noqa: E731
    parsed = _dataset(paths, **options).batch(batch).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return _drain(parsed.prefetch(tf.data.AUTOTUNE))


def tf_batched_plain(paths: Sequence[Path], spec: dict[str, Any]) -> int:
    """Batch, then a plain map of parse_example, prefetched."""
    tf = tensorflow()
    parsed = _dataset(paths).batch(BATCH).map(lambda records: tf.io.parse_example(records, spec))
    return _drain(parsed.prefetch(tf.data.AUTOTUNE))


def tf_one_by_one(paths: Sequence[Path], spec: dict[str, Any], limit: int) -> int:
    """A map of parse_single_example with as many parallel calls as TensorFlow likes: `limit` dicts of tensors."""
    tf = tensorflow()
    parse = lambda record: tf.io.parse_single_example(record, spec)  # noqa: E731
    parsed = _dataset(paths).map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
    iterator = iter(parsed)
    keep_alive(iterator)
    return count(itertools.islice(iterator, limit))


def tf_contenders(
    paths: Sequence[Path], spec: dict[str, Any], amount: dict[str, Any], mark: str = ""
) -> list[Contender]:
    """TensorFlow's ways to parse a whole dataset; the fastest one counts."""
    ways = {
        f"TensorFlow, batch {BATCH:,}, parse_example{mark}": lambda: tf_batched(paths, spec),
        f"TensorFlow, the same with a plain map{mark}": lambda: tf_batched_plain(paths, spec),
        f"TensorFlow, batch 8,192{mark}": lambda: tf_batched(paths, spec, 8192),
    }
    return [Contender(name, fn, "records", **amount) for name, fn in ways.items()]


def tf_parallel_reads(paths: Sequence[Path], spec: dict[str, Any], limit: int) -> int:
    """The same with two files read at once: `limit` records."""
    tf = tensorflow()
    parse = lambda records: tf.io.parse_example(records, spec)  # noqa: E731
    dataset = _dataset(paths, num_parallel_reads=2).take(limit).batch(BATCH)
    return _drain(dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))


def protobuf_loop(paths: Sequence[Path], limit: int) -> int:
    """What one writes by hand: FromString of every record of A, values into arrays of numpy."""
    tf = tensorflow()
    names, number = (*specs.FLOATS, *specs.IDS, "label"), 0
    columns = {name: np.zeros(limit, np.float32 if name in specs.FLOATS else np.int64) for name in names}
    ids: list[bytes] = []
    for path in paths:
        for record in tf.compat.v1.io.tf_record_iterator(str(path)):
            if number == limit:
                return number
            feature = tf.train.Example.FromString(record).features.feature
            for name in specs.FLOATS:
                columns[name][number] = feature[name].float_list.value[0]
            for name in (*specs.IDS, "label"):
                columns[name][number] = feature[name].int64_list.value[0]
            ids.append(feature["id"].bytes_list.value[0])
            number += 1
    return number


def tfrecord_package(paths: Sequence[Path], limit: int) -> int:
    """The tfrecord package: `limit` dicts of arrays; it checks no CRC."""
    loader = importlib.import_module("tfrecord").tfrecord_loader
    description = specs.a_description()
    every = itertools.chain.from_iterable(loader(str(path), None, description) for path in paths)
    return count(itertools.islice(every, limit))


def check_same(name: str, mine: Any, theirs: Any) -> None:
    """Compare a column of ours with a tensor of TensorFlow's, bit by bit.

    Raises:
        RuntimeError: they are not the same.
    """
    if hasattr(mine, "row_splits"):
        splits = theirs.row_splits.numpy() if hasattr(theirs, "row_splits") else None
        if splits is not None and not np.array_equal(mine.row_splits, splits):
            raise RuntimeError(f"{name}: rows of other lengths")
        mine, theirs = mine.values, theirs.values
    ours_array = mine.to_numpy() if hasattr(mine, "to_numpy") else np.asarray(mine)
    if not np.array_equal(ours_array, theirs.numpy()):
        raise RuntimeError(f"{name}: other values than TensorFlow's")
