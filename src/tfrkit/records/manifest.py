"""manifest.json: which shards a folder has, with counts and bytes. Updates are locked and merged.

A shard is named in it only after it was written, synced and renamed. No time, no host: the same data gives the same
manifest. FORMAT.md defines it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

from tfrkit.errors import DataLossError, from_os_error
from tfrkit.storage.json_file import json_bytes
from tfrkit.storage.output import SIDECAR_FOLDER, remove_temporary, write_atomically

__all__ = [
    "ShardEntry",
    "change_manifest",
    "folder_lock",
    "manifest_path",
    "read_manifest",
    "update_manifest",
]

_FORMAT: Final = "tfrkit-manifest"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """One shard in a manifest."""

    name: str
    records: int
    bytes: int
    compression: str


def manifest_path(folder: str) -> str:
    """Give the path of a folder's manifest."""
    return os.path.join(folder, "manifest.json")


def read_manifest(folder: str) -> dict[str, Any]:
    """Give a folder's manifest; an empty one if there is none.

    Raises:
        DataLossError: the file is no manifest.
    """
    path = manifest_path(folder)
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        return {"format": _FORMAT, "version": _VERSION, "shards": [], "made_by": {}}
    except OSError as error:
        raise from_os_error(error, path) from error
    except ValueError as error:
        raise DataLossError(
            f"{path}; expected JSON but got: {error}. Delete or restore it.", path=path
        ) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise DataLossError(
            f"{path}; expected a tfrkit manifest but got something else. Move it away.", path=path
        )
    if content.get("version") != _VERSION:
        raise DataLossError(
            f"{path}; expected version {_VERSION} but got {content.get('version')}. Use a newer tfrkit.",
            path=path,
        )
    return content


def update_manifest(
    folder: str, added: Iterable[ShardEntry], removed: Iterable[str], made_by: Mapping[str, Any]
) -> None:
    """Add, replace and remove shards in a folder's manifest, safely against other processes.

    Args:
        folder: where the shards are.
        added: new entries; they replace those of the same name.
        removed: names to take out.
        made_by: by prefix, how its shards were made; merged into what is there.
    """

    def change(content: dict[str, Any]) -> None:
        shards = {entry["name"]: entry for entry in content["shards"]}
        for name in removed:
            shards.pop(name, None)
        shards.update({entry.name: asdict(entry) for entry in added})
        content["shards"] = list(shards.values())
        content["made_by"].update(made_by)

    change_manifest(folder, change)


def change_manifest(folder: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Let a function change a folder's manifest, safely against other processes; nothing is written if it does not.

    The shards are sorted afterwards, and jobs that no prefix refers to are left out.
    """
    path = manifest_path(folder)
    with folder_lock(folder, "manifest.lock"):
        remove_temporary(path)
        content = read_manifest(folder)
        before = json_bytes(content)
        content.setdefault("made_by", {})
        change(content)
        content["shards"].sort(key=lambda entry: entry["name"])
        if "jobs" in content:
            used = {made.get("job") for made in content["made_by"].values() if isinstance(made, dict)}
            content["jobs"] = {digest: made for digest, made in content["jobs"].items() if digest in used}
        after = json_bytes(content)
        if after != before or not os.path.exists(path):
            write_atomically(path, after)


@contextmanager
def folder_lock(folder: str, name: str) -> Iterator[None]:
    """Hold a lock of a folder, waiting for it: an empty file in its sidecar folder."""
    sidecar = os.path.join(folder, SIDECAR_FOLDER)
    try:
        os.makedirs(sidecar, exist_ok=True)
        fd = os.open(os.path.join(sidecar, name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise from_os_error(error, sidecar) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)  # which unlocks
