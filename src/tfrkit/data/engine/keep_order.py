"""Force parallel maps to keep order where a later stage's saved state counts elements. Pure: no I/O.

A stage that makes elements again to resume from a state (a shuffle, a cache, the rows of a batch) counts them, so they
must come in the same order every time; otherwise some would come twice and others never.
"""

from __future__ import annotations

from tfrkit.data.engine.node import Node

__all__ = ["keep_order"]


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
    inputs = node.inputs
    made = tuple(keep_order(each, free=free and not node.counts) for each in inputs)
    if any(new is not old for new, old in zip(made, inputs, strict=True)):
        node = node.with_inputs(made)
    return node if free else node.in_order()
