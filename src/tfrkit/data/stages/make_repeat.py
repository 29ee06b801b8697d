"""How TensorFlow repeats: whether seeds are drawn for a pass that nobody sees."""

from __future__ import annotations

from tfrkit.data.engine.no_op_stages import last_active
from tfrkit.data.engine.node import Node
from tfrkit.data.shuffle.shuffle import ShuffleNode, repeated
from tfrkit.data.stages.repeat import RepeatNode

__all__ = ["make_repeat_node"]


def make_repeat_node(input: Node, count: int) -> Node:
    """Repeat as TensorFlow does: its stage makes the iterators of its input once more than they are needed.

    The next pass through a shuffle before it therefore has the order of the epoch after the next. Not so if it repeats
    a shuffle directly, which is one stage, or only once, which TensorFlow leaves out.
    """
    shuffled = last_active(input)
    if isinstance(shuffled, ShuffleNode):
        return repeated(shuffled, count)
    return RepeatNode(input, count, count > 1)
