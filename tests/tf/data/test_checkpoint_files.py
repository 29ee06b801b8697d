"""Checkpoints by others' hands: read, or refused with one class of error."""

from __future__ import annotations

import pytest

from tfrkit.errors import DataLossError
from tfrkit.tf.data.checkpoint_files import Checkpoints, latest_checkpoint, read_states, write_states

ODD = [
    "",
    "{",
    "[]",
    "7",
    "[" * 100_000,
    '{"tfrkit_checkpoint": 1}',
    '{"tfrkit_checkpoint": 1, "iterators": []}',
    "\x00",
]


@pytest.mark.parametrize("text", ODD)
def test_what_is_no_checkpoint_is_refused(text, tmp_path):
    (tmp_path / "x-1.index").write_text(text)
    with pytest.raises(DataLossError, match="expected a checkpoint of tfrkit, version 1"):
        read_states(str(tmp_path / "x-1"))


def test_deep_states_come_back(tmp_path):
    state: dict[str, object] = {}
    for _ in range(150):  # a pipeline of that many stages
        state = {"input": state}
    write_states(str(tmp_path / "x-1"), {"it": state}, 3)
    assert read_states(str(tmp_path / "x-1")) == ({"it": state}, 3)


@pytest.mark.parametrize(
    "line", ["model_checkpoint_path: {", "model_checkpoint_path: 7", "last_preserved_timestamp: x", "\xff"]
)
def test_list_that_cannot_be_read_is_none(line, tmp_path):
    (tmp_path / "checkpoint").write_text(f'all_model_checkpoint_paths: "x-1"\n{line}\n', "latin-1")
    assert Checkpoints.read(str(tmp_path)) is None
    assert latest_checkpoint(tmp_path) is None
