"""Asked: the parameters of a request, each within its limits. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tfrkit.errors import InvalidArgumentError

__all__ = ["MOST_TEXT", "Asked"]

_MOST: Final = 2**62
MOST_TEXT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for, by name.

    >>> Asked({"n": "5"}).number("n"), Asked({}).number("count", 100, most=500)
    (5, 100)
    """

    values: Mapping[str, str]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text.

        Raises:
            InvalidArgumentError: it is missing or too long.
        """
        value = self.values.get(name, default)
        if value is None:
            raise InvalidArgumentError(f"expected the parameter {name}")
        if len(value) > MOST_TEXT:
            raise InvalidArgumentError(
                f"{name}: expected at most {MOST_TEXT:,} characters but got {len(value):,}"
            )
        return value

    def maybe(self, name: str) -> str | None:
        """Return a text, None if it is missing or empty."""
        return self.text(name, "") or None

    def number(self, name: str, default: int | None = None, *, least: int = 0, most: int = _MOST) -> int:
        """Return a whole number.

        Raises:
            InvalidArgumentError: it is missing, or not a number within the limits.
        """
        text = self.values.get(name)
        if text is None and default is not None:
            return default
        if text is None or not (text.isascii() and text.isdigit() and len(text) <= 19):
            raise InvalidArgumentError(f"{name}: expected a whole number but got {text!r:.40}")
        value = int(text)
        if not least <= value <= most:
            raise InvalidArgumentError(f"{name}: expected {least:,} to {most:,} but got {value:,}")
        return value

    def flag(self, name: str) -> bool:
        """Return whether something is wanted."""
        return self.values.get(name) == "1"

    def names(self, name: str) -> list[str] | None:
        """Return names with commas between them, each in percent-encoding if it has a comma; None if there are none."""
        from urllib.parse import unquote

        text = self.maybe(name)
        return None if text is None else [unquote(each) for each in text.split(",") if each]
