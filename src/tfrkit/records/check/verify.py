"""verify: read everything and report every damage, and everything that is missing; nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, wait
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from tfrkit.codecs.table import canonical
from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT, ReadPolicy
from tfrkit.records.check.completeness import ShardFiles, find_shards
from tfrkit.records.check.folder_state import Problem
from tfrkit.records.read.damage import MAX_DAMAGES, Damage
from tfrkit.records.read.file_reader import BLOCK_BYTES, FileReader, open_file_reader
from tfrkit.records.read.frame_splitter import Event
from tfrkit.records.sniff.file_sniffer import sniff_file
from tfrkit.stores.files import open_source
from tfrkit.stores.paths import Paths
from tfrkit.stores.url import display_name
from tfrkit.threads import default_threads, thread_pool

__all__ = ["FileReport", "VerifyReport", "VerifyWatcher", "verify", "verify_files", "walk_events"]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was found in one file.

    Attributes:
        path: the file.
        records: number of intact records.
        data_bytes: bytes of their payloads.
        file_bytes: size of the file on disk, None for a pipe.
        stream_bytes: bytes of the uncompressed stream.
        compression: "" or the name.
        damages: every damage, in order; of very many the first 10,000.
        error: why the file could not be read at all, or "".
        looks_like: what the file looks like, if there is no record in it.
        more_damages: how many there are beyond `damages`.
    """

    path: str
    records: int
    data_bytes: int
    file_bytes: int | None
    stream_bytes: int
    compression: str
    damages: tuple[Damage, ...]
    error: str = ""
    looks_like: str = ""
    more_damages: int = 0

    @property
    def ok(self) -> bool:
        """Whether every byte of the file belongs to an intact record."""
        return not self.damages and not self.error

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a JSON-able dict."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "damages"}
        return {**fields, "ok": self.ok, "damages": [damage.to_dict() for damage in self.damages]}

    def __str__(self) -> str:
        kind = self.compression or "plain"
        lines = [
            f"{self.path}: {self.records} records, {self.data_bytes} bytes, {kind}: {'ok' if self.ok else 'DAMAGED'}"
        ]
        if self.error:
            lines.append(f"  {self.error}")
        if self.looks_like:
            lines.append(f"  looks like {self.looks_like}")
        lines += [
            f"  {d.kind} at bytes {d.start}-{d.end}, after {d.record} records: {d.text}" for d in self.damages
        ]
        if self.more_damages:
            lines.append(f"  and {self.more_damages} more")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The reports of several files, and what is wrong with the sets that they belong to.

    Attributes:
        files: a report for each file that is there, or was named.
        problems: what is wrong beyond damage inside a file: missing shards, jobs that are not complete, manifests that
            cannot be read, files that are not as the manifest says, shards that it does not name.
        others: files in the folders given that do not belong to a set.
    """

    files: tuple[FileReport, ...]
    problems: tuple[Problem, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all files are intact, and everything is there."""
        return all(file.ok for file in self.files) and not self.problems

    @property
    def records(self) -> int:
        """Number of intact records in all files."""
        return sum(file.records for file in self.files)

    @property
    def damages(self) -> tuple[Damage, ...]:
        """Every damage of every file; of very many in a file its first 10,000."""
        return tuple(damage for file in self.files for damage in file.damages)

    @property
    def missing(self) -> tuple[str, ...]:
        """Paths of the shards that should be there and are not; of a very large set the first 10,000."""
        return tuple(problem.path for problem in self.problems if problem.kind == "missing")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a JSON-able dict."""
        return {
            "ok": self.ok,
            "records": self.records,
            "files": [file.to_dict() for file in self.files],
            "missing": list(self.missing),
            "problems": [asdict(problem) for problem in self.problems],
            "others": list(self.others),
        }

    def __str__(self) -> str:
        return "\n".join([*map(str, self.files), *map(str, self.problems)])


def verify(
    paths: Paths,
    *,
    compression: str = "auto",
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> VerifyReport:
    """Read files completely and report what is in them, what is wrong with them, and what is missing.

    Args:
        paths: as for `read_blocks`; and folders, which mean the shards in them. Of a folder everything is expected
            that its manifest, the journals of unfinished jobs and the numbers in names (`-of-00008`) speak of, of a
            pattern what would match it, and of a list the sets of which it has all files that are there. Of a file
            that is named alone nothing else is expected.
        compression: "auto" finds out by the content.
        threads: how many files to read at once; by default one for each core.
        progress: called now and then with how many more bytes of the files are done; from several threads.

    Returns:
        A report for each file, and of everything that is wrong around them. Damage does not raise here: look at `.ok`,
        `.damages`, `.missing` and `.problems`.

    Raises:
        NotFoundError: a pattern matches nothing, a folder has no shards. A single file that cannot be read is reported.
    """
    kind = compression if compression == "auto" else canonical(compression)
    return verify_files(find_shards(paths), compression=kind, threads=threads, progress=progress)


class VerifyWatcher(Protocol):
    """Is told what `verify_files` finds while it reads. Called by several threads."""

    def damaged(self, number: int, damage: Damage) -> None:
        """Take a damage of a file, by its number among the files."""

    def verified(self, number: int, report: FileReport) -> None:
        """Take the report of a file that has been read."""


def verify_files(
    found: ShardFiles,
    *,
    compression: str = "auto",
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    watcher: VerifyWatcher | None = None,
) -> VerifyReport:
    """Verify what `find_shards` has found.

    An exception of `progress` or `watcher` ends it: files under way are left, and then it is raised.
    """
    policy = TFRKIT.with_options(compression=compression, on_corrupt="skip")
    files = [*found.files, *found.unlisted]

    def verify_one(number: int) -> FileReport:
        report = _verify_file(number, files[number], policy, progress, watcher)
        if watcher is not None:
            watcher.verified(number, report)
        return report

    if (
        (threads or default_threads()) == 1
        or len(files) == 1
        or not all(isinstance(file, str) for file in files)
    ):
        reports = [verify_one(number) for number in range(len(files))]
    else:
        reports = _on_all_cores(verify_one, len(files))
    unlike = (
        found.difference(file if isinstance(file, str) else report.path, report.records, report.file_bytes)
        for file, report in zip(files, reports, strict=True)
        if report.file_bytes is not None
    )
    problems = (*found.problems, *dict.fromkeys(problem for problem in unlike if problem is not None))
    return VerifyReport(tuple(reports), problems, tuple(found.others))


def _on_all_cores(verify_one: Callable[[int], FileReport], count: int) -> list[FileReport]:
    """Verify files on the threads of the process; after a failure nothing is begun, and nothing is left running."""
    futures: list[Future[FileReport]] = []
    failures: list[BaseException] = []

    def verify(number: int) -> FileReport:
        if failures:  # before the thread that waits for it has seen that, and cancels what has not begun
            raise CancelledError
        try:
            return verify_one(number)
        except BaseException as error:
            failures.append(error)
            raise

    try:
        futures += (thread_pool().submit(verify, number) for number in range(count))
        return [future.result() for future in futures]
    except CancelledError:
        raise failures[0] from None
    finally:
        for future in futures:
            future.cancel()
        wait(futures)


def walk_events(reader: FileReader, progress: Callable[[int], object] | None = None) -> Iterator[Event]:
    """Run a reader to its end in this thread.

    Args:
        reader: the file.
        progress: called now and then with how many more bytes of the file are done; of a compressed file with 0 until
            its end, as only plain ones tell.
    """
    told = 0
    while (step := reader.plan()) is not None:
        yield from reader.run(step)
        if progress is not None:
            done = told if reader.compression else reader.splitter.position
            progress(done - told)
            told = done
    if progress is not None:
        progress(max(0, (reader.source.size() or 0) - told))


def _verify_file(
    number: int,
    target: Any,
    policy: ReadPolicy,
    progress: Callable[[int], object] | None,
    watcher: VerifyWatcher | None,
) -> FileReport:
    try:
        source = open_source(target)
        reader = open_file_reader(source, policy, BLOCK_BYTES)
    except OpError as error:
        return FileReport(display_name(str(target)), 0, 0, None, 0, "", (), error=error.message)
    data_bytes, more, problem = 0, 0, ""
    damages: list[Damage] = []
    try:
        for event in walk_events(reader, progress):
            if isinstance(event, Block):
                data_bytes += event.nbytes
                continue
            if watcher is not None:
                watcher.damaged(number, event)
            if len(damages) < MAX_DAMAGES:
                damages.append(event)
            else:
                more += 1
    except OpError as error:
        problem = error.message
    hint = ""
    if damages and not reader.splitter.records and source.regular:
        hint = sniff_file(source.read_at(0, 1024), reader.compression)
    return FileReport(
        source.name,
        reader.splitter.records,
        data_bytes,
        source.size(),
        reader.splitter.position,
        reader.compression,
        tuple(damages),
        problem,
        hint,
        more,
    )
