"""Descriptions of folders: what they hold, and how they print."""

from __future__ import annotations

import json
import os

import pytest

import tfrkit as tfr
from tests.folders.support.made_folders import CLASS, digits, features, tensor, write_tfds
from tfrkit.folders.folder_kind import FolderDescription, FolderSplit, Shard, SpecDecoder
from tfrkit.folders.folder_table import remove_folder_kind


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "digits")


def test_a_description_prints_what_is_there(path):
    found = tfr.open_folder(write_tfds(path, digits(10)))
    assert str(found) == (
        f"digits 1.0.0 (tfds)\n{path}\nsplits:\n  train: 10 records in 2 shards\nfeatures:\n"
        "  image: Image(uint8, shape=(4, 4, 1))\n  label: ClassLabel(int64, 3 classes)\n"
        "classes:\n  label: zero, one, two"
    )
    assert (found.name, found.version, found.kind) == ("digits", "1.0.0", "tfds")
    assert found.splits["train"].records == 10


def test_without_a_file_of_names_classes_are_numbers(path):
    assert tfr.open_folder(write_tfds(path, digits(3), labels=())).class_names == {"label": ("0", "1", "2")}


def test_the_old_layout_is_read_and_mixed_with_that_of_today(path):
    old = {
        "type": f"{CLASS}features_dict.FeaturesDict",
        "content": {
            "image": {
                "type": f"{CLASS}image_feature.Image",
                "content": json.dumps({"shape": [4, 4, 1], "dtype": "uint8", "encoding_format": "png"}),
            },
            "label": {"type": f"{CLASS}class_label_feature.ClassLabel", "content": {"num_classes": 3}},
            "ids": {
                "type": f"{CLASS}sequence_feature.Sequence",
                "content": {"feature": tensor("int32"), "length": None},
            },
            "box": {
                "type": f"{CLASS}bounding_boxes.BBoxFeature",
                "content": {"shape": [4], "dtype": "float32"},
            },
        },
    }
    examples = [{**each, "ids": [1, 2], "box": [0.0, 0.5, 1.0, 1.0]} for each in digits(4)]
    ds = tfr.load(write_tfds(path, examples, old), "train")
    example = ds[1]
    assert (example["image"].shape, example["ids"].tolist(), example["box"].shape) == (
        (4, 4, 1),
        [1, 2],
        (4,),
    )
    assert tfr.open_folder(path).class_names == {"label": ("zero", "one", "two")}


def test_old_folders_without_features_are_read_by_their_records(path):
    examples = [{**each, "size": [1.0, 2.0], "any": [1] * number} for number, each in enumerate(digits(4))]
    write_tfds(path, examples)
    os.remove(f"{path}/features.json")
    with open(f"{path}/image.image.json", "w") as file:
        json.dump({"encoding_format": "png", "shape": [-1, -1, 1]}, file)
    ds = tfr.load(path, "train")
    example = ds[1]
    assert (example["image"].shape, example["label"], example["size"].tolist()) == ((4, 4, 1), 2, [1.0, 2.0])
    assert tfr.open_folder(path).class_names == {"label": ("zero", "one", "two")}


def test_old_infos_without_lengths_are_counted(path):
    write_tfds(path, digits(10), info={"splits": [{"name": "train", "numShards": "2"}]})
    assert tfr.open_folder(path).splits["train"].records is None
    assert len(tfr.load(path, "train[:5]")) == 5
    write_tfds(path, digits(10), info={"splits": [{"name": "train"}]})
    assert len(tfr.load(path, "train")) == 10


def test_other_templates_name_the_shards(path):
    split = {
        "name": "train",
        "shardLengths": ["5", "5"],
        "filepathTemplate": "{SPLIT}-{SHARD_INDEX}.{FILEFORMAT}",
    }
    write_tfds(path, digits(10), info={"splits": [split]})
    for number in range(2):
        os.rename(
            f"{path}/digits-train.tfrecord-{number:05d}-of-00002", f"{path}/train-{number:05d}.tfrecord"
        )
    assert len(list(tfr.load(path, "train"))) == 10


