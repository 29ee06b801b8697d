"""States of pipelines whose sources are files, generators or random: what was chosen by the machine is kept."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.data.support.calls import difference, outcomes, placeless
from tests.data.support.suite import StageSuite
from tfrkit.testing.plain_engine import plain

SEQUENCE = {"t": tfr.VarLenFeature("int64"), "f": tfr.FixedLenSequenceFeature([2], "float32")}
CONTEXT = {"n": tfr.FixedLenFeature([], "int64"), "w": tfr.VarLenFeature("bytes")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some files of records, of SequenceExamples and of lines."""
    folder = tmp_path_factory.mktemp("sources")
    for number in range(5):
        with tfr.TFRecordWriter(folder / f"part-{number}.tfrecord") as writer:
            writer.write_many([b"%d %d" % (number, record) for record in range(2 + number)])
        (folder / f"lines-{number}.txt").write_bytes(
            b"".join(b"line %d %d\r\n" % (number, n) for n in range(3))
        )
    with tfr.TFRecordWriter(folder / "sequences") as writer:
        for number in range(8):
            writer.write(_sequence(number))
    return folder


def _sequence(number: int) -> bytes:
    context = {"n": number, "w": tfr.bytes_list_feature([b"w"] * (number % 3))}
    steps = number % 4
    lists = {
        "t": [tfr.int64_list_feature(list(range(step))) for step in range(steps)],
        "f": [[step + 0.5, -1.0] for step in range(steps + 1)],
    }
    return bytes(tfr.make_sequence_example(context, lists).SerializeToString())


def read(name: bytes) -> tfr.Dataset:
    """The records of a file."""
    return tfr.TFRecordDataset(os.fsdecode(name))


def count(start: int) -> Iterator[int]:
    yield from range(start, start + 8)


MADE: dict[str, Callable[[Path], tfr.Dataset]] = {
    "files by flat_map": lambda at: tfr.Dataset.list_files(str(at / "part-*"), shuffle=False).flat_map(read),
    "files by interleave": lambda at: (
        tfr.Dataset.list_files(str(at / "part-*"), seed=5).interleave(read, cycle_length=3, block_length=2).repeat(2)
    ),
    "files in parallel": lambda at: (
        tfr.Dataset.list_files(str(at / "part-*"), seed=5).interleave(read, cycle_length=2, num_parallel_calls=2)
    ),
    "all cores": lambda at: tfr.TFRecordDataset(
        [str(at / f"part-{n}.tfrecord") for n in range(5)], num_parallel_reads=tfr.AUTOTUNE
    ).shuffle(4, seed=2),
    "names of a dataset": lambda at: tfr.TFRecordDataset(
        tfr.Dataset.list_files(str(at / "part-*"), shuffle=False)
    ).batch(4),
    "lines": lambda at: tfr.TextLineDataset([str(at / f"lines-{n}.txt") for n in range(5)]).shuffle(3, seed=1),
    "sequences": lambda at: tfr.TFRecordDataset(at / "sequences").parse_sequence(CONTEXT, SEQUENCE).shuffle(3, seed=1),
    "batches of sequences": lambda at: tfr.TFRecordDataset(at / "sequences").parse_sequence(CONTEXT, SEQUENCE).batch(3),
    "sequences in batches": lambda at: tfr.TFRecordDataset(at / "sequences").batch(3).parse_sequence(CONTEXT, SEQUENCE),
    "generator": lambda at: tfr.Dataset.from_generator(
        count, args=[3], output_signature=tfr.TensorSpec((), "int64")
    ).shuffle(4, seed=1).batch(3),
}  # fmt: skip
# Pipelines with random seeds.
RANDOM: dict[str, Callable[[Path], tfr.Dataset]] = {
    "shuffle": lambda at: tfr.Dataset.range(20).shuffle(7),
    "shuffle and repeat": lambda at: tfr.Dataset.range(9).shuffle(5).repeat(3),
    "shuffle twice": lambda at: tfr.Dataset.range(9).shuffle(5).batch(2).shuffle(3).repeat(2),
    "shuffle, cache, repeat": lambda at: tfr.Dataset.range(9).shuffle(9).cache().repeat(3),
    "shuffle to come": lambda at: tfr.Dataset.range(9).concatenate(tfr.Dataset.range(9).shuffle(9)),
    "shuffle to come, ahead": lambda at: (
        tfr.Dataset.range(9).concatenate(tfr.Dataset.range(9).shuffle(9)).prefetch(12).repeat(2)
    ),
    "shuffle taken": lambda at: tfr.Dataset.range(9).shuffle(9).take(3).repeat(4),
    "shuffle of records": lambda at: tfr.TFRecordDataset(str(at / "part-*")).shuffle(6).batch(2).prefetch(2),
    "files": lambda at: tfr.Dataset.list_files(str(at / "part-*")).flat_map(read).shuffle(3).repeat(2),
    "in turn": lambda at: tfr.Dataset.zip(
        tfr.Dataset.range(8).shuffle(8), tfr.Dataset.range(8).shuffle(8, seed=1)
    ).repeat(2),
}


