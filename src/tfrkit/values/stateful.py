"""Whether a function called something whose calls must keep their order: random numbers, Python functions, printing.

Such operations call `note`. Who wants to know watches a call; watching is per thread, and may be nested.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["note", "watch"]


class _Watched(threading.local):
    noted = False


_watched = _Watched()


def note() -> None:
    """Say that the operation at hand depends on how often and in what order it is called."""
    _watched.noted = True


def watch(function: Callable[..., Any], *args: Any) -> tuple[Any, bool]:
    """Call a function.

    Returns:
        What it gives, and whether an operation in it noted that it is stateful.

    >>> watch(lambda: 1), watch(note)
    ((1, False), (None, True))
    """
    before, _watched.noted = _watched.noted, False
    try:
        return function(*args), _watched.noted
    finally:
        _watched.noted = _watched.noted or before
