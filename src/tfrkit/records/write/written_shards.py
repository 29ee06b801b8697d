"""Shards that tasks have written under temporary names, and how those of many folders take their places together.

All that is replaced gives way, in every folder, before the first new shard has its name: see `replace_shards.py`, which
says what each kind of store can do. After an error all folders are as they were, where files can be renamed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tfrkit.errors import DataLossError, NotFoundError, OpError
from tfrkit.records.access.index import sidecar_paths
from tfrkit.records.manifest import ShardEntry, update_manifest
from tfrkit.records.record_names import shard_name
from tfrkit.records.write.replace_shards import OldShards, old_record_files, old_shards
from tfrkit.stores.files import file_info, is_local, make_folder, move
from tfrkit.stores.output import sidecar_folder, sync_folder
from tfrkit.stores.url import split_path
from tfrkit.threads import in_threads

__all__ = ["NewShards", "WrittenShard", "publish_shards"]


@dataclass(frozen=True, slots=True)
class WrittenShard:
    """A shard that an attempt at a task has written. Plain data.

    Attributes:
        task: number of the task.
        attempt: name of the attempt.
        number: of the shard among those of the attempt.
        within: folder below the sink's that it belongs into, such as "day=1"; empty: the sink's.
        path: where it is.
        records: in it.
        bytes: of the file.
    """

    task: int
    attempt: str
    number: int
    within: str
    path: str
    records: int
    bytes: int

    def check(self) -> None:
        """Raise if it is not as its task has left it.

        Raises:
            DataLossError: it is not.
        """
        found = file_info(self.path)
        if found is None or found.size != self.bytes:
            got = "none" if found is None else f"{found.size}"
            raise DataLossError(
                f"{self.path}; expected the {self.bytes} bytes that task {self.task} has written but got {got}. All "
                "workers must see the same folder: a shared file system, or an object store.",
                path=self.path,
            )


class NewShards:
    """The shards of one folder, and what they replace there.

    Args:
        prefix: folder and beginning of their names.
        shards: in order; none: what is there is only removed.
        compression: of all of them.
        whole: they replace all record files of the folder, not only those of the prefix.
    """

    def __init__(
        self, prefix: str, shards: Sequence[WrittenShard], compression: str, *, whole: bool = False
    ) -> None:
        self.prefix, self._shards, self._compression = prefix, shards, compression
        self.folder, self._title = split_path(prefix)
        self.paths = [shard_name(prefix, number, len(shards), compression) for number in range(len(shards))]
        if shards:
            make_folder(sidecar_folder(prefix))
        names = [os.path.basename(path) for path in self.paths]
        self.old: OldShards = old_record_files(self.folder, names) if whole else old_shards(prefix, names)

    def moves(self) -> list[Callable[[], None]]:
        """Return what gives the shards their names, one each."""
        return [
            partial(_move, shard.path, path) for shard, path in zip(self._shards, self.paths, strict=True)
        ]

    def enter(self) -> None:
        """Name the shards in the manifest, when all are there."""
        if not self._shards:
            return
        if is_local(self.prefix):
            sync_folder(self.folder)
        entries = [
            ShardEntry(os.path.basename(path), shard.records, shard.bytes, self._compression)
            for shard, path in zip(self._shards, self.paths, strict=True)
        ]
        made = {"writer": "ShardSink", "shards": len(entries), "compression": self._compression}
        update_manifest(self.folder, entries, [], {self._title: made})


def publish_shards(folders: Sequence[NewShards]) -> None:
    """Let the shards of some folders take their places; no new one is there before all old ones have given way."""
    steps = [
        [each.old.set_aside for each in folders],
        [move for each in folders for move in each.moves()],
        [each.enter for each in folders],
    ]
    try:
        for calls in steps:
            _call(calls, at_once=bool(folders) and not is_local(folders[0].prefix))
    except BaseException as error:
        left = " ".join(filter(None, map(_put_back, reversed(folders))))
        if left and isinstance(error, OpError):
            raise type(error)(f"{error.message} {left}", path=error.path) from error
        raise
    for each in folders:
        each.old.remove()


def _call(calls: Sequence[Callable[[], None]], *, at_once: bool) -> None:
    with in_threads(calls) if at_once else contextlib.nullcontext(calls) as results:
        for result in results:
            result()


def _put_back(each: NewShards) -> str:
    """Undo what was done in one folder; return what could not be."""
    try:
        return each.old.put_back()
    except (OpError, OSError) as error:  # the other folders still can
        return f"What was there under {each.prefix!r} could not be put back: {error}."


def _move(source: str, target: str) -> None:
    """Give a shard and its sidecars their names."""
    for old, new in zip(sidecar_paths(source), sidecar_paths(target), strict=True):
        with contextlib.suppress(NotFoundError):
            move(old, new)
    move(source, target)
