"""Rewrites: stages that run faster as one. Each is a small function, and none changes what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfrkit.data.batch.background_batch import BackgroundBatchNode
from tfrkit.data.batch.batch import BatchNode
from tfrkit.data.batch.fused_batch import FusedBatchNode
from tfrkit.data.batch.padded_batch import PaddedBatchNode
from tfrkit.data.engine.chunk_node import ChunkNode
from tfrkit.data.engine.node import Node
from tfrkit.data.stages.prefetch import PrefetchNode

__all__ = ["LAST_REWRITES", "REWRITES", "optimise"]


def stages_then_batch(node: Node) -> Node | None:
    """`parse` and verbs on features, then a batch: whole batches are parsed, and go through nothing else."""
    if not isinstance(node, (BatchNode, PaddedBatchNode)):
        return None
    before: list[Node] = []
    source = node.input
    while isinstance(source, ChunkNode) and source.keeps_count:
        before.append(source)
        source = source.input
    return FusedBatchNode(source, tuple(reversed(before)), node, ()) if before else None


def batch_then_stage(node: Node) -> Node | None:
    """A batch of records that is then parsed, and verbs on features of batches."""
    if not isinstance(node, ChunkNode) or not node.keeps_count:
        return None
    if isinstance(node.input, FusedBatchNode):
        fused = node.input
        return FusedBatchNode(fused.input, fused.before, fused.batch, (*fused.after, node))
    if node.takes_records and isinstance(node.input, BatchNode):
        return FusedBatchNode(node.input.input, (), node.input, (node,))
    return None


def batch_then_prefetch(node: Node) -> Node | None:
    """Batches of a pure input are made several at once."""
    if isinstance(node, PrefetchNode) and isinstance(node.input, FusedBatchNode):
        return BackgroundBatchNode(node.input, node.depth) if node.depth and node.input.pure else None
    return None


# Each takes a node whose inputs are rewritten already, and gives another one or None.
REWRITES: Final[list[Callable[[Node], Node | None]]] = [
    stages_then_batch,
    batch_then_stage,
    batch_then_prefetch,
]


def batch_alone(node: Node) -> Node | None:
    """The same without a prefetch, when everything else is done."""
    return BackgroundBatchNode(node, None) if isinstance(node, FusedBatchNode) and node.pure else None


# When none of the others applies any more.
LAST_REWRITES: Final[list[Callable[[Node], Node | None]]] = [batch_alone]


def optimise(node: Node) -> Node:
    """Rewrite a pipeline from its sources on, until nothing more applies. Pure: no I/O."""
    return _rewrite(_rewrite(node, REWRITES), LAST_REWRITES)


def _rewrite(node: Node, rewrites: list[Callable[[Node], Node | None]]) -> Node:
    inputs = node.inputs
    made = tuple(_rewrite(each, rewrites) for each in inputs)
    if any(new is not old for new, old in zip(made, inputs, strict=True)):
        node = node.with_inputs(made)
    for rewrite in rewrites:
        found = rewrite(node)
        if found is not None:
            return _rewrite(found, rewrites)
    return node
