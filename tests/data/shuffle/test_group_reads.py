"""A shuffle without a window over large files reads many elements at once: the same ones, and no more memory."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.oracle.support.frames import flip, frames
from tests.records.access.test_gather_pieces import resident_bytes
from tfrkit.data.engine import read_ahead
from tfrkit.data.shuffle import global_shuffle
from tfrkit.errors import DataLossError
from tfrkit.records.access import record_files

COUNT, SIZE = 4000, 100


@pytest.fixture
def path(tmp_path: Path) -> Path:
    records = [b"%05d" % number + bytes(SIZE - 5) for number in range(COUNT)]
    (tmp_path / "a.tfrecord").write_bytes(frames(records))
    return tmp_path / "a.tfrecord"


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(record_files, "_RESIDENT_BYTES", 0)
    monkeypatch.setattr(record_files, "_GROUP_BYTES", 60_000)  # 517 elements
    monkeypatch.setattr(global_shuffle, "_PIECE", 50)
    yield
    gc.collect()


def shuffled(path: Path, **options: Any) -> tfr.Dataset:
    return tfr.TFRecordDataset(path, **options).global_shuffle(seed=1)


def numbers_of(elements: Any) -> list[int]:
    found: list[int] = []
    for element in elements:
        records = [element] if isinstance(element, bytes) else element.to_list()
        found.extend(int(record[:5]) for record in records)
    return found


STAGES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda ds: ds.batch(64),
    "rank": lambda ds: ds.shard(3, 1).batch(64),
    "rank of batches": lambda ds: ds.batch(64).shard(2, 1),
    "slice": lambda ds: ds[10:3000:3].batch(64),
    "backwards": lambda ds: ds[::-1].batch(64),
    "single elements": lambda ds: ds.take(1500),
    "function": lambda ds: ds.map(lambda record: record).batch(64),
    "prefetch": lambda ds: ds.batch(64).prefetch(2),
    "epoch": lambda ds: ds.epoch(3).batch(64),
    "repeat": lambda ds: ds.take(900).repeat(3).batch(64),
    "before": lambda ds: ds,
    "zip": lambda ds: tfr.Dataset.zip((ds, ds)).map(lambda one, _: one).batch(64),
}


@pytest.mark.parametrize("name", STAGES)
def test_the_order_is_the_same(path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    found = numbers_of(STAGES[name](shuffled(path)))
    monkeypatch.setattr(record_files, "_RESIDENT_BYTES", 1 << 60)
    ds = STAGES[name](shuffled(path))
    assert found == numbers_of(ds) == numbers_of(ds[number] for number in range(len(ds)))


def test_what_is_done_to_elements_before_is_done_when_they_are_asked_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = numbers_of(shuffled(path).take(900))
    groups: list[int] = []
    calls: list[bytes] = []
    read = global_shuffle._GroupLookup.read

    def noted(self: Any, places: Any, epoch: int) -> Any:
        groups.append(len(places))
        return read(self, places, epoch)

    monkeypatch.setattr(global_shuffle._GroupLookup, "read", noted)
    made = tfr.TFRecordDataset(path).map(lambda record: calls.append(record) or record)
    ds = made.global_shuffle(seed=1).take(900)
    assert numbers_of(ds) == wanted
    assert len(calls) == 900
    assert sum(groups) >= 900
    assert len(groups) < 20
    assert numbers_of(ds[number] for number in range(100)) == wanted[:100]


def test_records_that_were_chosen_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> Any:
        return tfr.TFRecordDataset(path).skip(7).take(2000).shard(2, 1).global_shuffle(seed=3).batch(64)

    found = numbers_of(made())
    monkeypatch.setattr(record_files, "_RESIDENT_BYTES", 1 << 60)
    assert found == numbers_of(made())
    assert sorted(found) == list(range(8, 2007, 2))


def test_an_epoch_continues_anywhere(path: Path) -> None:
    whole = numbers_of(shuffled(path).batch(64))
    rng = random.Random(0)
    for _ in range(5):
        iterator = iter(shuffled(path).batch(64))
        taken = numbers_of(next(iterator) for _ in range(rng.randrange(1, 60)))
        position = iterator.position()
        iterator.close()
        rest = numbers_of(shuffled(path).batch(32).iter_from(position))
        assert taken + rest == whole


def test_a_damaged_record_is_found(path: Path) -> None:
    whole = numbers_of(shuffled(path))
    path.write_bytes(flip(path.read_bytes(), (SIZE + 16) * whole[2000] + 20))
    iterator = iter(shuffled(path))
    assert numbers_of(next(iterator) for _ in range(2000)) == whole[:2000]
    with pytest.raises(DataLossError, match=f"record {whole[2000]} "):
        next(iterator)
    left = numbers_of(shuffled(path, on_corrupt="skip"))
    assert left == whole[:2000] + whole[2001:]


@pytest.mark.skipif(sys.platform != "linux", reason="what is resident is known on Linux only")
@pytest.mark.parametrize("window", [None, 100_000])
def test_an_epoch_leaves_nothing_mapped(path: Path, window: int | None) -> None:
    ds = tfr.TFRecordDataset(path).global_shuffle(seed=1, window=window).batch(64)
    iterator = iter(ds)
    assert sum(len(batch) for batch in iterator) == COUNT
    assert resident_bytes(path) == 0


def test_what_is_used_up_is_let_go(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = []
    added = read_ahead.Readings.add

    def noted(self: read_ahead.Readings, readings: Any) -> None:
        added(self, readings)
        alive.append(sum(len(reading.places) for reading in self.of(0, 0, COUNT)))

    monkeypatch.setattr(read_ahead.Readings, "add", noted)
    assert numbers_of(shuffled(path).batch(10)) == numbers_of(shuffled(path))
    del alive[alive.index(100, 1) :]  # those of the second
    assert len(alive) == 1 + -(
        -(COUNT - 100) // 517
    )  # a small group at first, so that its elements come soon
    assert max(alive) <= 517 + 517 // 16 + 2 * 50 + 100


def test_a_file_without_numbers_fails_for_its_own_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tfr.ShardWriter(tmp_path / "x", shards=3) as writer:
        writer.write_many([b"%05d" % number + bytes(20) for number in range(150)])
    paths = sorted(tmp_path.glob("*.tfrecord"))
    paths[1].write_bytes(flip(paths[1].read_bytes(), 41 * 7 + 3))  # a length
    for index in (tmp_path / ".tfrkit").glob("*.idx"):
        index.unlink()

    def outcomes() -> list[int | None]:
        found: list[int | None] = []
        iterator = iter(shuffled(tmp_path / "*.tfrecord"))
        while True:
            try:
                found.append(int(next(iterator)[:5]))
            except StopIteration:
                return found
            except DataLossError:
                found.append(None)

    grouped = outcomes()
    monkeypatch.setattr(record_files, "_RESIDENT_BYTES", 1 << 60)
    assert grouped == outcomes()
    assert (len(grouped), grouped.count(None)) == (150, 50)


def test_an_empty_file_and_sources_of_records(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (path.parent / f"b{number}.tfrecord").write_bytes(frames([b"%05d" % number] * (7 * number)))

    def found() -> list[tuple[str, ...]]:
        ds = shuffled(path.parent / "*.tfrecord").with_source()
        return [tuple(map(str, each.values())) for each in ds]

    assert record_files.RecordFiles(path.parent / "*.tfrecord").group > 0
    grouped = found()
    monkeypatch.setattr(record_files, "_RESIDENT_BYTES", 1 << 60)
    assert grouped == found()
    assert len(grouped) == COUNT + 70


def test_sizes_are_asked_for_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ds = shuffled(path)
    iterator = iter(ds)
    next(iterator)
    iterator.position()
    asked: list[str] = []
    monkeypatch.setattr(record_files, "ask_all", lambda ask, paths: asked.append(paths[0]) or [])
    iterator.position()
    assert len(list(ds)) == COUNT
    assert asked == []
