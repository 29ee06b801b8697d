"""layout="tfds": builders write folders that are opened as data sets, and that are none until all is there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tfrkit as tfr
from tfrkit.build.job.job_plan import Job
from tfrkit.build.job.tfds_layout import tfds_job
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError

TABLE = pa.table({"label": [3, 5, 7], "name": ["Ada", None, "x"], "score": [0.5, 1.5, 2.0]})
FEATURES = ["score: Tensor(float32)", "label: Tensor(int64)", "name: Tensor(string, shape=(?,))"]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for name in ("cat", "dog"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(5):
            pixels = np.full((4, 5, 3), 10 * number + len(name), np.uint8)
            (tmp_path / "photos" / name / f"{number}.png").write_bytes(tfr.image.encode_png(pixels))
    return tmp_path / "photos"


def test_table_is_a_data_set(tmp_path):
    report = tfr.build.table(TABLE, tmp_path / "people/1.2.0", layout="tfds", shards=2)
    assert [shard.name for shard in report.shards] == [
        f"people-train.tfrecord-0000{number}-of-00002" for number in range(2)
    ]
    found = tfr.open_folder(tmp_path / "people/1.2.0")
    assert (found.kind, found.name, found.version) == ("tfds", "people", "1.2.0")
    assert sorted(found.decoder.lines()) == sorted(FEATURES)
    assert [int(row["label"]) for row in tfr.load(found.path, "train")] == [3, 5, 7]
    assert [list(row["name"]) for row in tfr.load(found.path, "train")] == [[b"Ada"], [], [b"x"]]


def test_photos_are_a_data_set_with_classes(photos, tmp_path):
    split = {"train": 0.8, "test": 0.2}
    tfr.build.images(
        photos, tmp_path / "out", layout="tfds", dataset="pets/small:2.0.0", split=split, duplicates="keep"
    )
    found = tfr.open_folder(tmp_path / "out")
    assert (found.name, found.version) == ("pets/small", "2.0.0")
    assert found.class_names == {"label": ("cat", "dog")}
    assert {name: split.records for name, split in found.splits.items()} == {"train": 8, "test": 2}
    examples = [*tfr.load(found.path, "train"), *tfr.load(found.path, "test")]
    assert all(bool(example["label"]) == example["image/filename"].startswith(b"dog") for example in examples)
    assert all(example["image"].shape == (4, 5, 3) for example in examples)


def test_photos_that_tensorflow_datasets_does_not_read_are_bad(photos, tmp_path):
    (photos / "cat/moving.gif").write_bytes(b"GIF89a\x04\x00\x03\x00\xf0\x00\x00;")
    report = tfr.build.images(photos, tmp_path / "out", layout="tfds", on_bad="skip")
    assert report.bad == {"unsupported image format": 1}
    assert len(list(tfr.load(tmp_path / "out", "train"))) == 10
    assert not tfr.build.images(photos, tmp_path / "plain").bad


def test_empty_splits_are_left_out(photos, tmp_path):
    split = {"train": 0.99, "test": 0.01}
    tfr.build.images(photos, tmp_path / "out", layout="tfds", split=split)
    assert list(tfr.open_folder(tmp_path / "out").splits) == ["train"]


def test_lost_description_is_made_again(tmp_path):
    folder = tmp_path / "people/1.2.0"
    tfr.build.table(TABLE, folder, layout="tfds")
    for name in ("dataset_info.json", "features.json"):
        content = (folder / name).read_bytes()
        (folder / name).unlink()
        tfr.build.table(TABLE, folder, layout="tfds")
        assert (folder / name).read_bytes() == content


def test_other_data_set_is_refused_unless_overwritten(tmp_path):
    folder = tmp_path / "people/1.2.0"
    tfr.build.table(TABLE, folder, layout="tfds")
    for table, options in ((TABLE, {"prefix": "test"}), (TABLE.slice(0, 2), {})):
        with pytest.raises(AlreadyExistsError):
            tfr.build.table(table, folder, layout="tfds", **options)
        assert tfr.open_folder(folder).splits["train"].records == 3
    tfr.build.table(TABLE.slice(0, 2), folder, layout="tfds", overwrite=True)
    assert len(tfr.load(folder, "train")) == 2


def test_folder_is_no_data_set_while_shards_are_replaced(tmp_path, monkeypatch):
    folder = tmp_path / "people/1.2.0"
    tfr.build.table(TABLE, folder, layout="tfds")

    def stop(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tfrkit.build.job.run_job.save_report", stop)
    with pytest.raises(KeyboardInterrupt):
        tfr.build.table(TABLE.slice(0, 2), folder, layout="tfds", overwrite=True)
    assert not (folder / "dataset_info.json").exists()
    monkeypatch.undo()
    tfr.build.table(TABLE.slice(0, 2), folder, layout="tfds", overwrite=True)
    info = json.loads((folder / "dataset_info.json").read_text())
    assert info["splits"][0]["shardLengths"] == ["2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dataset": "a b"}, "Expected a name of letters"),
        ({"dataset": "../a"}, "Expected a name of letters"),
        ({"dataset": "a:1"}, "Expected a version"),
        ({"prefix": "a.b"}, "name of a split"),
        ({"compression": "GZIP"}, "reads no GZIP files"),
    ],
)
def test_what_makes_no_data_set_is_refused(tmp_path, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        tfr.build.table(TABLE, tmp_path / "out", layout="tfds", **options)
    assert not (tmp_path / "out").exists()


def test_sequence_examples_are_refused():
    with pytest.raises(InvalidArgumentError, match="SequenceExamples"):
        tfds_job(Job("out", (), "", None, {}, spec=None), "a", {}, {})


def test_files_of_shards_for_each_input_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(InvalidArgumentError, match="per input"):
        tfr.build.table(tmp_path / "a.jsonl", tmp_path / "out", layout="tfds", shards="per-input")


def test_raw_pixels_are_refused(photos, tmp_path):
    with pytest.raises(InvalidArgumentError, match="raw pixels"):
        tfr.build.images(photos, tmp_path / "out", layout="tfds", encoding="raw")


def test_name_of_a_data_set_needs_the_layout(tmp_path):
    with pytest.raises(InvalidArgumentError, match="only with layout='tfds'"):
        tfr.build.table(TABLE, tmp_path / "out", dataset="people:1.0.0")
