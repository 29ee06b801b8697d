"""Windows of a global shuffle are read as such, whatever comes after it: ranks, slices, batches, positions."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.outcomes import wait_for
from tests.oracle.support.frames import flip, frames
from tfrkit.data.engine.read_ahead import Reading
from tfrkit.errors import DataLossError
from tfrkit.records.access import record_files
from tfrkit.records.access.gather_pieces import gather_pieces
from tfrkit.records.access.record_files import RecordFiles

COUNT, SIZE = 4000, 100
WINDOW = 100_000  # of 5 an epoch


@pytest.fixture
def path(tmp_path: Path) -> Path:
    records = [b"%05d" % number + bytes(SIZE - 5) for number in range(COUNT)]
    (tmp_path / "a.tfrecord").write_bytes(frames(records))
    return tmp_path / "a.tfrecord"


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The numbers of records that were taken at once, call by call."""
    calls: list[Any] = []
    take = RecordFiles.take

    def noted(self: RecordFiles, numbers: Any) -> Any:
        calls.append(np.array(numbers))
        return take(self, numbers)

    def noted_pieces(parts: Any, count: int, each: int) -> Any:
        calls.append(np.concatenate([part.numbers for part in parts]))  # of the only file
        return gather_pieces(parts, count, each)

    monkeypatch.setattr(RecordFiles, "take", noted)
    monkeypatch.setattr(record_files, "gather_pieces", noted_pieces)
    return iter([calls])


def shuffled(path: Path, window: int = WINDOW, **options: Any) -> tfr.Dataset:
    return tfr.TFRecordDataset(path, **options).global_shuffle(seed=1, window=window)


def numbers_of(batches: Any) -> list[int]:
    found: list[int] = []
    for batch in batches:
        parts = [batch] if isinstance(batch, bytes) else batch.to_list()
        found.extend(int(record[:5]) for record in parts)
    return found


def by_number(ds: Any) -> list[int]:
    return numbers_of(ds[number] for number in range(len(ds)))


STAGES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda ds: ds.batch(64),
    "one rank": lambda ds: ds.shard(1, 0).batch(64),
    "rank": lambda ds: ds.shard(2, 1).batch(64),
    "filled rank": lambda ds: ds.shard(3, 2, tail="repeat").batch(64),
    "rank of batches": lambda ds: ds.batch(64).shard(2, 1),
    "slice": lambda ds: ds[10:].batch(64),
    "backwards": lambda ds: ds[::-1].batch(64),
    "every third": lambda ds: ds[1::3].batch(64),
    "skip": lambda ds: ds.skip(150).shard(2, 0).batch(64),
    "take": lambda ds: ds.shard(2, 0).take(150).batch(64),
    "single elements": lambda ds: ds.shard(2, 1),
    "function": lambda ds: ds.map(lambda record: record).shard(2, 1).batch(64),
    "prefetch": lambda ds: ds.shard(2, 1).batch(64).prefetch(2),
    "epoch": lambda ds: ds.epoch(3).shard(2, 0).batch(64),
    "options": lambda ds: ds.with_options(tfr.Options()).shard(2, 0).batch(64),
}


@pytest.mark.parametrize("name", STAGES)
def test_a_window_is_read_at_once(path: Path, takes: Iterator[list[Any]], name: str) -> None:
    (calls,) = takes
    ds = STAGES[name](shuffled(path))
    wanted = by_number(ds)
    calls.clear()
    assert numbers_of(ds) == wanted
    assert len(calls) <= 7
    read = sorted(np.concatenate(calls).tolist())
    assert read == sorted(wanted) or (name == "take" and len(set(read)) == len(read))  # nothing twice
    assert all((np.diff(each) > 0).all() for each in calls)  # in the order of the file


def test_windows_of_several_epochs_are_read_at_once(path: Path, takes: Iterator[list[Any]]) -> None:
    (calls,) = takes
    ds = shuffled(path).repeat(2).shard(2, 0).batch(64)
    wanted = by_number(ds)
    calls.clear()
    assert numbers_of(ds) == wanted
    assert len(calls) <= 12


def test_the_rest_of_an_epoch_is_read_by_windows(path: Path, takes: Iterator[list[Any]]) -> None:
    (calls,) = takes
    first = iter(shuffled(path).batch(64))
    taken = numbers_of([next(first)])
    position = first.position()
    first.close()
    for ranks in (1, 2):
        calls.clear()
        found = [
            numbers_of(shuffled(path).shard(ranks, rank).batch(64).iter_from(position))
            for rank in range(ranks)
        ]
        assert sorted(sum(found, taken)) == list(range(COUNT))
        assert len(calls) <= 7 * ranks


