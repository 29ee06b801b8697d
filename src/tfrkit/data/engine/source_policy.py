"""How the files of a pipeline are read: the policy of its sources, for later stages. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from tfrkit.data.engine.node import Node
from tfrkit.model.policy import OnCorrupt, ReadPolicy

__all__ = ["find_on_corrupt", "source_policies"]


def source_policies(node: Node) -> Iterator[ReadPolicy]:
    """The policies of the files that a pipeline reads, in order; not of those that a user's function opens."""
    found = [getattr(getattr(node, "function", None), "policy", None)]
    if not node.inputs:  # a stage may have a policy too, which is its own business
        found.append(getattr(node, "policy", None))
    for policy in found:
        if isinstance(policy, ReadPolicy):
            yield policy
    for part in node.inputs:
        yield from source_policies(part)


def find_on_corrupt(node: Node) -> OnCorrupt:
    """What the sources of a pipeline do about damage: the first that does not raise counts."""
    return next((each.on_corrupt for each in source_policies(node) if each.on_corrupt != "raise"), "raise")
