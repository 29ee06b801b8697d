"""Positions: an epoch goes on with other ranks, batches, threads and stages, without a sample twice or lost."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.data.support.topologies import (
    EPOCHS,
    Run,
    Sample,
    Topology,
    expected,
    make_run,
    numbers_of,
    write_samples,
)
from tfrkit import Dataset
from tfrkit.errors import InvalidArgumentError

TOPOLOGIES = int(os.environ.get("TFRKIT_TOPOLOGIES", "150"))
GROUPS = 15


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_samples(tmp_path_factory.mktemp("samples"))


def refused(call: Any) -> str:
    """The text of the refusal."""
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    return str(caught.value)


class Walk:
    """A run under way: where it stands, and what was delivered so far."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run = run
        self.source = run.source(folder)
        self.orders = run.orders(folder)
        self.position: Any = None
        self.epoch = self.samples = 0
        self.delivered: dict[int, set[int]] = {epoch: set() for epoch in range(EPOCHS)}
        self.drops = False

    def plan(self, topology: Topology, rank: int) -> list[list[Sample]]:
        """What a rank gets of this epoch and those after it."""
        last = EPOCHS if self.run.repeat is not None else self.epoch + 1
        whole = [[Sample(epoch, place) for place in range(self.run.size)] for epoch in range(last)]
        left = [whole[self.epoch][self.samples :], *whole[self.epoch + 1 :]]
        return expected(topology, rank, left, whole)

    def leg(self, topology: Topology, share: float, *, last: bool) -> bool:
        """Run all ranks of a leg; False if it cannot go on from there."""
        self.drops = self.drops or topology.drops
        plans = [self.plan(topology, rank) for rank in range(topology.ranks)]
        count = max(map(len, plans)) if last else int(share * (min(map(len, plans)) + 0.999))
        positions = []
        for rank, plan in enumerate(plans):
            ds = topology.dataset(self.source, rank)
            iterator = iter(ds) if self.position is None else ds.iter_from(self.position)
            taken = [next(iterator, None) for _ in range(min(count, len(plan)))]
            self.take(rank, taken, plan)
            if last and self.run.repeat is None:
                assert next(iterator, None) is None, "more than there is"
            positions.append(self.position_of(iterator))
            iterator.close()
        self.check_twice(topology, plans, count)
        if any(isinstance(each, str) for each in positions):
            assert all(isinstance(each, str) for each in positions), positions
            assert not self.divides(topology, plans, count), positions
            assert all("before repeat" in each for each in positions), positions
            return False
        if last:
            return True
        assert all(each == positions[0] for each in positions), positions
        self.position = json.loads(json.dumps(positions[-1]))
        self.epoch, self.samples = self.position["epoch"], self.position["samples"]
        self.check_position(topology)
        return True

    def position_of(self, iterator: Any) -> Any:
        try:
            return iterator.position()
        except InvalidArgumentError as error:
            return str(error)

    def take(self, rank: int, taken: list[Any], plan: list[list[Sample]]) -> None:
        """What a rank got is what was planned."""
        for element, samples in zip(taken, plan, strict=False):
            wanted = [self.orders[sample.epoch][sample.place] for sample in samples]
            assert element is not None, f"rank {rank} ends before {wanted}"
            assert numbers_of(element) == wanted, f"rank {rank}"
            if isinstance(element, dict) and "real" in element:
                assert element["real"].ravel().tolist() == [sample.real for sample in samples] or (
                    element["real"].ndim == 0 and bool(element["real"]) == samples[0].real
                )

    def check_twice(self, topology: Topology, plans: list[list[list[Sample]]], count: int) -> None:
        """No sample comes twice in an epoch."""
        for plan in plans:
            for sample in (sample for element in plan[:count] for sample in element if sample.real):
                assert sample.place not in self.delivered[sample.epoch], sample
                self.delivered[sample.epoch].add(sample.place)

    def divides(self, topology: Topology, plans: list[list[list[Sample]]], count: int) -> bool:
        """Whether what was delivered is the beginning of the order, epoch after epoch."""
        open_epochs = [epoch for epoch, places in self.delivered.items() if 0 < len(places) < self.run.size]
        begun = [epoch for epoch, places in self.delivered.items() if places]
        gaps = [epoch for epoch, places in self.delivered.items() if places != set(range(len(places)))]
        return not gaps and (not open_epochs or open_epochs == begun[-1:])

    def check_position(self, topology: Topology) -> None:
        """What the position says was used is what was delivered; dropped at the end of an epoch is only the rest."""
        for epoch, places in self.delivered.items():
            if epoch > self.epoch:
                assert not places
            elif epoch == self.epoch:
                assert places == set(range(self.samples))
            elif not self.drops:
                assert places == set(range(self.run.size))

    def check_end(self, topology: Topology) -> None:
        """All was delivered, or what was dropped is what cannot be divided."""
        missing = set(range(self.run.size)) - self.delivered[0]
        if topology.drops:
            assert len(missing) < topology.ranks * max(
                [s[1] for s in topology.stages if s[0] == "batch"], default=1
            )
        else:
            assert not missing