def test_a_repeat_that_resumes_reads_by_windows(path: Path, takes: Iterator[list[Any]]) -> None:
    (calls,) = takes

    def made() -> Any:
        return shuffled(path).shard(2, 0).batch(50).repeat(2)

    first = iter(made())
    taken = numbers_of([next(first)])
    position = first.position()
    first.close()
    calls.clear()
    assert taken + numbers_of(made().iter_from(position)) == numbers_of(made())
    assert len(calls) <= 4 * 7


def test_records_that_are_left_out(path: Path, takes: Iterator[list[Any]]) -> None:
    (calls,) = takes
    data = path.read_bytes()
    for number in (7, 1234, 3999):
        data = flip(data, number * (SIZE + 16) + 12 + 50)
    path.write_bytes(data)
    ds = shuffled(path, on_corrupt="skip")
    for stages in (ds.batch(64), ds.shard(2, 0).batch(64), ds.batch(64).shard(2, 1)):
        wanted = by_number(stages)
        calls.clear()
        assert numbers_of(stages) == wanted
        assert len(calls) < 200  # halved until the damaged ones were found


def test_a_damaged_record_is_an_error_in_its_place(path: Path) -> None:
    whole = numbers_of(shuffled(path).shard(2, 0))
    bad = whole[777]
    path.write_bytes(flip(path.read_bytes(), bad * (SIZE + 16) + 12 + 50))
    found: list[Any] = []
    iterator = iter(shuffled(path).shard(2, 0))
    while True:
        try:
            found.append(int(next(iterator)[:5]))
        except StopIteration:
            break
        except DataLossError:
            found.append(None)
    assert found == [None if number == bad else number for number in whole]


@pytest.mark.parametrize("window", [1, 250, 3000, 30_000, 1 << 30])
@pytest.mark.parametrize("name", STAGES)
def test_any_window(path: Path, window: int, name: str) -> None:
    def made() -> Any:
        return STAGES[name](shuffled(path, window)[:700])

    wanted = by_number(made())
    assert numbers_of(made()) == wanted
    iterator = iter(made())
    taken = [next(iterator) for _ in range(3)]
    assert numbers_of(taken) + numbers_of(made().iter_from(iterator.state())) == wanted


def test_few_windows_are_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = []
    alive: weakref.WeakSet[Reading] = weakref.WeakSet()
    begin, read = Reading.__init__, Reading.found

    def begun(self: Reading, *arguments: Any) -> None:
        begin(self, *arguments)
        alive.add(self)

    def noted(self: Reading) -> Any:
        found = read(self)
        most.append(len(alive))
        return found

    monkeypatch.setattr(Reading, "__init__", begun)
    monkeypatch.setattr(Reading, "found", noted)
    assert len(numbers_of(shuffled(path, 20_000).shard(2, 0).batch(20))) == COUNT // 2  # of 24 windows
    assert 1 < max(most) <= 7
    gc.collect()
    assert wait_for(lambda: not alive)  # a thread may be about to end


def test_a_rank_that_nobody_finishes_leaves_no_thread(path: Path) -> None:
    for close in (True, False):
        iterator = iter(shuffled(path, 2000).shard(2, 0).batch(4).prefetch(2))
        next(iterator)
        if close:
            iterator.close()
        del iterator
    gc.collect()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any("tfrkit" in each.name for each in threading.enumerate()):
        time.sleep(0.02)
    assert not [each for each in threading.enumerate() if "tfrkit" in each.name]


def test_explain_says_what_a_rank_reads(path: Path) -> None:
    def plan(ds: tfr.Dataset) -> str:
        return next(
            line.partition(": ")[2] for line in ds.explain().splitlines() if line.startswith("global_shuffle")
        )

    ds = shuffled(path)
    assert "every byte once" in plan(ds.batch(64))
    assert plan(ds.shard(1, 0).batch(64)) == plan(ds.batch(64))
    assert "for 2000 of 4000 elements" in plan(ds.shard(2, 0).batch(64))
    assert "for 2000 of 4000 elements" in plan(ds.repeat().shard(2, 0).batch(64))
    assert "for 1000 of 4000 elements" in plan(ds.shard(4, 3).filter(lambda record: True).batch(64))
    assert "for 90 of 4000 elements" in plan(ds[10:100])
    assert "read one by one" in plan(ds.global_shuffle(seed=3))
