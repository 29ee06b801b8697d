"""write_tfds is killed, or fails, at every call that changes the disk: a data set is whole, or it is none."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.robustness.test_build_kill import CALLS, quick_disk, run_in_child
from tests.robustness.test_disk_full import small_disk
from tests.robustness.test_overwrite import failing
from tfrkit.errors import NotFoundError, OpError

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forks with threads
__all__ = ["quick_disk"]  # a fixture
OLD = {"train": [{"x": number, "kind": "cat"} for number in range(5)], "old": [{"x": 9, "kind": "dog"}]}
NEW = {"train": [{"x": number, "what": "owl"} for number in range(7)], "test": [{"x": 8, "what": "fox"}]}


def write(folder: Path, splits: dict[str, list[dict[str, Any]]]) -> None:
    name = next(iter(splits["train"][-1].keys() - {"x"}))
    classes = ["cat", "dog"] if name == "kind" else ["fox", "owl"]
    features = {"x": "int64", name: tfr.features.ClassLabel(classes)}
    tfr.write_tfds(folder, splits, features=features, name="pets", overwrite=True)


def content(folder: Path) -> dict[str, list[dict[str, Any]]] | None:
    """Return the examples of the data set in a folder; None if there is none."""
    if not (folder / "dataset_info.json").exists():
        with pytest.raises(NotFoundError):  # nor is it one of another kind
            tfr.open_folder(folder)
        return None
    found = tfr.open_folder(folder)
    (name, classes), *more = found.class_names.items()
    assert not more
    return {
        split: [{"x": int(each["x"]), name: classes[int(each[name])]} for each in examples]
        for split, examples in tfr.load(folder).items()
    }


def check_written(folder: Path) -> None:
    """The new data set is there, and nothing else."""
    assert content(folder) == NEW
    names = {path.name for path in folder.iterdir()}
    assert names == {
        ".tfrkit", "dataset_info.json", "features.json", "manifest.json", "what.labels.txt",
        "pets-test.tfrecord-00000-of-00001", "pets-train.tfrecord-00000-of-00001",
    }  # fmt: skip


@pytest.mark.parametrize("before", [None, OLD])
def test_kill_at_any_call_leaves_a_whole_data_set_or_none(before, tmp_path):
    kinds = set()
    for kill_at in itertools.count(1):
        folder = tmp_path / str(kill_at)
        if before is not None:
            write(folder, before)
        killed, _ = run_in_child(lambda folder=folder: write(folder, NEW), kill_at)
        found = content(folder)
        assert found in (before, None, NEW), kill_at
        kinds.add("none" if found is None else "old" if found == before else "new")
        write(folder, NEW)
        check_written(folder)
        if not killed:
            break
    assert kinds == ({"none", "new"} if before is None else {"old", "none", "new"})


def test_error_at_any_call_leaves_a_whole_data_set_or_none(tmp_path, monkeypatch):
    kinds = set()
    for fail_at in itertools.count(1):
        folder = tmp_path / str(fail_at)
        write(folder, OLD)
        calls = itertools.count(1)
        with monkeypatch.context() as patched:
            for name in CALLS:
                patched.setattr(os, name, failing(getattr(os, name), calls, fail_at))
            try:
                write(folder, NEW)
            except (OpError, OSError) as error:
                text = str(error)
            else:
                text = ""
        found = content(folder)
        assert found in (OLD, None, NEW), fail_at
        kinds.add("none" if found is None else "old" if found == OLD else "new")
        if found is None:
            assert "is not whole: write it again" in text, fail_at
        write(folder, NEW)
        check_written(folder)
        if next(calls) <= fail_at:
            assert not text
            break
    assert kinds == {"old", "none", "new"}


def test_full_disk_leaves_what_was_there(tmp_path):
    with small_disk(tmp_path / "small") as folder:
        write(folder / "pets", OLD)
        large = ({"x": number, "text": os.urandom(2000).hex()} for number in range(1000))
        with pytest.raises(OpError, match=r"No space left|File too large"):
            tfr.write_tfds(folder / "pets", large, name="pets", overwrite=True)
        assert content(folder / "pets") == OLD
        assert not [path for path in (folder / "pets/.tfrkit").iterdir() if ".tmp" in path.name]
