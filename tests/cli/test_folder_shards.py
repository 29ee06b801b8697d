"""Commands on the folder of a data set: its shards, one split of them, and the names of classes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.folders.support.made_folders import digits, write_tfds
from tfrkit.cli.arguments import data_files, shard_files
from tfrkit.cli.console import UsageError
from tfrkit.folders.folder_kind import FolderDescription, FolderSplit, Shard, SpecDecoder
from tfrkit.folders.folder_table import remove_folder_kind

TEST_SHARD = "digits-test.tfrecord-00000-of-00001"
TRAIN_SHARDS = [f"digits-train.tfrecord-{number:05d}-of-00002" for number in range(2)]


@pytest.fixture
def dataset(folder):
    """A folder of TensorFlow Datasets with ten records in `train` and three in `test`."""
    splits = [
        {"name": "train", "shardLengths": ["5", "5"]},
        {"name": "test", "shardLengths": ["3"]},
    ]
    write_tfds("digits", digits(10), info={"splits": splits})
    with tfr.TFRecordWriter(f"digits/{TEST_SHARD}") as writer:
        for each in digits(3):
            writer.write_example(each)
    Path("digits/stray.tfrecord").write_bytes(b"")
    return "digits"


def names(paths):
    return [Path(path).name for path in paths]


def test_the_folder_means_the_shards_of_its_splits_in_their_order(dataset):
    assert names(shard_files([dataset])) == [*TRAIN_SHARDS, TEST_SHARD]
    assert names(shard_files([dataset + "/"], split="test")) == [TEST_SHARD]
    found = data_files([dataset, f"{dataset}/stray.tfrecord"])
    assert names(found.paths)[-1] == "stray.tfrecord"
    assert found.class_names == {"label": ("zero", "one", "two")}


def test_folders_of_stores_are_taken():
    folder = write_tfds("memory://commands/digits", digits(4))
    assert names(shard_files([folder], split="train")) == TRAIN_SHARDS


def test_head_shows_class_names(command, dataset):
    done = command("head", dataset, "--split", "test", "-n", "2", "--key", "label")
    assert done.err == ""
    assert "  label  int64  0 (zero)\n" in done.out
    assert "  label  int64  1 (one)\n" in done.out
    assert f"{dataset}/{TEST_SHARD}" in done.out


def test_numbers_in_json_stay_numbers(command, dataset):
    done = command("cat", dataset, "--split", "test", "--json", "--key", "label")
    assert [json.loads(line)["features"]["label"] for line in done.out.splitlines()] == [[0], [1], [2]]


def test_numbers_without_a_name_stay_numbers(command, folder):
    write_tfds("digits", [{**digits(1)[0], "label": label} for label in (-1, 7)], shards=1)
    done = command("head", "digits", "--key", "label")
    assert "  label  int64  -1\n" in done.out
    assert "  label  int64  7\n" in done.out
    write_tfds("bare", digits(2), shards=1, labels=())
    assert "  label  int64  1\n" in command("head", "bare", "--key", "label").out


def test_count_and_schema_take_a_split(command, dataset):
    assert "13" in command("count", dataset).out
    assert command("count", dataset, "--split", "test").out == "3\n"
    assert command("schema", dataset, "--split", "train").out.startswith("10 Examples")


def test_stats_names_labels(command, dataset):
    found = json.loads(command("stats", dataset, "--split", "test", "--json", "--key", "label").out)
    top = found["features"]["label"]["kinds"]["int64"]["top"]
    assert {each["value"]: each["name"] for each in top} == {0: "zero", 1: "one", 2: "two"}
    assert "0 zero" in command("stats", dataset, "--key", "label").out


def test_exports_take_a_split_and_images_go_by_class(command, dataset):
    done = command("export", "csv", dataset, "-", "--split", "test", "--key", "label")
    assert done.out == "label\n0\n1\n2\n"
    assert command("export", "images", dataset, "pictures", "-q").code == 0
    assert {path.parent.name for path in Path("pictures").glob("*/*.png")} == {"zero", "one", "two"}


def test_select_takes_a_split(command, dataset):
    done = command("select", dataset, "some.tfrecord", "--split", "train", "--where", "label == 1", "-q")
    assert done.code == 0, done.err
    assert len(list(tfr.read_records("some.tfrecord"))) == 3


def test_the_viewer_has_class_names(command, dataset):
    done = command("view", dataset, "--split", "test", "--export", "page.html")
    assert done.code == 0, done.err
    assert "1 (one)" in Path("page.html").read_text()


def test_a_split_that_is_not_there_names_those_that_are(command, dataset):
    done = command("head", dataset, "--split", "valid")
    assert done.code == 2
    assert "no split 'valid'" in done.err
    assert "it has 2 splits: train, test" in done.err


def test_a_split_of_files_is_refused(dataset):
    with pytest.raises(UsageError, match="--split is for the folder of a data set"):
        shard_files([f"{dataset}/{TEST_SHARD}"], split="test")


def test_splits_of_manifests_and_plain_folders(command, folder):
    for name, count in (("train", 4), ("test", 2)):
        with tfr.ShardWriter(f"out/{name}", shards=2) as writer:
            for number in range(count):
                writer.write_example({"x": number})
    assert command("count", "out", "--split", "test").out.split()[-2] == "2"
    Path("plain").mkdir()
    for path in Path("out").glob("*.tfrecord"):
        shutil.copy(path, "plain")
    assert names(shard_files(["plain"], split="train")) == [
        "train-00000-of-00002.tfrecord",
        "train-00001-of-00002.tfrecord",
    ]


def test_a_folder_that_cannot_be_described_is_read_by_names_with_a_warning(command, dataset):
    Path(dataset, "features.json").write_text("{")
    done = command("count", dataset)
    assert done.err.startswith("warning: digits/features.json; expected JSON")
    assert "13" in done.out
    with pytest.raises(tfr.errors.DataLossError, match=r"features\.json"):
        shard_files([dataset], split="train")


@pytest.mark.parametrize("name", ["head", "verify", "count", "stats"])
def test_missing_shards_are_an_error(command, dataset, name):
    Path(dataset, TRAIN_SHARDS[0]).unlink()
    done = command(name, dataset)
    assert (done.code != 0, done.out) == (True, "")
    assert f"1 shards of the split 'train' are missing: '{TRAIN_SHARDS[0]}'" in done.err
    assert command(name, f"{dataset}/{TRAIN_SHARDS[1]}").code == 0


def test_an_unknown_folder_is_an_error_with_help(command, folder):
    Path("empty").mkdir()
    done = command("head", "empty")
    assert done.code == 2
    assert "no shards in this folder" in done.err


def test_kinds_that_were_added_say_their_shards(command, folder):
    """Such as shards in folders of their own, which no listing of names would find."""

    class Nested:
        name = "nested"

        def recognises(self, listing):
            return listing.has("nested.txt")

        def describe(self, listing):
            shards = (Shard(listing.join("Split-train/data")),)
            splits = {"train": FolderSplit("train", shards)}
            return FolderDescription(
                listing.path, self.name, "", "", splits, SpecDecoder(None, {"x": ("no", "yes")})
            )

    Path("set/Split-train").mkdir(parents=True)
    Path("set/nested.txt").touch()
    with tfr.TFRecordWriter("set/Split-train/data") as writer:
        writer.write_example({"x": 1})
    tfr.add_folder_kind(Nested())
    try:
        done = command("head", "set")
    finally:
        remove_folder_kind("nested")
    assert "  x  int64  1 (yes)\n" in done.out


def test_folders_whose_names_of_classes_differ_show_numbers(dataset):
    write_tfds("other", digits(2), labels=("a", "b", "c"))
    assert data_files([dataset, "other"]).class_names == {}
