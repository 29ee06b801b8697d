"""Commands on folders that TensorFlow Datasets wrote: its splits, and the names of its classes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow_datasets as tfds

from tests.oracle.folders.support.tfds_folders import write_folder
from tfrkit.cli.main import run

F = tfds.features


@pytest.fixture
def folder(tmp_path):
    kinds = F.ClassLabel(names=["cat", "dog"])
    features = F.FeaturesDict(
        {
            "image": F.Image(shape=(4, 4, 3)),
            "label": kinds,
            "boxes": F.Sequence({"kind": kinds, "box": F.BBoxFeature()}),
            "nested": F.Sequence(F.Sequence(kinds)),
        }
    )
    box = F.BBox(0.0, 0.0, 1.0, 1.0)
    examples = [
        {
            "image": np.full((4, 4, 3), number, np.uint8),
            "label": number % 2,
            "boxes": [{"kind": "dog", "box": box}] * number,
            "nested": [["cat"], ["dog", "cat"]],
        }
        for number in range(5)
    ]
    return write_folder(
        tmp_path / "pets", features, {"train": [examples[:2], examples[2:4]], "test": [examples[4:]]}
    )


def test_head_of_a_split_names_classes(folder, capsys):
    assert run(("head", folder, "--split", "test")) == 0
    shown = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[1:]}
    assert shown["label"].endswith("  0 (cat)")
    assert shown["boxes/kind"].endswith("  1 (dog), 1 (dog), 1 (dog), 1 (dog)")
    assert shown["nested/ragged_flat_values"].endswith("  0 (cat), 1 (dog), 0 (cat)")
    assert shown["nested/ragged_row_lengths_0"].endswith("  1, 2")


def test_all_splits_are_counted_and_exported(folder, tmp_path, capsys):
    assert run(("count", folder)) == 0
    assert "5" in capsys.readouterr().out
    assert run(("count", folder, "--split", "train")) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == "4"
    assert run(("export", "images", folder, str(tmp_path / "out"), "-q")) == 0
    found = [path.parent.name for path in (tmp_path / "out").glob("*/*.png")]
    assert sorted(found) == ["cat", "cat", "cat", "dog", "dog"]