def states_of(dataset: tfr.Dataset) -> tuple[list[Any], list[str]]:
    """All outcomes, and the state before each."""
    iterator = iter(dataset)
    found: list[Any] = []
    states = [json.dumps(iterator.state())]
    while not (found and isinstance(found[-1], str)):
        found += outcomes(iterator, 1)
        states.append(json.dumps(iterator.state()))
    return found, states[:-1]


@pytest.mark.parametrize("name", MADE)
def test_sources_equal_the_plain_engine(name: str, folder: Path) -> None:
    real, reference = MADE[name](folder), MADE[name](folder)
    for _ in range(2):
        where = difference(placeless(outcomes(iter(real))), placeless(outcomes(plain(reference))))
        assert not where, where


@pytest.mark.parametrize("name", [*MADE, *RANDOM])
def test_every_position_can_be_resumed_by_a_dataset_made_anew(name: str, folder: Path) -> None:
    make = (MADE | RANDOM)[name]
    found, states = states_of(make(folder))
    for number, state in enumerate(states):
        where = difference(outcomes(make(folder).iter_from(json.loads(state))), found[number:])
        assert not where, f"after {number}: {where}"


@pytest.mark.parametrize("name", RANDOM)
def test_a_state_can_be_resumed_by_the_same_dataset(name: str, folder: Path) -> None:
    dataset = RANDOM[name](folder)
    found, states = states_of(dataset)
    for number, state in list(enumerate(states))[::3]:
        where = difference(outcomes(dataset.iter_from(json.loads(state))), found[number:])
        assert not where, f"after {number}: {where}"


def test_an_automatic_cycle_is_part_of_the_state(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(folder / f"part-{n}.tfrecord") for n in range(5)]
    found, states = states_of(tfr.TFRecordDataset(names, num_parallel_reads=tfr.AUTOTUNE))
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    for number, state in enumerate(states):
        resumed = tfr.TFRecordDataset(names, num_parallel_reads=tfr.AUTOTUNE).iter_from(json.loads(state))
        where = difference(outcomes(resumed), found[number:])
        assert not where, f"after {number}: {where}"


class TestGenerator(StageSuite):
    def make(self) -> tfr.Dataset:
        return tfr.Dataset.from_generator(
            count, args=[2], output_signature=tfr.TensorSpec((), "int64")
        ).prefetch(2)


def slow(x: int) -> int:
    """Some elements take longer than those behind them."""
    time.sleep(0.002 * (int(x) % 3 == 0))
    return x


def some(x: int) -> tfr.Dataset:
    return tfr.Dataset.range(10 * x, 10 * x + 4).map(slow)


UNORDERED: dict[str, Callable[[], tfr.Dataset]] = {
    "map": lambda: tfr.Dataset.range(30).map(slow, num_parallel_calls=3, deterministic=False),
    "map and shuffle": lambda: (
        tfr.Dataset.range(30).map(slow, num_parallel_calls=3, deterministic=False).shuffle(5, seed=1)
    ),
    "interleave": lambda: tfr.Dataset.range(8).interleave(
        some, cycle_length=3, num_parallel_calls=3, deterministic=False
    ),
    "all": lambda: (
        tfr.Dataset.range(8)
        .interleave(some, cycle_length=3, num_parallel_calls=2)
        .map(slow, num_parallel_calls=2)
        .prefetch(4)
        .with_options(tfr.Options(deterministic=False))
    ),
}


@pytest.mark.parametrize("name", UNORDERED)
def test_in_any_order_every_element_comes_once(name: str) -> None:
    make = UNORDERED[name]
    everything = sorted(map(int, make()))
    for stop in (0, 1, 7, 20):
        iterator = iter(make())
        seen = [int(next(iterator)) for _ in range(stop)]
        rest = [int(x) for x in make().iter_from(json.loads(json.dumps(iterator.state())))]
        assert sorted(seen + rest) == everything
