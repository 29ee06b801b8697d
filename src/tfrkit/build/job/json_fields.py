"""Dataclasses from JSON files of unknown origin: every field is compared with its type. Pure: no I/O."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from tfrkit.stores.json_file import is_count, shorten

_Made = TypeVar("_Made")


def from_json(kind: type[_Made], value: object) -> _Made:
    """Make a dataclass from a JSON object; further members of the object are ignored.

    Fields are str, bool, int (a count), `| None`, mappings by name, tuples, dataclasses of these, or Any.

    Raises:
        ValueError: a field is missing or not of its type.

    >>> from dataclasses import make_dataclass
    >>> Pair = make_dataclass("Pair", [("name", str), ("sizes", tuple[int, ...])])
    >>> from_json(Pair, {"name": "a", "sizes": [1, 2]})
    Pair(name='a', sizes=(1, 2))
    """
    made: _Made = _read(kind, value)
    return made


@functools.cache
def _field_types(kind: Any) -> dict[str, Any]:
    types = get_type_hints(kind)
    return {field.name: types[field.name] for field in fields(kind)}


def _read(kind: Any, value: Any) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any or (NoneType in parts and value is None):
        return value
    if NoneType in parts:
        return _read(parts[0], value)
    if hasattr(kind, "__dataclass_fields__") and isinstance(value, dict):
        types = _field_types(kind)
        found = {name: _read(types[name], item) for name, item in value.items() if name in types}
        try:
            return kind(**found)
        except TypeError as error:
            raise ValueError(str(error)) from None
    if origin is Mapping and isinstance(value, dict):
        return {name: _read(parts[1], item) for name, item in value.items()}
    if origin is tuple and isinstance(value, list) and (parts[-1] is ... or len(parts) == len(value)):
        return tuple(map(_read, parts[:1] * len(value) if parts[-1] is ... else parts, value))
    if is_count(value) if kind is int else kind in (str, bool) and isinstance(value, kind):
        return value
    raise ValueError(f"expected {kind} but got {shorten(value)}")
