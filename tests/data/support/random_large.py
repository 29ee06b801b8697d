"""Random chains over thousands of elements: runs, blocks and buffers have ends that small ones never meet."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import tfrkit as tfr
from tests.data.support.chains import Chain, Function, Kind, Step
from tests.data.support.random_features import SPEC, example_record
from tests.oracle.support.frames import flip, frames
from tfrkit.data.engine.node import Node
from tfrkit.data.sources.records_source import RecordsNode

__all__ = ["make_large_chain", "with_small_blocks", "write_large"]

COUNT = 700  # Examples in a file


def write_large(folder: Path) -> None:
    """Write files of many Examples, one of them damaged in the middle."""
    records = [example_record(number) for number in range(COUNT)]
    data = frames(records)
    (folder / "large.tfrecord").write_bytes(data)
    (folder / "large too.tfrecord").write_bytes(frames(records[: COUNT // 3]))
    damaged = flip(data, len(frames(records[: COUNT // 2])) + 12)
    (folder / "large damaged.tfrecord").write_bytes(damaged)


def with_small_blocks(dataset: tfr.Dataset, block_bytes: int) -> tfr.Dataset:
    """The same pipeline, which reads its files in small blocks."""
    return tfr.Dataset(_small(dataset.node, block_bytes))


def _small(node: Node, block_bytes: int) -> Node:
    if isinstance(node, RecordsNode):
        return dataclasses.replace(node, block_bytes=block_bytes)
    return node.with_inputs(tuple(_small(each, block_bytes) for each in node.inputs))


def make_large_chain(seed: int) -> Chain:
    """Make the chain of this seed."""
    rng = random.Random(seed)
    chain = _source(rng)
    parsed = False
    for _ in range(rng.randint(1, 4)):
        records = chain.source.verb == "TFRecordDataset"
        if records and not parsed and rng.random() < 0.4:
            keys = rng.sample(["n", "pair", "ids", "words", "steps", "name"], 3)
            chain = chain.then(Step("parse", ({key: SPEC[key] for key in keys},)))
            parsed = True
        chain = chain.then(rng.choice(_steps(rng)))
    if records and not parsed and rng.random() < 0.5:
        chain = chain.then(Step("batch", (rng.choice([7, 32, 100]),)))
        return chain.then(Step("parse", ({"n": SPEC["n"], "ids": SPEC["ids"]},)))
    return chain.then(Step("batch", (rng.choice([1, 7, 32, 100]),))) if rng.random() < 0.6 else chain


def _source(rng: random.Random) -> Chain:
    kind = Kind("leaf", (0,))
    if rng.random() < 0.4:
        return Chain(Step("range", (rng.choice([1025, 2500, 5000]),)), kind=kind)
    names = rng.choice([["large"], ["large", "large too"], ["large too", "large damaged", "large"]])
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["num_parallel_reads"] = 2
    if rng.random() < 0.3:
        options["on_corrupt"] = "skip"
    return Chain(Step("TFRecordDataset", (names,), options), kind=kind)


def _steps(rng: random.Random) -> list[Step]:
    return [
        Step("shuffle", (rng.choice([2, 64, 500, 3000]),), {"seed": rng.randint(0, 9)}),
        Step("shuffle", (rng.choice([300, 1100]),), {"seed": rng.randint(0, 9)}),
        Step("map", (Function("x"),)),
        Step("map", (Function("x", (97, 5)),), {"num_parallel_calls": rng.choice([2, -1])}),
        Step("filter", (Function("not third?"),)),
        Step("prefetch", (rng.choice([1, 10, -1]),)),
        Step("shard", (3, rng.randrange(3))),
        Step("skip", (rng.choice([10, 300]),)),
        Step("take", (rng.choice([100, 1024, 2000]),)),
        Step("repeat", (2,)),
        Step("cache"),
        Step("concatenate self"),
    ]
