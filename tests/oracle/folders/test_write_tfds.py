"""What write_tfds writes has, read by TensorFlow Datasets, the values that its own writer stores of the same examples.

TFRKIT_RANDOM_FEATURES says how many random trees of features are written.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import tensorflow_datasets as tfds

import tfrkit as tfr
from tests.oracle.folders.support.random_features import RandomFeatures
from tests.oracle.folders.support.tfds_folders import (
    assert_same,
    assert_same_dataset,
    read_by_tfds,
    write_folder,
)
from tests.oracle.folders.test_tfds_features import CASES

F = tfds.features
COUNT = int(os.environ.get("TFRKIT_RANDOM_FEATURES", "25"))
LARGE = {"large": "f"}  # 1e300 becomes infinite in float32, which is refused here


def assert_written_as_by_tfds(path, features, examples, **options):
    """Write examples with both; return our folder."""
    theirs = write_folder(path / "theirs" / "1.0.0", features, {"train": [examples]})
    tree = tfr.open_folder(theirs).features
    ours = str(path / "some" / "1.0.0")
    tfr.write_tfds(ours, {"train": examples}, features=tree, **options)
    assert_same_dataset(ours, "train")
    for number, expected in enumerate(read_by_tfds(theirs, "train")):
        assert_same(tfr.load(ours, "train")[number], expected, f"train[{number}]")
    assert repr(tfds.builder_from_directory(ours).info.features) == repr(
        tfds.builder_from_directory(theirs).info.features
    )
    return ours


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # in tfds
@pytest.mark.parametrize("name", CASES)
def test_features_are_written_as_by_tfds(tmp_path, name):
    features, examples = CASES[name]
    if name in LARGE:
        examples = [{**example, LARGE[name]: 0.25} for example in examples]
    ours = assert_written_as_by_tfds(tmp_path, F.FeaturesDict(features), examples)
    for number, source in enumerate((tfr.open_folder(ours), tfr.load(ours))):  # and again
        again = str(tmp_path / f"again{number}" / "1.0.0")
        tfr.write_tfds(again, source)
        for row, expected in enumerate(read_by_tfds(ours, "train")):
            assert_same(tfr.load(again, "train")[row], expected)
        assert_same_dataset(again, "train")


@pytest.mark.parametrize("seed", range(1000, 1000 + COUNT))
def test_random_features_are_written_as_by_tfds(tmp_path, seed):
    made = RandomFeatures(seed)
    assert_written_as_by_tfds(tmp_path, made.features, [made.example() for _ in range(7)])


def test_splits_shards_and_inputs_are_those_of_tfds(tmp_path):
    folder = str(tmp_path / "some" / "1.0.0")
    features = {"x": np.int64, "y": tfr.features.ClassLabel(["a", "b"])}
    splits = {
        name: [{"x": k, "y": k % 2} for k in range(count)] for name, count in (("train", 700), ("dev", 3))
    }
    tfr.write_tfds(folder, splits, features=features, shards=20, supervised=("x", "y"), description="Some.")
    builder = tfds.builder_from_directory(folder)
    assert (builder.info.full_name, builder.info.description) == ("some/1.0.0", "Some.")
    assert builder.info.supervised_keys == ("x", "y")
    assert builder.info.features["y"].names == ["a", "b"]
    assert {name: split.num_examples for name, split in builder.info.splits.items()} == {
        "train": 700,
        "dev": 3,
    }
    for split in ("train", "dev", "train[10%:20%]+dev"):
        assert_same_dataset(folder, split)
    rows = builder.as_dataset(split="train", as_supervised=True, shuffle_files=True)
    assert sorted(int(x) for x, _ in rows) == list(range(700))


def test_kept_order_is_that_of_tfds(tmp_path):
    folder = str(tmp_path / "some" / "1.0.0")
    tfr.write_tfds(folder, [{"x": k} for k in range(500)], shard_bytes=1000, keep_order=True, name="a/b")
    assert tfds.builder_from_directory(folder).info.full_name == "a/b/1.0.0"
    assert [int(each["x"]) for each in read_by_tfds(folder, "train")] == list(range(500))
    assert_same_dataset(folder, "train")


def test_found_out_features_are_read_by_tfds(tmp_path):
    folder = str(tmp_path / "some" / "1.0.0")
    examples = [
        {
            "image": np.full((3, 2 + k, 3), k, np.uint8), "matrix": np.ones((k, k)), "flag": k > 1, "maybe": k or None,
            "steps": [{"t": "x" * k, "n": [k] * j} for j in range(k)], "half": np.float16(k),
        }
        for k in range(4)
    ]  # fmt: skip
    tfr.write_tfds(folder, examples)
    assert_same_dataset(folder, "train")


def test_tables_with_the_layout_are_read_by_tfds(tmp_path):
    folder = str(tmp_path / "people" / "1.2.0")
    table = pa.table({"label": [3, 5], "name": ["Ada", None], "tags": [["a", "b"], []], "score": [0.5, 1.5]})
    tfr.build.table(table, folder, layout="tfds", shards=3)
    assert_same_dataset(folder, "train")
    assert [int(each["label"]) for each in read_by_tfds(folder, "train")] == [3, 5]


def test_photos_by_classes_with_the_layout_are_read_by_tfds(tmp_path):
    for name in ("cat", "dog", "owl"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(4):
            pixels = np.full((8, 8, 3), 60 * number, np.uint8)
            encode = tfr.image.encode_jpeg if number % 2 else tfr.image.encode_png
            (tmp_path / "photos" / name / f"{number}.jpg").write_bytes(encode(pixels))
    folder, split = str(tmp_path / "out"), {"train": 0.75, "test": 0.25}
    options = {"layout": "tfds", "dataset": "pets:1.0.0", "split": split, "duplicates": "keep", "shards": 2}
    tfr.build.images(tmp_path / "photos", folder, **options)
    for each in split:
        assert_same_dataset(folder, each)
    info = tfds.builder_from_directory(folder).info
    assert info.features["label"].names == ["cat", "dog", "owl"]
    for example in read_by_tfds(folder, "train"):
        name = info.features["label"].int2str(int(example["label"]))
        assert example["image/filename"].numpy().startswith(name.encode())


def test_what_a_folder_says_for_people_is_kept(tmp_path):
    features = F.FeaturesDict(
        {
            "sound": F.Audio(sample_rate=16000, file_format="wav", dtype=np.int16),
            "box": F.BBoxFeature(bbox_format="REL_YXYX"),
            "bounded": F.Tensor(shape=(), dtype=np.int64, minimum=0, maximum=9, doc="how many"),
            "mask": F.Image(shape=(None, None, 1), use_colormap=True),
            "texts": F.TranslationVariableLanguages(languages=["de", "en"]),
        }
    )
    example = {
        "sound": np.arange(3, dtype=np.int16), "box": F.BBox(0.0, 0.1, 0.5, 0.9), "bounded": 3,
        "mask": np.ones((2, 2, 1), np.uint8), "texts": {"de": "Katze"},
    }  # fmt: skip
    theirs = Path(write_folder(tmp_path / "theirs" / "1.0.0", features, {"train": [[example]]}))
    said = json.loads((theirs / "dataset_info.json").read_text())
    said |= {
        "citation": "Us, 2026",
        "supervised_keys": {"tuple": {"items": [{"feature_key": "box"}, {"featureKey": "mask"}]}},
    }
    (theirs / "dataset_info.json").write_text(json.dumps(said))
    tfr.write_tfds(tmp_path / "again" / "1.0.0", tfr.open_folder(theirs))
    ours = tfds.builder_from_directory(tmp_path / "again" / "1.0.0").info
    assert ours.features.to_json() == features.to_json()
    assert (ours.citation, ours.supervised_keys) == ("Us, 2026", ("box", "mask"))
    assert_same_dataset(str(tmp_path / "again" / "1.0.0"), "train")
