"""Queries that Ctrl-C ends: DuckDB does not look for signals while it works, so that it works in another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

from tfrkit.threads import spawn

__all__ = ["Query", "interruptible"]

_T = TypeVar("_T")
_POLL_SECONDS: Final = 0.1


def interruptible(con: Any, work: Callable[[], _T]) -> _T:
    """Do something with a DuckDB connection that Ctrl-C ends."""
    if threading.current_thread() is not threading.main_thread():  # no signal comes here
        return work()
    future = spawn(work)
    try:
        _wait_for(future)
    except KeyboardInterrupt:
        con.interrupt()
        _wait_for(future)
        raise
    return future.result()


def _wait_for(future: Future[_T]) -> None:
    """Wait in turns: polars lets system calls continue after a signal, and Ctrl-C would be seen at the end only."""
    while not wait([future], _POLL_SECONDS).done:
        pass


class Query:
    """A duckdb.DuckDBPyRelation that Ctrl-C ends while it is read; it has the same attributes and methods.

    Attributes:
        relation: DuckDB's own.
    """

    def __init__(self, con: Any, relation: Any) -> None:
        """Use `sql`."""
        self._con = con
        self.relation = relation

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python and others look for is below, or not there
            raise AttributeError(name)
        found = self._do(lambda: getattr(self.relation, name))
        return (lambda *args, **options: self._call(found, *args, **options)) if callable(found) else found

    def __dir__(self) -> list[str]:
        return dir(self.relation)

    def __repr__(self) -> str:
        return str(self._call(repr, self))

    def __len__(self) -> int:
        return int(self._call(len, self))

    def __contains__(self, name: str) -> bool:
        return name in self.relation

    def __getitem__(self, name: str) -> Any:
        return self._call(self.relation.__getitem__, name)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self._do(lambda: self.relation.__arrow_c_stream__(requested_schema))

    def _call(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        given = [each.relation if isinstance(each, Query) else each for each in args]
        made = self._do(lambda: function(*given, **options))
        return Query(self._con, made) if isinstance(made, type(self.relation)) else made

    def _do(self, work: Callable[[], _T]) -> _T:
        return interruptible(self._con, work)
