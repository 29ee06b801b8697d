"""Rewrites: stages that run faster as one. Which ones, the stages say themselves, and none changes what comes out."""

from __future__ import annotations

from tfrkit.data.engine.node import Node

__all__ = ["optimise"]


def optimise(node: Node) -> Node:
    """Rewrite a pipeline from its sources on, until nothing more applies. Pure: no I/O."""
    inputs = node.inputs
    made = tuple(map(optimise, inputs))
    if any(new is not old for new, old in zip(made, inputs, strict=True)):
        node = node.with_inputs(made)
    found = node.fused()
    return node if found is None else optimise(found)
