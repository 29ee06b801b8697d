"""Folders as datasets: whatever is asked of a dataset, by iteration or by number, over any store."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tfrkit as tfr
from tests.folders.support.made_folders import digits, write_tfds


@pytest.fixture
def folder(tmp_path):
    return write_tfds(str(tmp_path / "digits"), digits(70), shards=3)


def numbers(ds):
    return [int(example["image"][0, 0, 0]) for example in ds]


def test_examples_are_decoded(folder):
    ds = tfr.load(folder, "train")
    example = ds[2]
    assert example["image"].shape == (4, 4, 1)
    assert example["image"].dtype == np.uint8
    assert example["label"].dtype == np.int64
    assert sorted(numbers(ds)) == list(range(70))


def test_without_decoding_images_are_their_files(folder):
    example = next(iter(tfr.load(folder, "train", decode=False)))
    assert tfr.image.decode_image(example["image"]).shape == (4, 4, 1)


def test_batches_are_columns(folder):
    ds = tfr.load(folder, "train")
    batches = list(ds.batch(32))
    assert [batch["image"].shape for batch in batches] == [(32, 4, 4, 1), (32, 4, 4, 1), (6, 4, 4, 1)]
    assert numbers(ds.batch(32).unbatch()) == numbers(ds)


def test_every_way_gives_the_same_order(folder):
    ds = tfr.load(folder, "train")
    order = numbers(ds)
    assert [int(ds[number]["image"][0, 0, 0]) for number in range(len(ds))] == order
    assert ds.at([5, -1])["image"][:, 0, 0, 0].tolist() == [order[5], order[-1]]
    assert numbers(ds[10:20]) == order[10:20]
    assert sorted(numbers(ds.global_shuffle(seed=3))) == sorted(order)
    parts = [numbers(ds.shard(2, rank)) for rank in range(2)]
    assert parts == [order[0::2], order[1::2]]
    assert numbers(pickle.loads(pickle.dumps(ds))) == order


def test_states_resume_at_every_place(folder):
    ds = tfr.load(folder, "train[3:-4]")
    order = numbers(ds)
    iterator = iter(ds)
    for place in range(len(order)):
        assert numbers(ds.iter_from(iterator.state())) == order[place:], place
        next(iterator)


def test_lists_and_dicts_of_splits_give_the_same_of_datasets(folder):
    first, rest = tfr.load(folder, ["train[:10%]", "train[10%:]"])
    assert (len(first), len(rest)) == (7, 63)
    assert {name: len(ds) for name, ds in tfr.load(folder, {"a": "train[:5]"}).items()} == {"a": 5}
    assert list(tfr.load(folder)) == ["train"]


def test_folders_of_other_stores_are_opened():
    folder = write_tfds("memory://folders/digits", digits(20))
    ds = tfr.load(folder, "train[5:]")
    assert (len(ds), len(numbers(ds))) == (15, 15)
    assert tfr.open_folder(folder).class_names == {"label": ("zero", "one", "two")}


def test_a_folder_that_tfrkit_wrote_is_opened(tmp_path):
    with tfr.ShardWriter(str(tmp_path / "out" / "train"), shards=3) as writer:
        for number in range(10):
            writer.write_example({"x": number})
    ds = tfr.load(tmp_path / "out", "train[2:5]")
    assert sorted(int(each["x"]) for each in tfr.load(tmp_path / "out")["train"]) == list(range(10))
    assert ds.at(range(3))["x"].shape == (3,)


def test_a_plain_folder_has_a_split_for_each_set_of_shards(tmp_path):
    for name in ("train.tfrecord-00000-of-00002", "train.tfrecord-00001-of-00002", "test.tfrecord"):
        with tfr.TFRecordWriter(str(tmp_path / name)) as writer:
            writer.write_example({"x": 1})
    found = tfr.open_folder(tmp_path)
    assert (found.kind, sorted(found.splits)) == ("shards", ["test", "train"])
    assert len(tfr.load(tmp_path, "train")) == 2
    assert len(tfr.load(tmp_path, "train[1:]+test")) == 2


def test_records_that_are_no_examples_come_as_they_are(tmp_path):
    with tfr.TFRecordWriter(str(tmp_path / "text.tfrecord")) as writer:
        writer.write_many([b"one", b"two"])
    assert list(tfr.load(tmp_path, "text")) == [b"one", b"two"]


def test_what_is_no_split_is_refused(folder):
    with pytest.raises(
        tfr.errors.NotFoundError, match=r"Unknown split 'valid'. Should be one of \['train'\]"
    ):
        tfr.load(folder, "valid")
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"incompatible with 70 examples, in 'train\[:71\]'"
    ):
        tfr.load(folder, "train[:71]")
    with pytest.raises(TypeError, match="expected a split such as"):
        tfr.load(folder, 7)


def test_batches_pad_lengths_and_other_sizes_are_for_padded_batch(tmp_path):
    features = {"ids": tfr.features.Audio(), "image": tfr.features.Image()}
    examples = [{"ids": [1] * n, "image": np.full((n, 4, 3), n, np.uint8)} for n in (2, 3)]
    tfr.write_tfds(tmp_path / "x/1.0.0", examples, features=features)
    ds = tfr.load(tmp_path / "x/1.0.0", "train")
    with pytest.raises(tfr.errors.InvalidArgumentError, match="different shapes"):
        next(iter(ds.batch(2)))
    assert next(iter(ds.padded_batch(2)))["image"].shape == (2, 3, 4, 3)
    ids = next(iter(ds.map(lambda example: example["ids"]).ragged_batch(2)))
    assert ids.to_list() == [[1, 1], [1, 1, 1]]
    assert next(iter(tfr.load(tmp_path / "x/1.0.0", "train", decode=False).batch(2)))["ids"].tolist() == [
        [1, 1, 0],
        [1, 1, 1],
    ]
