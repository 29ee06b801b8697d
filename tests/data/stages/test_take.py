"""Ranks: shards of equal lengths, what fills them up, and what they have of an epoch that resumes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit import Dataset
from tfrkit.errors import InvalidArgumentError


def numbers(elements: Any) -> list[int]:
    return [int(number) for element in elements for number in np.ravel(element)]


def shuffled(size: int) -> Dataset:
    return Dataset.range(size).global_shuffle(seed=1)


def position_after(ds: Dataset, count: int) -> Any:
    iterator = iter(ds)
    for _ in range(count):
        next(iterator)
    return iterator.position()


def refused(call: Any) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    return str(caught.value)


# ---- lengths


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("size", [0, 1, 11, 12, 13, 40])
@pytest.mark.parametrize("tail", [None, "drop", "repeat"])
def test_the_ranks_have_every_element_once(size: int, ranks: int, tail: str | None) -> None:
    order = numbers(shuffled(size))
    shards = [shuffled(size).shard(ranks, rank, tail=tail) for rank in range(ranks)]
    if tail == "drop" and 0 < size < ranks:
        assert "cannot be divided" in refused(lambda: list(shards[0]))
        return
    found = [numbers(shard) for shard in shards]
    assert [len(each) for each in found] == [len(shard) for shard in shards]
    assert [[int(shard[i]) for i in range(len(shard))] for shard in shards] == found
    if tail is None:
        assert found == [order[rank::ranks] for rank in range(ranks)]
        return
    each = size // ranks if tail == "drop" else -(-size // ranks)
    places = [[rank + i * ranks for i in range(each)] for rank in range(ranks)]
    assert found == [[order[place % size] for place in places[rank]] for rank in range(ranks)]


@pytest.mark.parametrize("tail", ["drop", "repeat"])
def test_a_tail_needs_no_shuffle(tail: str) -> None:
    found = [numbers(Dataset.range(10).map(lambda x: x).shard(3, rank, tail=tail)) for rank in range(3)]
    wanted = (
        [[0, 3, 6], [1, 4, 7], [2, 5, 8]] if tail == "drop" else [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    )
    assert found == wanted


def test_a_tail_of_what_has_no_end_is_nothing() -> None:
    endless = Dataset.from_tensor_slices({"x": np.arange(5)}).repeat()
    for tail in ("drop", "repeat"):
        ds = endless.shard(2, 1, tail=tail, mask="real" if tail == "repeat" else None)
        iterator = iter(ds)
        found = [next(iterator) for _ in range(6)]
        assert [int(each["x"]) for each in found] == [1, 3, 0, 2, 4, 1]
        assert all(bool(each.get("real", True)) for each in found)


def test_only_the_elements_of_a_rank_are_made() -> None:
    calls: list[int] = []

    def noted(x: Any) -> Any:
        calls.append(int(x))
        return x

    for make in (
        lambda: Dataset.range(40).global_shuffle(seed=1).map(noted).shard(4, 1),
        lambda: Dataset.range(40).map(noted).shard(4, 1, tail="drop"),
        lambda: Dataset.range(40).map(noted).global_shuffle(seed=1).batch(2).shard(4, 1),
        lambda: Dataset.range(40).global_shuffle(seed=1).map(noted).batch(5).shard(4, 1).prefetch(1),
    ):
        calls.clear()
        found = numbers(make())
        assert len(found) == 10
        assert sorted(calls) == sorted(found)


def test_whole_batches_of_a_rank() -> None:
    order = numbers(shuffled(20))
    batches = [order[start : start + 3] for start in range(0, 20, 3)]
    found = [[batch.tolist() for batch in shuffled(20).batch(3).shard(2, rank)] for rank in range(2)]
    assert found == [batches[0::2], batches[1::2]]
    even = [[batch.tolist() for batch in shuffled(20).batch(3).shard(2, r, tail="drop")] for r in range(2)]
    assert even == [batches[0:6:2], batches[1:6:2]]


# ---- too many ranks, and what fills them up


def test_more_ranks_than_samples() -> None:
    found = [numbers(shuffled(3).shard(5, rank)) for rank in range(5)]
    assert sorted(map(len, found)) == [0, 0, 1, 1, 1]
    filled = [numbers(shuffled(3).shard(5, rank, tail="repeat")) for rank in range(5)]
    assert [len(each) for each in filled] == [1] * 5
    text = refused(lambda: list(shuffled(3).shard(5, 0, tail="drop")))
    assert text == (
        "shard(5, 0, 'drop'): 3 elements cannot be divided among 5 shards without a rest: none would have any. Use "
        'fewer shards, or tail="repeat".'
    )
    with pytest.raises(TypeError) as caught:  # which list() takes to mean that it must iterate
        len(Dataset.range(3).shard(5, 0, tail="drop").batch(2))
    assert str(caught.value) == f"The dataset length is unknown: {text}"
    position = position_after(shuffled(3), 2)
    assert [numbers(shuffled(3).shard(5, r).iter_from(position)) for r in range(5)][1:] == [[]] * 4
    assert numbers(shuffled(3).shard(5, 4, tail="drop").iter_from(position)) == []


def test_a_batch_that_no_rank_can_fill() -> None:
    ds = shuffled(10).shard(4, 1, tail="drop").batch(5, drop_remainder=True)
    assert len(ds) == 0
    assert list(ds) == []
    iterator = iter(ds)
    assert next(iterator, None) is None
    assert iterator.position()["samples"] == 0
    endless = shuffled(3).batch(5, drop_remainder=True).repeat()
    assert list(endless) == []


def test_an_endless_repeat_goes_on_after_a_rest_that_has_nothing_for_a_rank() -> None:
    position = position_after(shuffled(9), 8)
    whole = [numbers(shuffled(9).epoch(epoch)) for epoch in range(3)]
    for make in (
        lambda rank: shuffled(9).shard(3, rank, tail="drop").repeat(),
        lambda rank: shuffled(9).shard(3, rank).batch(1).repeat(),
    ):
        iterator = make(2).iter_from(position)
        assert numbers(next(iterator) for _ in range(6)) == whole[1][2::3] + whole[2][2::3]


def test_ranks_out_of_step_have_no_position() -> None:
    iterator = iter(shuffled(5).shard(2, 1).repeat())
    next(iterator), next(iterator)
    assert iterator.position()["samples"] == 4
    next(iterator)
    assert refused(iterator.position) == (
        "There is no position: of shard(2, 1) before repeat() the ranks have 2 to 3 elements of an epoch, so that some "
        "are in the next one already. Put repeat() before shard(), or pass tail=."
    )


def test_what_fills_up_a_rank_is_marked() -> None:
    source = Dataset.from_tensor_slices({"x": np.arange(7)})
    ranks = [source.global_shuffle(seed=2).shard(3, r, tail="repeat", mask="real") for r in range(3)]
    assert [len(ds) for ds in ranks] == [3, 3, 3]
    real = [int(e["x"]) for ds in ranks for e in ds if e["real"]]
    assert sorted(real) == list(range(7))
    assert [[bool(e["real"]) for e in ds] for ds in ranks] == [
        [True] * 3,
        [True, True, False],
        [True, True, False],
    ]
    batch = next(iter(ranks[2].batch(3)))
    assert batch["real"].dtype == np.bool_
    assert ranks[0].element_spec["real"] == tfr.TensorSpec((), np.bool_)


@pytest.mark.parametrize("source", [[1, 2, 3], {"m": [1, 2]}], ids=["numbers", "dicts"])
def test_a_mask_needs_a_place(source: Any) -> None:
    make = functools.partial(Dataset.from_tensor_slices, source)
    ds = make().shard(2, 0, tail="repeat", mask="m")
    assert refused(lambda: list(ds)).startswith("shard(2, 0, 'repeat', 'm'): ")
    assert (
        refused(lambda: make().shard(2, 0, mask="m"))
        == 'mask marks what tail="repeat" fills up with: pass that too.'
    )
    assert (
        refused(lambda: make().shard(2, 0, tail="x"))
        == 'Expected tail to be None, "drop" or "repeat" but got \'x\'.'
    )
