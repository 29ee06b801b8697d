"""Rewrites: what is done to a pipeline before it runs, none of which changes what comes out. Pure: no I/O.

Stages that run faster as one become one; which ones, the stages say themselves. And maps that run in parallel keep the
order where a later stage's saved state counts elements: one that makes elements again to resume from a state (a
shuffle, a cache, the rows of a batch) must get them in the same order every time; otherwise some would come twice and
others never.
"""

from __future__ import annotations

from collections.abc import Callable

from tfrkit.data.engine.node import Node

__all__ = ["keep_order", "optimise"]


def optimise(node: Node) -> Node:
    """Rewrite a pipeline from its sources on, until nothing more applies."""
    node = _with_inputs(node, optimise)
    found = node.fused()
    return node if found is None else optimise(found)


def keep_order(node: Node, *, free: bool = True) -> Node:
    """The pipeline with every map in order that has a counting stage after it.

    Args:
        node: the pipeline.
        free: whether no later stage counts.

    >>> from tfrkit import Dataset
    >>> ds = Dataset.range(5).map(abs, num_parallel_calls=2, deterministic=False)
    >>> keep_order(ds.node).deterministic, keep_order(ds.shuffle(3).node).input.deterministic
    (False, True)
    """
    made = _with_inputs(node, lambda each: keep_order(each, free=free and not node.counts))
    return made if free else made.in_order()


def _with_inputs(node: Node, change: Callable[[Node], Node]) -> Node:
    inputs = node.inputs
    made = tuple(map(change, inputs))
    return node.with_inputs(made) if any(map(lambda new, old: new is not old, made, inputs)) else node
