"""What write_tfds writes has, read by TensorFlow Datasets, the values that its own writer stores of the same examples.

TFRKIT_RANDOM_FEATURES says how many random trees of features are written.
"""

from __future__ import annotations

import os

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
