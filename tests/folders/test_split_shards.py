"""Names of shards: which splits they make, and what is missing, also where a name claims more than there can be."""

from __future__ import annotations

import json
import time

import pytest

import tfrkit as tfr
from tests.folders.support.made_folders import digits, write_tfds
from tfrkit.folders.folder_kind import FolderListing
from tfrkit.folders.split_shards import complete_names, record_names, splits_by_name

HUGE = 999_999_999_999_999_999


def listing_of(folder, *names):
    for name in names:
        (folder / name).touch()
    return FolderListing(str(folder))


def splits_of(folder, *names):
    listing = listing_of(folder, *names)
    found = splits_by_name(listing, record_names(listing.names))
    return {name: [shard.path.rpartition("/")[2] for shard in split.shards] for name, split in found.items()}


@pytest.mark.parametrize(
    ("form", "split"),
    [
        ("train-{}-of-00002.tfrecord", "train"), ("train-{}-of-00002.tfrecord.gz", "train"),
        ("train.tfrecord-{}-of-00002", "train"), ("train.tfrecord-{}-of-00002.gz", "train"),
        ("train.tfrecords-{}-of-00002", "train"), ("train.record-{}-of-00002", "train"),
        ("data_tfrecord-{}-of-00002.gz", "data"), ("mnist-train.tfrecord-{}-of-00002", "mnist-train"),
    ],
)  # fmt: skip
def test_the_names_that_tools_use_are_known(tmp_path, form, split):
    names = [form.format("00000"), form.format("00001")]
    assert splits_of(tmp_path, *names) == {split: names}


def test_what_stands_beside_shards_is_none(tmp_path):
    names = (
        "a.tfrecord-00000-of-00001.idx",
        "b.tfrecord-00000-of-00001.json",
        "c-00000-of-00001.jpg",
        "d.record",
    )
    assert splits_of(tmp_path, "e.tfrecord", *names) == {"e": ["e.tfrecord"]}


def test_two_sets_of_one_name_are_refused(tmp_path):
    names = ("a-00000-of-00001.tfrecord", "a.tfrecord")
    with pytest.raises(
        tfr.errors.FailedPreconditionError, match=r"two sets of files are named 'a'.*'a\.tfrecord'"
    ):
        splits_of(tmp_path, *names)


def test_missing_shards_are_named_and_counted(tmp_path):
    with pytest.raises(
        tfr.errors.NotFoundError,
        match=r"9 shards of the split 'a' are missing: 'a-00000-of-00010.*'a-00002-of-00010\.tfrecord' and 6 more\.",
    ):
        splits_of(tmp_path, "a-00003-of-00010.tfrecord")


def test_a_number_that_no_folder_has_makes_no_loop(tmp_path):
    begin = time.monotonic()
    with pytest.raises(
        tfr.errors.NotFoundError, match="999,999,999,999,999,998 shards of the split 'a' are missing"
    ):
        tfr.open_folder(listing_of(tmp_path, f"a-00000-of-{HUGE}.tfrecord").path)
    assert time.monotonic() - begin < 5


def test_nor_does_one_of_tensorflow_datasets(tmp_path):
    folder = write_tfds(str(tmp_path / "digits"), digits(2), info={"splits": [{"name": "train"}]}, shards=1)
    path = tmp_path / "digits"
    (path / "digits-train.tfrecord-00000-of-00001").rename(path / f"digits-train.tfrecord-00000-of-{HUGE}")
    begin = time.monotonic()
    with pytest.raises(
        tfr.errors.NotFoundError, match=r"at least 999,999,.* are missing: 'digits-train\.tfrecord-0*-of-"
    ):
        tfr.open_folder(folder)
    assert time.monotonic() - begin < 5


def test_nor_does_one_of_a_description(tmp_path):
    (tmp_path / "train.tfrecord-00000-of-00001").touch()
    info = {"num_shards": 999_999, "features": {"x": {"shape": [], "dtype": "int32"}}}
    (tmp_path / "info.train.json").write_text(json.dumps(info))
    with pytest.raises(
        tfr.errors.NotFoundError, match="at least 999,997 shards of the split 'train' are missing"
    ):
        tfr.open_folder(tmp_path)


def test_names_in_folders_below_are_not_looked_for(tmp_path):
    assert complete_names(listing_of(tmp_path, "x"), "a", lambda number: f"a/{number}", 3, "") == [
        "a/0",
        "a/1",
        "a/2",
    ]
