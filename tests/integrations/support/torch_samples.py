"""Samples with features of every sort, and whether tensors are what an element of them holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

import tfrkit as tfr

SPEC = {
    "id": tfr.FixedLenFeature((), np.int64),
    "x": tfr.FixedLenFeature((3,), np.float32),
    "name": tfr.FixedLenFeature((), bytes),
    "tokens": tfr.RaggedFeature(np.int64),
    "words": tfr.RaggedFeature(bytes),
}
COUNT = 50


def write_samples(folder: Path) -> str:
    """Write COUNT samples to three files, and return their pattern."""
    with tfr.ShardWriter(str(folder / "a"), shards=3) as writer:
        for number in range(COUNT):
            row = {"id": number, "x": [float(number), 0.5, 1.0], "name": f"n{number}"}
            row |= {"tokens": list(range(number % 4)), "words": [f"w{number}"] * (number % 3)}
            writer.write(tfr.make_example(row).SerializeToString())
    return str(folder / "a*")


def ids(batches: Any) -> list[list[int]]:
    return [batch["id"].tolist() for batch in batches]


def same(element: Any, tensors: Any) -> bool:
    """Whether tensors are what an element holds."""
    if isinstance(element, dict):
        return list(element) == list(tensors) and all(same(element[key], tensors[key]) for key in element)
    if isinstance(element, tuple):
        return len(element) == len(tensors) and all(map(same, element, tensors))
    if isinstance(element, tfr.Ragged):
        return same(element.values, tensors[0]) and same(element.row_splits, tensors[1])
    if isinstance(element, tfr.Sparse):
        return np.array_equal(element.to_dense(), tensors.to_dense().numpy())
    if isinstance(element, (bytes, tfr.BytesColumn)):
        return bool(element == tensors)
    return isinstance(tensors, torch.Tensor) and np.array_equal(element, tensors.numpy())


def pipelines(files: str) -> dict[str, tfr.Dataset]:
    parsed = tfr.TFRecordDataset(files).parse(SPEC)
    return {
        "batches": parsed.batch(7),
        "elements": parsed,
        "shuffled": parsed.global_shuffle(seed=1).batch(7),
        "records": tfr.TFRecordDataset(files).batch(20),
        "numbers": tfr.Dataset.range(5),
        "pairs": tfr.Dataset.range(5).map(lambda x: (x, {"y": np.ones((2, 2)) * x})).batch(2),
        "sparse": tfr.TFRecordDataset(files).parse({"tokens": tfr.VarLenFeature(np.int64)}).batch(4),
        "filtered": parsed.filter(lambda e: e["id"] % 2 == 0).prefetch(3),
        "buffer": tfr.Dataset.range(30).shuffle(10, seed=2, reshuffle_each_iteration=False).batch(4),
    }
