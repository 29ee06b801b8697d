"""The plain engine: a pipeline run one element at a time, as its specification reads.

No runs, no fusing, no threads, no states. It takes the nodes of a Dataset and shares nothing with the iterators that
really run them, only what is done to single values, so that the two can be compared. Stages are classes with a
`__next__`: after an error the next call goes on with the next element.

    list(plain(dataset)) == list(dataset)

What moves from stage to stage is an Item: the value, and where it came from. Leaves of the value may be Rows: arrays
whose lengths are known to differ, so that a batch of them is ragged or padded and no error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tfrkit.data import convert
from tfrkit.data.node import Node
from tfrkit.data.structure import map_structure

__all__ = ["Item", "Row", "Stage", "begin", "call", "converted", "opened", "plain", "runs"]


@dataclass(frozen=True, slots=True)
class Item:
    """One element on its way.

    Attributes:
        value: a structure of numpy scalars, bytes, arrays and so on, and of Rows.
        origin: file and record number, if it came from a record.
    """

    value: Any
    origin: tuple[str | None, int] | None = None

    def of(self, value: Any) -> Item:
        """Another value from the same place."""
        return replace(self, value=value)


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A row of a ragged column.

    Attributes:
        value: the row.
        padded: a batch is an array, filled up with the default; otherwise it is a Ragged.
        default: what to fill up with.
    """

    value: Any
    padded: bool = False
    default: Any = 0


class Stage(ABC):
    """An iterator over Items. Subclasses take the node."""

    def __iter__(self) -> Stage:
        return self

    @abstractmethod
    def __next__(self) -> Item: ...


_STAGES: dict[type[Node], Callable[[Any], Stage]] = {}


def runs(*kinds: type[Node]) -> Callable[[type[Stage]], type[Stage]]:
    """Say which nodes a stage runs."""

    def note(stage: type[Stage]) -> type[Stage]:
        for kind in kinds:
            _STAGES[kind] = stage
        return stage

    return note


def begin(node: Node) -> Stage:
    """Start a node.

    Raises:
        TypeError: there is no plain stage for it.
    """
    for kind in type(node).__mro__:
        if kind in _STAGES:
            return _STAGES[kind](node)
    raise TypeError(f"expected a node that the plain engine knows but got {type(node).__name__}")


class plain:  # noqa: N801 - reads as a function, and is an iterator
    """Iterate over a dataset in the plain way.

    Args:
        dataset: a Dataset. Its shuffles and caches remember earlier iterators of this kind, not real ones.

    >>> import tfrkit as tfr
    >>> [int(x) for x in plain(tfr.Dataset.range(5).skip(2))]
    [2, 3, 4]
    """

    def __init__(self, dataset: Any) -> None:
        from tfrkit.testing import (  # noqa: F401 - each says which nodes it runs
            plain_batches,
            plain_features,
            plain_order,
            plain_sources,
            plain_stages,
        )

        self._root = begin(dataset.node)

    def __iter__(self) -> plain:
        return self

    def __next__(self) -> Any:
        return opened(next(self._root).value)


def opened(value: Any) -> Any:
    """An element as users see it: rows of ragged columns are just arrays."""
    return map_structure(lambda leaf: leaf.value if isinstance(leaf, Row) else leaf, value)


def call(function: Callable[..., Any], item: Item) -> Any:
    """What a user's function gives for an element: the parts of a tuple are arguments."""
    value = opened(item.value)
    return function(*value) if isinstance(value, tuple) else function(value)


def converted(value: Any) -> Any:
    """What a user's function gave, as an element."""
    return convert.to_element(value)
