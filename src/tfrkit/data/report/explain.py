"""explain: a pipeline in words, as written and as it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfrkit.data.engine.iterator import new_context
from tfrkit.data.engine.node import Node
from tfrkit.data.engine.rewrites import optimise
from tfrkit.data.report.world import describe_world

__all__ = ["explain"]

_LEGEND = (
    "When resuming from a state: 'seeks' goes to the stored position; 'replays' makes elements again and drops those "
    "that were seen,\nfrom the last position below that can be sought; other stages store a few numbers."
)


def explain(node: Node) -> str:
    """Draw the stages, sources last, before and after rewriting; and say how each resumes from a state."""
    plan = optimise(node)
    written, running = _tree(node), _tree(plan)
    width = max(len(label) for label, _ in written + running)
    drawn = [[f"{label:<{width}}  {how}".rstrip() for label, how in each] for each in (written, running)]
    runs = ["as it runs: the same"] if running == written else ["as it runs:", *drawn[1]]
    return "\n".join(["as written:", *drawn[0], "", *runs, "", *_of_ranks(node, plan), _LEGEND])


def _of_ranks(node: Node, running: Node) -> Iterator[str]:
    """What an epoch reads, and which of how many processes this is, where either counts."""
    for shuffle, after in _windows(running):
        yield f"{shuffle.label}: {_plan(shuffle, after)}"
    if {"shard", "global_shuffle"} & {each.verb for each in node.stages()}:
        yield describe_world()


def _windows(node: Node) -> Iterator[tuple[Node, Node]]:
    """The shuffles with a window, each with the stage that asks for its elements by number."""
    asks = node.runs_for or (node if _has_window(node) else None)
    if asks is None:
        for each in node.inputs:
            yield from _windows(each)
    else:
        yield from ((each, asks) for each in asks.stages() if _has_window(each))


def _has_window(node: Node) -> bool:
    return node.verb == "global_shuffle" and getattr(node, "window", None) is not None


def _plan(shuffle: Any, after: Node) -> str:
    """What an epoch of a shuffle with a window reads; why that is not known, if a file is missing or the like."""
    try:
        return str(shuffle.plan(new_context(after), after))
    except Exception as error:  # what is wrong shows when it runs
        return f"what an epoch reads is not known: {error}"


def _tree(node: Node, depth: int = 1) -> list[tuple[str, str]]:
    """Every stage with how it resumes; inputs below it, indented."""
    how = "seeks" if not node.inputs or node.reorders else ""
    lines = [("  " * depth + node.label, how if node.seeks else "replays")]
    for each in node.inputs:
        lines.extend(_tree(each, depth + 1))
    return lines
