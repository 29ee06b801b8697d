"""explain: a pipeline in words, as written and as it runs."""

from __future__ import annotations

from tfrkit.data.node import Node
from tfrkit.data.plan import optimise

__all__ = ["explain"]


def explain(node: Node) -> str:
    """Draw the stages, sources last, before and after rewriting; and say how each goes on from a state."""
    lines = ["as written:", *_tree(node), "", "as it runs:", *_tree(optimise(node))]
    return "\n".join(lines)


def _tree(node: Node, depth: int = 1) -> list[str]:
    how = "seeks" if node.seeks else "replays"
    lines = [f"{'  ' * depth}{node.label:<50} {how}".rstrip()]
    for each in node.inputs:
        lines.extend(_tree(each, depth + 1))
    return lines
