"""VerbGroup: what every group of verbs builds on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfrkit.data.engine.node import Node
from tfrkit.model.near_names import SuggestsNames

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["VerbGroup"]


class VerbGroup(SuggestsNames):
    """Some verbs of Dataset."""

    node: Node

    @classmethod
    @abstractmethod
    def _over(cls, node: Node) -> Dataset:
        """Wrap a node: what every verb returns."""

    @classmethod
    @abstractmethod
    def _function(cls, given: Callable[..., Any]) -> Callable[..., Any]:
        """What a stage calls in place of a user's function."""
