"""States: where an iterator stands, as JSON; and whether a state belongs to this pipeline and these files.

A pipeline is known by its fingerprint (`fingerprint.py`), files by their names without folders, their sizes and a
checksum of their tails: data may have moved, but it must be the same. A checksum of the state itself shows whether it
came back as it was written. FORMAT.md says what each stage writes. Version 1 knew pipelines by our classes and fields,
and version 2 replayed many stages; both are refused.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, Final

from tfrkit.data.engine.fingerprint import fingerprint, other_stage, stages_of
from tfrkit.data.engine.node import Node, to_json
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.access.fingerprint import file_fingerprint
from tfrkit.stores.files import ask_all
from tfrkit.stores.url import display_name

__all__ = ["StateKeeper"]

_VERSION: Final = 3
_KEYS: Final = frozenset({"version", "pipeline", "files", "at", "skip", "check"})
_MAX_NAMED: Final = 1000  # files whose own fingerprints are kept, to say which one has changed


class StateKeeper:
    """Writes the states of one iterator, and checks those that it is to resume from."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._files: dict[str, Any] | None = None

    @functools.cached_property
    def _pipeline(self) -> str:
        return fingerprint(self._node)

    @functools.cached_property
    def _stages(self) -> list[list[str]]:
        return list(map(list, stages_of(self._node)))

    def write(self, at: Any, skip: int) -> dict[str, Any]:
        """Make a state of where the pipeline stood, and how many elements it has returned since."""
        if self._files is None:
            self._files = _files_of(self._node)
        at = to_json(at)
        return {
            "version": _VERSION,
            "pipeline": self._pipeline,
            "stages": self._stages,
            "files": self._files,
            "at": at,
            "skip": skip,
            "check": _checksum(at, skip),
        }

    def check(self, state: Mapping[str, Any]) -> tuple[Any, int]:
        """Refuse a state that is not of this pipeline and these files.

        Returns:
            Where to begin, and how many elements to drop.

        Raises:
            InvalidArgumentError: it is of another version or pipeline, a file has changed, or it was damaged.
        """
        if not isinstance(state, Mapping) or not set(state) >= _KEYS:
            lacks = f" without {sorted(_KEYS - set(state))}" if isinstance(state, Mapping) else ""
            raise InvalidArgumentError(
                f"expected a state, as DatasetIterator.state() returns it, but got {type(state).__name__}{lacks}"
            )
        if state["version"] != _VERSION:
            raise InvalidArgumentError(
                f"expected a state of version {_VERSION} but got one of version {state['version']!r}. Start the epoch "
                "over, or resume it with the version of tfrkit that wrote the state."
            )
        if state["pipeline"] != self._pipeline:
            raise InvalidArgumentError(
                f"the state is of another pipeline: {other_stage(state.get('stages'), self._stages)}. Stages, their "
                "arguments and the code of their functions must be those of the dataset that it was taken from."
            )
        self._files = _files_of(self._node)
        if state["files"] != self._files:
            raise InvalidArgumentError(_difference(state["files"], self._files))
        at, skip = to_json(state["at"]), to_json(state["skip"])
        if state["check"] != _checksum(at, skip):
            raise InvalidArgumentError(
                f"the state is not as it was written: expected the checksum {state['check']!r} but got "
                f"{_checksum(at, skip)!r}. Keep it whole, as JSON or by pickle, or start over."
            )
        return at, skip


def _checksum(at: Any, skip: Any) -> str:
    text = json.dumps([at, skip], sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _files_of(node: Node) -> dict[str, Any]:
    """The files that a pipeline reads: their number, all together, and (if they are few) each."""
    paths = _paths_of(node)
    names = [os.path.basename(display_name(path)) for path in paths]  # another signature is the same file
    prints = list(zip(names, ask_all(file_fingerprint, paths), strict=True))
    digest = hashlib.blake2b(repr(prints).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    named = [[name, found and list(found)] for name, found in prints] if len(prints) <= _MAX_NAMED else None
    return {"count": len(prints), "all": digest, "each": named}


def _paths_of(node: Node) -> list[str]:
    paths = list(getattr(node, "paths", ()))
    for part in node.inputs:
        paths.extend(_paths_of(part))
    return paths


def _difference(before: Any, now: dict[str, Any]) -> str:
    """Say which file differs from the one before."""
    old, count = (before.get("each"), before.get("count")) if isinstance(before, Mapping) else (None, before)
    for one, other in zip(old if isinstance(old, list) else (), now["each"] or (), strict=False):
        if one != other:
            return (
                f"file {other[0]!r} is not the one that the state was taken from: expected name, size and checksum "
                f"{one} but got {other}. Resume with the same files, or start over."
            )
    return (
        f"the files are not those that the state was taken from: expected {count} but got {now['count']}, "
        "or their contents differ. Resume with the same files, or start over."
    )
