"""What to say of a name that is nowhere: the names that are close to it, or those that there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

__all__ = ["near_names"]

_SHOWN: Final = 20
_CLOSE: Final = 3


def near_names(name: str, known: Iterable[str]) -> str:
    """Return a sentence that helps a user who has misspelt a name. Pure: no I/O.

    >>> near_names("lable", ["label", "image"])
    "Did you mean 'label'?"
    >>> near_names("x", ["label", "image"])
    "There are 'label', 'image'."
    """
    names = list(known)
    folded = {other.casefold(): other for other in reversed(names)}
    close = [folded[found] for found in get_close_matches(name.casefold(), folded, _CLOSE)]
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    if not names:
        return "There are none."
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"There are {', '.join(map(repr, names[:_SHOWN]))}{more}."
