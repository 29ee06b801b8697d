"""Splits and their order are those of `tfds.load`, in the order of its interleave, iterated and by number."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow_datasets as tfds

import tfrkit as tfr
from tests.oracle.folders.support.tfds_folders import write_folder

FEATURES = tfds.features.FeaturesDict({"x": np.int64})
LENGTHS = {  # of shards
    "one": [40],
    "few": [17, 16, 33],
    "blocks": [16, 32, 48, 16],
    "uneven": [5, 100, 1, 16, 64],
    "many": [(7 * number) % 50 for number in range(40)],
    "whole_blocks": [16 * (number % 4) for number in range(40)],
}
SPLITS = [
    "train", "test", "all", "train+test", "test + train", "train[:10%]", "train[10%:30%]", "train[-5:]", "train[3:47]",
    "train[:12.5%]", "train[50%:]+test[:50%]", "train[0shard]", "train[-1shard]", "train[:1shard]", "train[1_0:2_0]",
    "train[:-1shard]", "train[:5]+train[-5:]", "test[:0shard]", "train[0:0]+test", "train[:30]+train[10:]",
]  # fmt: skip
REFUSED = [
    "train[:1000]", "train[5:3]", "train[3:3]", "valid", "train[3]", "train[3%]", "train[:101%]", "all[:5]", "train[]",
    "train[1:2:3]", "", "train[a:b]", " train", "train[:1.5]", "train[:5]+", "train[:]",
]  # fmt: skip


@pytest.fixture(scope="module", params=LENGTHS)
def folder(request, tmp_path_factory):
    return _folder(tmp_path_factory.mktemp(request.param), LENGTHS[request.param])


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return _folder(tmp_path_factory.mktemp("few"), LENGTHS["few"])


def _folder(path, lengths, **options):
    ends = np.cumsum(lengths)
    shards = [
        [{"x": x} for x in range(end - length, end)]
        for end, length in zip(ends.tolist(), lengths, strict=True)
    ]
    test = [[{"x": -x} for x in range(1, 21)], [{"x": -x} for x in range(21, 28)]]
    return write_folder(path / "1.0.0", FEATURES, {"train": shards, "test": test}, **options)


def theirs(folder, split):
    builder = tfds.builder_from_directory(folder)
    return [int(element["x"]) for element in builder.as_dataset(split=split).as_numpy_iterator()]


def assert_same_order(folder, split, expected):
    ds = tfr.load(folder, split)
    assert [int(element["x"]) for element in ds] == expected, split
    assert len(ds) == len(expected)
    assert ds.at(np.arange(len(ds)))["x"].tolist() == expected, split


def test_whole_split_has_the_order_of_tfds(folder):
    assert_same_order(folder, "train", theirs(folder, "train"))


def test_parts_of_splits_are_those_of_tfds(few):
    for split in SPLITS:
        assert_same_order(few, split, theirs(few, split))


def test_slices_of_shards_have_the_order_of_tfds(folder):
    for split in ("train[10%:90%]", "train[3:-2]+test[2:]"):
        assert_same_order(folder, split, theirs(folder, split))


@pytest.mark.parametrize("split", REFUSED)
def test_what_tfds_refuses_is_refused(few, split):
    with pytest.raises(Exception) as error:  # noqa: PT011  # of several classes
        theirs(few, split)
    assert error.value is not None
    with pytest.raises(tfr.errors.OpError):
        tfr.load(few, split)


def test_ordered_data_set_is_read_shard_by_shard(tmp_path):
    folder = _folder(tmp_path, [20, 3, 40], in_order=True)
    assert theirs(folder, "train") == list(range(63))
    assert_same_order(folder, "train", list(range(63)))
    assert_same_order(folder, "train[5:50]", list(range(5, 50)))


@pytest.mark.parametrize("drop", [False, True])
def test_even_splits_are_those_of_tfds(few, drop):
    for split in ("train", "train[7:]+test"):
        expected = tfds.even_splits(split, 5, drop_remainder=drop)
        for ours, part in zip(tfr.even_splits(split, 5, drop_remainder=drop), expected, strict=True):
            assert_same_order(few, ours, theirs(few, part))
    (nested,) = tfr.even_splits(tfr.even_splits("train", 2)[1], 1)
    assert_same_order(few, nested, theirs(few, tfds.even_splits(tfds.even_splits("train", 2)[1], 1)[0]))


def test_rounding_down_to_whole_percents_is_that_of_tfds(tmp_path):
    folder = _folder(tmp_path, [120, 119])
    for begin, end in ((0, 10), (33, 90), (99, 100)):
        instruction = tfds.core.ReadInstruction(
            "train", from_=begin, to=end, unit="%", rounding="pct1_dropremainder"
        )
        ds = tfr.load(folder, f"train[{begin}%:{end}%]", rounding="pct1_dropremainder")
        assert [int(element["x"]) for element in ds] == theirs(folder, instruction)


def test_none_gives_all_splits_as_tfds_does(few):
    expected = tfds.builder_from_directory(few).as_dataset()
    found = tfr.load(few)
    assert sorted(found) == sorted(expected)
    assert [int(each["x"]) for each in found["test"]] == theirs(few, "test")
