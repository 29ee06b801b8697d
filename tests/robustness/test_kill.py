"""A writing process is killed at a random moment: what is left is a whole file, or one that append mends."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tfrkit as tfr
from tfrkit.errors import DataLossWarning
from tfrkit.records.manifest import read_manifest

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forks with threads
ROUNDS = 12
tfr.TFRecordWriter, tfr.ShardWriter  # noqa: B018  # imported here, not by every forked process
LIMIT = 300_000  # records, should a kill come late


def record(number: int) -> bytes:
    return b"%d:" % number + b"abcdefgh" * (number * 7919 % 60)


def killed(work: Callable[[], None], seconds: float) -> None:
    """Run `work` in a forked process and kill it a while after it has begun."""
    begun, begin = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(begin, b"!")
        with contextlib.suppress(BaseException):
            work()
        os._exit(0)
    os.read(begun, 1)
    os.close(begun)
    os.close(begin)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


class Rounds:
    """Numbers and times to kill at: some rounds, and more and later ones on a busy machine, until one was of use."""

    def __init__(self, seed: int, seconds: float) -> None:
        self._rng = random.Random(seed)
        self._seconds = seconds
        self.useful = 0

    def __iter__(self) -> Iterator[tuple[int, float]]:
        for number in range(10 * ROUNDS):
            if number >= ROUNDS and self.useful:
                return
            yield number, 0.001 + self._rng.random() * self._seconds * (1 + number // ROUNDS) ** 2
        assert self.useful


def write_in_place(path: Path, flush_every: int, **options: object) -> None:
    with tfr.TFRecordWriter(path, **options) as writer:  # type: ignore[arg-type]
        for number in range(LIMIT):
            writer.write(record(number))
            if number % flush_every == 0:
                writer.flush()


@pytest.mark.parametrize(
    ("name", "flush_every"),
    [
        ("a.tfrecord", 97),
        ("a.tfrecord", LIMIT),
        ("a.tfrecord.gz", 997),
        ("a.tfrecord.gz", LIMIT),
        ("a.zst", 997),
    ],
)
def test_file_written_in_place_is_whole_up_to_a_torn_tail_that_append_mends(name, flush_every, tmp_path):
    for number, seconds in (rounds := Rounds(1, 0.06)):
        path = tmp_path / f"{number}-{name}"
        killed(lambda path=path: write_in_place(path, flush_every), seconds)
        if not path.exists():
            continue
        report = tfr.verify(path)
        assert {damage.kind for damage in report.damages} <= {"truncated"}
        assert len(report.damages) <= 1
        whole = list(tfr.read_records(path, on_corrupt="skip"))
        assert whole == [record(i) for i in range(len(whole))]
        rounds.useful += bool(whole)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataLossWarning)
            with tfr.TFRecordWriter(path, append=True) as writer:
                writer.write(b"appended")
        assert len(caught) == len(report.damages)
        assert list(tfr.read_records(path)) == [*whole, b"appended"]


def write_atomically(path: Path) -> None:
    for size in itertools.count(1):
        with tfr.TFRecordWriter(path, atomic=True) as writer:
            writer.write_many([record(number) for number in range(size * 100)])


def test_atomic_file_is_whole_or_not_there(tmp_path):
    for number, seconds in (rounds := Rounds(2, 0.06)):
        path = tmp_path / f"{number}.tfrecord"
        killed(lambda path=path: write_atomically(path), seconds)
        if path.exists():
            records = list(tfr.read_records(path))
            assert len(records) % 100 == 0
            assert records == [record(i) for i in range(len(records))]
            rounds.useful += 1


def write_shards(folder: Path) -> None:
    for number in itertools.count():
        with tfr.ShardWriter(folder / f"part{number}", shards=2) as writer:
            writer.write_many([record(i) for i in range(500)])


def test_shards_are_whole_or_not_there_and_the_manifest_names_only_whole_ones(tmp_path):
    for number, seconds in (rounds := Rounds(3, 0.08)):
        folder = tmp_path / str(number)
        killed(lambda folder=folder: write_shards(folder), seconds)
        shards = {path.name: path for path in folder.glob("*.tfrecord")}
        for path in shards.values():
            assert len(list(tfr.read_records(path))) == 250
        for entry in read_manifest(str(folder))["shards"]:
            assert (entry["records"], entry["bytes"]) == (250, shards[entry["name"]].stat().st_size)
            rounds.useful += 1
        assert set(os.listdir(folder) if folder.exists() else []) <= {*shards, "manifest.json", ".tfrkit"}


def test_folder_of_a_killed_writer_can_be_written_again(tmp_path):
    rng = random.Random(4)
    for _ in range(ROUNDS // 2):
        killed(lambda: write_shards(tmp_path), 0.001 + rng.random() * 0.05)
        for number in range(3):
            with tfr.ShardWriter(tmp_path / f"part{number}", shards=2, overwrite=True) as writer:
                writer.write_many([b"new"] * 10)
            assert tfr.verify(str(tmp_path / f"part{number}-*")).records == 10
        for path in tmp_path.glob("*.tfrecord"):
            path.unlink()
