"""merge_positions: ranks that have used different numbers of samples go on together, on any number of ranks."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.frames import flip, frames
from tfrkit import Dataset, merge_positions
from tfrkit.errors import InvalidArgumentError

TOPOLOGIES = int(os.environ.get("TFRKIT_TOPOLOGIES", "150"))
GROUPS = 10


def saved(position: Any) -> Any:
    return json.loads(json.dumps(position))


def refused(call: Any) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    return str(caught.value)


def numbers(elements: Any) -> list[int]:
    return [int(number) for element in elements for number in np.ravel(element)]


def shuffled(size: int = 40) -> Dataset:
    return Dataset.range(size).global_shuffle(seed=1)


class Keep:
    """A predicate: of ten samples, some; of batches, by their first."""

    def __init__(self, *rests: int) -> None:
        self.rests = rests

    def __call__(self, x: Any) -> Any:
        return np.bool_(int(np.ravel(x)[0]) % 10 in self.rests)


# ---- random runs


def pipeline(rng: random.Random, source: Dataset, ranks: int, keep: Keep) -> Any:
    """A pipeline with a filter, for each rank; the same stages for all."""
    unit = rng.choice([0, 0, 0, 2, 3])
    between = rng.choice([False, True])
    batch, drop = rng.choice([0, 1, 2, 4]), rng.random() < 0.2
    ahead = rng.choice([None, 1, 3])
    parallel = rng.choice([None, 2])
    twice = rng.random() < 0.3
    tail = rng.choice([None, None, "repeat"]) if not unit else None

    def make(rank: int) -> Dataset:
        ds = source.map(same) if between else source
        ds = ds.batch(unit) if unit else ds
        ds = ds.shard(ranks, rank, tail=tail) if ranks > 1 else ds
        ds = ds.map(same, num_parallel_calls=parallel) if between else ds
        ds = ds.filter(Keep(*range(10)) if unit else keep)  # whole batches, or samples
        ds = ds.map(same).filter(Keep(*range(10))) if twice else ds
        ds = ds if unit or not batch else ds.batch(batch, drop_remainder=drop)
        return ds if ahead is None else ds.prefetch(ahead)

    return make, tail


def same(x: Any) -> Any:
    return x


def check(seed: int) -> None:
    """Samples come once at most; with a last leg to the end, all come that pass the filter."""
    rng = random.Random(seed)
    size, keep = rng.choice([0, 1, 7, 30, 60]), Keep(*range(rng.randint(1, 10)))
    source = Dataset.range(size).global_shuffle(seed=seed)
    position, found, filled = None, list[int](), False
    for _ in range(rng.randint(1, 4)):
        ranks = rng.choice([1, 2, 3, 5])
        make, tail = pipeline(rng, source, ranks, keep)
        positions = []
        for rank in range(ranks):
            ds = make(rank)
            iterator = iter(ds) if position is None else ds.iter_from(position)
            taken = [each for _, each in zip(range(rng.randint(0, 4)), iterator, strict=False)]
            found += numbers(taken)
            positions.append(saved(iterator.position()))
            if (
                rng.random() < 0.3 and "drop" not in ds.explain()
            ):  # by a state, too; which may have dropped the last
                positions[-1] = saved(make(rank).iter_from(saved(iterator.state())).position())
        rng.shuffle(positions)
        position = saved(merge_positions(positions))
        filled = filled or tail is not None
        assert filled or len(set(found)) == len(found), f"seed {seed}"
        left = position.get("left", [])
        assert len(set(left)) == len(left)
    rest = numbers(source.iter_from(position))
    order = numbers(source.epoch(0))
    assert rest == [order[place] for place in left] + order[position["samples"] :]
    assert filled or not set(rest) & set(found), f"seed {seed}"
    assert not [x for x in set(range(size)) - set(found) - set(rest) if keep(x)], f"seed {seed}"


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_runs_with_a_filter(group: int) -> None:
    for seed in range(group, TOPOLOGIES, GROUPS):
        check(seed)


@pytest.mark.parametrize("seed", range(8))
def test_all_that_passes_a_filter_comes_once(seed: int) -> None:
    rng = random.Random(seed)
    keep = Keep(0, 1, 4, 7)
    position, found = None, list[int]()
    for leg in range(4):
        ranks, positions = rng.choice([1, 2, 3, 4]), []
        for rank in range(ranks):
            ds = shuffled(100).shard(ranks, rank).filter(keep).batch(rng.choice([1, 3]))
            iterator = iter(ds) if position is None else ds.iter_from(position)
            for _, batch in zip(range(1000 if leg == 3 else rng.randint(0, 4)), iterator, strict=False):
                found += numbers([batch])
            positions.append(saved(iterator.position()))
        position = merge_positions(positions)
    assert sorted(found) == [x for x in range(100) if x % 10 in (0, 1, 4, 7)]


# ---- one by one


def test_samples_of_slower_ranks_come_first() -> None:
    order = numbers(shuffled(20))
    fast, slow = (iter(shuffled(20).shard(2, rank).filter(Keep(*range(10)))) for rank in range(2))
    assert numbers(next(fast) for _ in range(6)) == order[0:12:2]
    assert numbers(next(slow) for _ in range(2)) == order[1:4:2]
    position = merge_positions([slow.position(), fast.position()])
    assert (position["samples"], position["left"]) == (11, [5, 7, 9])
    rest = [order[5], order[7], order[9], *order[11:]]
    assert numbers(shuffled(20).filter(Keep(*range(10))).iter_from(position)) == rest
    assert numbers(shuffled(20).iter_from(position)) == rest
    assert numbers(shuffled(20).shard(3, 1).batch(2).iter_from(position)) == rest[1::3]
    iterator = shuffled(20).batch(2).iter_from(position)
    next(iterator)
    assert iterator.position() == {**position, "left": [9]}
    next(iterator)
    assert iterator.position() == {key: value for key, value in position.items() if key != "left"} | {
        "samples": 12
    }


def test_one_rank_alone_needs_no_merging() -> None:
    iterator = iter(shuffled(20).filter(Keep(0, 1, 2)).batch(2))
    next(iterator)
    position = iterator.position()
    order = numbers(shuffled(20))
    places = [place for place, x in enumerate(order) if x % 10 < 3]
    assert position["samples"] == places[1] + 1
    assert "rank" not in position
    assert merge_positions([position]) == position
    assert numbers(shuffled(20).shard(2, 1).iter_from(position)) == order[places[1] + 1 :][1::2]


def test_nothing_is_used_before_the_first_and_all_after_the_last() -> None:
    ranks = [iter(shuffled(9).shard(3, rank).filter(Keep(*range(5)))) for rank in range(3)]
    position = merge_positions([rank.position() for rank in ranks])
    assert position["samples"] == 0
    found = [x for rank in ranks for x in rank]
    position = merge_positions([rank.position() for rank in ranks])
    assert sorted(numbers(found)) == list(range(5))
    assert numbers(shuffled(9).filter(Keep(*range(5))).iter_from(position)) == []


def test_a_state_at_every_place_has_the_same_position() -> None:
    def make() -> Dataset:
        return shuffled(40).shard(2, 1).map(same).filter(Keep(0, 3, 4, 8)).batch(2).prefetch(2)

    iterator = iter(make())
    marks = [(saved(iterator.state()), iterator.position())]
    for _ in iterator:
        marks.append((saved(iterator.state()), iterator.position()))
    for place, (state, position) in enumerate(marks):
        resumed = make().iter_from(state)
        used = resumed.position()["used"]
        assert {**resumed.position(), "used": 0} == {**position, "used": 0}
        mine = numbers(shuffled(40).shard(2, 1))
        assert not list(filter(Keep(0, 3, 4, 8), mine[position["used"] : used])), (
            place
        )  # what the filter refuses
        assert sum(1 for _ in resumed) == len(marks) - 1 - place


def test_a_pass_that_resumed_from_a_merged_position_has_states() -> None:
    ranks = [iter(shuffled(40).shard(2, rank).filter(Keep(0, 3, 4)).batch(2)) for rank in range(2)]
    next(ranks[0]), next(ranks[0]), next(ranks[1])
    position = saved(merge_positions([rank.position() for rank in ranks]))
    assert position["left"]
    make = shuffled(40).filter(Keep(0, 3, 4)).batch(2)
    iterator = make.iter_from(position)
    first = numbers([next(iterator)])
    state = saved(iterator.state())
    rest = numbers(iterator)
    assert numbers(make.iter_from(state)) == rest
    assert sorted(first + rest) == sorted(numbers(make.iter_from(position)))


def test_tallies_forget_what_was_taken() -> None:
    iterator = iter(Dataset.range(50_000).filter(Keep(*range(9))).batch(100))
    for _ in range(400):
        next(iterator)
    (tally,) = iterator._context.tallies.values()
    assert sum(len(used) for _, used in tally._notes) < 5000
    assert iterator.position()["samples"] == [x for x in range(50_000) if x % 10 < 9][39_999] + 1


# ---- damaged records


def write_damaged(folder: Path, *bad: int, count: int = 40) -> Path:
    records = [b"%02d" % number for number in range(count)]
    data = frames(records)
    for number in bad:
        data = flip(data, len(frames(records[:number])) + 12)
    (folder / "a.tfrecord").write_bytes(data)
    return folder / "a.tfrecord"


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("window", [None, 200])
def test_what_is_left_out_by_number_is_used(tmp_path: Path, size: int, window: int | None) -> None:
    bad = (0, 3, 4, 5, 17, 30)
    path = write_damaged(tmp_path, *bad)
    source = tfr.TFRecordDataset(path, on_corrupt="skip").global_shuffle(seed=2, window=window)
    found: list[int] = []
    position: Any = None
    for ranks, steps in ((2, (2, 4)), (3, (1, 0, 2)), (1, (100,))):
        positions = []
        for rank in range(ranks):
            ds = source.shard(ranks, rank).map(np.int64).batch(size)
            iterator = iter(ds) if position is None else ds.iter_from(position)
            found += numbers(each for _, each in zip(range(steps[rank]), iterator, strict=False))
            positions.append(saved(iterator.position()))
        position = merge_positions(positions)
    assert sorted(found) == [number for number in range(40) if number not in bad]


def test_what_is_left_out_without_a_number_prevents_a_position(tmp_path: Path) -> None:
    source = tfr.TFRecordDataset(write_damaged(tmp_path, 3), on_corrupt="skip")
    iterator = iter(source.batch(2))
    next(iterator)
    text = refused(iterator.position)
    assert text.startswith("There is no position: TFRecordDataset(")
    assert text.endswith(
        " may leave out elements. Give them numbers by global_shuffle(), and put batch() after all that leaves some "
        'out; or pass on_corrupt="raise".'
    )


# ---- what is refused


def rank_positions(ranks: int = 3, **change: Any) -> list[dict[str, Any]]:
    iterators = [iter(shuffled(20).shard(ranks, rank).filter(Keep(1, 2)).batch(1)) for rank in range(ranks)]
    return [{**iterator.position(), **change} for iterator in iterators]


def test_one_rank_alone_is_refused() -> None:
    position = rank_positions()[1]
    assert (position["rank"], position["ranks"], position["used"]) == (1, 3, 0)
    assert refused(lambda: shuffled(20).iter_from(position)) == (
        "the position is that of rank 1 of 3 alone, and others may have used more samples, or fewer. Give "
        "tfr.merge_positions() those of all ranks, and resume from what it returns."
    )


def test_positions_that_do_not_belong_together_are_refused() -> None:
    good = rank_positions()
    assert refused(lambda: merge_positions([])) == (
        "merge_positions: expected a position of every rank but got none."
    )
    assert refused(lambda: merge_positions(good[:2])) == (
        "merge_positions: expected a position of each of 3 ranks but got those of the ranks [0, 1]."
    )
    assert "[0, 1, 2, 2]" in refused(lambda: merge_positions([*good, good[2]]))
    assert refused(lambda: merge_positions([*good[:2], {**good[2], "epoch": 4}])) == (
        "merge_positions: expected positions of one epoch and one pipeline, but epoch is 0 of the first and 4 of "
        "another."
    )
    assert "seed is [1] of the first" in refused(lambda: merge_positions([good[0], {**good[1], "seed": [2]}]))
    assert "one number of ranks" in refused(lambda: merge_positions([*good[:2], {**good[2], "ranks": 4}]))


def test_what_is_no_list_of_positions_is_refused() -> None:
    good = rank_positions()
    assert merge_positions(each for each in good) == merge_positions(good)
    for wrong in (good[0], None, 5):
        assert refused(lambda wrong=wrong: merge_positions(wrong)) == (
            "merge_positions: expected a list of positions, one of every rank, but got "
            f"{type(wrong).__name__}."
        )
    start = (
        "merge_positions: expected a position, a dict with the key 'position' as "
        "DatasetIterator.position() returns it,"
    )
    assert refused(lambda: merge_positions([None])) == f"{start} but got NoneType."
    state = iter(shuffled(20)).state()
    assert refused(lambda: merge_positions([state])) == f"{start} but got dict without that key."


@pytest.mark.parametrize(
    "change", [{"used": None}, {"used": -1}, {"unit": 0}, {"rank": 3}, {"rank": None}, {"samples": 99}]
)
def test_positions_that_cannot_be_are_not_merged(change: Any) -> None:
    good = rank_positions()
    assert refused(lambda: merge_positions([*good[:2], {**good[2], **change}])).startswith(
        "merge_positions: expected a position of version 1, as DatasetIterator.position() returns it, but got {"
    )


def test_stages_that_tallies_do_not_lead_through_are_named() -> None:
    assert refused(lambda: iter(shuffled().filter(bool).batch(2).shard(2, 0)).position()) == (
        "There is no position: shard(2, 0) comes after filter(bool). Put shard() before it."
    )
    assert refused(lambda: iter(shuffled().filter(bool).repeat(2)).position()) == (
        "There is no position with both filter(bool) and repeat(2): ranks would be in different epochs. Iterate once "
        "for every epoch instead of repeat()."
    )
    assert refused(lambda: iter(shuffled().repeat().filter(bool).batch(2)).position()) == (
        "There is no position with both filter(bool) and repeat(): ranks would be in different epochs. Iterate once "
        "for every epoch instead of repeat()."
    )
    assert "one shard() only" in refused(
        lambda: iter(shuffled().shard(2, 0).shard(2, 1).filter(bool)).position()
    )


def test_positions_of_ranks_in_step_need_no_merging() -> None:
    positions = []
    for rank in range(2):
        iterator = iter(shuffled(20).shard(2, rank).batch(3))
        next(iterator)
        positions.append(iterator.position())
    assert merge_positions(positions) == positions[0] == positions[1]
