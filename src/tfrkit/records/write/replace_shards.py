"""What lies under a prefix before a new set of shards takes its place, and how it gives way.

Many files cannot be replaced at once. They leave the manifest first, which thus never names a file with another
content. Where files can be renamed, they lie aside until the new set is whole: a kill in between leaves too few shards
rather than old and new ones that look like one set, and after an error the old set is put back. An object store has no
renaming: there the new shards take the place of those of the same names one by one, and the rest is removed at the end.
"""

from __future__ import annotations

import contextlib
import glob
import os
from abc import ABC, abstractmethod
from typing import Any, Final

from tfrkit.errors import OpError
from tfrkit.records.access.index import sidecar_paths, zones_path
from tfrkit.records.manifest import change_manifest, manifest_path
from tfrkit.records.record_names import numbered_title, parse_record_name, shard_prefix
from tfrkit.stores.files import (
    file_info,
    is_local,
    is_there,
    list_if_there,
    list_names,
    make_folder,
    move,
    remove,
    traits_of,
)
from tfrkit.stores.output import SIDECAR_FOLDER, sidecar_folder, sync_folder
from tfrkit.stores.url import split_path

__all__ = ["OldShards", "aside_of", "old_record_files", "old_shards", "shards_of_prefix"]

_ASIDE: Final = ".old"


def shards_of_prefix(prefix: str) -> list[str]:
    """Find the shards that lie under a prefix, sorted."""
    folder, title = split_path(prefix)
    if is_local(prefix):
        found = glob.glob(glob.escape(prefix) + "-*-of-*")
    else:
        found = [os.path.join(folder, name) for name in list_names(folder)]
    return sorted(path for path in found if numbered_title(os.path.basename(path)) == title)


def old_shards(prefix: str, new: list[str]) -> OldShards:
    """Look at what lies under a prefix.

    Args:
        prefix: folder and beginning of the names.
        new: the names that the new set will have, without the folder.
    """
    return (_ShardsAside if traits_of(prefix).renames else _ShardsInPlace)(*split_path(prefix), new)


def old_record_files(folder: str, new: list[str]) -> OldShards:
    """Look at all record files of a folder, whatever their prefix; see `old_shards`."""
    return (_ShardsAside if traits_of(folder).renames else _ShardsInPlace)(folder, None, new)


def aside_of(path: str) -> str | None:
    """Return the folder of what a killed process has left aside at a path; None if it is something else. Pure."""
    folder, name = os.path.split(path)
    is_aside = name.endswith(_ASIDE) and os.path.basename(folder) == SIDECAR_FOLDER
    return os.path.dirname(folder) if is_aside else None


class OldShards(ABC):
    """Shards that a new set replaces.

    Args:
        folder: where they are.
        title: how their names begin; None: whatever has the name of a record file is replaced.
        new: names of the new set.
    """

    def __init__(self, folder: str, title: str | None, new: list[str]) -> None:
        self._folder, self._title = folder, title
        self._prefix = os.path.join(folder, title or "")
        self._new = new
        self._versions = {
            name: info.version
            for info in list_if_there(folder or ".", recursive=False)
            if not info.is_folder and self._is_mine(name := os.path.basename(info.path))
        }
        self._forgotten = False
        self._entries: list[dict[str, Any]] = []
        self._made_by: dict[str, Any] = {}
        self._jobs: dict[str, Any] = {}

    @abstractmethod
    def set_aside(self) -> None:
        """Take the old shards out of the manifest, then out of the way."""

    @abstractmethod
    def put_back(self) -> str:
        """Undo all, the part of the new set included that is there already; return what could not be undone."""

    @abstractmethod
    def remove(self) -> None:
        """Remove what the new set has not replaced, with the indexes."""

    def _forget(self, content: dict[str, Any]) -> None:
        """Take the old set out of a manifest, and remember it."""
        entries = [entry for entry in content["shards"] if self._is_mine(entry["name"])]
        if entries or not self._forgotten:  # again, if another process has changed it meanwhile
            self._entries = entries
            self._made_by = {
                title: made for title, made in content["made_by"].items() if self._title in (None, title)
            }
            self._jobs = dict(content.get("jobs", {}))
            self._forgotten = True
        self._strip(content)

    def _strip(self, content: dict[str, Any]) -> None:
        content["shards"] = [entry for entry in content["shards"] if not self._is_mine(entry["name"])]
        content["made_by"] = {
            title: made for title, made in content["made_by"].items() if self._title not in (None, title)
        }

    def _remember(self, content: dict[str, Any]) -> None:
        self._strip(content)
        content["shards"] += self._entries
        content["made_by"].update(self._made_by)
        if self._jobs:
            content["jobs"] = self._jobs | content.get("jobs", {})

    def _drop_zones(self) -> None:
        """Remove zones of shards that are replaced, before they may be taken for those of the new ones."""
        there = set(list_names(sidecar_folder(self._prefix)))
        for path in (zones_path(os.path.join(self._folder, name)) for name in self._new):
            if os.path.basename(path) in there:
                remove(path)

    def _is_mine(self, name: str) -> bool:
        if self._title is None:
            return parse_record_name(name) is not None
        return numbered_title(name) == self._title