def check(seed: int, folder: Path) -> None:
    run = make_run(seed)
    walk = Walk(run, folder)
    try:
        for number, (topology, share) in enumerate(run.legs):
            last = number == len(run.legs) - 1
            if topology.is_refused(run.size) or walk.epoch == EPOCHS:
                return
            if not walk.leg(topology, share, last=last and run.repeat is None):
                return
        if run.repeat is None:
            walk.check_end(run.legs[-1][0])
    except Exception as error:
        raise AssertionError(f"seed {seed}, leg {number}: {run}") from error


@pytest.mark.parametrize("group", range(GROUPS))
def test_an_epoch_goes_on_with_another_topology(group: int, folder: Path) -> None:
    for seed in range(group, TOPOLOGIES, GROUPS):
        check(seed, folder)


# ---- one change at a time


def numbers(elements: Any) -> list[int]:
    return [number for element in elements for number in numbers_of(element)]


def shuffled(size: int = 30, seed: int | None = 1, **options: Any) -> Dataset:
    return Dataset.range(size).global_shuffle(seed=seed, **options)


def after(ds: Dataset, count: int) -> Any:
    """An iterator after so many elements."""
    iterator = iter(ds)
    for _ in range(count):
        next(iterator)
    return iterator


def saved(position: Any) -> Any:
    return json.loads(json.dumps(position))


def test_a_position_is_a_few_numbers() -> None:
    position = after(shuffled().shard(2, 0).batch(4), 2).position()
    assert list(position) == ["position", "epoch", "samples", "size", "order", "seed", "files"]
    assert (position["position"], position["epoch"], position["samples"]) == (1, 0, 16)
    assert (position["size"], position["seed"]) == (30, [1])
    assert len(json.dumps(position)) < 250


# Of the first release that wrote version 1: it never changes.
GOLDEN = {
    "position": 1,
    "epoch": 3,
    "samples": 6,
    "size": 10,
    "order": "c23b84cbc241f9bfa8f10e820e39ee47",
    "seed": [42],
    "files": "7ebb3c7c2a87b1a2f8a7ed729ecb040d",
}


def test_a_position_of_the_first_release_resumes() -> None:
    ds = shuffled(10, 42)
    assert after(ds.shard(3, 1).epoch(3), 2).position() == GOLDEN
    assert numbers(ds.iter_from(GOLDEN)) == numbers(ds.epoch(3))[6:]
    order = numbers(ds.epoch(3))
    assert numbers(ds.iter_from({**GOLDEN, "left": [4, 1]})) == [order[4], order[1], *order[6:]]


def test_resuming_far_into_an_epoch_is_immediate() -> None:
    ds = shuffled(10**10).map(int_of)
    position = {**iter(ds).position(), "samples": 10**9}
    start = time.perf_counter()
    for resumed in (ds.shard(7, 3).batch(8), ds.batch(8), ds.repeat().batch(8).prefetch(1)):
        first = next(resumed.iter_from(position))
        assert len(first) == 8
    assert time.perf_counter() - start < 1
    assert first.tolist() == ds.at(range(10**9, 10**9 + 8)).tolist()
    plain = Dataset.range(10**10)
    assert int(next(plain.iter_from({**iter(plain).position(), "samples": 10**9}))) == 10**9


def int_of(x: Any) -> Any:
    return x


