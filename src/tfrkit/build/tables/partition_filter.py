"""Which partitions are read: conditions on what paths say, such as `dt>=2024-01-01`. Pure: no I/O.

Values are compared as numbers if both are numbers, else as text. A file whose path does not say the key, or says that
it is null, meets no condition on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import near_names

__all__ = ["NULL_PARTITION", "PartitionFilter", "parse_partitions"]

NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
_SHOWN: Final = 5
_LISTED: Final = re.compile(r"\s*(?P<key>.+?)\s+in\s*\((?P<values>.*)\)\s*", re.DOTALL)
_COMPARED: Final = re.compile(
    r"\s*(?P<key>[^=!<>]*[^=!<>\s])\s*(?P<operator>==|!=|<=|>=|=|<|>)(?P<value>.*)", re.DOTALL
)
_VALUE: Final = re.compile(
    r"""\s*(?:'(?P<one>[^']*)'|"(?P<two>[^"]*)"|(?P<plain>[^,'"\s](?:[^,]*[^,\s])?))\s*(,|$)"""
)
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


@dataclass(frozen=True, slots=True)
class PartitionCondition:
    """One condition: some value compares so."""

    text: str
    key: str
    operator: str
    values: tuple[tuple[str, bool], ...]  # each with whether it may be a number: it has no quotes

    def holds(self, value: str | None) -> bool:
        """Tell it of what a path says; None: nothing, or a null."""
        if value is None:
            return False
        return any(_compare(value, self.operator, *other) for other in self.values)


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """Conditions that all must hold."""

    conditions: tuple[PartitionCondition, ...] = ()

    @property
    def texts(self) -> list[str]:
        return [condition.text for condition in self.conditions]

    def choose(self, partitions: Sequence[Mapping[str, str]]) -> list[bool]:
        """Tell which files are to be read, of what their paths say.

        Raises:
            InvalidArgumentError: no path says a key, or no file is left.
        """
        said = [
            {key: value for key, value in partition.items() if value != NULL_PARTITION}
            for partition in partitions
        ]
        known = dict.fromkeys(key for partition in partitions for key in partition)
        for condition in self.conditions:
            if condition.key not in known:
                raise InvalidArgumentError(
                    f"partition (--partition): no input is in a folder {condition.key + '=...'!r}. "
                    f"{near_names(condition.key, known)}"
                )
        chosen = [all(each.holds(values.get(each.key)) for each in self.conditions) for values in said]
        if not any(chosen):
            keys = dict.fromkeys(condition.key for condition in self.conditions)
            there = sorted({f"{key}={values[key]}" for values in said for key in keys if key in values})
            more = f" and {len(there) - _SHOWN:,} more" if len(there) > _SHOWN else ""
            raise InvalidArgumentError(
                f"partition (--partition): none of the {len(said):,} input files meets {' and '.join(self.texts)}. "
                f"There are {', '.join(there[:_SHOWN]) or 'only nulls'}{more}."
            )
        return chosen


def parse_partitions(given: str | Iterable[str]) -> PartitionFilter:
    """Read conditions on partitions.

    Raises:
        InvalidArgumentError: one is not a condition.

    >>> parse_partitions(["dt>=2024-01-01", "hour in (3, 4)"]).choose(
    ...     [{"dt": "2024-01-02", "hour": "03"}, {"dt": "2023-12-31", "hour": "3"}]
    ... )
    [True, False]
    """
    return PartitionFilter(tuple(map(_parse, [given] if isinstance(given, str) else given)))


def _parse(text: Any) -> PartitionCondition:
    if isinstance(text, str):
        listed = _LISTED.fullmatch(text)
        found = listed or _COMPARED.fullmatch(text)
        values = None if found is None else _values(found["values" if listed else "value"])
        if found is not None and values and (listed or len(values) == 1):
            return PartitionCondition(
                text.strip(), found["key"], "==" if listed else found["operator"], values
            )
    raise InvalidArgumentError(
        f"Expected KEY=VALUE, or another of !=, <, <=, > and >=, or KEY in (VALUE, VALUE), for partition (--partition) "
        f"but got {text!r}, such as dt>=2024-01-01."
    )


def _values(text: str) -> tuple[tuple[str, bool], ...] | None:
    """Read values with commas between them, and perhaps one at the end."""
    found = []
    at, text = 0, text.strip()
    while at < len(text):
        match = _VALUE.match(text, at)
        if match is None:
            return None
        plain = match["plain"]
        found.append((match["one"] or match["two"] or "", False) if plain is None else (plain, True))
        at = match.end()
    return tuple(found)


def _compare(value: str, operator: str, other: str, may_be_number: bool) -> bool:
    left: Any = value
    right: Any = other
    if may_be_number and _NUMBER.fullmatch(value) and _NUMBER.fullmatch(other):
        left, right = Decimal(value), Decimal(other)
    return bool(_OPERATORS[operator](left, right))


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": eq, "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge
}  # fmt: skip
