"""Pipelines whose saved states `golden_states.json` keeps; `python -m tests.data.engine.golden_states` adds new ones.

Their functions are Python's own, whose fingerprints are the same with every version of Python. A state that is in the
file never changes: it was written by a release, and every later one resumes it.
"""

from __future__ import annotations

import functools
import json
import operator
import os
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import tfrkit as tfr
from tfrkit import Dataset
from tfrkit.data.shuffle import shuffle, shuffle_state

__all__ = ["FILE", "PIPELINES", "write_files"]

FILE = Path(__file__).with_name("golden_states.json")
SPEC = {"n": tfr.FixedLenFeature([], "int64"), "ids": tfr.VarLenFeature("int64")}
KEYS = (tfr.Example, "tensorflow.Example", ["features.feature.key"])
BATCH = operator.methodcaller("batch", 2)
ITEM = functools.partial(operator.getitem, (5, 6, 7))  # which there is no fourth of
COUNT = functools.partial(range, 9)


def write_files() -> None:
    """Write the files that the pipelines read into the present folder."""
    for number in range(3):
        with tfr.TFRecordWriter(f"{number}.tfrecord") as writer:
            for i in range(12):
                writer.write_example({"n": 100 * number + i, "ids": [i] * (i % 3)})
    with tfr.TFRecordWriter("images.tfrecord") as writer:
        for i in range(12):
            writer.write_example({"image": b"broken" if i % 5 == 3 else bmp(i)})
    with tfr.TFRecordWriter("sequences.tfrecord") as writer:
        for i in range(12):
            writer.write(tfr.make_sequence_example({"n": i}, {"ids": [[i]] * (i % 3)}).SerializeToString())
    Path("lines.txt").write_bytes(b"one\ntwo\n\nthree\nfour\n")


def bmp(value: int) -> bytes:
    """A gray image of four pixels, in a format without compression: the same bytes everywhere."""
    head = struct.pack("<2sIIIIiiHHIIIIII", b"BM", 62, 0, 54, 40, 1, 2, 1, 24, 0, 8, 0, 0, 0, 0)
    return head + bytes([value, value, value, 0]) * 2


def records(*names: str) -> Dataset:
    return tfr.TFRecordDataset(list(names or ("0.tfrecord", "1.tfrecord", "2.tfrecord")))


def images(on_corrupt: Any) -> Dataset:
    parsed = records("images.tfrecord").parse({"image": tfr.FixedLenFeature([], "string")})
    return parsed.decode_image("image", on_corrupt=on_corrupt)


def sequences() -> Dataset:
    lists = {"ids": tfr.VarLenFeature("int64")}
    return records("sequences.tfrecord").parse_sequence({"n": tfr.FixedLenFeature([], "int64")}, lists)


def ranges(count: int = 20) -> Dataset:
    return Dataset.range(1, count + 1)


def rows(count: int = 12) -> Dataset:
    return Dataset.from_tensor_slices(np.arange(count) % 5).map(np.arange)


