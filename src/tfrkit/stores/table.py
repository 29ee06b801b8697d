"""The table of stores: which one a path belongs to. Adding a store is a file and a row here.

Stores are made on first use, one of each row and process.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable
from typing import Final

from tfrkit.errors import UnimplementedError
from tfrkit.stores.store import Store
from tfrkit.stores.url import scheme_of

__all__ = ["add_store", "known_schemes", "store_of"]

_OBJECTS: Final = "tfrkit.stores.object:make_store"
_WEB: Final = "tfrkit.stores.object:make_web_store"
# Scheme -> module and function that make the store. Local paths have no scheme; what is not here is fsspec's.
_MAKERS: Final[dict[str, str]] = {
    "": "tfrkit.stores.local:make_store",
    "s3": _OBJECTS,
    "s3a": _OBJECTS,
    "gs": _OBJECTS,
    "az": _OBJECTS,
    "adl": _OBJECTS,
    "azure": _OBJECTS,
    "abfs": _OBJECTS,
    "abfss": _OBJECTS,
    "http": _WEB,
    "https": _WEB,
    "memory": "tfrkit.stores.memory:make_store",
}
_OTHERS: Final = "tfrkit.stores.fsspec:make_store"
_added: dict[str, Callable[[], Store]] = {}
_made: dict[str, Store] = {}  # by scheme, or what makes them
_lock = threading.Lock()


def _forget_lock() -> None:
    """Another thread may have held it when this process was forked."""
    global _lock  # noqa: PLW0603  # a lock cannot be replaced in place
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)


def add_store(scheme: str, make: Callable[[], Store]) -> None:
    """Let a store serve all URLs of a scheme, instead of the one that did.

    Args:
        scheme: without "://".
        make: makes the store, on first use in each process.
    """
    with _lock:
        _added[scheme.lower()] = make
        _made.pop(scheme.lower(), None)


def known_schemes() -> list[str]:
    """Return the schemes that have a row or were added; the empty one and `file` are local."""
    return list(dict.fromkeys(["", "file", *_MAKERS, *_added]))


def _make(key: str) -> Store:
    module, _, function = key.partition(":")
    made: Store = getattr(importlib.import_module(module), function)()
    return made


def store_of(path: str) -> Store:
    """Return the store that a path or URL belongs to.

    Raises:
        UnimplementedError: no store knows the scheme.
        MissingExtraError: the store needs a package that is not installed.
    """
    scheme = scheme_of(path)
    key = scheme if scheme in _added else _MAKERS.get(scheme, _OTHERS)
    store = _made.get(key)
    if store is None:
        store = _added[scheme]() if scheme in _added else _make(key)
        with _lock:
            store = _made.setdefault(key, store)
    if key == _OTHERS and not store.serves(scheme):  # type: ignore[attr-defined]  # fsspec's alone
        raise UnimplementedError(
            f"File system scheme {scheme!r} not implemented (file: {path!r}). tfrkit reads and writes local paths, "
            "s3://, gs://, az://, https://, memory:// and what fsspec has a package for; a "
            "local path that looks like a URL begins with './'.",
            path=path,
        )
    return store
