"""How the columns of a table were settled, as reports have it. It is decided in `table_schema.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

__all__ = ["KIND_NAMES", "ColumnCause", "ColumnReport"]

KIND_NAMES: Final = ("int64", "float", "bytes")


@dataclass(frozen=True, slots=True)
class ColumnCause:
    """The first value because of which a column is not of the kind that most of its values are.

    Attributes:
        source: file.
        line: number of the line, from 1 on; None in formats without lines.
        value: the value, or its beginning; in formats that say types, the type.
    """

    source: str
    line: int | None
    value: str

    @property
    def where(self) -> str:
        """The place, for people."""
        return self.source if self.line is None else f"{self.source}, line {self.line}"


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """A column as it was settled.

    Attributes:
        name: in the input.
        feature: name of the feature that it becomes.
        kind: "int64", "float" or "bytes".
        values: how many values look like each kind, all inputs together; empty if the user has said the kind.
        cause: why it is not of the kind that most values are; None if it is.
    """

    name: str
    feature: str
    kind: str
    values: Mapping[str, int]
    cause: ColumnCause | None = None

    @property
    def most(self) -> str:
        """The kind that most values are."""
        return max(self.values, key=lambda kind: self.values[kind]) if self.values else self.kind

    @property
    def remark(self) -> str:
        """One line for people; empty if most values are of the column's kind."""
        if self.cause is None:
            return ""
        total = sum(self.values.values())
        return (
            f"column {self.name!r} is {self.kind} though {self.values[self.most]:,} of {total:,} values are "
            f"{self.most}: the first other is {self.cause.value!r} in {self.cause.where}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as `report.json` has it."""
        cause = None if self.cause is None else {**asdict(self.cause), "most": self.most}
        return {**asdict(self), "cause": cause}
