"""explain: a pipeline in words, as written and as it runs."""

from __future__ import annotations

from tfrkit.data.engine.node import Node
from tfrkit.data.engine.rewrites import optimise

__all__ = ["explain"]

_LEGEND = (
    "When resuming from a state: 'seeks' goes to the stored position; 'replays' makes elements again and drops those "
    "that were seen,\nfrom the last position below that can be sought; other stages store a few numbers."
)


def explain(node: Node) -> str:
    """Draw the stages, sources last, before and after rewriting; and say how each resumes from a state."""
    written, running = _tree(node), _tree(optimise(node))
    width = max(len(label) for label, _ in written + running)
    lines = ["as written:", *(_line(*each, width) for each in written), ""]
    if running == written:
        lines.append("as it runs: the same")
    else:
        lines += ["as it runs:", *(_line(*each, width) for each in running)]
    return "\n".join([*lines, "", _LEGEND])


def _line(label: str, how: str, width: int) -> str:
    return f"{label:<{width}}  {how}".rstrip()


def _tree(node: Node, depth: int = 1) -> list[tuple[str, str]]:
    """Every stage with how it resumes; inputs below it, indented."""
    lines = [("  " * depth + node.label, _how(node))]
    for each in node.inputs:
        lines.extend(_tree(each, depth + 1))
    return lines


def _how(node: Node) -> str:
    if not node.seeks:
        return "replays"
    return "seeks" if not node.inputs or node.reorders else ""
