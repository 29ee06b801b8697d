"""Fields of JSON that protobuf or older programs wrote: numbers as strings, defaults left out, two spellings of names.

Bytes are hostile: what is not as it must be is an error that names the place. Pure: no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any, Final

from tfrkit.errors import DataLossError
from tfrkit.folders.feature_tree import Dims
from tfrkit.stores.json_file import MAX_COUNT, shorten

__all__ = ["JsonFields", "json_dims", "snake_case"]

_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")
_MOST_VALUES: Final = 1 << 31  # of an array; what is in one record is smaller
_MOST_DIMS: Final = 32  # of numpy's arrays, more or less; nobody has so many


def snake_case(name: str) -> str:
    """Return a name of protobuf's JSON as it stands in the message.

    >>> snake_case("pythonClassName")
    'python_class_name'
    """
    return _CAPITAL.sub(lambda found: f"_{found[1].lower()}", name)


class JsonFields:
    """An object of a JSON file, by the names that its message has.

    Args:
        value: the object.
        path: the file.
        where: the place in it, for messages.
    """

    def __init__(self, value: Any, path: str, where: str) -> None:
        self.path = path
        self.where = where
        if not isinstance(value, dict):
            raise self.error(f"expected an object but got {shorten(value)}")
        self._fields: Mapping[str, Any] = {snake_case(key): each for key, each in value.items()}

    def error(self, text: str) -> DataLossError:
        """Return the error about this place."""
        return DataLossError(f"{self.path}; {self.where}: {text}.", path=self.path)

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def names(self) -> list[str]:
        """Return the names of all fields, as their message spells them."""
        return list(self._fields)

    def raw(self, name: str) -> Any:
        """Return a value as it is; None if it is not there."""
        return self._fields.get(name)

    def text(self, name: str, default: str = "") -> str:
        """Return a string."""
        value = self._fields.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.error(f"{name}: expected a string but got {shorten(value)}")
        return value

    def flag(self, name: str) -> bool:
        """Return a boolean, False if it is not there."""
        value = self._fields.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.error(f"{name}: expected true or false but got {shorten(value)}")
        return bool(value)

    def number(self, name: str, default: int = 0) -> int:
        """Return an integer, which may be written as a string."""
        value = self._fields.get(name)
        return default if value is None else self.as_number(value, name)

    def as_number(self, value: Any, name: str) -> int:
        """Return a value as an integer."""
        try:
            found = int(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
        except ValueError:
            found = None
        if found is None or not -1 <= found <= MAX_COUNT:
            raise self.error(f"{name}: expected an integer of at least -1 but got {shorten(value)}")
        return found

    def items(self, name: str) -> list[Any]:
        """Return a list, empty if it is not there."""
        value = self._fields.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(f"{name}: expected a list but got {shorten(value)}")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an object whose keys are a user's names, empty if it is not there."""
        value = self._fields.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(f"{name}: expected an object but got {shorten(value)}")
        return value

    def within(self, name: str) -> JsonFields:
        """Return the object under a name, an empty one if it is not there."""
        value = self._fields.get(name)
        return JsonFields({} if value is None else value, self.path, f"{self.where}.{name}")

    def dims(self, name: str) -> Dims:
        """Return a shape: a list of sizes, or protobuf's object of them. A size of None or -1 is not known."""
        value = self._fields.get(name)
        if isinstance(value, dict):
            value = JsonFields(value, self.path, f"{self.where}.{name}").items("dimensions")
        return json_dims(value if value is not None else [], self, name)


def json_dims(value: Any, fields: JsonFields, name: str) -> Dims:
    """Return a list of sizes as a shape."""
    if not isinstance(value, list) or len(value) > _MOST_DIMS:
        raise fields.error(f"{name}: expected the sizes of a shape but got {shorten(value)}")
    sizes = [-1 if size is None else fields.as_number(size, name) for size in value]
    if prod(abs(size) or 1 for size in sizes) > _MOST_VALUES:
        raise fields.error(f"{name}: expected at most {_MOST_VALUES:,} values but got {shorten(value)}")
    return tuple(None if size == -1 else size for size in sizes)