@pytest.mark.parametrize("verb", ["repeat", "loop"])
def test_positions_in_later_epochs(verb: str) -> None:
    ds = shuffled(10).batch(3)
    whole = [numbers(shuffled(10).epoch(epoch)) for epoch in range(5)]
    if verb == "repeat":
        iterator = after(ds.repeat(5), 9)
    else:
        list(ds), list(ds)
        iterator = after(ds, 1)
    position = iterator.position()
    assert (position["epoch"], position["samples"]) == (2, 3)
    other = shuffled(10).shard(2, 1)
    assert numbers(other.iter_from(position)) == whole[2][3:][1::2]
    assert numbers(other) == whole[3][1::2]
    again = shuffled(10).repeat(5).batch(4)
    assert numbers(again.iter_from(position)) == whole[2][3:] + whole[3] + whole[4]
    assert numbers(again) == numbers(shuffled(10).repeat(5).epoch(1))


def test_the_position_at_the_end_resumes_with_nothing_and_then_the_next_epoch() -> None:
    ds = shuffled(10).shard(2, 0).batch(3)
    iterator = iter(ds)
    list(iterator)
    position = iterator.position()
    assert position["samples"] == 10
    other = shuffled(10)
    assert numbers(other.iter_from(position)) == []
    assert numbers(other) == numbers(shuffled(10).epoch(1))


def test_the_position_of_a_position() -> None:
    whole = numbers(shuffled(40))
    iterator = after(shuffled(40).shard(4, 0).batch(2), 1)  # 8 samples
    iterator = shuffled(40).batch(3).shard(2, 1).iter_from(saved(iterator.position()))
    assert numbers([next(iterator)]) == whole[8:][3:6]
    position = saved(iterator.position())
    assert position["samples"] == 8 + 6
    iterator = shuffled(40).iter_from(position)
    next(iterator)
    assert iterator.position()["samples"] == 15
    assert numbers(iterator) == whole[15:]


@pytest.mark.parametrize("source", ["shuffled", "plain", "repeated"])
def test_the_state_of_an_iterator_that_resumed_from_a_position(source: str) -> None:
    def make() -> Dataset:
        if source == "plain":
            return Dataset.range(40).shard(2, 1).batch(3)
        return shuffled(40).repeat(2).shard(2, 1).batch(3) if source == "repeated" else shuffled(40).batch(3)

    position = saved(after(make(), 2).position())
    iterator = make().iter_from(position)
    found, states = [], [saved(iterator.state())]
    for element in iterator:
        found.append(element)
        states.append(saved(iterator.state()))
    for place, state in enumerate(states):
        resumed = make().iter_from(state)
        assert resumed.position() == make().iter_from(state).position()
        assert numbers(resumed) == numbers(found[place:])
    resumed = make().iter_from(states[2])
    other = make().iter_from(position)
    next(other), next(other)
    assert resumed.position() == other.position()


@pytest.mark.parametrize("make", [shuffled, Dataset.range])
def test_the_position_after_resuming_from_a_state(make: Any) -> None:
    ds = make(40).shard(2, 0).batch(3)
    iterator = after(ds, 4)
    resumed = make(40).shard(2, 0).batch(3).iter_from(saved(iterator.state()))
    assert resumed.position() == iterator.position()
    next(resumed)
    assert resumed.position()["samples"] == 30


def test_the_position_of_an_iterator_that_loads_another_state() -> None:
    ds = shuffled(40).batch(3)
    position = saved(after(ds, 4).position())
    iterator = iter(ds)
    iterator.load_state_dict(position)
    assert iterator.position() == position
    assert numbers(iterator) == numbers(shuffled(40))[12:]


def test_a_closed_iterator_keeps_its_position() -> None:
    iterator = after(shuffled(40).batch(3).prefetch(2), 2)
    position = iterator.position()
    iterator.close()
    assert iterator.position() == position
    assert position["samples"] == 6


