"""OldShards: shards that a new set replaces. They leave the manifest first, and lie aside until the new set is whole.

Many files cannot be replaced at once. A kill in between leaves too few shards rather than old and new ones that look
like one set, and the manifest never names a file with another content. After an error the old set is put back.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
from typing import Any, Final

from tfrkit.errors import from_os_error
from tfrkit.records.access.index import index_path
from tfrkit.records.manifest import change_manifest, manifest_path
from tfrkit.stores.output import sidecar_folder, sync_folder

__all__ = ["OldShards", "shards_of_prefix"]

_SHARD: Final = re.compile(r"-[0-9]{5,}-of-[0-9]{5,}\.tfrecord(\.(gz|zlib|xz|zst))?")
_ASIDE: Final = ".old"


def shards_of_prefix(prefix: str) -> list[str]:
    """Find the shards that lie under a prefix, sorted."""
    found = glob.glob(glob.escape(prefix) + "-*-of-*.tfrecord*")
    return sorted(path for path in found if _SHARD.fullmatch(path[len(prefix) :]))


class OldShards:
    """What lies under a prefix before a new set takes its place.

    Args:
        prefix: folder and beginning of the names.
        new: the names that the new set will have, without the folder.
    """

    def __init__(self, prefix: str, new: list[str]) -> None:
        self._prefix = prefix
        self._folder, self._title = os.path.split(prefix)
        self._new = new
        self._paths = shards_of_prefix(prefix)
        self._aside: list[str] = []
        self._out_of_the_way = self._forgotten = False
        self._entries: list[dict[str, Any]] = []
        self._made_by: dict[str, Any] = {}
        self._jobs: dict[str, Any] = {}

    def set_aside(self) -> None:
        """Take the old shards out of the manifest, then out of the way."""
        if self._paths or os.path.exists(manifest_path(self._folder)):
            change_manifest(self._folder, self._forget)
        for path in self._paths:
            self._aside.append(path)
            try:
                os.makedirs(sidecar_folder(path), exist_ok=True)
                os.replace(path, _aside(path))
            except OSError as error:
                raise from_os_error(error, path) from error
        if self._aside:
            sync_folder(self._folder)
        self._out_of_the_way = True

    def put_back(self) -> None:
        """Undo all, the part of the new set included that is there already."""
        known = self._forgotten
        if not known and not self._out_of_the_way:
            return
        if os.path.exists(manifest_path(self._folder)):
            change_manifest(self._folder, self._forget)
        if self._out_of_the_way:  # else what has these names is old
            for name in self._new:
                _remove(os.path.join(self._folder, name))
        for path in self._aside:
            with contextlib.suppress(FileNotFoundError):  # it has not been moved
                os.replace(_aside(path), path)
        if known:
            sync_folder(self._folder)
            change_manifest(self._folder, self._remember)

    def remove(self) -> None:
        """Remove what lies aside, and what killed processes have left there, with the indexes."""
        folder = sidecar_folder(self._prefix)
        for path in glob.glob(
            os.path.join(glob.escape(folder), glob.escape(self._title) + f"-*-of-*{_ASIDE}")
        ):
            name = os.path.basename(path).removesuffix(_ASIDE)
            if self._is_mine(name):
                if name not in self._new:
                    _remove(index_path(os.path.join(self._folder, name)))
                _remove(path)

    def _forget(self, content: dict[str, Any]) -> None:
        if not self._forgotten:
            self._entries = [entry for entry in content["shards"] if self._is_mine(entry["name"])]
            self._made_by = content["made_by"].get(self._title, {})
            self._jobs = dict(content.get("jobs", {}))
            self._forgotten = True
        content["shards"] = [entry for entry in content["shards"] if not self._is_mine(entry["name"])]
        content["made_by"].pop(self._title, None)

    def _remember(self, content: dict[str, Any]) -> None:
        content["shards"] += self._entries
        if self._made_by:
            content["made_by"][self._title] = self._made_by
        if self._jobs:
            content["jobs"] = self._jobs | content.get("jobs", {})

    def _is_mine(self, name: str) -> bool:
        return name.startswith(self._title) and bool(_SHARD.fullmatch(name[len(self._title) :]))


def _aside(path: str) -> str:
    return os.path.join(sidecar_folder(path), os.path.basename(path) + _ASIDE)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise from_os_error(error, path) from error
