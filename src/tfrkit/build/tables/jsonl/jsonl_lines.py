"""Lines of JSON one by one: the exact and slow path, which says what is wrong with a line.

What is right here is right in `jsonl.py`, which reads blocks of lines at once, and means the same. Pure: no I/O.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from tfrkit.build.tables.json_notation import BASE64, EMPTY, FEATURE_LISTS, FLOAT32, decode_special
from tfrkit.build.tables.line_format import BadLine, Cells
from tfrkit.build.tables.table_format import Seen
from tfrkit.build.tables.table_values import seen_in

__all__ = ["MAX_DEPTH", "SPECIAL", "Broken", "Steps", "is_deep", "parse_line", "seen_in_cell"]

MAX_DEPTH: Final = 100  # of lists and objects inside each other
SPECIAL: Final = frozenset((BASE64, FLOAT32, EMPTY))

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BRACKETS: Final = re.compile(rb"[\[\]{}]")
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_LONGEST_INT: Final = 20
_KINDS: Final = {"int64": Seen.INT, "float": Seen.FLOAT, "bytes": Seen.TEXT}


class _BadError(Exception):
    """A line is bad; the BadLine is its only argument."""


class _Empty(list[Any]):
    """No values, of a kind that is known."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind


class Broken(NamedTuple):
    """A special value that cannot be read, and why; it matters only if its column is wanted."""

    text: str


class Steps(list[Any]):
    """The steps of a feature list, each a cell."""


def parse_line(line: bytes) -> Cells | BadLine:
    """Read one line that is not blank: its values by column, or why it is bad.

    Objects inside objects become columns whose names are joined with `/`.

    >>> parse_line(b'{"a": {"b": [1, 2]}, "c": null}')
    {'a/b': [1, 2], 'c': None}
    >>> parse_line(b"[1]")
    BadLine(reason='not a JSON object', detail='a list')
    """
    try:
        return _parse(line)
    except _BadError as error:
        bad: BadLine = error.args[0]
        return bad


def seen_in_cell(value: Any) -> Seen | None:
    """Return what a cell has; None: lists of lists or of objects, which no feature can hold."""
    if isinstance(value, Broken):
        return Seen.NOTHING
    if isinstance(value, Steps):
        found = [seen_in_cell(step) for step in value]
        return None if None in found else functools.reduce(Seen.__or__, filter(None, found), Seen.LIST)
    if isinstance(value, _Empty):
        return Seen.LIST | _KINDS[value.kind]
    if isinstance(value, np.ndarray):
        return Seen.LIST | Seen.FLOAT
    if isinstance(value, np.float32):
        return Seen.FLOAT
    if isinstance(value, list) and any(isinstance(item, (list, dict)) for item in value):
        return None
    return seen_in(value)


def is_deep(line: bytes) -> bool:
    """Whether lists and objects are nested deeper than parsers can follow."""
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKETS.findall(_STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _parse(line: bytes) -> Cells:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise _bad("not UTF-8", f"byte 0x{line[error.start]:02x} at {error.start}") from None
    if is_deep(line):
        raise _bad("nested too deep", f"more than {MAX_DEPTH} lists and objects inside each other")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_int=_integer)
    except json.JSONDecodeError as error:
        detail = f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"
        raise _bad("not valid JSON", detail) from None
    if not isinstance(value, dict):
        raise _bad("not a JSON object", "a list" if isinstance(value, list) else json.dumps(value)[:60])
    if _SURROGATE.search(line):
        _check_unicode(value)
    cells: Cells = {}
    for name, cell in _flat(value, ""):
        if name in cells:
            raise _bad("duplicate key", f"{name!r} is there twice, once as an object inside an object")
        cells[name] = cell
    return cells


def _bad(reason: str, detail: str) -> _BadError:
    return _BadError(BadLine(reason, detail))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _bad("duplicate key", f"{twice!r} is there twice")
    return found


def _integer(text: str) -> int | str:
    """A number; one that is longer than any int64 stays text, since Python refuses or takes long for huge ones."""
    return int(text) if len(text) <= _LONGEST_INT else text


def _check_unicode(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _bad("not Unicode", "half of a surrogate pair") from None


def _flat(value: dict[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for name, item in value.items():
        if name == FEATURE_LISTS and not above:
            yield from _feature_lists(item)
        elif not isinstance(item, dict):
            yield above + name, item
        elif _is_special(item):
            yield above + name, _special(item)
        else:
            yield from _flat(item, f"{above}{name}/")


def _feature_lists(lists: Any) -> Iterator[tuple[str, Steps]]:
    if not isinstance(lists, dict) or not all(isinstance(steps, list) for steps in lists.values()):
        raise _bad("not valid JSON", f"{FEATURE_LISTS!r} is no object of lists of steps")
    for name, steps in lists.items():
        yield (
            f"{FEATURE_LISTS}/{name}",
            Steps(_special(step) if _is_special(step) else step for step in steps),
        )


def _is_special(item: Any) -> bool:
    return isinstance(item, dict) and len(item) == 1 and SPECIAL.issuperset(item)


def _special(item: dict[str, Any]) -> Any:
    try:
        kind, values = decode_special(item)
    except ValueError as error:
        return Broken(str(error))
    [content] = item.values()
    if EMPTY in item:
        return _Empty(kind)
    if not isinstance(content, list):
        return values[0]
    return np.array(values, np.float32) if kind == "float" else values
