"""Stages that do nothing, which TensorFlow leaves out before it runs a pipeline. Pure: no I/O."""

from __future__ import annotations

from tfrkit.data.engine.node import Node
from tfrkit.data.stages.repeat import RepeatNode
from tfrkit.data.stages.shard import ShardNode
from tfrkit.data.stages.take import SkipNode, TakeNode

__all__ = ["last_active"]


def last_active(node: Node) -> Node:
    """The last stage that TensorFlow does not leave out.

    >>> from tfrkit import Dataset
    >>> last_active(Dataset.range(3).take(-1).skip(0).repeat(1).node).label
    'range(0, 3, 1)'
    """
    while True:
        match node:
            case TakeNode(count=-1) | SkipNode(count=0) | RepeatNode(count=1) | ShardNode(shards=1):
                (node,) = node.inputs
            case _:
                return node
