"""Stages that count elements: what is damaged keeps its number, so that all others keep theirs."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.oracle.support.frames import flip, frames
from tfrkit import Dataset

COUNT, BAD = 20, (3, 6, 7, 19)


def number_of(record: bytes) -> int:
    return int(record)


def source_of(folder: Path) -> Dataset:
    records = [b"%02d" % number for number in range(COUNT)]
    data = frames(records)
    for number in BAD:
        data = flip(data, len(frames(records[:number])) + 12)
    (folder / "bad.tfrecord").write_bytes(data)
    return tfr.TFRecordDataset(folder / "bad.tfrecord", on_corrupt="skip")


def shuffled(folder: Path, window: int | None = None) -> Dataset:
    return source_of(folder).global_shuffle(seed=1, window=window).map(number_of)


def order_of(epoch: int = 0, seed: int = 1) -> list[int]:
    return [int(number) for number in Dataset.range(COUNT).global_shuffle(seed=seed).epoch(epoch)]


def plain(elements: Any) -> list[Any]:
    return [tuple(map(int, each)) if isinstance(each, tuple) else int(each) for each in elements]


def by_number(ds: Dataset, epoch: int) -> list[Any]:
    """The elements that are there, one by one."""
    found = []
    for number in range(len(ds)):
        with contextlib.suppress(IndexError):
            found.append(ds.epoch(epoch)[number])
    return plain(found)


STAGES: list[tuple[Callable[[Dataset], Dataset], Callable[[list[int]], list[Any]]]] = [
    (lambda ds: ds.take(6), lambda order: order[:6]),
    (lambda ds: ds.take(-1), lambda order: order),
    (lambda ds: ds.skip(6), lambda order: order[6:]),
    (lambda ds: ds.skip(0), lambda order: order),
    (lambda ds: ds.skip(2).prefetch(2).take(5).skip(1), lambda order: order[3:7]),
    (lambda ds: ds.repeat(2).skip(2).take(9), lambda order: order[2:11]),
]


@pytest.mark.parametrize("epoch", [0, 3])
@pytest.mark.parametrize("stage", range(len(STAGES)))
def test_take_and_skip_count_what_is_left_out(tmp_path: Path, stage: int, epoch: int) -> None:
    make, choose = STAGES[stage]
    ds = make(shuffled(tmp_path))
    first = 2 * epoch if "repeat" in ds.explain() else epoch
    wanted = [number for number in choose(order_of(first)) if number not in BAD]
    iterator = iter(ds.epoch(epoch))
    assert plain(iterator) == wanted == by_number(ds, epoch) == ds.at(range(len(ds)), epoch).tolist()
    assert iterator.skipped == len(choose(order_of(first))) - len(wanted)


def test_the_parts_of_a_split_have_nothing_in_common(tmp_path: Path) -> None:
    ds = shuffled(tmp_path, window=200)
    taken, rest = (plain(part.epoch(0)) for part in (ds.take(8), ds.skip(8)))
    assert sorted(taken + rest) == sorted(set(range(COUNT)) - set(BAD))


@pytest.mark.parametrize("window", [None, 200])
def test_enumerate_gives_the_numbers_by_which_elements_can_be_had(tmp_path: Path, window: int | None) -> None:
    ds = shuffled(tmp_path, window)
    for epoch in range(2):
        found = plain(ds.enumerate(start=10).epoch(epoch))
        assert found == by_number(ds.enumerate(start=10), epoch)
        assert [ds.epoch(epoch)[number - 10] for number, _ in found] == [element for _, element in found]
        assert len(found) == COUNT - len(BAD)


def test_zip_leaves_out_the_others_of_what_is_damaged(tmp_path: Path) -> None:
    ds = Dataset.zip(shuffled(tmp_path), Dataset.range(COUNT).global_shuffle(seed=1))
    for epoch in range(2):
        wanted = [(number, number) for number in order_of(epoch) if number not in BAD]
        assert plain(ds.epoch(epoch)) == wanted == by_number(ds, epoch)
        assert plain(ds) == wanted  # the next pass


@pytest.mark.parametrize("turned", [False, True])
def test_parts_of_a_zip_are_each_in_their_own_epoch(tmp_path: Path, turned: bool) -> None:
    fixed = Dataset.range(COUNT).global_shuffle(seed=1, reshuffle_each_iteration=False).map(int)
    parts = [fixed, shuffled(tmp_path).epoch(3), Dataset.range(COUNT).global_shuffle(seed=2)]
    orders = [order_of(), order_of(3), order_of(2, seed=2)]
    if turned:
        parts, orders = parts[::-1], orders[::-1]
    ds = Dataset.zip(*parts)
    wanted = [each for each in zip(*orders, strict=True) if each[1] not in BAD]
    assert plain(ds.epoch(2)) == wanted == by_number(ds, 2)
    ds.set_epoch(2)
    assert plain(ds) == wanted


def test_states_and_positions_lead_to_the_rest(tmp_path: Path) -> None:
    source = shuffled(tmp_path)
    for ds in (source.take(11), source.skip(5), source.enumerate().map(lambda _, number: number)):
        wanted = plain(ds.epoch(1))
        for place in range(len(wanted) + 1):
            ds.set_epoch(1)
            iterator = iter(ds)
            assert plain(next(iterator) for _ in range(place)) == wanted[:place]
            assert plain(ds.iter_from(iterator.state())) == wanted[place:]
            assert plain(ds.iter_from(iterator.position())) == wanted[place:]


def test_without_numbers_what_is_there_is_counted_and_no_index_made(tmp_path: Path) -> None:
    ds = source_of(tmp_path).map(number_of)
    there = [number for number in range(COUNT) if number not in BAD]
    assert plain(iter(ds.take(6))) == there[:6]
    assert plain(iter(ds.skip(6))) == there[6:]
    assert plain(iter(ds.enumerate())) == list(enumerate(there))
    assert [each.name for each in tmp_path.iterdir()] == ["bad.tfrecord"]


@pytest.mark.parametrize("taken", [1, COUNT])
def test_files_go_with_the_last_iterator_without_the_garbage_collector(tmp_path: Path, taken: int) -> None:
    (tmp_path / "a.tfrecord").write_bytes(frames([b"%02d" % number for number in range(COUNT)]))
    ds = tfr.TFRecordDataset(tmp_path / "a.tfrecord").global_shuffle(seed=1).map(number_of)
    files = weakref.ref(next(each for each in ds.node.stages() if each.record_source is each).record_files)  # type: ignore[attr-defined]
    assert files() is not None
    gc.disable()
    try:
        iterator = iter(ds)
        for _ in range(taken):
            next(iterator)
        iterator.close()
        del ds, iterator
        assert files() is None  # their maps would count as memory of the process
    finally:
        gc.enable()
