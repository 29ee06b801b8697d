"""Objects whose end is more than memory: at the interpreter's exit, and where the garbage collector finds them.

Modules are taken apart when the interpreter ends, in no order that one could rely on, and a `__del__` that runs among
their ruins finds names that are None. So what has something to finish does it before, with `finish_at_exit`, and a
`__del__` that is marked `unless_exiting` does nothing from then on: memory and descriptors end with the process.

The collector calls a `__del__` in any thread, between any two steps. One that waits (for a thread that still deflates
or reads for it, for a lock) would wait for ever if the work below it in this very thread is what it waits for. So what
the collector finds is finished in a thread of its own, in the collector's order; here it is waited for, but only for a
while, and not at all in tfrkit's own threads. An object whose last reference goes is finished at once, as ever.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final, Protocol, TypeVar
from weakref import ref

from tfrkit.threads import in_own_thread, spawn

__all__ = ["finish_at_exit", "unless_exiting"]

_T = TypeVar("_T")
_PATIENCE_SECONDS: Final = 5.0  # how long a collection may wait for what it has found


class _Unfinished(Protocol):
    def __del__(self) -> None: ...


_unfinished: dict[int, ref[Any]] = {}  # by id; not a WeakSet, in whose callbacks Ctrl-C would be lost
_found: deque[_Found] = deque()  # by the collector, and not finished
_finishing = threading.Lock()  # held by the thread that does


def _forget() -> None:
    """What the parent's collector has found, the parent finishes."""
    global _finishing  # noqa: PLW0603  # a lock that is held cannot be released here
    _finishing = threading.Lock()
    for each in _found:
        each.delete = None
    _found.clear()


os.register_at_fork(after_in_child=_forget)


class _Found:
    """An object that is finished when this goes: in a `__del__`, so that Python reports errors as it always does."""

    def __init__(self, delete: Callable[[Any], None], owner: object) -> None:
        self.delete: Callable[[Any], None] | None = delete
        self.owner = owner
        self.over = threading.Lock()
        self.over.acquire()

    def __del__(self) -> None:
        try:
            if self.delete is not None:
                self.delete(self.owner)
        finally:
            self.over.release()


def _finish_found() -> None:
    while _found and _finishing.acquire(blocking=False):
        try:
            while _found:
                _found.popleft()
        finally:
            _finishing.release()


def _finish_later(delete: Callable[[Any], None], owner: object) -> None:
    found = _Found(delete, owner)
    over = found.over
    _found.append(found)
    del found
    if not _finishing.locked():  # else that thread looks once more when it has released it
        spawn(_finish_found)
    if not in_own_thread():
        over.acquire(timeout=_PATIENCE_SECONDS)


def finish_at_exit(owner: _Unfinished) -> None:
    """Call the owner's `__del__` when the interpreter is about to end, if the owner is still there."""
    _unfinished[id(owner)] = ref(owner)


def unless_exiting(delete: Callable[[_T], None]) -> Callable[[_T], None]:
    """Mark a `__del__`: it does nothing while the interpreter takes modules apart, and never waits in a collection."""
    exiting, unfinished = sys.is_finalizing, _unfinished  # names of this module would be gone too
    later, collected = (
        _finish_later,
        gc.is_finalized,
    )  # before `__del__` if the collector calls it, else after it

    def __del__(owner: _T) -> None:  # noqa: N807  # it becomes the method of that name
        if not exiting():
            unfinished.pop(id(owner), None)
            if collected(owner):
                later(delete, owner)
            else:
                delete(owner)

    return __del__


@atexit.register
def _finish_all() -> None:
    with ExitStack() as each:  # one that fails does not keep the others from it
        for found in list(_unfinished.values()):
            if (owner := found()) is not None:
                each.callback(owner.__del__)
