"""Seeds of a pass with a number: where the generators of a pipeline's shuffles stand when it begins.

A generator counts how often it was drawn from, and a pass may do that more than once: a shuffle that is repeated has
other seeds every time. What is drawn, and how, is in `epoch_seeds.py`.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from typing import Any

from tfrkit.data.engine.node import Node
from tfrkit.data.shuffle.epoch_seeds import GlobalSeed, SeedGenerator

__all__ = ["move_seeds", "with_seeds_of_pass"]


def move_seeds(node: Node, epoch: int) -> None:
    """Let the next pass through a pipeline be that with this number, for all datasets that share its shuffles."""
    for each, draws in _draws(node).items():
        each.at_epoch(epoch * draws)


def with_seeds_of_pass(node: Node, epoch: int) -> Node:
    """The same pipeline with shuffles of its own, which stand where the pass with this number begins."""
    made = {}
    for each, draws in _draws(node).items():
        made[each] = copy.copy(each)
        made[each].at_epoch(epoch * draws)
    return _replaced(node, made) if made else node


def _draws(node: Node) -> Counter[SeedGenerator]:
    """How often a pass draws from each generator that has other seeds then; those of no end count as one time."""
    found: Counter[SeedGenerator] = Counter()
    for part in node.inputs:
        for each, draws in _draws(part).items():
            found[each] += node.input_passes * draws
    for value in _values(node).values():
        if isinstance(value, SeedGenerator) and not isinstance(value, GlobalSeed) and value.varies:
            found[value] += node.input_passes
    return found


def _replaced(node: Node, made: dict[SeedGenerator, SeedGenerator]) -> Node:
    if not _draws(node):
        return node
    if node.inputs:
        node = node.with_inputs(tuple(_replaced(each, made) for each in node.inputs))
    own = {
        name: made[value]
        for name, value in _values(node).items()
        if isinstance(value, SeedGenerator) and value in made
    }
    return dataclasses.replace(node, **own) if own else node


def _values(node: Any) -> dict[str, Any]:
    return {each.name: getattr(node, each.name) for each in dataclasses.fields(node) if each.init}
