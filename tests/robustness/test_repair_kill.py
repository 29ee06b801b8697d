"""A repair is killed before each call that changes the disk: the manifest never lies, and the same call ends it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.records.check.test_repair_files import damage, make, shard
from tfrkit.records.manifest import read_manifest

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forks with threads
CHANGES = (
    "open",
    "write",
    "writev",
    "replace",
    "unlink",
    "rmdir",
    "mkdir",
    "chmod",
    "ftruncate",
    "fsync",
    "link",
)


def killed(work: Callable[[], object], at: int) -> bool:
    """Run `work` in a forked process that dies before its call number `at`; False if it ended before."""
    pid = os.fork()
    if pid == 0:
        left = [at]

        def counted(real: Any) -> Any:
            def call(*arguments: Any, **options: Any) -> Any:
                if real is not os_open or arguments[1] & os.O_CREAT:
                    left[0] -= 1
                    if left[0] < 0:
                        os._exit(9)
                return real(*arguments, **options)

            return call

        os_open = os.open
        for name in CHANGES:
            setattr(os, name, counted(getattr(os, name)))
        with contextlib.suppress(BaseException):
            work()
            os._exit(0)
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".lock", ".tmp")
    }


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_replacing_is_ended_by_the_same_call(kind, tmp_path):
    whole = make(tmp_path / "whole", kind)
    broken = tmp_path / "broken"
    shutil.copytree(whole, broken)
    damage(broken / shard(1, kind), kind)
    shutil.copytree(broken, tmp_path / "undisturbed")
    assert tfr.repair_files(tmp_path / "undisturbed").ok
    wanted, before = content(tmp_path / "undisturbed"), content(broken)
    entries = {
        name: {entry["name"]: entry for entry in read_manifest(str(folder))["shards"]}
        for name, folder in (("before", broken), ("after", tmp_path / "undisturbed"))
    }
    at, told = 0, set()
    while True:
        folder = tmp_path / f"killed-{at}"
        shutil.copytree(broken, folder)
        if not killed(lambda folder=folder: tfr.repair_files(folder), at):
            break
        for entry in read_manifest(str(folder))["shards"]:
            name, data = entry["name"], (folder / entry["name"]).read_bytes()
            if data == before[name]:
                assert entry == entries["before"][name]
            else:
                assert (data, entry) == (wanted[name], entries["after"][name])
        for number in range(4):  # each file is whole: the one that it was, or the mended one
            name = shard(number, kind)
            assert (folder / name).read_bytes() in (before[name], wanted[name])
        report = tfr.verify(folder)
        assert report.ok == (content(folder)["manifest.json"] == wanted["manifest.json"])
        told |= {problem.kind for problem in report.problems}
        assert tfr.repair_files(folder).ok
        assert content(folder) == wanted
        assert tfr.verify(folder).ok
        shutil.rmtree(folder)
        at += 1
    assert content(folder) == wanted
    assert at > 20
    assert "interrupted" in told


def test_copying_is_ended_by_the_same_call(tmp_path):
    make(tmp_path / "broken")
    damage(tmp_path / "broken" / shard(1))
    broken = [tmp_path / "broken" / shard(number) for number in range(2)]
    assert tfr.repair_files(broken, tmp_path / "undisturbed").ok
    wanted = content(tmp_path / "undisturbed")
    at, folder = 0, tmp_path / "killed"
    while killed(lambda: tfr.repair_files(broken, folder), at):
        if folder.exists():
            for entry in read_manifest(str(folder))["shards"]:
                assert (folder / entry["name"]).read_bytes() == wanted[entry["name"]]
            for path in folder.glob("*.tfrecord"):
                assert path.read_bytes() == wanted[path.name]
        assert tfr.repair_files(broken, folder, overwrite=True).ok
        assert content(folder) == wanted
        shutil.rmtree(folder)
        at += 1
    assert at > 20
