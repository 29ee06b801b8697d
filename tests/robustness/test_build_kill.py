"""A build is killed (kill -9) at moments spread over all it does; the same job again ends with the same bytes.

The moments are counted in system calls that change something on the disk, not in time: the process kills itself at the
n-th of them, for n from the first to the last.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.build.support.made import Numbers, job, left_over, mixed, train, tree
from tfrkit.build.job import external_shuffle as mix
from tfrkit.build.job.job import ShardGroup, run_job
from tfrkit.build.job.job_plan import Job
from tfrkit.cli.main import run
from tfrkit.records.manifest import read_manifest
from tfrkit.stores import output

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forks with threads
MOMENTS = 20
CALLS = ("open", "write", "writev", "replace", "unlink", "fsync", "ftruncate", "rmdir", "mkdir")


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    """Syncing takes time and changes nothing here: what a killed process has written is the kernel's."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr(output, "_sync_data", lambda fd: None)


def run_in_child(work: Callable[[], object], kill_at: int | None) -> tuple[bool, int]:
    """Run `work` in a forked process that kills itself at a call; give whether it did, and the number of calls."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            calls = itertools.count(1)
            for name in CALLS:
                setattr(os, name, _counting(getattr(os, name), calls, kill_at))
            work()
            code = 0
        finally:
            os._exit(code) if code else _report(send, next(calls) - 1)
    os.close(send)
    with os.fdopen(receive, "rb") as file:
        counted = file.read()
    status = os.waitpid(pid, 0)[1]
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert killed or os.waitstatus_to_exitcode(status) == 0
    return killed, int(counted or b"0")


def _report(send: int, count: int) -> None:
    os.write(send, b"%d" % count)
    os._exit(0)


def _counting(
    call: Callable[..., object], calls: itertools.count[int], kill_at: int | None
) -> Callable[..., object]:
    def counted(*arguments: object, **options: object) -> object:
        number = next(calls)
        if number == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **options)

    return counted


def check_folder(folder: Path) -> None:
    """What a kill leaves: whole shards only, and a manifest that names only what is there, or was lost before."""
    for entry in read_manifest(str(folder))["shards"]:
        if (folder / entry["name"]).exists() or not (folder / "lost").exists():
            assert (folder / entry["name"]).stat().st_size == entry["bytes"]


def check_sets(old: dict[str, bytes | None], new: dict[str, bytes | None], folder: Path) -> None:
    """What a kill leaves of two data sets: shards that a manifest names are all of one of them, with its files."""
    listed = [entry["name"] for entry in read_manifest(str(folder))["shards"]]
    now = tree(folder)
    for state in (old, new):
        names = sorted(name for name in state if name.endswith(".tfrecord"))
        if listed == names and all(
            now[name] == state[name] for name in ("labels.txt", "manifest.json", *names)
        ):
            return
    # In between the manifest names what is not touched, and the journal says that the set is not complete.
    assert listed == sorted(name for name in old if name.startswith("other"))
    assert list(folder.glob(".tfrkit/job-*.jsonl"))


def kill_everywhere(
    work: Callable[[Path], object],
    prepare: Callable[[Path], object],
    folder: Path,
    moments: int = MOMENTS,
    check: Callable[[dict[str, bytes | None], dict[str, bytes | None], Path], None] | None = None,
) -> None:
    """Kill at 20 moments, some runs a second time, then let it end; compare with an undisturbed run."""
    prepare(folder / "undisturbed")
    before = tree(folder / "undisturbed")
    _, calls = run_in_child(lambda: work(folder / "undisturbed"), None)
    wanted = tree(folder / "undisturbed")
    assert calls > moments
    rng = random.Random(6)
    kills = 0
    for moment in range(moments):
        out = folder / str(moment)
        prepare(out)
        first = 1 + (calls * moment + rng.randrange(calls)) // moments
        for kill_at in (first, rng.randrange(1, calls))[: 1 + (moment % 4 == 0)]:
            killed, _ = run_in_child(lambda out=out, at=kill_at: work(out), kill_at)
            kills += killed
            check_folder(out)
            if check is not None:
                check(before, wanted, out)
        work(out)
        assert tree(out) == wanted, f"killed at call {first} of {calls}"
        assert left_over(out) == []
    assert kills >= moments - 1  # threads may need a call less than in the undisturbed run


def nothing(folder: Path) -> None:
    folder.mkdir(parents=True)


def made(folder: Path) -> Job:
    groups = (
        train(3, bad_every=90),
        mixed([Numbers(n, 150, bad_every=60) for n in range(4)], 2, prefix="mixed"),
    )
    return job(folder, *groups, files={"labels.txt": b"cat\n"})


@pytest.fixture
def small_buckets(monkeypatch):
    monkeypatch.setattr(mix, "_BUCKET_BYTES", 3000)
    monkeypatch.setattr(mix, "_SPLIT_BYTES", 6000)
    monkeypatch.setattr(mix, "_MAX_BITS", 2)
    monkeypatch.setattr(mix, "_PART_BYTES", 8000)
    monkeypatch.setattr(mix, "_CHUNK_BYTES", (8000, 8000))


def test_job_killed_anywhere_ends_with_the_same_bytes(small_buckets, tmp_path):
    kill_everywhere(lambda folder: run_job(made(folder), workers=2), nothing, tmp_path)


def older(folder: Path, *shards: int, count: int = 300) -> None:
    groups = [
        train(number, count, prefix=prefix)
        for number, prefix in zip(shards, ("train", "other"), strict=False)
    ]
    run_job(job(folder, *groups, files={"labels.txt": b"dog\n"}, made_by={"source": 0}), workers=1)


@pytest.mark.parametrize("shards", [(6, 1), (3,)], ids=["other names", "same names and sizes"])
def test_job_killed_anywhere_while_it_overwrites_ends_with_the_same_bytes(shards, small_buckets, tmp_path):
    def new(folder: Path) -> Job:
        recipes = tuple(Numbers(9 - number, 300 + number) for number in range(3))
        return job(folder, ShardGroup("train", recipes, 3), files={"labels.txt": b"cat\n"})

    kill_everywhere(
        lambda folder: run_job(new(folder), workers=2, overwrite=True),
        lambda folder: older(folder, *shards),
        tmp_path,
        30,
        check_sets,
    )


def test_job_killed_anywhere_while_it_overwrites_and_mixes_ends_with_the_same_bytes(small_buckets, tmp_path):
    kill_everywhere(
        lambda folder: run_job(made(folder), workers=2, overwrite=True),
        lambda folder: older(folder, 6, 1),
        tmp_path,
        10,
        check_sets,
    )


def test_job_killed_anywhere_while_it_overwrites_itself_ends_with_the_same_bytes(small_buckets, tmp_path):
    def prepare(folder: Path) -> None:
        run_job(made(folder), workers=1)

    kill_everywhere(
        lambda folder: run_job(made(folder), workers=2, overwrite=True), prepare, tmp_path, 15, check_sets
    )


def test_job_killed_anywhere_while_it_replaces_a_writers_shards_ends_with_the_same_bytes(tmp_path):
    def prepare(folder: Path) -> None:
        with tfr.ShardWriter(folder / "train", shards=3) as writer:
            writer.write_many([b"old"] * 100)

    kill_everywhere(
        lambda folder: run_job(job(folder, train(2)), workers=1, overwrite=True), prepare, tmp_path, 15
    )


@pytest.mark.parametrize("lost", ["train-00001-of-00003.tfrecord", "mixed-00000-of-00002.tfrecord"])
def test_job_killed_anywhere_while_it_makes_a_lost_shard_again_ends_with_the_same_bytes(
    lost, small_buckets, tmp_path
):
    def prepare(folder: Path) -> None:
        run_job(made(folder), workers=1)
        (folder / lost).unlink()
        (folder / "lost").touch()

    def check(old: dict[str, bytes | None], new: dict[str, bytes | None], folder: Path) -> None:
        now = tree(folder)
        assert all(now[name] == data for name, data in old.items() if not name.endswith(f"{lost}.idx"))
        assert now.get(lost) in (None, new[lost])

    kill_everywhere(lambda folder: run_job(made(folder), workers=1), prepare, tmp_path, 10, check)


def command(*arguments: object) -> None:
    """Run a command in this process; `tfr` ends with 0."""
    assert run([str(argument) for argument in arguments]) == 0


def test_table_killed_anywhere_ends_with_the_same_bytes(tmp_path):
    for number in range(3):
        lines = [b'{"id": %d, "text": "%s"}\n' % (row, b"ab" * (row % 9)) for row in range(300 + number)]
        (tmp_path / f"{number}.jsonl").write_bytes(b"".join(lines) + b"{bad\n")
    options = ("--shards", 4, "--workers", 2, "--quiet")
    table = "build", "table", tmp_path / "*.jsonl"
    kill_everywhere(lambda folder: command(*table, folder, *options), nothing, tmp_path / "plain", 10)
    kill_everywhere(
        lambda folder: command(*table, folder, *options, "--shuffle"), nothing, tmp_path / "mixed", 10
    )


def test_images_killed_anywhere_end_with_the_same_bytes(tmp_path):
    for number in range(40):
        path = tmp_path / "photos" / f"class {number % 3}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tfr.image.encode_png(np.full((5, 6, 3), number, np.uint8)) if number % 9 else b"")
    options = ("--split", "train=0.7,validation=0.3", "--shards", 3, "--workers", 2, "--quiet")
    images = "build", "images", tmp_path / "photos"
    kill_everywhere(lambda folder: command(*images, folder, *options), nothing, tmp_path / "out", 20)


def kill_exports(form: str, place: Path) -> None:
    """Kill exports, in a process of which no thread of array_record is: what is forked then could not use it."""
    parent = os.getpid()

    def work(folder: Path) -> None:
        def export() -> None:
            command(
                "export", form, place / "a.tfrecord", folder / "t", "--shards", 3, "--workers", 2, "--quiet"
            )

        if os.getpid() == parent:
            run_in_child(export, None)
        else:
            export()

    kill_everywhere(work, nothing, place / "out")


@pytest.mark.parametrize("form", ["webdataset", "array_record"])
def test_exports_killed_anywhere_end_with_the_same_bytes(form, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch({"id": np.arange(300), "text": ["ab" * (row % 99) for row in range(300)]})
    process = multiprocessing.get_context("spawn").Process(target=kill_exports, args=(form, tmp_path))
    process.start()
    process.join()
    assert process.exitcode == 0
