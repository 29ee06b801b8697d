"""States of version 3 resume in every release: those that `golden_states.json` keeps of every stage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.engine.golden_states import FILE, PIPELINES, write_files
from tests.data.support.same import same
from tfrkit.data.engine.node import Node

STATES = json.loads(FILE.read_text())


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()


@pytest.mark.parametrize("name", PIPELINES)
def test_a_golden_state_resumes(name):
    whole = list(PIPELINES[name]())
    assert len(STATES[name]) == 3
    for seen, state in STATES[name].items():
        assert state["version"] == 3
        rest = list(PIPELINES[name]().iter_from(state))
        assert len(rest) == len(whole) - int(seen)
        if name == "map in any order":  # of batches of ascending numbers, so that what is left is known
            left = np.sort(np.concatenate(whole))[4 * int(seen) :]
            assert same(np.sort(np.concatenate([left[:0], *rest])), left), seen
        else:
            assert all(map(same, rest, whole[int(seen) :])), seen


def verbs_of(node: Node) -> set[str]:
    return {node.verb}.union(*map(verbs_of, node.inputs))


def test_every_stage_has_a_golden_state():
    kept = set().union(*(verbs_of(make().node) for make in PIPELINES.values()))
    lacking = {kind.verb for kind in kinds(Node) if isinstance(getattr(kind, "verb", None), str)} - kept
    assert lacking <= NO_STATE


# Stages that only tfrkit itself puts into pipelines.
NO_STATE = {"elements", "located"}


def kinds(kind: type[Node]) -> set[type[Node]]:
    """All classes of nodes of ours, without TensorFlow's."""
    found = {kind} if kind.__module__.startswith("tfrkit.data.") else set()
    return found.union(*map(kinds, kind.__subclasses__()))


def test_a_state_of_version_2_is_refused_with_both_versions_named():
    state = {**STATES["batch"]["2"], "version": 2}
    with pytest.raises(tfr.errors.InvalidArgumentError) as caught:
        PIPELINES["batch"]().iter_from(state)
    assert str(caught.value).startswith("expected a state of version 3 but got one of version 2.")
