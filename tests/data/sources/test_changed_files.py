"""Files that change under a dataset which knows its records by number: an error, never other records."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tfrkit.errors import FailedPreconditionError, NotFoundError

OLD = [b"old%02d" % number for number in range(10)]
NEW = [b"new%02d" % number for number in range(10)]


def write(path: Path, records: list[bytes], seconds: int = 0) -> Path:
    """Write in place; the time differs, also where the clock of the file system ticks slowly."""
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(records)
    os.utime(path, (1_700_000_000 + seconds,) * 2)
    return path


def replace(path: Path) -> None:
    write(path.with_name("other.tfrecord" + path.suffix.replace(".tfrecord", "")), OLD).rename(path)


CHANGES: dict[str, Callable[[Path], Any]] = {
    "same size": lambda path: write(path, NEW, 1),
    "longer": lambda path: write(path, OLD + NEW, 1),
    "shorter": lambda path: write(path, OLD[:4], 1),
    "replaced": replace,
    "removed": Path.unlink,
}
PIPELINES: dict[str, Callable[[Any], tfr.Dataset]] = {
    "shuffle": lambda ds: ds.global_shuffle(seed=1),
    "window": lambda ds: ds.global_shuffle(seed=1, window=60).batch(3),
    "shard": lambda ds: ds.shard(2, 0, tail="drop"),
    "slice": lambda ds: ds[2:8].batch(2),
    "skip": lambda ds: tfr.TFRecordDataset(ds.node.files, on_corrupt="skip").global_shuffle(seed=1).batch(2),
}


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_pass_by_number_over_a_file_that_has_changed_is_an_error(
    suffix: str, pipeline: str, change: str, tmp_path: Path
) -> None:
    path = write(tmp_path / f"a.tfrecord{suffix}", OLD)
    other = write(tmp_path / "b.tfrecord", OLD)
    ds = PIPELINES[pipeline](tfr.TFRecordDataset([str(other), str(path)]))
    before = list(ds)
    CHANGES[change](path)
    for _ in range(2):
        with pytest.raises(
            FailedPreconditionError, match=r"a\.tfrecord.*the file has changed since it was opened"
        ):
            list(ds)
    if change not in ("removed", "shorter", "replaced"):
        again = PIPELINES[pipeline](tfr.TFRecordDataset([str(other), str(path)]))
        assert len(list(again)) >= len(before)


def test_every_time_through_a_repeat_looks_at_the_files(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", OLD)
    iterator = iter(tfr.TFRecordDataset(path).global_shuffle(seed=1).repeat())
    assert sorted(next(iterator) for _ in range(10)) == OLD
    write(path, NEW, 1)
    with pytest.raises(FailedPreconditionError, match="has changed"):
        next(iterator)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("on_corrupt", ["raise", "skip"])
def test_an_element_that_cannot_be_read_any_more_says_that_the_file_has_changed(
    suffix: str, on_corrupt: Any, tmp_path: Path
) -> None:
    path = write(tmp_path / f"a.tfrecord{suffix}", OLD + NEW)
    ds = tfr.TFRecordDataset(path, on_corrupt=on_corrupt)
    assert ds[11] == b"new01" if suffix == "" else len(ds) == 20
    write(path, [b"longer than before"] * 5, 1)
    with pytest.raises(
        FailedPreconditionError, match=r"has changed since it was opened: expected .* bytes of .* but"
    ):
        ds[15]
    with pytest.raises(FailedPreconditionError, match="has changed"):
        ds.at([15, 2])


def test_a_file_that_is_only_iterated_may_change(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", OLD)
    ds = tfr.TFRecordDataset(path)
    assert list(ds) == OLD
    write(path, NEW, 1)
    assert list(iter(ds)) == NEW
    path.unlink()
    with pytest.raises(NotFoundError):
        next(iter(ds))


def test_a_pass_looks_at_each_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write(tmp_path / f"{number}.tfrecord", OLD) for number in range(3)]
    ds = tfr.TFRecordDataset(paths).global_shuffle(seed=1).batch(2)
    list(ds)
    looked, stat = [], os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: looked.append(str(path)) or stat(path, **more))
    iterator = iter(ds)
    assert len(list(iterator)) == 15
    assert sorted(looked) == sorted(map(str, paths))