def test_names_of_classes_of_nested_features_are_found(path):
    label = {"pythonClassName": f"{CLASS}class_label_feature.ClassLabel", "classLabel": {"numClasses": "2"}}
    sequence = {
        "pythonClassName": f"{CLASS}sequence_feature.Sequence",
        "sequence": {"feature": features(label=label), "length": "-1"},
    }
    write_tfds(path, [{"objects/label": [0, 1]}], features(objects=sequence), labels=())
    with open(f"{path}/objects-label.labels.txt", "w") as file:
        file.write("cat\n\n dog \n")
    assert tfr.open_folder(path).class_names == {"objects/label": ("cat", "dog")}


def test_a_kind_of_another_program_comes_first(tmp_path):
    class Mine:
        name = "mine"

        def recognises(self, listing):
            return listing.has("mine.txt")

        def describe(self, listing):
            split = FolderSplit("only", (Shard(listing.join("data.tfrecord"), 2),))
            return FolderDescription(
                listing.path, self.name, "my set", "7", {"only": split}, SpecDecoder(None)
            )

    with tfr.TFRecordWriter(str(tmp_path / "data.tfrecord")) as writer:
        writer.write_many([b"one", b"two"])
    (tmp_path / "mine.txt").touch()
    tfr.add_folder_kind(Mine())
    try:
        assert str(tfr.open_folder(tmp_path)).startswith("my set 7 (mine)")
        assert list(tfr.load(tmp_path, "only[1:]")) == [b"two"]
        with pytest.raises(tfr.errors.InvalidArgumentError, match="a kind of folders named 'mine' already"):
            tfr.add_folder_kind(Mine())
    finally:
        remove_folder_kind("mine")
    assert tfr.open_folder(tmp_path).kind == "shards"


def test_files_are_the_shards_of_a_split(tmp_path):
    found = tfr.open_folder(write_tfds(str(tmp_path / "digits"), digits(10)))
    assert [os.path.basename(path) for path in found.files("train")] == [
        "digits-train.tfrecord-00000-of-00002",
        "digits-train.tfrecord-00001-of-00002",
    ]
    assert found.files() == found.files("train")
    assert tfr.scan(found.files("train"), ["label"]).count() == 10
    with pytest.raises(tfr.errors.NotFoundError, match=r"Unknown split 'x'. Should be one of \['train'\]"):
        found.files("x")


def test_a_manifest_names_splits_as_a_plain_folder_does(tmp_path):
    for name in ("train.tfrecord", "test"):
        with tfr.ShardWriter(tmp_path / name, shards=2) as writer:
            for number in range(4):
                writer.write_example({"x": number})
    found = tfr.open_folder(tmp_path)
    assert (found.kind, sorted(found.splits)) == ("tfrkit", ["test", "train"])
    assert found.splits["train"].records == 4
    (tmp_path / "manifest.json").unlink()
    assert sorted(tfr.open_folder(tmp_path).splits) == ["test", "train"]


def test_two_sets_of_a_manifest_with_one_name_are_refused(tmp_path):
    for name in ("train.tfrecord", "train"):
        with tfr.ShardWriter(tmp_path / name, shards=2) as writer:
            writer.write_example({"x": 1})
    with pytest.raises(tfr.errors.FailedPreconditionError, match="two sets of files are named 'train'"):
        tfr.open_folder(tmp_path)


def test_a_description_of_another_library_is_none_of_tensorflow_datasets(tmp_path):
    with tfr.TFRecordWriter(str(tmp_path / "train.tfrecord")) as writer:
        writer.write_example({"x": 1})
    content = {"name": "pets", "splits": {"train": {"name": "train", "num_examples": 1}}}
    (tmp_path / "dataset_info.json").write_text(json.dumps(content))
    assert tfr.open_folder(tmp_path).kind == "shards"


def test_an_empty_first_file_does_not_hide_youtube8m(tmp_path):
    for name, examples in (
        ("train00", []),
        ("train01", [{"id": "a", "labels": [1], "mean_rgb": [0.5] * 1024}]),
    ):
        with tfr.TFRecordWriter(str(tmp_path / f"{name}.tfrecord")) as writer:
            for each in examples:
                writer.write_example(each)
    assert tfr.open_folder(tmp_path).kind == "youtube8m"
    assert [each["id"] for each in tfr.load(tmp_path, "train")] == [b"a"]