def test_a_forked_child_has_the_position_of_what_was_taken() -> None:
    iterator = after(shuffled(500), 150)  # of a run of many elements
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, json.dumps([iterator.position()["samples"], int(next(iterator))]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert json.loads(os.read(read, 1000)) == [150, numbers(shuffled(500))[150]]
    os.close(read), os.close(write)
    assert iterator.position()["samples"] == 150


def test_a_chosen_epoch_has_its_own_positions() -> None:
    position = saved(after(shuffled().batch(5).epoch(3), 2).position())
    assert (position["epoch"], position["samples"]) == (3, 10)
    assert numbers(shuffled().shard(2, 0).iter_from(position)) == numbers(shuffled().epoch(3))[10::2]
    assert numbers(shuffled().epoch(3).iter_from(position)) == numbers(shuffled().epoch(3))[10:]
    assert refused(lambda: shuffled().epoch(2).iter_from(position)) == (
        "the position is of another epoch: expected epoch 3 but the dataset is that of epoch 2. Resume without "
        "epoch(), or with that one."
    )
    assert refused(lambda: iter(shuffled().epoch(2).repeat(3)).position()) == (
        "There is no position after repeat(3) of epoch(2). Let one repeat() be the last of such stages."
    )


def test_nothing_is_repeated_from_any_position() -> None:
    ds = shuffled(5).repeat(0)
    for epoch in range(3):
        ds.set_epoch(epoch)
        position = saved(iter(ds).position())
        assert position["epoch"] == epoch
        assert next(ds.iter_from(position), None) is None
        assert next(ds.batch(2).shard(2, 0).iter_from(position), None) is None
        for samples in (2, 5):
            resumed = ds.iter_from({**position, "samples": samples})
            assert next(resumed, None) is None
            assert resumed.position() == {**position, "samples": samples}


@pytest.mark.parametrize("stages", ["", "batch", "repeat", "repeat later", "window", "records"])
def test_shards_are_filled_up_from_the_beginning_of_the_epoch(stages: str, folder: Path) -> None:
    def make(rank: int) -> Dataset:
        ds = Run("files" if stages == "records" else "range", 23, None, None, ()).source(folder)
        ds = ds.global_shuffle(seed=1, window=60 if stages == "window" else None)
        ds = ds.batch(2) if stages == "batch" else ds.repeat(2) if stages == "repeat" else ds
        ds = ds.shard(7, rank, tail="repeat")
        return ds.repeat(2) if stages == "repeat later" else ds

    for rank in range(7):
        iterator = iter(make(rank))
        for element in iterator:
            del element
            position, rest = saved(iterator.position()), make(rank)
            resumed = rest.iter_from(position)
            copy = make(rank).iter_from(saved(iterator.state()))
            assert numbers(resumed) == numbers(copy), (rank, position)


@pytest.mark.parametrize("window", [None, 300])
def test_elements_by_number_are_of_the_seed_of_a_position(window: int | None) -> None:
    def make() -> Dataset:
        return shuffled(200, seed=None, window=window).map(with_seed, seeded=True)

    def found(elements: Any) -> list[tuple[int, ...]]:
        return [(int(x), *seed.tolist()) for x, seed in elements]

    ds, other = make(), make()
    ds[0]  # as its own seeds have it
    assert found(ds.epoch(0)) != found(other.epoch(0))
    ds.iter_from(saved(after(other, 3).position()))
    assert found(ds[place] for place in range(200)) == found(ds.epoch(0)) == found(other.epoch(0))


def with_seed(x: Any, seed: Any) -> tuple[Any, Any]:
    return x, seed


# ---- what is refused


def test_seeds_of_another_epoch_than_the_samples_have_no_position() -> None:
    ds = shuffled().epoch(2).map(with_seed, seeded=True, seed=4).batch(2)
    text = (
        "There is no position: map(seeded=True) after epoch(2) is in another epoch than its samples. Put epoch() after "
        "it."
    )
    iterator = after(ds, 1)
    assert refused(iterator.position) == text
    assert refused(lambda: ds.iter_from(after(shuffled(), 1).position())) == text
    assert refused(lambda: iter(ds.epoch(3)).position()) == text
    resumed = ds.iter_from(saved(iterator.state()))
    assert [seed.tolist() for _, seed in resumed] == [seed.tolist() for _, seed in iterator]
    assert after(shuffled().map(with_seed, seeded=True, seed=4).epoch(2), 3).position()["samples"] == 3


def test_a_position_of_other_samples_is_refused(tmp_path: Path) -> None:
    def files(count: int, name: str = "a") -> Dataset:
        with tfr.TFRecordWriter(tmp_path / f"{name}.tfrecord") as writer:
            writer.write_many([b"%d" % each for each in range(count)])
        return tfr.TFRecordDataset(tmp_path / f"{name}.tfrecord")

    position = saved(after(files(9), 2).position())
    assert numbers(files(9).shard(2, 1).iter_from(position)) == [3, 5, 7]
    text = refused(lambda: files(8).iter_from(position))
    assert text.startswith("the position is of other data: expected 9 samples of the files ")
    assert " but got 8 of " in text
    assert text.endswith(". Resume with the same files, or start the epoch over.")
    assert "other data" in refused(lambda: files(9, "b").iter_from(position))
    for other in (Dataset.range(1, 31), Dataset.range(30), shuffled(window=100), shuffled(30).take(30)):
        text = refused(lambda other=other: other.iter_from(after(shuffled(), 2).position()))
        assert "the position is of other samples: those of " in text or "another order" in text


def test_a_position_of_another_seed_is_refused() -> None:
    position = saved(after(shuffled(seed=5), 2).position())
    assert refused(lambda: shuffled(seed=6).iter_from(position)) == (
        "the position is of another order: expected the seeds [5] but the dataset has [6]. Give the same seeds, or "
        "start the epoch over."
    )
    assert "another order" in refused(lambda: Dataset.range(30).iter_from(position))


IMPOSSIBLE = [
    {"position": 2},
    {"samples": 31},
    {"samples": -1},
    {"epoch": -1},
    {"epoch": 2**70},
    {"left": None},
    {"left": [0, 0]},  # a sample would come twice
    {"left": [2]},
    {"seed": None},
    {"seed": ["1"]},
    {"seed": [2**70]},
]


@pytest.mark.parametrize("change", IMPOSSIBLE)
def test_a_position_that_cannot_be_is_refused(change: Any) -> None:
    position = saved(after(shuffled(), 2).position())
    text = refused(lambda: shuffled().iter_from({**position, **change}))
    assert text.startswith(
        "expected a position of version 1, as DatasetIterator.position() returns it, but got {"
    )
    lacking = {key: value for key, value in position.items() if key != "seed"}
    assert "expected a position" in refused(lambda: shuffled().iter_from(lacking))


PREVENTED = {
    "take_while(bool)": lambda ds: ds.take_while(bool).batch(2),
    "shuffle(4)": lambda ds: ds.shuffle(4).batch(2),
    "cache()": lambda ds: ds.cache(),
    "ignore_errors()": lambda ds: ds.ignore_errors().map(abs),
    "unbatch()": lambda ds: ds.batch(3).unbatch(),
    "map(abs, num_parallel_calls=2) keeps no order": lambda ds: ds.map(
        abs, num_parallel_calls=2, deterministic=False
    ).batch(2),
    "map(abs, num_parallel_calls=3) keeps no order": lambda ds: ds.map(
        abs, num_parallel_calls=3
    ).with_options(tfr.Options(deterministic=False)),
}


@pytest.mark.parametrize("text", PREVENTED)
def test_a_stage_that_prevents_a_position_is_named(text: str) -> None:
    ds = PREVENTED[text](shuffled())
    iterator = iter(ds)
    next(iterator)
    assert refused(iterator.position).startswith(f"There is no position: {text}")
    if "order" not in text:
        position = after(shuffled(), 1).position()
        assert refused(lambda: ds.iter_from(position)).startswith(f"There is no position: {text}")


def test_there_is_no_position_after_an_element_that_failed() -> None:
    ds = Dataset.range(10).map(lambda x: 1 // int(x - 3)).batch(2)
    iterator = after(ds, 1)
    assert iterator.position()["samples"] == 2
    with pytest.raises(ZeroDivisionError):
        next(iterator)
    text = refused(iterator.position)
    assert text.startswith("There is no position: it is not known how many elements of the epoch were used.")
    resumed = ds.iter_from(saved(iterator.state()))
    assert refused(resumed.position) == text


def test_two_repeats_have_no_position() -> None:
    iterator = iter(shuffled().repeat(2).batch(2).repeat(3))
    assert refused(iterator.position) == (
        "There is no position after repeat(3) of repeat(2). Let one repeat() be the last of such stages."
    )
