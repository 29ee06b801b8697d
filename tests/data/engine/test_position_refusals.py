"""Positions that are refused, and pipelines that have none: nothing else may change, and the text says what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.data.support.topologies import numbers_of
from tfrkit import Dataset
from tfrkit.errors import InvalidArgumentError


def refused(call: Any) -> str:
    """The text of the refusal."""
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    return str(caught.value)


def numbers(elements: Any) -> list[int]:
    return [number for element in elements for number in numbers_of(element)]


def shuffled(size: int = 12, seed: int | None = 1) -> Dataset:
    return Dataset.range(size).global_shuffle(seed=seed)


def after(ds: Dataset, count: int) -> Any:
    """An iterator after so many elements."""
    iterator = iter(ds)
    for _ in range(count):
        next(iterator)
    return iterator


def saved(position: Any) -> Any:
    return json.loads(json.dumps(position))


@pytest.mark.parametrize("change", [{"seed": [5]}, {"order": ""}, {"size": 13}, {"position": 9}])
def test_an_iterator_that_refuses_a_position_goes_on(change: Any) -> None:
    ds = shuffled().batch(2)
    iterator = after(ds, 2)
    position = iterator.position()
    refused(lambda: iterator.load_state_dict({**position, **change}))
    assert iterator.position() == position
    assert numbers(iterator) == numbers(shuffled())[4:]


def test_an_iterator_that_refuses_the_position_in_a_state_goes_on() -> None:
    ds = shuffled().epoch(2)
    iterator = shuffled().iter_from(after(ds, 2).position())
    state = saved(iterator.state())
    other = after(shuffled(), 3)
    refused(lambda: other.load_state_dict({**state, "seeds": [5]}))
    assert numbers(other) == numbers(shuffled())[3:]


def test_a_refused_position_leaves_drawn_seeds_alone() -> None:
    position = saved(after(shuffled(seed=None), 1).position())
    for other in (shuffled(24, None).batch(2)[:12].map(abs), shuffled(24, None).take(12)):
        before = numbers(other.epoch(0))
        assert "other samples" in refused(lambda other=other: other.iter_from({**position, "size": 12}))
        assert numbers(other.epoch(0)) == before
    fixed = shuffled(seed=None).epoch(3)
    before = numbers(fixed)
    assert "another epoch" in refused(lambda: fixed.iter_from(position))
    assert numbers(fixed) == before


# ---- samples of one rank alone


DIVIDED = {
    "take(4)": lambda ds, n, i: ds.shard(n, i).take(4),
    "skip(1)": lambda ds, n, i: ds.shard(n, i).skip(1),
    "zip": lambda ds, n, i: Dataset.zip(ds.shard(n, i), Dataset.range(12).shard(n, i)),
    "zip()": lambda ds, n, i: ds.shard(n, i).enumerate(),
    "concatenate()": lambda ds, n, i: ds.shard(n, i).concatenate(ds.shard(n, i)),
    "global_shuffle(seed=1)": lambda ds, n, i: ds.shard(n, i, tail="drop").global_shuffle(seed=1),
    "slice(0, 1, 3)": lambda ds, n, i: ds.shard(n, i)[:3],
}


@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.parametrize("later", ["batch", "filter"])
def test_samples_that_are_those_of_one_rank_have_no_position(name: str, later: str) -> None:
    def make(ranks: int, rank: int = 0) -> Dataset:
        ds = DIVIDED[name](shuffled(), ranks, rank)
        return ds.batch(2) if later == "batch" else ds.filter(lambda *x: True)

    iterator = after(make(2), 1)
    text = refused(iterator.position)
    assert text.startswith(f"There is no position: {name}")
    assert " comes after shard(2, 0" in text
    assert text.endswith("so that only samples of this rank can be counted. Put shard() after it.")
    alone = after(make(1), 1).position()
    assert refused(lambda: make(2, 1).iter_from(alone)).startswith(f"There is no position: {name}")
    resumed = make(2).iter_from(saved(iterator.state()))
    assert [*map(str, resumed)] == [*map(str, iterator)]


# ---- samples without an end


ENDLESS = {
    "counter": Dataset.counter,
    "enumerate": lambda: shuffled(10).repeat().enumerate(),
    "zip": lambda: Dataset.zip(shuffled(10).repeat(), Dataset.range(7).repeat()),
    "concatenate": lambda: Dataset.range(5).concatenate(Dataset.counter()),
    "skip": lambda: shuffled(10).repeat().skip(3),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_samples_without_an_end_have_positions(name: str) -> None:
    whole = [str(x) for _, x in zip(range(60), ENDLESS[name](), strict=False)]
    iterator = after(ENDLESS[name]().map(as_text).shard(2, 0).batch(3), 4)
    position = saved(iterator.position())
    assert (position["samples"], position["size"]) == (24, -1)
    other = ENDLESS[name]().map(as_text)
    for rank in range(3):
        resumed = other.shard(3, rank).batch(2).iter_from(position)
        assert [next(resumed).to_list() for _ in range(3)] == pairs(whole[24 + rank :: 3])[:3]
    resumed = other.repeat(2).iter_from(position)
    assert [next(resumed).decode() for _ in range(5)] == whole[24:29]
    assert resumed.position() == {**position, "samples": 29}
    assert next(other.iter_from(resumed.position())).decode() == whole[29]


def as_text(*x: Any) -> str:
    return str(x if len(x) > 1 else x[0])


def pairs(texts: list[str]) -> list[list[bytes]]:
    found = [each.encode() for each in texts]
    return [found[start : start + 2] for start in range(0, len(found), 2)]


def test_a_stage_with_a_seed_that_was_not_there_is_named() -> None:
    position = after(shuffled(), 1).position()
    seeded = shuffled().map(lambda x, seed: x, seeded=True, seed=3)
    assert refused(lambda: seeded.iter_from(position)) == (
        "the position is of another order: expected 1 seeds, [1], but the dataset has 2, of global_shuffle(seed=1) and "
        "map(seeded=True). Use the same global_shuffle() and map(seeded=True), or start the epoch over."
    )
    assert "the dataset has 0, of no stage" in refused(lambda: Dataset.range(12).iter_from(position))


# ---- elements that fail


def failing(numbers_that_fail: set[int]) -> Any:
    def check(x: Any) -> Any:
        if int(x) in numbers_that_fail:
            raise KeyError(int(x))
        return x

    return check


def outcomes(iterator: Any, count: int) -> list[Any]:
    """So many elements and errors."""
    found: list[Any] = []
    for _ in range(count):
        try:
            found.append(numbers([next(iterator)]))
        except KeyError as error:
            found.append(error)
    return found


MADE_OF_ONE = {
    "range": lambda ds: Dataset.range(12).map(failing({3, 4, 9})),
    "shuffled": lambda ds: ds.map(failing({3, 4, 9})),
    "window": lambda ds: Dataset.range(12).global_shuffle(seed=1, window=32).map(failing({3, 4, 9})),
    "before": lambda ds: Dataset.range(12).map(failing({3, 4, 9})).global_shuffle(seed=1),
    "threads": lambda ds: ds.map(failing({3, 4, 9}), num_parallel_calls=2).prefetch(2),
    "slice": lambda ds: Dataset.range(24).map(failing({3, 4, 9}))[:12],
    "single": lambda ds: ds.map(failing({3, 4, 9})).batch(1),
}


@pytest.mark.parametrize("name", MADE_OF_ONE)
@pytest.mark.parametrize("repeat", [False, True])
def test_an_element_that_fails_counts_if_it_is_made_of_one_sample(name: str, repeat: bool) -> None:
    def make(*stages: tuple[str, int, int]) -> Dataset:
        ds = MADE_OF_ONE[name](shuffled())
        for verb, *arguments in stages:
            ds = getattr(ds, verb)(*arguments)
        return ds.repeat() if repeat else ds

    whole = [*map(str, outcomes(iter(make()), 24 if repeat else 12))]
    for count in range(1, 20 if repeat else 12):
        iterator = iter(make())
        outcomes(iterator, count)
        position = saved(iterator.position())
        assert (position["epoch"], position["samples"]) == divmod(count, 12)
        resumed = make().iter_from(position)
        assert [*map(str, outcomes(resumed, len(whole) - count))] == whole[count:]
    if name != "range":
        iterator = iter(make(("shard", 2, 1)))
        outcomes(iterator, 4)
        assert iterator.position()["samples"] == 8


@pytest.mark.parametrize("later", ["", "prefetch", "map"])
@pytest.mark.parametrize("shard", [False, True])
@pytest.mark.parametrize("resumed", [False, True])
def test_the_position_is_known_again_in_the_next_epoch(later: str, shard: bool, resumed: bool) -> None:
    def make(failures: set[int]) -> Dataset:
        ds = plain.map(failing(failures)).batch(2).repeat()
        return ds if not later else ds.prefetch(2) if later == "prefetch" else ds.map(lambda x: x)

    plain = shuffled().shard(2, 0) if shard else shuffled()
    order, failures = [numbers(plain.epoch(epoch)) for epoch in range(3)], {3, 8}
    ranks = 2 if shard else 1
    iterator = iter(make(failures))
    if resumed:
        iterator = make(failures).iter_from(after(plain.batch(1), 1).position())
    outcome: Any = None
    while not isinstance(outcome, KeyError):
        (outcome,) = outcomes(iterator, 1)
    assert "One of them has failed" in refused(iterator.position)
    failures.clear()  # fails no more
    while outcome != order[1][:2]:
        (outcome,) = outcomes(iterator, 1)
    for taken in (2, 4):
        position = saved(iterator.position())
        assert (position["epoch"], position["samples"]) == (1, taken * ranks)
        assert numbers(plain.iter_from(position)) == order[1][taken:]
        next(iterator)
    while outcome != order[2][:2]:
        (outcome,) = outcomes(iterator, 1)
    assert iterator.position()["samples"] == 2 * ranks
    failures.update(order[2])
    while not isinstance(outcome, KeyError):
        (outcome,) = outcomes(iterator, 1)
    assert "One of them has failed" in refused(iterator.position)


def test_a_batch_over_several_epochs_stays_unknown() -> None:
    iterator = iter(shuffled().map(failing({3})).repeat().batch(2))
    outcomes(iterator, 15)
    assert refused(iterator.position).endswith(
        "Take it in the next epoch, and let repeat() come after batch()."
    )
