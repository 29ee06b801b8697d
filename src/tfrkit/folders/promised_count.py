"""Records of a split of which only the number in all is known: read in order, and held against that number.

Nothing is counted before reading; by number the files are counted first, as always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfrkit.data.engine.lookup import Lookup
from tfrkit.data.engine.node import Context
from tfrkit.data.stages.assert_cardinality import AssertCardinalityNode
from tfrkit.errors import DataLossError

__all__ = ["PromisedCountNode", "check_total"]


@dataclass(frozen=True, eq=False)
class PromisedCountNode(AssertCardinalityNode):
    """The records of the files of a split.

    Attributes:
        split: its name, for messages.
    """

    split: str

    verb = "promised_count"
    unindexable = ""

    def lookup(self, context: Context) -> Lookup:
        inner = self.input.lookup(context)
        if inner.size != self.count:
            raise _wrong_total(self.split, self.count, f"{inner.size:,}")
        return inner

    def error(self, how: str, seen: int) -> Exception:
        return _wrong_total(self.split, self.count, f"{seen:,}" if how == "only" else "more")


def _wrong_total(split: str, expected: int, found: str) -> DataLossError:
    """Return the error about a split whose files have another number of records than its description says."""
    return DataLossError(
        f"expected {expected:,} records in the split {split!r}, as the description of the data set says, but its files "
        f"have {found}. Copy the files and the description again."
    )


def check_total(split: str, expected: int | None, counts: Sequence[int]) -> None:
    """Hold the counts of the files of a split against the number that is known."""
    if expected is not None and expected != sum(counts):
        raise _wrong_total(split, expected, f"{sum(counts):,}")
