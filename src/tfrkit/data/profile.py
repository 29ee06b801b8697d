"""profile: where the time of a pipeline goes."""

from __future__ import annotations

from tfrkit.data.node import Node

__all__ = ["Profile", "profile"]


class Profile:
    """A report that prints."""


def profile(node: Node, seconds: float) -> Profile:
    """Run for some seconds and measure every stage."""
    raise NotImplementedError
