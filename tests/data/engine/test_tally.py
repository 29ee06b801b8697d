"""Tallies: what was used for each element, also after a resumption or an interruption, without keeping it all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.frames import frames
from tfrkit.data.engine.tally import Tally


def used(tally: Tally, *given: int) -> list[int]:
    return [tally.used(each) for each in given]


def test_what_was_used_for_so_many() -> None:
    tally = Tally()
    assert used(tally, 0, 5) == [0, 0]
    tally.note(0, np.array([2, 3]))
    tally.note(2, np.array([9]))
    assert used(tally, 0, 1, 2, 3) == [0, 2, 3, 9]
    assert tally.used(7) == 9  # no more is known


def test_it_begins_where_a_state_says() -> None:
    tally = Tally()
    tally.begin(10, 25)
    assert used(tally, 10, 11) == [25, 25]
    tally.note(10, np.array([26, 30]))
    assert used(tally, 10, 11, 12) == [25, 26, 30]


def test_what_is_made_again_replaces_what_was_noted() -> None:
    tally = Tally()
    tally.begin(0, 0)
    tally.note(0, np.array([1, 2, 3]))
    tally.note(3, np.array([4]))
    tally.note(2, np.array([5, 6, 7]))
    assert used(tally, 0, 1, 2, 3, 4, 5) == [0, 1, 2, 5, 6, 7]
    tally.note(0, np.array([8]))
    assert used(tally, 0, 1, 2) == [0, 8, 8]


def test_what_was_taken_is_forgotten_and_the_rest_stays() -> None:
    tally = Tally()
    for start in range(0, 1000, 10):
        tally.note(start, np.arange(start + 1, start + 11) * 2)
        tally.forget(start - 25)
    assert len(tally._notes) <= 5
    assert used(tally, 980, 995, 1000) == [1960, 1990, 2000]
    tally.forget(1000)
    assert tally.used(1000) == 2000


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("tail", [None, "drop", "repeat"])
def test_a_last_batch_uses_no_more_than_its_rank_has(tmp_path: Path, tail: Any, steps: int) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames([b"%02d" % number for number in range(11)]))
    found = []
    for policy in ("raise", "skip"):
        source = tfr.TFRecordDataset(path, on_corrupt=policy).global_shuffle(seed=1)
        positions = []
        for rank in range(3):
            iterator = iter(source.shard(3, rank, tail=tail).batch(2))
            assert len([next(iterator) for _ in range(steps)]) == steps
            positions.append(iterator.position())
        position = tfr.merge_positions(positions)
        found.append((position["samples"], list(source.iter_from(position))))
    assert found[1] == found[0]
    assert found[0][0] == {1: 6, 2: 9 if tail == "drop" else 11}[steps]
