"""Objects that are still there when the interpreter ends.

Modules are taken apart then, in no order that one could rely on, and a `__del__` that runs among their ruins finds
names that are None. So what has something to finish does it before, with `finish_at_exit`, and a `__del__` that is
marked `unless_exiting` does nothing from then on: memory and descriptors end with the process.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar
from weakref import ref

__all__ = ["finish_at_exit", "unless_exiting"]

_T = TypeVar("_T")


class _Unfinished(Protocol):
    def __del__(self) -> None: ...


_unfinished: dict[int, ref[Any]] = {}  # by id; not a WeakSet, in whose callbacks Ctrl-C would be lost


def finish_at_exit(owner: _Unfinished) -> None:
    """Call the owner's `__del__` when the interpreter is about to end, if the owner is still there."""
    _unfinished[id(owner)] = ref(owner)


def unless_exiting(delete: Callable[[_T], None]) -> Callable[[_T], None]:
    """Mark a `__del__`: it does nothing while the interpreter takes modules apart."""
    exiting, unfinished = sys.is_finalizing, _unfinished  # names of this module would be gone too

    def __del__(owner: _T) -> None:  # noqa: N807  # it becomes the method of that name
        if not exiting():
            unfinished.pop(id(owner), None)
            delete(owner)

    return __del__


@atexit.register
def _finish_all() -> None:
    with ExitStack() as each:  # one that fails does not keep the others from it
        for found in list(_unfinished.values()):
            if (owner := found()) is not None:
                each.callback(owner.__del__)
