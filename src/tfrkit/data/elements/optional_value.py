"""Optional: the next element, or the end, as a value."""

from __future__ import annotations

from typing import Any

from tfrkit.errors import InvalidArgumentError

__all__ = ["Optional"]


class Optional:
    """What `DatasetIterator.get_next_as_optional` returns: an element, or nothing at the end.

    >>> Optional(3).has_value(), Optional(3).get_value(), Optional().has_value()
    (True, 3, False)
    """

    __slots__ = ("_values",)

    def __init__(self, *values: Any) -> None:
        """Hold the one value, or none."""
        self._values = values

    def has_value(self, name: str | None = None) -> bool:
        """Whether there is an element."""
        return bool(self._values)

    def get_value(self, name: str | None = None) -> Any:
        """Return the element.

        Raises:
            InvalidArgumentError: there is no value.
        """
        if not self._values:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._values[0]

    def __repr__(self) -> str:
        return f"Optional({', '.join(map(repr, self._values))})"
