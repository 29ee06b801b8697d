"""epoch: a dataset as it is in one pass, whatever the number of passes so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.lookup import Found, Lookup, LookupOver, Windowed
from tfrkit.data.engine.node import Context, NodeIterator, UnaryNode
from tfrkit.data.shuffle.pass_seeds import with_seeds_of_pass
from tfrkit.model.row_selection import IntArray

__all__ = ["EpochNode"]


@dataclass(frozen=True, eq=False)
class EpochNode(UnaryNode):
    """The input in the pass with this number."""

    number: int

    verb = "epoch"
    selects = True
    unindexable = ""
    varies = False

    @property
    def fixed_epoch(self) -> int:
        return self.number

    def used(self, count: int) -> int | None:
        return count

    def lookup(self, context: Context) -> Lookup:
        return _EpochLookup(self.input.lookup(context), self.number)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return with_seeds_of_pass(self.input.at_epoch(self.number), self.number).begin(context, state)


class _EpochLookup(LookupOver):
    def __init__(self, inner: Lookup, epoch: int) -> None:
        super().__init__(inner)
        self._epoch = epoch

    def at(self, numbers: IntArray, epoch: int) -> Found:
        return self.inner.at(numbers, self._epoch)

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        return self.inner.windowed(numbers, self._epoch)
