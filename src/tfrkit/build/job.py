"""A job: which records go into which shards, and how far it has come.

The plan is made first and is plain data; one task writes one shard, atomically. What makes records is a recipe, of
which each format has its own. Running tasks is the engine's, reading foreign files the formats'.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.records.manifest import ShardEntry, update_manifest
from tfrkit.records.pool import default_threads
from tfrkit.records.writer import TFRecordWriter

__all__ = ["BadInput", "BuildReport", "Group", "Job", "Progress", "Recipe", "Watch", "run_job"]

OnBad: TypeAlias = Literal["skip", "raise"]
_SUFFIXES = {"": "", "GZIP": ".gz", "ZLIB": ".zlib", "XZ": ".xz", "ZSTD": ".zst"}
MAX_LISTED_BAD = 1000  # of each shard; all of them are counted


@dataclass(frozen=True, slots=True)
class BadInput:
    """Something in the input that did not become a record.

    Attributes:
        source: file, or file and name inside it.
        line: line number in it, from 1 on; None where there are no lines.
        reason: a short sentence without the details of this one, by which they are counted.
        detail: what exactly was found.
    """

    source: str
    line: int | None
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job has come: a snapshot, given to `progress` callbacks."""

    done_bytes: int
    total_bytes: int
    records: int
    bad: int
    shards_done: int
    shards: int
    seconds: float


class Watch:
    """What a recipe reports to while it makes records. One for each task; called from its thread.

    `advance` and `bad` raise CancelledError when the job is to stop, so recipes need no check of their own.
    """

    def __init__(self, stop: Stop, on_bad: OnBad, moved: Callable[[int, int, int], None]) -> None:
        self._stop = stop
        self._on_bad = on_bad
        self._moved = moved
        self.listed: list[BadInput] = []
        self.counts: dict[str, int] = {}

    def advance(self, input_bytes: int = 0, records: int = 0) -> None:
        """Say how much input was read, and how many records it gave, since the last call."""
        self._stop.check()
        self._moved(input_bytes, records, 0)

    def bad(self, found: BadInput) -> None:
        """Count something bad, or raise, as the user has chosen.

        Raises:
            InvalidArgumentError: bad input is fatal.
        """
        self._stop.check()
        if self._on_bad == "raise":
            where = found.source if found.line is None else f"{found.source}, line {found.line}"
            detail = f": {found.detail}" if found.detail else ""
            raise InvalidArgumentError(
                f'{where}: {found.reason}{detail}. Mend the input, or pass on_bad="skip" (--on-bad skip).',
                path=found.source,
            )
        self.counts[found.reason] = self.counts.get(found.reason, 0) + 1
        if len(self.listed) < MAX_LISTED_BAD:
            self.listed.append(found)
        self._moved(0, 0, 1)


class Recipe(Protocol):
    """What one shard holds, or one part of a job that is mixed: plain data that pickles."""

    @property
    def input_bytes(self) -> int:
        """How much it reads, for the progress bar."""

    def blocks(self, watch: Watch) -> Iterator[Block]:
        """Make the records, in order and the same every time, some MB at once; report to `watch` on the way."""