class _ShardsAside(OldShards):
    """Where files can be renamed."""

    def __init__(self, folder: str, title: str | None, new: list[str]) -> None:
        super().__init__(folder, title, new)
        self._paths = [os.path.join(folder, name) for name in sorted(self._versions)]
        self._aside: list[str] = []
        self._out_of_the_way = False

    def set_aside(self) -> None:
        if self._paths or self._has_manifest():
            change_manifest(self._folder, self._forget)
        self._drop_zones()
        for path in self._paths:
            self._aside.append(path)
            make_folder(sidecar_folder(path))
            move(path, _aside(path))
        if self._aside:
            self._sync()
        self._out_of_the_way = True

    def put_back(self) -> str:
        known = self._forgotten
        if not known and not self._out_of_the_way:
            return ""
        if self._has_manifest():
            change_manifest(self._folder, self._strip)
        if self._out_of_the_way:  # else what has these names is old
            for name in self._new:
                remove(os.path.join(self._folder, name))
        for path in self._aside:
            with contextlib.suppress(FileNotFoundError):  # it has not been moved
                move(_aside(path), path)
        if known:
            self._sync()
            change_manifest(self._folder, self._remember)
        return ""

    def remove(self) -> None:
        """Remove what lies aside, and what killed processes have left there, with the indexes."""
        folder = sidecar_folder(self._prefix)
        for found in list_names(folder):
            name = found.removesuffix(_ASIDE)
            if name != found and self._is_mine(name):
                if name not in self._new:
                    _remove_sidecars(os.path.join(self._folder, name))
                remove(os.path.join(folder, found))

    def _has_manifest(self) -> bool:
        return file_info(manifest_path(self._folder)) is not None

    def _sync(self) -> None:
        if is_local(self._prefix):
            sync_folder(self._folder)


class _ShardsInPlace(OldShards):
    """Where they cannot: what the manifest has forgotten is there until something else has its name."""

    def set_aside(self) -> None:
        if self._versions or is_there(manifest_path(self._folder)):
            change_manifest(self._folder, self._forget)
        if self._versions:
            self._drop_zones()

    def _forget(self, content: dict[str, Any]) -> None:
        super()._forget(content)
        if (
            self._versions
        ):  # so that what a kill leaves is not taken for a whole set that never had a manifest
            titles = {self._title or shard_prefix(name) or name for name in self._versions}
            content["made_by"].update({title: {} for title in titles})

    def put_back(self) -> str:
        try:
            replaced = sum(map(self._was_replaced, self._new))
            if not replaced and self._forgotten:
                change_manifest(self._folder, self._remember)
        except OpError as error:
            return f"The manifest does not name the shards of {self._prefix!r} any more: {error.message}"
        if not replaced:
            return ""
        return (
            f"{replaced} of the {len(self._versions)} old shards of {self._prefix!r} were replaced before that, and "
            "the manifest names none of them any more. Write the set again."
        )

    def _was_replaced(self, name: str) -> bool:
        """Tell whether an old shard is not what it was; remove a new one that has replaced none."""
        path = os.path.join(self._folder, name)
        if name not in self._versions:
            remove(path)
            return False
        info = file_info(path)
        return info is None or info.version != self._versions[name]

    def remove(self) -> None:
        for name in self._versions.keys() - set(self._new):
            path = os.path.join(self._folder, name)
            remove(path)
            _remove_sidecars(path)
        if self._title is None and self._versions:
            change_manifest(self._folder, _drop_marks)


def _drop_marks(content: dict[str, Any]) -> None:
    """Take out of a manifest what said that sets were being replaced of which nothing is left."""
    content["made_by"] = {title: made for title, made in content["made_by"].items() if made}


def _remove_sidecars(path: str) -> None:
    for sidecar in sidecar_paths(path):
        remove(sidecar)


def _aside(path: str) -> str:
    return os.path.join(sidecar_folder(path), os.path.basename(path) + _ASIDE)
