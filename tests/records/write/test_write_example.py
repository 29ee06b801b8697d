"""write_example and write_batch: what is read back is what went in, by every kind of writer."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr


def columns(rows: int) -> dict[str, object]:
    return {
        "id": [f"row {row}" for row in range(rows)],
        "label": np.arange(rows),
        "scores": np.arange(2 * rows, dtype=np.float32).reshape(rows, 2),
        "odd": [row if row % 2 else None for row in range(rows)],
    }


def row_of(number: int) -> dict[str, object]:
    row = {"id": f"row {number}", "label": number, "scores": [2.0 * number, 2.0 * number + 1]}
    return row | ({"odd": number} if number % 2 else {})


def shown(record: bytes) -> dict[str, list[object]]:
    return {key: list(value) for key, value in tfr.to_dict(record).items()}


def test_example_of_a_dict(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for number in range(4):
            writer.write_example(row_of(number))
        assert writer.records in (0, 4)
    records = list(tfr.read_records(path))
    assert [tfr.Example.FromString(record) for record in records] == [
        tfr.make_example(row_of(number)) for number in range(4)
    ]


def test_example_of_a_message(tmp_path):
    path = tmp_path / "a.tfrecord"
    message = tfr.make_example(row_of(1))
    sequence = tfr.make_sequence_example({"a": 1}, {"b": [1, 2]})
    with tfr.TFRecordWriter(path) as writer:
        writer.write_example(message)
        writer.write_example(sequence)
    first, second = tfr.read_records(path)
    assert tfr.Example.FromString(first) == message
    assert tfr.SequenceExample.FromString(second) == sequence


@pytest.mark.parametrize("compression", ["none", "GZIP", "ZLIB", "XZ"])
def test_batch_is_what_its_rows_are(tmp_path, compression):
    batch, rows = tmp_path / "batch", tmp_path / "rows"
    with tfr.TFRecordWriter(batch, compression=compression) as writer:
        writer.write(b"before")
        writer.write_batch(columns(1000))
        writer.write(b"after")
        writer.write_batch(columns(0))
    with tfr.TFRecordWriter(rows) as writer:
        writer.write(b"before")
        for number in range(1000):
            writer.write_example(row_of(number))
        writer.write(b"after")
    assert list(tfr.read_records(batch)) == list(tfr.read_records(rows))


def test_large_batch_is_written_in_runs_with_an_index(tmp_path):
    path = tmp_path / "a.tfrecord"
    images = [bytes([number]) * 700_000 for number in range(20)]
    with tfr.TFRecordWriter(path, index=True) as writer:
        writer.write_batch({"image": images})
        assert writer.records == 20
    file = tfr.RecordFile(path)
    assert len(file) == 20
    assert tfr.to_dict(file[13])["image"] == [images[13]]


@pytest.mark.parametrize("options", [{"shards": 3}, {"shard_bytes": 2000}], ids=["shards", "by size"])
def test_shards_take_examples_and_batches(tmp_path, options):
    with tfr.ShardWriter(tmp_path / "train", **options) as writer:
        writer.write_batch(columns(100))
        writer.write_example(row_of(100))
        assert writer.records == 101
    found = [shown(record) for record in tfr.read_records(str(tmp_path / "train-*"))]
    assert sorted(row["label"][0] for row in found) == list(range(101))
    assert all(row["id"] == [f"row {row['label'][0]}".encode()] for row in found)


def test_shard_of_an_example_follows_its_key(tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shards=4) as writer:
        writer.write_example({"user": 7}, key="user-7")
    place = tfr.shard_of("user-7", 4)
    assert len(list(tfr.read_records(tmp_path / f"train-{place:05d}-of-00004.tfrecord"))) == 1


def test_what_cannot_be_written_is_named_and_nothing_is_written(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_example({"a": 1})
        with pytest.raises(
            TypeError, match="feature 'when': expected bool, int, float, str or bytes but got"
        ):
            writer.write_example({"a": 1, "when": 1j})
        with pytest.raises(TypeError, match="feature 'b', row 1: expected"):
            writer.write_batch({"a": [1, 2], "b": [1, 1j]})
        with pytest.raises(TypeError, match="expected a dict of features by name, or an Example, but got 5"):
            writer.write_example(5)
        with pytest.raises(TypeError, match="expected an Example but got a message of type"):
            writer.write_example(tfr.Feature())
        writer.write_example({"a": 2})
    assert [shown(record) for record in tfr.read_records(path)] == [{"a": [1]}, {"a": [2]}]


def test_closed_writer_refuses(tmp_path):
    writer = tfr.TFRecordWriter(tmp_path / "a.tfrecord")
    writer.close()
    with pytest.raises(tfr.errors.FailedPreconditionError, match="Writer is closed"):
        writer.write_example({"a": 1})
    with pytest.raises(tfr.errors.FailedPreconditionError, match="Writer is closed"):
        writer.write_batch({"a": [1]})


@pytest.mark.parametrize("how", ["write_example", "write_batch", "make_example", "feature"])
@pytest.mark.parametrize(("values", "dtype"), [([1, 2], "int64"), ([1.5], "float32"), ([b"x"], "bytes")])
def test_empty_lists_fit_beside_lists_of_any_kind(how, values, dtype, tmp_path):
    path = tmp_path / "a.tfrecord"
    rows = [[], values, ()]
    with tfr.TFRecordWriter(path) as writer:
        for row in rows:
            if how == "write_example":
                writer.write_example({"ids": row})
            elif how == "write_batch":
                writer.write_batch({"ids": [row]})
            elif how == "make_example":
                writer.write_example(tfr.make_example({"ids": row}))
            else:
                writer.write_example({"ids": tfr.feature(row)})
    expected = [[], values, []]
    records = list(tfr.read_records(path))
    parsed = tfr.parse_example(records, {"ids": tfr.VarLenFeature(dtype)})["ids"]
    assert [list(row) for row in parsed] == expected
    default = tfr.FixedLenFeature([len(values)], dtype, default_value=values)
    assert [list(row) for row in tfr.parse_example(records, {"ids": default})["ids"]] == [values] * 3
    schema = tfr.inspect(path)
    assert isinstance(schema.spec["ids"], (tfr.FixedLenFeature, tfr.VarLenFeature))
    assert schema.spec["ids"].dtype == tfr.VarLenFeature(dtype).dtype
    assert len(list(tfr.read_examples(path))) == 3