PIPELINES: dict[str, Callable[[], Dataset]] = {
    "range": lambda: Dataset.range(2, 40, 3),
    "counter": lambda: Dataset.counter(3, 2).take(9),
    "random": lambda: Dataset.random(seed=3).take(9),
    "slices": lambda: Dataset.from_tensor_slices({"a": np.arange(6), "b": [b"x", b"y", b"z"] * 2}),
    "tensors": lambda: Dataset.from_tensors(np.arange(3)).repeat(3),
    "generator": lambda: Dataset.from_generator(COUNT, "int64", ()),
    "TFRecordDataset": records,
    "parallel reads": lambda: tfr.TFRecordDataset(["0.tfrecord", "1.tfrecord"], num_parallel_reads=2),
    "TextLineDataset": lambda: tfr.TextLineDataset("lines.txt"),
    "map": lambda: ranges().map(abs),
    "parallel map": lambda: ranges().map(abs, num_parallel_calls=2),
    "map in any order": lambda: ranges().map(abs, num_parallel_calls=2, deterministic=False).batch(4),
    "filter": lambda: Dataset.range(-2, 9).filter(bool),
    "take": lambda: ranges().take(7),
    "skip": lambda: ranges().skip(7),
    "take_while": lambda: Dataset.range(-8, 9).take_while(bool),
    "shard": lambda: ranges().shard(3, 1),
    "repeat": lambda: ranges(4).repeat(3),
    "concatenate": lambda: ranges(3).shuffle(2, seed=1).concatenate(ranges(4).shuffle(3, seed=2)),
    "zip": lambda: Dataset.zip(ranges(5), {"a": ranges(6).map(abs)}),
    "enumerate": lambda: ranges(5).enumerate(),
    "cache": lambda: ranges(5).cache().repeat(3),
    "prefetch": lambda: ranges().prefetch(3),
    "options": lambda: ranges().with_options(tfr.Options(threads=2)),
    "ignore_errors": lambda: Dataset.range(6).repeat(2).map(ITEM).ignore_errors(),
    "assert_cardinality": lambda: ranges(5).assert_cardinality(5),
    "scan": lambda: ranges().scan(np.int64(1000), divmod),
    "unique": lambda: Dataset.from_tensor_slices([1, 2, 1, 3, 2, 4]).unique(),
    "batch": lambda: ranges().batch(3),
    "batch after map": lambda: ranges().map(abs).batch(3, drop_remainder=True),
    "padded_batch": lambda: rows().padded_batch(5),
    "ragged_batch": lambda: rows().ragged_batch(5),
    "sparse_batch": lambda: rows().sparse_batch(5, [None]),
    "unbatch": lambda: ranges().batch(4).unbatch(),
    "rebatch": lambda: ranges().batch(4).rebatch([1, 3]),
    "window": lambda: ranges().window(3, 2, 2).flat_map(BATCH),
    "flat_map": lambda: ranges(5).flat_map(Dataset.range),
    "interleave": lambda: ranges(6).interleave(Dataset.range, 3, 2),
    "parallel interleave": lambda: ranges(6).interleave(Dataset.range, 3, 2, num_parallel_calls=2),
    "bucket_by_sequence_length": lambda: rows().bucket_by_sequence_length(len, [2, 4], [2, 2, 2]),
    "choose_from_datasets": lambda: Dataset.choose_from_datasets(
        [ranges(5), ranges(4).map(abs)], Dataset.range(2).repeat(), stop_on_empty_dataset=False
    ),
    "sample_from_datasets": lambda: Dataset.sample_from_datasets(
        [ranges(9), ranges(9).shuffle(4, seed=2)], [0.3, 0.7], seed=3
    ),
    "shuffle records": lambda: records().shuffle(5, seed=3).repeat(2),
    "shuffle columns": lambda: Dataset.from_tensor_slices(np.arange(30)).shuffle(5, seed=3).repeat(2),
    "shuffle objects": lambda: ranges(30).map(abs).repeat(2).shuffle(5, seed=3),
    "two shuffles": lambda: records().concatenate(records()).shuffle(4, seed=1).shuffle(5, seed=2),
    "parse": lambda: records().parse(SPEC),
    "parse and batch": lambda: records().parse(SPEC).batch(5),
    "batch and parse": lambda: records().batch(5).parse(SPEC).prefetch(2),
    "features": lambda: records().shuffle(8, seed=4).parse(SPEC).cast(n="int32").batch(4).prefetch(2),
    "with_column": lambda: records().parse(SPEC).with_column("count", len),
    "with_source": lambda: records().parse(SPEC).with_source(),
    "parse_sequence": sequences,
    "parse_sequence and batch": lambda: sequences().batch(5).prefetch(2),
    "parse_proto": lambda: records().parse_proto(*KEYS),
    "parse_proto and batch": lambda: records().parse_proto(*KEYS).batch(5).prefetch(2),
    "decode_image": lambda: images("raise").ignore_errors(),
    "decode_image and batch": lambda: images("raise").batch(2).ignore_errors(),
    "decode_image without broken ones": lambda: images("skip").shuffle(4, seed=1),
    "global_shuffle": lambda: ranges().global_shuffle(seed=5),
    "global_shuffle in windows": lambda: ranges().global_shuffle(seed=5, window=80),
    "global_shuffle and batch": lambda: records().global_shuffle(seed=5).parse(SPEC).batch(5).prefetch(2),
    "global_shuffle and repeat": lambda: ranges().global_shuffle(seed=5).map(abs).repeat(2).batch(3),
    "global_shuffle and shard": lambda: ranges().global_shuffle(seed=5).batch(2).shard(3, 1).repeat(2),
    "global_shuffle without broken ones": lambda: (
        records("images.tfrecord")
        .global_shuffle(seed=5)
        .parse({"image": tfr.FixedLenFeature([], "string")})
        .decode_image("image", on_corrupt="skip")
        .batch(2)
    ),
    "shard by number": lambda: records().parse(SPEC).shard(5, 1, tail="repeat", mask="real"),
    "slice": lambda: ranges()[15:2:-2],
    "epoch": lambda: ranges().global_shuffle(seed=5).epoch(3),
    "seeded": lambda: ranges().map(divmod, seeded=True, seed=5).repeat(2),
}


def states_of(make: Callable[[], Dataset]) -> dict[str, Any]:
    """States at a third, at two thirds, and at the end; by the number of elements before each."""
    count = len(list(make()))
    states = {}
    with (
        mock.patch.object(shuffle, "_SNAPSHOT_OUTPUTS", 4),
        mock.patch.object(shuffle_state, "_APART", 3),
    ):
        for seen in (count // 3, 2 * count // 3, count):
            iterator = iter(make())
            for _ in range(seen):
                next(iterator)
            if seen == count:
                assert next(iterator, None) is None
            states[str(seen)] = iterator.state()
    return states


def main() -> None:
    """Add states of pipelines that have none yet."""
    states = json.loads(FILE.read_text()) if FILE.exists() else {}
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files()
        for name, make in PIPELINES.items():
            states.setdefault(name, states_of(make))
        os.chdir(home)
    lines = [f"{json.dumps(name)}: {json.dumps(each, sort_keys=True)}" for name, each in states.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
