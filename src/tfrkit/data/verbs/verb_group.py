"""VerbGroup: what every group of verbs builds on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from tfrkit.data.engine.node import Node
from tfrkit.model.near_names import SuggestsNames
from tfrkit.model.policy import TFRKIT, ReadPolicy

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["VerbGroup"]


class VerbGroup(SuggestsNames):
    """Some verbs of Dataset.

    Attributes:
        node: the stage that it is.
        usual_policy: how records are parsed that come from no file, or from one that a function opened; and what a
            shard makes.
    """

    node: Node
    usual_policy: ClassVar[ReadPolicy] = TFRKIT

    @classmethod
    @abstractmethod
    def _over(cls, node: Node) -> Dataset:
        """Wrap a node: what every verb returns."""

    @classmethod
    @abstractmethod
    def _function(cls, given: Callable[..., Any]) -> Callable[..., Any]:
        """What a stage calls in place of a user's function."""
