"""How users name columns: exact names, patterns (`feat_*`), and lists of names in one text. Pure: no I/O.

A name that a column has means that column, whatever characters it has. Only other names with `*`, `?` or `[` are
patterns, as for file names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final, TypeVar

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import near_names

__all__ = ["matching_names", "names_text", "values_by_name"]

_Value = TypeVar("_Value")
_PATTERN: Final = frozenset("*?[")


def names_text(names: Iterable[str]) -> str:
    r"""Return the text that `tfrkit.options.read_list` reads as these names.

    >>> names_text(["a", "b,c", "d\\e"])
    'a,b\\,c,d\\\\e'
    """
    return ",".join(re.sub(r"[\\,]", r"\\\g<0>", name) for name in names)


def matching_names(option: str, given: str, known: Collection[str]) -> list[str]:
    """Return the columns that a user means by a name or a pattern in an option, in the order of the table.

    Raises:
        InvalidArgumentError: there is no such column; the text names the closest.

    >>> matching_names("columns", "feat_*", ["id", "feat_a", "feat_b"]), matching_names("columns", "a*", ["a*", "ab"])
    (['feat_a', 'feat_b'], ['a*'])
    """
    if given in known:
        return [given]
    is_pattern = not _PATTERN.isdisjoint(given)
    if is_pattern and (found := [name for name in known if fnmatchcase(name, given)]):
        return found
    what = "that matches " if is_pattern else ""
    raise InvalidArgumentError(f"{option}: no input has a column {what}{given!r}. {near_names(given, known)}")


def values_by_name(option: str, given: Mapping[str, _Value], known: Collection[str]) -> dict[str, _Value]:
    """Return what a user says by name or pattern for each column; what a name says wins over patterns.

    Raises:
        InvalidArgumentError: a name is unknown, or two patterns say different things of a column.
    """
    found: dict[str, _Value] = {}
    by: dict[str, str] = {}
    for pattern, value in given.items():
        for name in matching_names(option, pattern, known):
            if name in given and name != pattern:
                continue
            if found.setdefault(name, value) != value:
                raise InvalidArgumentError(
                    f"{option}: {by[name]!r} and {pattern!r} both match the column {name!r}, and differ. Give {name!r} "
                    "its own."
                )
            by.setdefault(name, pattern)
    return found
