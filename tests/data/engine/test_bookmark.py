"""Bookmarks: states and positions of where an iterator stood, made after it has gone on; and epochs that are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.data.engine import state as state_module
from tfrkit.errors import InvalidArgumentError


def test_states_are_those_of_the_place() -> None:
    ds = tfr.Dataset.range(40).global_shuffle(seed=2).map(lambda x: x + 1).prefetch(3).batch(4)
    iterator = iter(ds)
    marks, states, positions = [], [], []
    for _ in range(6):
        marks.append(iterator.bookmark())
        states.append(iterator.state())
        positions.append(iterator.position())
        next(iterator)
    list(iterator)
    assert [mark.state() for mark in marks] == states
    assert [mark.position() for mark in marks] == positions


def test_the_next_pass_is_the_epoch_that_was_set() -> None:
    ds = tfr.Dataset.range(9).global_shuffle(seed=2)
    ds.set_epoch(4)
    assert list(ds) == list(ds.epoch(4))
    assert list(ds) == list(ds.epoch(5))
    with pytest.raises(InvalidArgumentError, match="an epoch of at least 0 but got -1"):
        ds.set_epoch(-1)


def test_elements_of_a_list_of_numbers_are_their_owners() -> None:
    ds = tfr.Dataset.from_tensor_slices(np.arange(6).reshape(3, 2))
    found = ds.__getitems__([2, 0])
    assert [each.tolist() for each in found] == [[4, 5], [0, 1]]
    found[0] += 1
    assert ds[2].tolist() == [4, 5]


def test_files_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many([b"a"] * 9)
    asked: list[object] = []
    found = state_module.file_fingerprint
    monkeypatch.setattr(state_module, "file_fingerprint", lambda path: (asked.append(path), found(path))[1])
    iterator = iter(tfr.TFRecordDataset(tmp_path / "a.tfrecord").global_shuffle(seed=1))
    for _ in range(4):
        next(iterator)
        iterator.state()
        assert iterator.position()["files"]
    assert len(asked) == 1
