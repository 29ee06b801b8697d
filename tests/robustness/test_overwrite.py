"""An overwrite is killed, or fails, at every call that changes the disk: never a mix, never a lie."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.robustness.test_build_kill import CALLS, quick_disk, run_in_child
from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.records.access.index import index_path
from tfrkit.records.manifest import read_manifest
from tfrkit.records.write.shard_sink import begin_sink

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forks with threads
__all__ = ["quick_disk"]  # a fixture
OLD = [b"old %d" % number for number in range(10)]
NEW = [b"new %d" % number * number for number in range(15)]


def write(folder: Path, records: list[bytes], shards: int) -> None:
    with tfr.ShardWriter(folder / "train", shards=shards, overwrite=True) as writer:
        writer.write_many(records)


def contents(folder: Path) -> dict[str, list[bytes]]:
    return {path.name: list(tfr.read_records(path)) for path in sorted(folder.glob("*.tfrecord*"))}


def check(folder: Path, sets: list[dict[str, list[bytes]]]) -> None:
    """Whatever has happened: the shards are of one set only, and the manifest names what is there, as it is."""
    found = contents(folder)
    assert any(found.items() <= known.items() for known in sets), found
    named = {entry["name"]: entry for entry in read_manifest(str(folder))["shards"]}
    for name, entry in named.items():
        assert (entry["records"], entry["bytes"]) == (len(found[name]), (folder / name).stat().st_size)
    assert not named or any(named.keys() == known.keys() for known in sets)


@pytest.fixture(params=[2, 3, 1])
def shards(request) -> int:
    return int(request.param)


@pytest.fixture
def sets(shards, tmp_path) -> list[dict[str, list[bytes]]]:
    write(tmp_path / "old", OLD, 2)
    write(tmp_path / "new", NEW, shards)
    return [contents(tmp_path / "old"), contents(tmp_path / "new")]


def test_kill_at_any_call_leaves_shards_of_one_set_and_a_true_manifest(shards, sets, tmp_path):
    kinds = set()
    for kill_at in itertools.count(1):
        folder = tmp_path / str(kill_at)
        write(folder, OLD, 2)
        killed, _ = run_in_child(lambda folder=folder: write(folder, NEW, shards), kill_at)
        check(folder, sets)
        found = contents(folder)
        kinds.add("old" if found == sets[0] else "new" if found == sets[1] else "some" if found else "none")
        write(folder, NEW, shards)
        assert contents(folder) == sets[1]
        assert sorted(entry["name"] for entry in read_manifest(str(folder))["shards"]) == sorted(sets[1])
        assert not list((folder / ".tfrkit").glob("*.old"))
        if not killed:
            break
    assert kinds >= {"old", "new"}


def replace_folders(folder: Path, days: tuple[int, ...], records: list[bytes], prefix: str = "part") -> None:
    """As the commit of an overwrite in a cluster does it."""
    sink = begin_sink(folder / prefix, overwrite=True)
    blocks = [Block.from_records(records)]
    written = [shard for day in days for shard in sink.write(blocks, day, f"day={day}")]
    sink.publish(written, replaced=lambda: folders_of(folder) | {f"day={day}" for day in days})


def folders_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.glob("day=*")}


def rows_of(folder: Path) -> set[bytes]:
    paths = sorted(path for path in folder.rglob("*.tfrecord") if ".tfrkit" not in path.parts)
    return {record for path in paths for record in tfr.read_records(path)}


def test_kill_at_any_call_leaves_rows_of_one_overwrite_in_all_folders(tmp_path):
    kinds = set()
    for kill_at in itertools.count(1):
        folder = tmp_path / str(kill_at)
        replace_folders(folder, (1, 2), OLD, "other")
        killed, _ = run_in_child(lambda folder=folder: replace_folders(folder, (2, 3), NEW), kill_at)
        found = rows_of(folder)
        assert not (found & set(OLD) and found & set(NEW)), kill_at
        kinds.add("old" if found & set(OLD) else "new" if found else "none")
        replace_folders(folder, (2, 3), NEW)
        assert rows_of(folder) == set(NEW)
        assert not list((folder / "day=1").glob("*.tfrecord"))
        for day in (1, 2, 3):
            manifest = read_manifest(str(folder / f"day={day}"))
            assert [entry["records"] for entry in manifest["shards"]] == [len(NEW)] * (day > 1)
            assert list(manifest["made_by"]) == ["part"] * (day > 1)
        assert not list(folder.rglob("*.old"))
        if not killed:
            break
    assert kinds == {"old", "none", "new"}


def test_error_at_any_call_leaves_the_old_rows_or_the_new_ones_in_all_folders(tmp_path, monkeypatch):
    for fail_at in itertools.count(1):
        folder = tmp_path / str(fail_at)
        replace_folders(folder, (1, 2), OLD, "other")
        before = [read_manifest(str(folder / f"day={day}")) for day in (1, 2)]
        calls = itertools.count(1)
        with monkeypatch.context() as patched:
            for name in CALLS:
                patched.setattr(os, name, failing(getattr(os, name), calls, fail_at))
            with contextlib.suppress(OpError, OSError):
                replace_folders(folder, (2, 3), NEW)
        assert rows_of(folder) in (set(OLD), set(NEW)), fail_at
        if rows_of(folder) == set(OLD):
            assert [read_manifest(str(folder / f"day={day}")) for day in (1, 2)] == before
        if next(calls) <= fail_at:
            break


def failing(call: Callable[..., Any], calls: itertools.count[int], fail_at: int) -> Callable[..., Any]:
    def counted(*args: Any, **options: Any) -> Any:
        if next(calls) == fail_at:
            raise OSError(errno.EIO, "Input/output error")
        return call(*args, **options)

    return counted


def test_error_at_any_call_leaves_the_old_set_or_the_new_one(shards, sets, tmp_path, monkeypatch):
    for fail_at in itertools.count(1):
        folder = tmp_path / str(fail_at)
        write(folder, OLD, 2)
        before = read_manifest(str(folder))
        calls = itertools.count(1)
        with monkeypatch.context() as patched:
            for name in CALLS:
                patched.setattr(os, name, failing(getattr(os, name), calls, fail_at))
            try:
                write(folder, NEW, shards)
            except (OpError, OSError):
                failed = True
            else:
                failed = False
        check(folder, sets)
        assert contents(folder) in sets
        if contents(folder) == sets[0]:
            assert read_manifest(str(folder)) == before
        if next(calls) <= fail_at:
            assert not failed
            break


def test_first_set_that_cannot_be_published_leaves_nothing(tmp_path, monkeypatch):
    replace = os.replace

    def second_fails(old: str, new: str) -> None:
        if "00001-of" in new:
            raise OSError(errno.EIO, "Input/output error")
        replace(old, new)

    monkeypatch.setattr(os, "replace", second_fails)
    with pytest.raises(OpError, match="Input/output error"):
        write(tmp_path, NEW, 2)
    assert os.listdir(tmp_path) in ([], [".tfrkit"])


def test_files_that_only_look_like_shards_are_left_alone(tmp_path):
    write(tmp_path, OLD, 2)
    others = ["train-00000-of-00002.tfrecord.bak", "train-00000x-of-00002.tfrecord", "train-0-of-2.tfrecord"]
    for name in others:
        (tmp_path / name).write_bytes(b"mine")
    write(tmp_path, NEW, 3)
    assert all((tmp_path / name).read_bytes() == b"mine" for name in others)
    assert not (tmp_path / "train-00000-of-00002.tfrecord").exists()
    assert not Path(index_path(str(tmp_path / "train-00000-of-00002.tfrecord"))).exists()


def test_entries_of_others_stay_in_the_manifest(tmp_path):
    with tfr.ShardWriter(tmp_path / "test", shards=1) as writer:
        writer.write_many(OLD)
    write(tmp_path, OLD, 2)
    write(tmp_path, NEW, 1)
    manifest = read_manifest(str(tmp_path))
    assert [entry["name"] for entry in manifest["shards"]] == [
        "test-00000-of-00001.tfrecord",
        "train-00000-of-00001.tfrecord",
    ]
    assert manifest["made_by"].keys() == {"test", "train"}
