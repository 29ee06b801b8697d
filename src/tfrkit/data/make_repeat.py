"""How TensorFlow repeats: whether seeds are drawn for a pass that nobody sees."""

from __future__ import annotations

from tfrkit.data.node import Node
from tfrkit.data.repeat import RepeatNode
from tfrkit.data.shard import ShardNode
from tfrkit.data.shuffle import ShuffleNode, repeated
from tfrkit.data.take import SkipNode, TakeNode

__all__ = ["make_repeat_node"]


def make_repeat_node(input: Node, count: int) -> Node:
    """Repeat as TensorFlow does: its stage makes the iterators of its input once more than they are needed.

    The next pass through a shuffle before it therefore has the order of the epoch after the next. Not so if it repeats
    a shuffle directly, which is one stage, or only once, which TensorFlow leaves out.
    """
    shuffled = input
    while _does_nothing(shuffled):
        (shuffled,) = shuffled.inputs
    if isinstance(shuffled, ShuffleNode):
        return repeated(shuffled, count)
    return RepeatNode(input, count, count > 1)


def _does_nothing(node: Node) -> bool:
    """Whether TensorFlow leaves a stage out."""
    match node:
        case TakeNode(count=-1) | SkipNode(count=0) | RepeatNode(count=1) | ShardNode(shards=1):
            return True
    return False
