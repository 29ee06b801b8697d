"""Caches of SeqIO, written here as its `_CachedDataSource` reads them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tfrkit as tfr

FEATURES = {
    "inputs": {"shape": [None], "dtype": "int32"},
    "boxes": {"shape": [None, 2], "dtype": "float32"},
    "done": {"shape": [], "dtype": "bool"},
    "text": {"shape": [], "dtype": "string"},
}


def example(number):
    return {
        "inputs": list(range(number % 4)),
        "boxes": [float(number)] * 2 * (number % 3),
        "done": number % 2,
        "text": f"text {number}",
    }


def write_split(folder, split, counts, **info):
    """Write a split with as many records in each shard, and what describes it."""
    numbers = iter(range(sum(counts)))
    for shard, count in enumerate(counts):
        path = folder / f"{split}.tfrecord-{shard:05d}-of-{len(counts):05d}"
        with tfr.TFRecordWriter(str(path)) as writer:
            for _ in range(count):
                writer.write_example(example(next(numbers)))
    content = {"num_shards": len(counts), "features": FEATURES, "seqio_version": "0.0.18", **info}
    (folder / f"info.{split}.json").write_text(
        json.dumps({k: v for k, v in content.items() if v is not None})
    )
    (folder / f"stats.{split}.json").write_text(json.dumps({"inputs_tokens": 3, "examples": sum(counts)}))


@pytest.fixture
def folder(tmp_path):
    write_split(tmp_path, "train", [4, 3, 3])
    write_split(tmp_path, "validation", [2])
    (tmp_path / "COMPLETED").touch()
    return tmp_path


def test_a_cache_is_recognised_with_its_splits_and_types(folder):
    found = tfr.open_folder(folder)
    assert (found.kind, found.version) == ("seqio", "seqio 0.0.18")
    assert {name: split.records for name, split in found.splits.items()} == {"train": 10, "validation": 2}
    assert "  inputs: Tensor(int32, shape=(?,))" in str(found).split("\n")


def test_values_have_the_types_and_shapes_of_the_info(folder):
    ds = tfr.load(folder, "train")
    assert len(ds) == 10
    for number, found in enumerate(ds):
        assert found["inputs"].dtype == np.int32
        assert found["inputs"].tolist() == example(number)["inputs"]
        assert found["boxes"].shape == (number % 3, 2)
        assert found["done"].dtype == np.bool_
        assert found["text"] == f"text {number}".encode()
        assert repr(ds[number]) == repr(found)
    assert tfr.load(folder, "validation[1:]")[0]["text"] == b"text 1"


def test_what_states_resume_is_the_rest(folder):
    ds = tfr.load(folder, "train")
    iterator = iter(ds)
    for place in range(10):
        rest = [each["text"] for each in ds.iter_from(iterator.state())]
        assert rest == [f"text {number}".encode() for number in range(place, 10)]
        next(iterator)


def test_integers_of_caches_without_a_version_have_32_bits(folder):
    features = {"inputs": {"shape": [None], "dtype": "int64"}}
    write_split(folder, "train", [2], features=features, seqio_version=None)
    write_split(folder, "validation", [2], features=features, seqio_version=None)
    assert tfr.load(folder, "train")[1]["inputs"].dtype == np.int32


def test_without_statistics_nothing_is_counted_before(folder):
    (folder / "stats.train.json").unlink()
    assert tfr.open_folder(folder).splits["train"].records is None
    assert len(list(tfr.load(folder, "train"))) == 10


@pytest.mark.parametrize("count", [9, 11])
@pytest.mark.parametrize(("split", "size"), [("train", 10), ("validation", 2)])
def test_other_counts_than_the_statistics_say_are_an_error(folder, split, size, count):
    (folder / f"stats.{split}.json").write_text(json.dumps({"examples": size + count - 10}))
    ds = tfr.load(folder, split)
    for call in (lambda: list(ds), lambda: ds[0], lambda: tfr.load(folder, f"{split}[:1]")[0]):
        with pytest.raises(
            tfr.errors.DataLossError, match=r"expected \d+ records in .*, as the description of the data"
        ):
            call()


def test_missing_shards_are_named(folder):
    (folder / "train.tfrecord-00001-of-00003").unlink()
    with pytest.raises(
        tfr.errors.NotFoundError,
        match=r"1 shards of .* 'train\.tfrecord-00001-of-00003'\. info\.train\.json says that there are 3",
    ):
        tfr.open_folder(folder)


def test_a_cache_that_was_not_finished_is_opened_with_a_warning(folder):
    (folder / "COMPLETED").unlink()
    with pytest.warns(UserWarning, match="there is no file COMPLETED"):
        assert len(tfr.load(folder, "train")) == 10


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"num_shards": 0}, "num_shards: expected 1 to"), ({"num_shards": 10**12}, "num_shards: expected 1 to"),
        ({"num_shards": [3]}, "num_shards: expected an integer"), ({"features": 3}, "features: expected an object"),
        ({"features": {}}, "features: expected the shape"), ({"features": {"x": 3}}, "features.x: expected an object"),
        ({"features": {"x": {"shape": [], "dtype": "int7"}}}, "there is no type 'int7'. Use a newer"),
        ({"features": {"x": {"shape": "a", "dtype": "int8"}}}, "shape: expected the sizes"),
        ({"features": {"x": {"shape": [], "dtype": "int8"}}}, "its features are not those of the split"),
    ],
)  # fmt: skip
def test_damaged_infos_are_refused(folder, content, text):
    write_split(folder, "train", [2], **content)
    with pytest.raises(tfr.errors.DataLossError) as caught:
        tfr.open_folder(folder)
    assert text in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 5000])
def test_an_info_that_is_no_json_is_refused(folder, content):
    (folder / "info.train.json").write_bytes(content)
    with pytest.raises(tfr.errors.DataLossError, match=r"info\.train\.json; expected JSON but got"):
        tfr.open_folder(folder)


def test_two_open_sizes_are_refused(folder):
    write_split(folder, "train", [2], features={"x": {"shape": [None, None], "dtype": "int32"}})
    with pytest.raises(tfr.errors.UnimplementedError, match=r"feature 'x' has the shape \(\?, \?\)"):
        tfr.open_folder(folder)


def test_a_feature_that_a_record_lacks_is_named(folder):
    with tfr.TFRecordWriter(str(folder / "validation.tfrecord-00000-of-00001")) as writer:
        writer.write_example(example(0))
        writer.write_example({"inputs": [1], "text": "x"})
    with pytest.raises(tfr.errors.InvalidArgumentError, match=r"done .*is required but could not be found"):
        list(tfr.load(folder, "validation"))


def test_other_files_of_that_name_make_no_cache(tmp_path):
    (tmp_path / "info.train.json").write_text('{"a": 1}')
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write_example({"x": 1})
    assert tfr.open_folder(tmp_path).kind == "shards"


def test_other_files_that_are_named_like_infos_do_no_harm(folder):
    (folder / "info.notes.json").write_text('{"about": "this"}')
    (folder / "info.damaged.json").write_text("{")
    assert sorted(tfr.open_folder(folder).splits) == ["train", "validation"]
