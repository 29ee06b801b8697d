"""Rewrites: stages that run faster as one. Each is a small function, and none changes what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfrkit.data.node import Node

__all__ = ["REWRITES", "optimise"]

# Each takes a node whose inputs are rewritten already, and gives another one or None.
REWRITES: Final[list[Callable[[Node], Node | None]]] = []


def optimise(node: Node) -> Node:
    """Rewrite a pipeline from its sources on, until nothing more applies. Pure: no I/O."""
    inputs = node.inputs
    made = tuple(optimise(each) for each in inputs)
    if any(new is not old for new, old in zip(made, inputs, strict=True)):
        node = node.with_inputs(made)
    for rewrite in REWRITES:
        found = rewrite(node)
        if found is not None:
            return optimise(found)
    return node
