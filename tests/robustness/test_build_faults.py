"""A system call of a build fails, once or from then on: what is left is a whole state, and the same job ends it.

As in `test_build_kill.py`, the moments are counted in calls that change something on the disk.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.build.made import Numbers, job, left_over, mixed, train, tree
from tests.robustness.test_build_kill import CALLS, check_folder, check_sets
from tfrkit.build.job import Group, run_job
from tfrkit.build.plan import Job
from tfrkit.errors import OpError
from tfrkit.storage import output

GROWING = ("open", "write", "writev", "mkdir")  # what fails on a full disk
EVERY = 6  # each so-many-th call fails in turn


class Faults:
    """Makes a call fail by its number."""

    def __init__(self) -> None:
        self.calls = 0
        self.at: int | None = None
        self.error: Callable[[], BaseException] = KeyboardInterrupt
        self.lasting = False
        self._lock = threading.Lock()

    def counting(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Give a system call that is counted, and may fail."""

        def counted(*arguments: Any, **options: Any) -> Any:
            with self._lock:
                self.calls += 1
                number = self.calls
            late = self.at is not None and self.lasting and number > self.at and name in GROWING
            if number == self.at or late:
                raise self.error()
            return call(*arguments, **options)

        return counted


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    made = Faults()
    monkeypatch.setattr(output, "_sync_data", lambda fd: None)
    for name in CALLS:
        call = (lambda fd: None) if name == "fsync" else getattr(os, name)
        monkeypatch.setattr(os, name, made.counting(name, call))
    return made


def new(folder: Path) -> Job:
    recipes = tuple(Numbers(9 - number, 300 + number) for number in range(3))
    groups = (
        Group("train", recipes, 3),
        mixed([Numbers(number, 80) for number in range(4)], 2, prefix="mixed"),
    )
    return job(folder, *groups, files={"labels.txt": b"cat\n"})


def nothing(folder: Path) -> None:
    folder.mkdir()


def another(folder: Path) -> None:
    old = job(
        folder, train(3), train(1, prefix="other"), files={"labels.txt": b"dog\n"}, made_by={"source": 0}
    )
    run_job(old, workers=1)


def incomplete(folder: Path) -> None:
    run_job(new(folder), workers=1)
    (folder / "train-00001-of-00003.tfrecord").unlink()
    (folder / "lost").touch()


@pytest.mark.parametrize(
    ("code", "lasting"),
    [(errno.ENOSPC, False), (errno.ENOSPC, True), (errno.EIO, False), (errno.EIO, True), (0, False)],
)
@pytest.mark.parametrize("prepare", [nothing, another, incomplete])
def test_fault_anywhere_leaves_a_whole_state(prepare, code, lasting, faults, tmp_path):
    def work(folder: Path) -> None:
        run_job(new(folder), workers=1, overwrite=prepare is another)

    prepare(tmp_path / "undisturbed")
    before = tree(tmp_path / "undisturbed")
    faults.calls = 0
    work(tmp_path / "undisturbed")
    calls, wanted = faults.calls, tree(tmp_path / "undisturbed")
    error = (lambda: OSError(code, os.strerror(code))) if code else KeyboardInterrupt
    offset = code % EVERY + lasting + 1
    for at in itertools.takewhile(lambda number: number <= calls, itertools.count(offset, EVERY)):
        out = tmp_path / str(at)
        faults.at = None
        prepare(out)
        faults.calls, faults.at, faults.error, faults.lasting = 0, at, error, lasting
        with contextlib.suppress(OSError, OpError, KeyboardInterrupt):
            work(out)
        faults.at = None
        check_folder(out)
        if prepare is another:
            check_sets(before, wanted, out)
        work(out)
        assert tree(out) == wanted, f"call {at} of {calls} failed"
        assert left_over(out) == []
