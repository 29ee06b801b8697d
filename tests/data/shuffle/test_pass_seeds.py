"""Passes of shuffles with a buffer by their numbers: `epoch(k)` and `set_epoch(k)` are the k-th `iter`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfrkit import Dataset


def buffer() -> Dataset:
    return Dataset.range(9).shuffle(4, seed=5)


def twice(ds: Dataset) -> Dataset:
    return ds.concatenate(ds)


PIPELINES: dict[str, Callable[[], Dataset]] = {
    "buffer": buffer,
    "batches": lambda: buffer().batch(2).prefetch(1),
    "repeated": lambda: buffer().repeat(2),
    "repeated later": lambda: buffer().batch(2).repeat(3),
    "repeated again": lambda: buffer().repeat(2).repeat(2),
    "two": lambda: buffer().shuffle(3, seed=1),
    "shared": lambda: twice(buffer()),
    "parts": lambda: buffer().take(4).repeat(2),
    "one order": lambda: Dataset.range(9).shuffle(4, seed=5, reshuffle_each_iteration=False),
    "after a global one": lambda: Dataset.range(9).global_shuffle(seed=1).shuffle(3, seed=2).repeat(2),
    "random": lambda: Dataset.random(seed=3, rerandomize_each_iteration=True).take(3),
}


def values(ds: Any) -> list[Any]:
    return [np.asarray(element).tolist() for element in ds]


@pytest.mark.parametrize("name", PIPELINES)
def test_passes_are_those_of_iterating(name: str) -> None:
    ds = PIPELINES[name]()
    passes = [values(ds) for _ in range(4)]
    assert len({str(each) for each in passes}) == (1 if name == "one order" else 4)
    ds = PIPELINES[name]()
    for number in (2, 0, 3, 0):
        assert [values(ds.epoch(number)) for _ in range(2)] == [passes[number]] * 2
    assert values(ds) == passes[0]  # those of `epoch` are not counted
    for number in (2, 0, 3):
        ds.set_epoch(number)
        assert values(ds) == passes[number]
    ds.set_epoch(1)
    assert [values(ds), values(ds)] == passes[1:3]


def test_unseeded_passes_have_numbers_too() -> None:
    ds = Dataset.range(50).shuffle(50)
    passes = [values(ds), values(ds)]
    assert [values(ds.epoch(0)), values(ds.epoch(1))] == passes
    ds.set_epoch(0)
    assert values(ds) == passes[0] != passes[1]


@pytest.mark.parametrize("name", ["buffer", "repeated", "repeated later"])
def test_pass_by_number_resumes(name: str) -> None:
    ds = PIPELINES[name]().epoch(2)
    whole = values(ds)
    for place in range(len(whole)):
        iterator = iter(ds)
        for _ in range(place):
            next(iterator)
        state = json.loads(json.dumps(iterator.state()))
        assert values(PIPELINES[name]().epoch(2).iter_from(state)) == whole[place:]