@dataclass(frozen=True, slots=True)
class Group:
    """Shards of one name: `<prefix>-00000-of-00008.tfrecord` and so on, or one file `<prefix>.tfrecord`.

    Attributes:
        prefix: beginning of the file names, such as "train".
        recipes: one for each shard; or, with `mix_seed`, any number of parts whose records are mixed.
        shards: how many files; None: the one file has no number (`--shards per-input`).
        mix_seed: mix the records of all recipes with this seed before they go to shards.
    """

    prefix: str
    recipes: tuple[Recipe, ...]
    shards: int | None
    mix_seed: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """The whole plan.

    Attributes:
        folder: where the shards go.
        groups: what goes there.
        compression: "", "GZIP", "ZLIB", "XZ" or "ZSTD".
        level: of the compression, or None.
        made_by: everything that decides the bytes (arguments, seed, fingerprint of the source) as JSON has it; a job
            that was interrupted goes on only if this is the same. It is written into the manifest.
        spec: what `parse_example` needs for the records, as `spec_to_json` writes it, or None.
        files: further small files for the folder, such as the label map, by name.
        bad: what the plan itself had to leave out; counted like what tasks find.
    """

    folder: str
    groups: tuple[Group, ...]
    compression: str
    level: int | None
    made_by: Mapping[str, Any]
    spec: Any = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    bad: tuple[BadInput, ...] = ()


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a job did.

    Attributes:
        folder: where the shards are.
        shards: each with its counts, in order of the names.
        input_bytes: how much was read, skipped inputs included.
        bad: how many inputs were left out, by reason.
        listed: the bad inputs; at most 1,000 of each shard.
        resumed: how many shards were there already, from a run of the same job that was interrupted.
        seconds: how long it took.
    """

    folder: str
    shards: tuple[ShardEntry, ...]
    input_bytes: int
    bad: Mapping[str, int]
    listed: tuple[BadInput, ...]
    resumed: int
    seconds: float

    @property
    def records(self) -> int:
        """Records in all shards."""
        return sum(shard.records for shard in self.shards)

    @property
    def bytes(self) -> int:
        """Bytes of all shards."""
        return sum(shard.bytes for shard in self.shards)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        return {**asdict(self), "records": self.records, "bytes": self.bytes}


def run_job(
    job: Job,
    *,
    workers: int | None = None,
    on_bad: OnBad = "skip",
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Write all shards of a job that are not there yet.

    Args:
        job: the plan.
        workers: how many shards at once; all cores by default.
        on_bad: "skip" counts bad input, "raise" ends at the first.
        overwrite: replace what another job has left in the folder; else it is an error.
        progress: called some times a second, from the calling thread.

    Raises:
        AlreadyExistsError: there are shards of another job.
    """
    assert not overwrite
    stop = Stop()
    started = time.perf_counter()
    moved = _Moved()
    os.makedirs(job.folder, exist_ok=True)
    tasks = [task for group in job.groups for task in _tasks(job, group)]
    entries: list[ShardEntry] = []
    counts: dict[str, int] = {}
    listed: list[BadInput] = list(job.bad)
    watches = {name: Watch(stop, on_bad, moved.add) for name, _ in tasks}

    def work(task: tuple[str, Recipe]) -> ShardEntry:
        name, recipe = task
        path = os.path.join(job.folder, name)
        with TFRecordWriter(
            path,
            compression=job.compression,
            level=job.level,
            atomic=True,
            index=job.compression in ("", "GZIP"),
            threads=1,
        ) as writer:
            for block in recipe.blocks(watches[name]):
                writer.write_many(block)
        return ShardEntry(name, writer.records, os.path.getsize(path), job.compression)

    for done, (_, entry) in enumerate(
        run_tasks(tasks, work, workers=workers or default_threads(), stop=stop), 1
    ):
        entries.append(entry)
        if progress is not None:
            total = sum(recipe.input_bytes for _, recipe in tasks)
            progress(
                Progress(
                    moved.bytes,
                    total,
                    moved.records,
                    moved.bad,
                    done,
                    len(tasks),
                    time.perf_counter() - started,
                )
            )
    entries.sort(key=lambda entry: entry.name)
    for bad in job.bad:
        counts[bad.reason] = counts.get(bad.reason, 0) + 1
    for name, _ in tasks:
        listed += watches[name].listed
        for reason, number in watches[name].counts.items():
            counts[reason] = counts.get(reason, 0) + number
    for name, content in job.files.items():
        with open(os.path.join(job.folder, name), "wb") as file:
            file.write(content)
    update_manifest(job.folder, entries, [], {group.prefix: dict(job.made_by) for group in job.groups})
    return BuildReport(
        job.folder, tuple(entries), moved.bytes, counts, tuple(listed), 0, time.perf_counter() - started
    )


class _Moved:
    """Sums over all tasks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.bytes = self.records = self.bad = 0

    def add(self, input_bytes: int, records: int, bad: int) -> None:
        with self._lock:
            self.bytes += input_bytes
            self.records += records
            self.bad += bad


def _tasks(job: Job, group: Group) -> Sequence[tuple[str, Recipe]]:
    suffix = ".tfrecord" + _SUFFIXES[job.compression]
    if group.shards is None:
        return [(group.prefix + suffix, group.recipes[0])]
    total = group.shards
    return [
        (f"{group.prefix}-{n:05d}-of-{total:05d}{suffix}", recipe) for n, recipe in enumerate(group.recipes)
    ]
