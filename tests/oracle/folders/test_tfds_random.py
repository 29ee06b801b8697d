"""Random trees of features, nested three deep: elements by iteration, by number and in batches are those of tfds.

TFRKIT_RANDOM_FEATURES says how many trees; 2,000 of them take a quarter of an hour.
"""

from __future__ import annotations

import os
from random import Random

import pytest

import tfrkit as tfr
from tests.oracle.folders.support.random_features import RandomFeatures
from tests.oracle.folders.support.tfds_folders import assert_same, read_by_tfds, write_folder

COUNT = int(os.environ.get("TFRKIT_RANDOM_FEATURES", "25"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_features_have_the_values_of_tfds(tmp_path, seed):
    made = RandomFeatures(seed)
    shards = [[made.example() for _ in range(count)] for count in (18, 1, 4)]
    folder = write_folder(tmp_path / "1.0.0", made.features, {"train": shards})
    split = Random(seed).choice(["train", "train[3:20]", "train[50%:]"])
    theirs = read_by_tfds(folder, split)
    ds = tfr.load(folder, split)
    elements = list(ds)
    assert len(elements) == len(theirs) == len(ds)
    for number, (ours, expected) in enumerate(zip(elements, theirs, strict=True)):
        assert_same(ours, expected, f"{split}[{number}]")
    for number in (0, len(theirs) // 2, len(theirs) - 1):
        assert_same(ds[number], theirs[number], f"{split}[{number}] by number")
    chunks = ds.__getitems__([len(theirs) - 1, 0])  # in one step, as elements
    assert_same(chunks[0], theirs[-1])
    assert_same(chunks[1], theirs[0])
