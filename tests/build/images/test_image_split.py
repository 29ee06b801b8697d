"""Splits: exact numbers, every class by itself, the same for the same seed."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tests.build.support.image_samples import examples, labels, photos, picture, write_files, zipped
from tfrkit.build.images.build_images import images
from tfrkit.build.images.image_split import assign_ratios, parse_split, permutation, share_out
from tfrkit.errors import InvalidArgumentError


@settings(max_examples=30)
@given(st.integers(0, 1000), st.lists(st.fractions(0, 1), min_size=1, max_size=5).filter(any))
def test_shares_add_up_and_are_next_to_the_exact_ones(count, ratios):
    shares = share_out(count, ratios)
    assert sum(shares) == count
    for share, ratio in zip(shares, ratios, strict=True):
        assert abs(share - count * ratio / sum(ratios)) < 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("train=0.8,test=0.1", "expected ratios that add up to 1 but got 0.9"),
        ("train", "expected 'train=0.8,validation=0.1,test=0.1' or 'folders' but got 'train'"),
        ("train=0.5,train=0.5", "split 'train': expected names that begin files, each once"),
        ("a/b=0.5,c=0.5", "split 'a/b': expected names that begin files"),
        ("train=0.5,test=folder", "expected ratios or folders, and not both"),
        ("train=1.5,test=-0.5", "expected ratios that add up to 1"),
    ],
)
def test_wrong_split_says_what_is_expected(given, message):
    with pytest.raises(InvalidArgumentError) as caught:
        parse_split(given)
    assert message in str(caught.value)


def test_ratios_are_exact_however_they_are_written():
    assert parse_split("a=0.1,b=0.2,c=0.7").ratios == (Fraction(1, 10), Fraction(2, 10), Fraction(7, 10))
    assert parse_split({"a": 0.1, "b": "9/10"}).ratios == (Fraction(1, 10), Fraction(9, 10))


def test_every_class_is_split_by_itself():
    classes = np.repeat(np.arange(3), [10, 20, 5])
    chosen = assign_ratios(35, [Fraction(8, 10), Fraction(2, 10)], 7, classes)
    assert [np.bincount(chosen[classes == number], minlength=2).tolist() for number in range(3)] == [
        [8, 2],
        [16, 4],
        [4, 1],
    ]


def test_order_and_splits_are_the_same_everywhere():
    assert permutation(8, 0).tolist() == [6, 7, 2, 1, 3, 5, 0, 4]
    assert assign_ratios(8, [Fraction(1, 2)] * 2, 3, None).tolist() == [1, 1, 1, 0, 1, 0, 0, 0]


def test_splits_share_no_image_and_leave_none_out(tmp_path):
    files = photos({"cat": 6, "dog": 4})
    report = images(
        write_files(tmp_path / "photos", files), tmp_path / "out", split="train=0.8,validation=0.1,test=0.1"
    )
    found = [set(labels(tmp_path / "out", split)) for split in ("train", "validation", "test")]
    assert [len(names) for names in found] == [8, 1, 1]
    assert set.union(*found) == set(files)
    assert report.records == 10


def test_per_class_keeps_the_mixture(tmp_path):
    files = photos({"cat": 8, "dog": 4})
    images(
        write_files(tmp_path / "photos", files),
        tmp_path / "out",
        split="train=0.75,test=0.25",
        per_class=True,
    )
    assert sorted(labels(tmp_path / "out", "test").values()) == [0, 0, 1]
    assert sorted(labels(tmp_path / "out").values()) == [0] * 6 + [1] * 3


def test_split_by_folders_shares_one_label_map(tmp_path):
    files = {"train/cat/1.jpg": picture(1), "train/fox/2.jpg": picture(2), "val/dog/3.jpg": picture(3)}
    files["stray.jpg"] = picture(4)
    report = images(write_files(tmp_path / "photos", files), tmp_path / "out", split="folders")
    assert labels(tmp_path / "out", "train") == {"train/cat/1.jpg": 0, "train/fox/2.jpg": 2}
    assert labels(tmp_path / "out", "validation") == {"val/dog/3.jpg": 1}
    assert (tmp_path / "out" / "labels.txt").read_text() == "cat\ndog\nfox\n"
    assert [shard.name.split("-")[0] for shard in report.shards] == ["train", "validation"]
    assert report.bad == {"not in the folder of a split": 1}


def test_split_by_folders_below_the_one_folder_of_an_archive(tmp_path):
    files = {
        "data/train/cat/1.jpg": picture(1),
        "data/val/cat/2.jpg": picture(2),
        "data/readme.txt": b"hello",
    }
    report = images(zipped(tmp_path / "photos.zip", files), tmp_path / "out", split="folders")
    assert labels(tmp_path / "out", "train") == {"data/train/cat/1.jpg": 0}
    assert labels(tmp_path / "out", "validation") == {"data/val/cat/2.jpg": 0}
    assert report.bad == {"not an image": 1}


def test_split_by_folders_without_classes(tmp_path):
    files = {"train/1.jpg": picture(1), "test/2.jpg": picture(2)}
    images(write_files(tmp_path / "photos", files), tmp_path / "out", split="folders")
    assert [one["image/filename"] for one in examples(tmp_path / "out", "test")] == [b"test/2.jpg"]
    assert "image/label" not in examples(tmp_path / "out")[0]


def test_split_by_folders_of_any_name(tmp_path):
    files = {"y2023/cat/1.jpg": picture(1), "y2024/cat/2.jpg": picture(2), "y2025/cat/3.jpg": picture(3)}
    report = images(write_files(tmp_path / "photos", files), tmp_path / "out", split="train=y2023,test=y2024")
    assert [examples(tmp_path / "out", split)[0]["image/filename"] for split in ("train", "test")] == [
        b"y2023/cat/1.jpg",
        b"y2024/cat/2.jpg",
    ]
    assert report.bad == {"not in the folder of a split": 1}


def test_split_by_folders_that_are_not_there(tmp_path):
    write_files(tmp_path / "photos", photos({"cat": 2}))
    with pytest.raises(
        InvalidArgumentError, match=r"expected images in folders of splits \(test, testing, train"
    ):
        images(tmp_path / "photos", tmp_path / "out", split="folders")


def test_split_without_images_has_an_empty_file(tmp_path):
    write_files(tmp_path / "photos", photos({"cat": 2}))
    images(tmp_path / "photos", tmp_path / "out", split="train=0.9,test=0.1")
    assert (tmp_path / "out" / "test-00000-of-00001.tfrecord").read_bytes() == b""
