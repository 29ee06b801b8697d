"""How many values of a column look like each kind, and where the first of each is.

Surveys count, `table_schema.py` settles, and reports tell what was settled against the look of most values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tfrkit.build.job.column_report import ColumnCause

__all__ = ["ValueKinds", "shown_value"]

_SHOWN: Final = 60  # characters of a value


def shown_value(value: str | bytes, most: int = _SHOWN) -> str:
    """Return at most some characters of a value, as reports have it. Pure: no I/O."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
    return text if len(text) <= most else text[: most - 3] + "..."


@dataclass(slots=True)
class ValueKinds:
    """What values of a column look like.

    Attributes:
        counts: how many look like "int64", "float" and "bytes"; nulls like none.
        firsts: the first of each.
    """

    counts: dict[str, int] = field(default_factory=dict)
    firsts: dict[str, ColumnCause] = field(default_factory=dict)

    def add(self, kind: str, count: int, first: Callable[[], ColumnCause | None]) -> None:
        """Count values; `first` is asked for the first of them if there was none of the kind before."""
        if not count:
            return
        self.counts[kind] = self.counts.get(kind, 0) + count
        if kind not in self.firsts and (found := first()) is not None:
            self.firsts[kind] = found

    def merge(self, later: ValueKinds) -> None:
        """Take over what a later file has."""
        for kind, count in later.counts.items():
            self.add(kind, count, partial(later.firsts.get, kind))

    def cause(self, kind: str) -> ColumnCause | None:
        """Return the first value of a kind, if most values look like another one."""
        if max(self.counts.values(), default=0) == self.counts.get(kind, 0):
            return None
        return self.firsts.get(kind)
