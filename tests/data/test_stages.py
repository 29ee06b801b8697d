"""Every stage passes the suite of `tests/data/support/suite.py`, alone and behind one that fails."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import tfrkit as tfr
from tests.data.support.calls import chain_folder
from tests.data.support.image_files import SPEC as IMAGES
from tests.data.support.image_files import write_images
from tests.data.support.random_features import SPEC
from tests.data.support.suite import StageSuite


def triple(x: np.int64) -> np.int64:
    return x * 3


def fails_at_four(x: np.int64) -> np.int64:
    if x % 10 == 4:
        raise KeyError("four")
    return x


def even(x: np.int64) -> np.bool_:
    return x % 2 == 0


def count_to(x: np.int64) -> tfr.Dataset:
    return tfr.Dataset.range(x % 4).map(triple)


def shuffled(x: np.int64) -> tfr.Dataset:
    return tfr.Dataset.range(x, x + 4).shuffle(3, seed=5)


def uneven(x: np.int64) -> Any:
    return np.full(int(x) % 3, x)


def pairs(x: np.int64) -> tuple[Any, Any]:
    return np.array([x, x + 1]), np.array([b"a", b"b"])


def with_seed(x: np.int64, seed: Any) -> tuple[Any, Any]:
    return x, seed


def total(x: dict[str, Any]) -> np.int64:
    return np.int64(x["n"] + len(x["ids"]))


def numbers() -> Iterator[int]:
    yield from range(7)


@cache
def folder() -> Path:
    """Files of records."""
    return chain_folder(Path(mkdtemp(prefix="tfrkit-stages-")))


def records(*names: str, **options: Any) -> tfr.Dataset:
    return tfr.TFRecordDataset([folder() / f"{name}.tfrecord" for name in names], **options)


@cache
def image_folder() -> Path:
    """Files of images."""
    path = Path(mkdtemp(prefix="tfrkit-images-"))
    write_images(path / "good.tfrecord", 7)
    write_images(path / "broken.tfrecord", 9, {2: "cut", 3: "text", 7: "empty"})
    return path


def images(*names: str, **options: Any) -> tfr.Dataset:
    return tfr.TFRecordDataset([image_folder() / f"{name}.tfrecord" for name in names], **options)


def counted() -> tfr.Dataset:
    return tfr.Dataset.range(13)


def failing() -> tfr.Dataset:
    return tfr.Dataset.range(13).map(fails_at_four)


# What is run: the verb, over numbers, over failing ones, or over its own source.
CASES = {
    "range": lambda: tfr.Dataset.range(9, -3, -2),
    "slices": lambda: tfr.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [b"x", b"yy", b""]}),
    "tensors": lambda: tfr.Dataset.from_tensors(([1, 2], "x")),
    "ragged slices": lambda: tfr.Dataset.from_tensor_slices(tfr.Ragged.from_list([[1], [], [2, 3]])).batch(2),
    "generator": lambda: tfr.Dataset.from_generator(numbers, output_signature=tfr.TensorSpec((), "int64")),
    "records": lambda: records("seven", "bad data", "three"),
    "records skip": lambda: records("bad data", "bad length", "one", on_corrupt="skip"),
    "records in turn": lambda: records("seven", "bad data", "three", "one", num_parallel_reads=2),
    "map": lambda: counted().map(triple),
    "map fails": failing,
    "parallel map": lambda: counted().map(triple, num_parallel_calls=3),
    "parallel map fails": lambda: counted().map(fails_at_four, num_parallel_calls=2),
    "filter": lambda: failing().filter(even),
    "flat_map": lambda: failing().flat_map(count_to),
    "flat_map shuffled": lambda: tfr.Dataset.range(4).flat_map(shuffled),
    "interleave": lambda: failing().interleave(count_to, cycle_length=3, block_length=2),
    "parallel interleave": lambda: counted().interleave(count_to, cycle_length=3, num_parallel_calls=2),
    "batch": lambda: failing().batch(3),
    "batch drop": lambda: counted().batch(3, drop_remainder=True),
    "batch unlike": lambda: counted().map(uneven).batch(2),
    "padded_batch": lambda: failing().map(uneven).padded_batch(3),
    "ragged_batch": lambda: counted().map(uneven).ragged_batch(3),
    "unbatch": lambda: failing().map(pairs).unbatch(),
    "shuffle": lambda: failing().shuffle(4, seed=3),
    "shuffle again": lambda: counted().shuffle(5, seed=3).repeat(3),
    "shuffle alike": lambda: counted().shuffle(5, seed=3, reshuffle_each_iteration=False).repeat(2),
    "shuffle records": lambda: records("seven", "bad data", "three", "seven").shuffle(6, seed=1),
    "shuffle parsed": lambda: records("ex five", "ex lacking").parse(SPEC).shuffle(4, seed=1),
    "shuffle taken": lambda: counted().shuffle(5, seed=3).take(2).repeat(3),
    "shuffle before another": lambda: counted().shuffle(5, seed=3).concatenate(counted()).repeat(2),
    "repeat": lambda: failing().repeat(2),
    "take": lambda: failing().take(6),
    "skip": lambda: failing().skip(6),
    "shard": lambda: failing().shard(3, 1),
    "shard drop": lambda: failing().shard(3, 1, tail="drop"),
    "shard repeat": lambda: records("ex nine").parse(SPEC).shard(4, 3, tail="repeat", mask="real"),
    "shard shuffled": lambda: counted().global_shuffle(seed=1).batch(2).shard(2, 1),
    "slice": lambda: failing()[11:2:-2],
    "slice batched": lambda: records("ex nine", "ex five").parse(SPEC)[3:].batch(4),
    "global_shuffle": lambda: failing().global_shuffle(seed=2),
    "global_shuffle again": lambda: counted().global_shuffle(seed=2).repeat(3),
    "global_shuffle alike": lambda: counted().global_shuffle(seed=2, reshuffle_each_iteration=False).repeat(2),
    "global_shuffle window": lambda: failing().global_shuffle(seed=2, window=40),
    "global_shuffle records": lambda: records("seven", "three").global_shuffle(seed=2).with_source().batch(3),
    "global_shuffle window of records": lambda: records("seven", "three").global_shuffle(seed=2, window=60).repeat(2),
    "global_shuffle skip": lambda: (
        images("good", "broken", on_corrupt="skip").global_shuffle(seed=1).parse(IMAGES).decode_image("image")
    ),
    "global_shuffle parsed": lambda: (
        records("ex nine", "ex lacking").global_shuffle(seed=2).parse(SPEC).batch(4).prefetch(2)
    ),
    "epoch": lambda: counted().global_shuffle(seed=2).map(triple).batch(4).epoch(3),
    "epoch of a buffer": lambda: counted().shuffle(4, seed=2).map(triple).repeat(2).epoch(3),
    "seeded": lambda: failing().map(with_seed, seeded=True, seed=3).repeat(2),
    "seeded records": lambda: records("seven", "three").map(with_seed, 2, seeded=True, seed=3).global_shuffle(seed=1),
    "concatenate": lambda: failing().concatenate(counted()),
    "zip": lambda: tfr.Dataset.zip(failing(), {"a": counted().shuffle(3, seed=1)}),
    "enumerate": lambda: failing().enumerate(5),
    "prefetch": lambda: failing().prefetch(3),
    "prefetch auto": lambda: counted().map(triple).prefetch(tfr.AUTOTUNE),
    "options": lambda: counted().with_options(tfr.Options(threads=2)),
    "parse": lambda: records("ex nine", "ex lacking", "ex garbage").parse(SPEC),
    "parse batches": lambda: records("ex nine", "ex five").batch(4).parse(SPEC),
    "batch parsed": lambda: records("ex nine", "ex lacking").parse(SPEC).batch(4),
    "select": lambda: records("ex nine").parse(SPEC).select("ids", "n"),
    "rename": lambda: records("ex nine").parse(SPEC).rename(ids="list"),
    "cast": lambda: records("ex nine").parse(SPEC).cast(n="float32", ids="int32"),
    "decode_raw": lambda: records("ex nine").parse(SPEC).decode_raw("raw", "uint16", shape=[2, 2]),
    "decode_image": lambda: images("good", "broken").parse(IMAGES).decode_image("image"),
    "decode_image batched": lambda: images("good", "broken").parse(IMAGES).decode_image("image", size=(8, 9)).batch(3),
    "decode_image in batches": lambda: (
        images("good", "broken").parse(IMAGES).batch(3).decode_image("image", size=(8, 9))
    ),
    "decode_image skip": lambda: (
        images("good", "broken", on_corrupt="skip").parse(IMAGES).decode_image("image", size=(8, 9)).batch(3)
    ),
    "decode_image stop": lambda: (
        images("broken", "good", on_corrupt="stop").repeat(2).parse(IMAGES).decode_image("image", channels=1)
    ),
    "decode_image skip in batches": lambda: (
        images("broken", on_corrupt="skip").parse(IMAGES).batch(4).decode_image("image", size=(8, 9))
    ),
    "decode_image shuffled": lambda: (
        images("broken", "good", on_corrupt="skip").shuffle(4, seed=1).parse(IMAGES).decode_image("image")
    ),
    "resize": lambda: images("good").parse(IMAGES).decode_image("image").resize("image", (5, 6)),
    "normalize": lambda: (
        images("good").parse(IMAGES).decode_image("image", size=(4, 4)).normalize("image", mean=0.5).batch(2)
    ),
    "with_column": lambda: records("ex nine").parse(SPEC).with_column("total", total),
    "with_source": lambda: records("ex nine", "ex bad crc", on_corrupt="skip").shuffle(5, seed=1).with_source(),
}  # fmt: skip


def _suite(name: str, make: Any) -> type[StageSuite]:
    return type(f"Test{name.title().replace(' ', '')}", (StageSuite,), {"make": lambda self: make()})


for _name, _make in CASES.items():
    _class = _suite(_name, _make)
    globals()[_class.__name__] = _class
del _class
