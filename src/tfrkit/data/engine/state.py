"""States: where an iterator stands, as JSON; and whether a state belongs to this pipeline and these files.

A pipeline is known by its fingerprint (`fingerprint.py`), files by their names without folders, their sizes and a
checksum of their tails: data may have moved, but it must be the same. A checksum of the state itself shows whether it
came back as it was written. FORMAT.md says what each stage writes. Version 1 knew pipelines by our classes and fields,
and version 2 replayed many stages; both are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, Final

from tfrkit.cached_property import cached_property
from tfrkit.data.engine.fingerprint import fingerprint, other_stage, stages_of
from tfrkit.data.engine.lookup import has_position
from tfrkit.data.engine.node import Node, to_json
from tfrkit.data.engine.position_form import is_position
from tfrkit.data.shuffle.epoch_seeds import adopt_seeds, check_seeds, seeds_of
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.access.fingerprint import file_fingerprint
from tfrkit.stores.files import ask_all
from tfrkit.stores.url import display_name

__all__ = ["StateKeeper", "files_of"]

_VERSION: Final = 3
_KEYS: Final = frozenset({"version", "pipeline", "files", "at", "skip", "check"})
_MORE: Final = ("epoch", "taken", "resumed", "seeds")
_MAX_NAMED: Final = 1000  # files whose own fingerprints are kept, to say which one has changed


class StateKeeper:
    """Writes the states of one iterator, and checks those that it is to resume from."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._files: dict[str, Any] | None = None

    @cached_property
    def _pipeline(self) -> str:
        return fingerprint(self._node)

    @cached_property
    def _stages(self) -> list[list[str]]:
        return list(map(list, stages_of(self._node)))

    @cached_property
    def _counts(self) -> bool:
        """Whether the number of elements that were taken counts: an epoch, or a position, may be asked for."""
        return self._node.varies or has_position(self._node)

    def files(self) -> dict[str, Any]:
        """The files that the pipeline reads, as `files_of` says; asked for once."""
        if self._files is None:
            self._files = files_of(self._node)
        return self._files

    def write(self, at: Any, skip: int, passed: tuple[int, int | None, Any] = (0, 0, None)) -> dict[str, Any]:
        """Make a state of where the pipeline stood, and how many elements it has returned since.

        Args:
            at: where it stood.
            skip: the elements since.
            passed: the epoch, the elements of it that were taken, and the position that it resumed from; kept where the
                epoch counts, or the pipeline has positions.
        """
        at = to_json(at)
        more = dict(zip(_MORE, (*passed, seeds_of(self._node)), strict=True)) if self._counts else {}
        return {
            "version": _VERSION,
            "pipeline": self._pipeline,
            "stages": self._stages,
            "files": self.files(),
            "at": at,
            "skip": skip,
            "check": _checksum(at, skip, *more.values()),
            **more,
        }

    def more(self, state: Mapping[str, Any]) -> tuple[int, int | None, Any]:
        """The epoch of a state, the elements of it that were taken, and the position that it resumed from.

        States of releases without positions do not say what was taken.

        Raises:
            InvalidArgumentError: it has other seeds than those that were given.
        """
        epoch, taken, start, seeds = (state.get(key) for key in _MORE)
        if seeds is not None:
            check_seeds(self._node, seeds)
        return epoch or 0, taken, start

    def adopt(self, state: Mapping[str, Any]) -> None:
        """Take over the seeds that were drawn for a state or a position, once nothing can refuse it any more."""
        seeds = state.get("seed" if is_position(state) else "seeds")
        if seeds is not None:
            adopt_seeds(self._node, seeds)

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
        self._files = files_of(self._node)
        if state["files"] != self._files:
            raise InvalidArgumentError(_difference(state["files"], self._files))
        at, skip, *more = (to_json(state[key]) for key in ("at", "skip", *_MORE) if key in state)
        found = _checksum(at, skip, *more)
        if state["check"] != found:
            raise InvalidArgumentError(
                f"the state is not as it was written: expected the checksum {state['check']!r} but got {found!r}. Keep "
                "it whole, as JSON or by pickle, or start over."
            )
        return at, skip


def _checksum(*parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def files_of(node: Node) -> dict[str, Any]:
    """The files that a pipeline reads: their number, all together, and (if they are few) each."""
    paths = [path for each in node.stages() for path in getattr(each, "paths", ())]
    names = [os.path.basename(display_name(path)) for path in paths]  # another signature is the same file
    prints = list(zip(names, ask_all(file_fingerprint, paths), strict=True))
    digest = hashlib.blake2b(repr(prints).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    named = [[name, found and list(found)] for name, found in prints] if len(prints) <= _MAX_NAMED else None
    return {"count": len(prints), "all": digest, "each": named}


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
