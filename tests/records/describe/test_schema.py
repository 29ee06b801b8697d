"""Schema: JSON, specs and the table."""

from __future__ import annotations

import pytest

import tfrkit as tfr

PLACE = "record %d of 'a.tfrecord'"


@pytest.fixture
def schema(tmp_path, monkeypatch) -> tfr.Schema:
    monkeypatch.chdir(tmp_path)
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        for i in range(4):
            values = {"label": i, "at": [0.5, -2.0 * i], "word": f"word {i}".encode(), "ids": [7] * (i + 1)}
            if i == 3:
                values = {"label": i, "at": [float("nan"), float("inf")], "label2": b"\xff\xd8\xff"}
            writer.write(tfr.make_example(values).SerializeToString())
        writer.write(tfr.make_example({"label": 0.5, "at": [1.0, 2.0]}).SerializeToString())
        writer.write(b"no example")
    return tfr.inspect("a.tfrecord")


def test_table_shows_everything(schema):
    assert str(schema) == repr(schema)
    assert str(schema).splitlines() == [
        "5 Examples, 1 other record in a.tfrecord",
        "",
        "feature  kind           present  values             content",
        "at       float32        all      2                  -4 to 2, 1 NaN, 1 inf",
        "ids      int64          3 of 5   1 to 3, usually 1  7",
        "label    int64/float32  all      1                  0 to 3; 0.5",
        "label2   bytes          1 of 5   1                  JPEG image, 3 bytes",
        "word     bytes          3 of 5   1                  UTF-8 text, 6 bytes, such as 'word 0'",
        "",
        f"conflict: feature 'label' is int64 in 4 (first: {PLACE % 0}) and float32 in 1 (first: {PLACE % 4})",
        f"1 neither Example nor SequenceExample, first: {PLACE % 5} (10 bytes, which looks like UTF-8 text)",
    ]


def test_table_of_feature_lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tfr.TFRecordWriter("s.tfrecord") as writer:
        for i in range(1, 4):
            record = tfr.make_sequence_example({"id": i}, {"s": [[0.5] * i] * i})
            writer.write(record.SerializeToString())
    assert str(tfr.inspect("s.tfrecord", sample=3)).splitlines() == [
        "a sample of 3 SequenceExamples in s.tfrecord",
        "",
        "context  kind   present  values  content",
        "id       int64  all      1       1 to 3",
        "",
        "feature list  kind     present  steps              values             content",
        "s             float32  all      1 to 3, usually 1  1 to 3, usually 3  0.5",
    ]


def test_json_and_back(schema):
    again = tfr.Schema.from_json(schema.to_json())
    assert again == schema
    assert again.spec == schema.spec
    assert str(again) == str(schema)


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": "else"}'])
def test_json_of_something_else_is_refused(text):
    with pytest.raises(ValueError, match="expected JSON with the format 'tfrkit schema 1'"):
        tfr.Schema.from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{",
        '{"format": "tfrkit schema 1"}',
        '{"format": "tfrkit schema 1", "kind": 1, "files": 7}',
    ],
)
def test_schema_of_odd_types_is_refused(text):
    with pytest.raises(
        ValueError, match=r"expected JSON with the format .* Was it written by Schema\.to_json"
    ):
        tfr.Schema.from_json(text)


def test_spec_goes_to_json(schema):
    assert tfr.spec_from_json(tfr.spec_to_json(schema.spec)) == schema.spec


def test_feature_says_its_kind(schema):
    assert schema.features["ids"].kind == "int64"
    assert schema.features["label"].kind == "mixed"
    assert schema.features["word"].examples[0] == b"word 0"
    assert schema.features["word"].kinds["bytes"].total_bytes == 18


def test_names_that_cannot_be_printed_are_escaped(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write(tfr.make_example({"": 1, "a\nb": 2, "k" * 60: 3}).SerializeToString())
    lines = str(tfr.inspect(path)).splitlines()
    assert [line.split()[0] for line in lines[3:]] == ["''", "'a\\nb'", "k" * 37 + "..."]


def test_table_shows_some_of_very_many_features(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_example({f"k{number:04}": number for number in range(1100)})
    lines = str(tfr.inspect(path)).splitlines()
    assert len(lines) == 3 + 1000 + 1
    assert lines[-2:] == ["k0999    int64  all      1       999", "... and 100 more"]


def test_no_files(tmp_path):
    assert str(tfr.inspect([])) == "no records in 0 files"


def test_check_passes_good_records(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write(tfr.make_example({"a": 1}).SerializeToString())
    tfr.inspect(path).check()
