"""Checkpoint files: the states of iterators, and which checkpoint of a folder is the latest.

A checkpoint is one file, `<path>.index`, JSON:

    {"tfrkit_checkpoint": 1, "save_counter": 3, "iterators": {"it": {... a state of DatasetIterator ...}}}

It appears whole or not at all. The list of a folder's checkpoints is the file `checkpoint`, in TensorFlow's own format.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Final

from tfrkit.errors import DataLossError, NotFoundError, OpError
from tfrkit.stores import files

__all__ = [
    "Checkpoints",
    "checkpoint_exists",
    "latest_checkpoint",
    "read_states",
    "remove_checkpoint",
    "write_states",
]

_VERSION: Final = 1
_LIST: Final = "checkpoint"
_LINE: Final = re.compile(r"(\w+): (.*)")


def write_states(path: str, states: dict[str, Any], counter: int | None) -> None:
    """Write a checkpoint, making its folder.

    Args:
        path: without the suffix.
        states: of iterators, by the names of objects.
        counter: number of saved checkpoints, this one included; None if that is not counted.
    """
    if files.traits_of(path).writes:
        files.make_folder(os.path.dirname(path))
    content = {"tfrkit_checkpoint": _VERSION, "save_counter": counter, "iterators": states}
    files.write_bytes(_file_of(path), json.dumps(content).encode())


def read_states(path: str) -> tuple[dict[str, Any], int | None]:
    """Read a checkpoint.

    Raises:
        NotFoundError: it does not exist.
        DataLossError: tfrkit did not write it.
    """
    try:
        content = json.loads(files.read_bytes(_file_of(path)))
        if isinstance(content, dict) and content.get("tfrkit_checkpoint") == _VERSION:
            states, counter = content.get("iterators"), content.get("save_counter")
            if isinstance(states, dict) and (counter is None or isinstance(counter, int)):
                return states, counter
    except FileNotFoundError:
        raise NotFoundError(
            f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {path}",
            path=path,
        ) from None
    except (ValueError, RecursionError):
        pass
    raise DataLossError(
        f"Unable to open table file {_file_of(path)}: expected a checkpoint of tfrkit, version {_VERSION}. "
        "Checkpoints of TensorFlow cannot be restored here: choose another folder.",
        path=path,
    )


def checkpoint_exists(path: str) -> bool:
    """Return whether a checkpoint exists."""
    return files.file_info(_file_of(path)) is not None


def remove_checkpoint(path: str) -> None:
    """Remove a checkpoint, if it exists."""
    files.remove(_file_of(path))


def _file_of(path: str) -> str:
    return f"{path}.index"


@dataclass
class Checkpoints:
    """The checkpoints of a folder.

    Attributes:
        latest: path of the last one, or None.
        paths: of all that are kept, the oldest first.
        times: when they were saved, in seconds; may be empty.
        last_preserved: when the last one was saved that is never removed; None if not known.
    """

    latest: str | None = None
    paths: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    last_preserved: float | None = None

    def write(self, folder: str, name: str | None = None) -> None:
        """Write the list; paths in the folder are written without it."""
        lines = [f'model_checkpoint_path: "{_within(folder, self.latest or "")}"']
        lines += [f'all_model_checkpoint_paths: "{_within(folder, path)}"' for path in self.paths]
        lines += [f"all_model_checkpoint_timestamps: {time}" for time in self.times]
        if self.last_preserved is not None:
            lines.append(f"last_preserved_timestamp: {self.last_preserved}")
        files.make_folder(folder)
        files.write_bytes(os.path.join(folder, name or _LIST), ("\n".join(lines) + "\n").encode())

    @classmethod
    def read(cls, folder: str, name: str | None = None) -> Checkpoints | None:
        """Read the list; None if it is missing or cannot be read, as in TensorFlow."""
        try:
            found: dict[str, list[Any]] = {}
            lines = files.read_bytes(os.path.join(folder, name or _LIST)).decode().splitlines()
            for key, value in (match.groups() for match in map(_LINE.match, lines) if match):
                path = key.endswith(("path", "paths"))
                read = os.path.join(folder, json.loads(value)) if path else float(value)
                found.setdefault(key, []).append(read)
        except (OpError, OSError, ValueError, TypeError, RecursionError):
            return None
        latest = found.get("model_checkpoint_path", [None])
        paths, times = (found.get(f"all_model_checkpoint_{kind}", []) for kind in ("paths", "timestamps"))
        return cls(latest[-1], paths, times, found.get("last_preserved_timestamp", [None])[-1])


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Return the path of the last checkpoint saved in a folder, or None."""
    found = Checkpoints.read(os.fspath(checkpoint_dir), latest_filename)
    if found is None or found.latest is None or not checkpoint_exists(found.latest):
        return None
    return found.latest


def _within(folder: str, path: str) -> str:
    prefix = os.path.join(folder, "")
    return path.removeprefix(prefix) if folder else path
