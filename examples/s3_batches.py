"""Shards in a bucket, and shuffled batches out of them: two epochs, the second from the local cache.

    python examples/s3_batches.py s3://bucket/folder [ROWS]

The bucket is reached as other programs reach it: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or a profile, AWS_REGION,
and AWS_ENDPOINT_URL for a server other than Amazon's. Any other URL works too (gs://, az://, memory://).
"""

from __future__ import annotations

import sys
import time

import numpy as np

import tfrkit as tfr

SHARDS = 4
SPEC = {"pixels": tfr.FixedLenFeature([784], "float32"), "label": tfr.FixedLenFeature([], "int64")}


def write_shards(folder: str, rows: int) -> None:
    """Write rows in batches; the shards, their indexes and the manifest appear when all are whole."""
    rng = np.random.default_rng(1)
    with tfr.ShardWriter(f"{folder}/train", shards=SHARDS) as writer:
        for first in range(0, rows, 1000):
            count = min(1000, rows - first)
            pixels, labels = rng.random((count, 784), np.float32), rng.integers(0, 10, count)
            writer.write_many(tfr.encode_examples({"pixels": pixels, "label": labels}))


def main(folder: str, rows: int) -> None:
    """Write, then read twice."""
    write_shards(folder, rows)
    files = tfr.RecordFiles(f"{folder}/train-*.tfrecord", cache=True)
    print(f"{len(files)} records in {len(files.paths)} shards; the last has {len(files[-1])} bytes")
    ds = tfr.TFRecordDataset(f"{folder}/train-*.tfrecord", cache=True).shuffle(10_000, seed=1)
    ds = ds.parse(SPEC).batch(256).prefetch(tfr.AUTOTUNE)
    for epoch in range(2):
        start, labels = time.perf_counter(), np.zeros(10, np.int64)
        for batch in ds:
            labels += np.bincount(batch["label"], minlength=10)
        print(f"epoch {epoch}: {labels.sum()} rows in {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), int(sys.argv[2]) if len(sys.argv) > 2 else 20_000)
