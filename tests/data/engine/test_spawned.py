"""A pipeline that cannot be sent to a process which is spawned names the stage; other picklers are left alone."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from multiprocessing import context
from typing import Any

import pytest

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError


@pytest.fixture
def spawning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "get_spawning_popen", object)


@pytest.mark.usefixtures("spawning")
@pytest.mark.parametrize(
    ("make", "stage"),
    [
        (lambda ds: ds.map(lambda x: x).batch(2), r"map\(<lambda>\)"),
        (lambda ds: ds.map(abs).filter(lambda x: x > 1), r"filter\(<lambda>\)"),
        (lambda ds: ds.map(lambda x: x, num_parallel_calls=2), r"map\(<lambda>, num_parallel_calls=2\)"),
    ],
)
def test_stage_is_named(make: Any, stage: str) -> None:
    with pytest.raises(
        InvalidArgumentError, match=f"{stage}: its function cannot be sent to a worker process"
    ):
        pickle.dumps(make(tfr.Dataset.range(3)))


@pytest.mark.usefixtures("spawning")
def test_functions_that_pickle_pass() -> None:
    made = pickle.loads(pickle.dumps(tfr.Dataset.range(-2, 1).map(abs)))
    assert [int(x) for x in made] == [2, 1, 0]


def test_copies_and_other_picklers_may_know_more() -> None:
    ds = tfr.Dataset.range(3).map(lambda x: x + 1)
    assert [int(x) for x in copy.copy(ds)] == [1, 2, 3]
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(ds)


def test_process_is_not_begun() -> None:
    ds = tfr.Dataset.range(3).map(lambda x: x)
    process = multiprocessing.get_context("spawn").Process(target=list, args=(ds,))
    with pytest.raises(InvalidArgumentError, match=r"map\(<lambda>\)"):
        process.start()
