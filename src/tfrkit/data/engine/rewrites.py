"""Rewrites: what is done to a pipeline before it runs, none of which changes what comes out. Pure: no I/O.

Stages that run faster as one become one, and a shard comes before stages that need not work for others; which ones, the
stages say themselves. And maps that run in parallel keep the
order where a later stage's saved state counts elements: one that makes elements again to resume from a state (a
shuffle, a cache, the rows of a batch) must get them in the same order every time; otherwise some would come twice and
others never.
"""

from __future__ import annotations

from collections.abc import Callable

from tfrkit.data.engine.node import Node
from tfrkit.data.options import OptionsNode

__all__ = ["keep_order", "optimise"]


def optimise(node: Node) -> Node:
    """Rewrite a pipeline from its sources on, until nothing more applies."""
    return _rewritten(_in_any_order(node) if OptionsNode.of(node).deterministic is False else node)


def _rewritten(node: Node) -> Node:
    node = _with_inputs(node, _rewritten)
    found = node.fused()
    return node if found is None else _rewritten(found)


def _in_any_order(node: Node) -> Node:
    """The pipeline whose stages know that the options leave the order free."""
    return _with_inputs(node, _in_any_order).in_any_order()


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
