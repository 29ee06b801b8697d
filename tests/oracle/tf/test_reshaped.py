"""TensorFlow reads what commands that move frames have written."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, files_in, put_records
from tests.oracle.support.oracle import tensorflow


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_tensorflow_reads_what_was_resharded(kind, tmp_path):
    paths = [put_records(tmp_path / "a.xz", RECORDS[:100], "XZ"), put_records(tmp_path / "b", RECORDS[100:])]
    tfr.reshard(paths, tmp_path / "out" / "a", shards=3, compression=kind or "none")
    files = [str(path) for path in files_in(tmp_path / "out")]
    dataset = tensorflow().data.TFRecordDataset(files, compression_type=kind)
    assert list(dataset.as_numpy_iterator()) == RECORDS


def test_tensorflow_parses_what_was_selected(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch(
            {"label": list(range(20)), "name": [f"n{i}" for i in range(20)], "extra": [1.5] * 20}
        )
    tfr.select(
        tmp_path / "a.tfrecord",
        tmp_path / "b.tfrecord",
        drop=["extra"],
        rename={"name": "text"},
        where="label > 16",
    )
    tf = tensorflow()
    spec = {"label": tf.io.FixedLenFeature([], tf.int64), "text": tf.io.FixedLenFeature([], tf.string)}
    dataset = tf.data.TFRecordDataset(str(tmp_path / "b.tfrecord"))
    parsed = [tf.io.parse_single_example(record, spec) for record in dataset]
    assert [(int(one["label"]), one["text"].numpy()) for one in parsed] == [
        (17, b"n17"),
        (18, b"n18"),
        (19, b"n19"),
    ]
    assert [sorted(tf.train.Example.FromString(record.numpy()).features.feature) for record in dataset] == [
        ["label", "text"]
    ] * 3
