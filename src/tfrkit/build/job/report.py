"""What a job did: BuildReport in Python, `report.json` in the folder. FORMAT.md defines the file.

The file has an entry for each job whose shards are in the folder, and nothing that differs from run to run.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

from tfrkit.build.job.column_report import ColumnReport
from tfrkit.build.job.job_plan import Job
from tfrkit.build.job.json_fields import from_json
from tfrkit.build.job.progress import BadInput, TaskReporter
from tfrkit.errors import DataLossError, NotFoundError
from tfrkit.records.manifest import ShardEntry, folder_lock
from tfrkit.stores import files
from tfrkit.stores.json_file import is_count, is_digest, is_file_name, json_bytes, parse_json, shorten
from tfrkit.stores.output import remove_temporary

__all__ = [
    "BuildReport",
    "Finished",
    "is_part",
    "make_report",
    "read_report",
    "report_from",
    "report_path",
    "save_report",
]

MAX_LISTED: Final = 10_000  # bad inputs of a whole job
_PART: Final = re.compile(r"mix/[0-9]+/(part|split)-[0-9]+([-.][0-9]+)*")
_FORMAT: Final = "tfrkit-report"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a job did.

    Attributes:
        folder: where the shards are.
        shards: each with its counts, in order of the names.
        input_bytes: how much was read, skipped inputs included.
        bad: how many inputs were left out, by reason.
        listed: the bad inputs; at most 1,000 of each shard, and 10,000 of all.
        resumed: how many shards were there already, from an earlier run of the same job.
        seconds: how long it took.
        noted: how many inputs were noticed and kept, or ignored on purpose, by reason.
        noted_listed: the first of these.
        columns: how the columns of a table were settled.
        passed: how many good inputs were not wanted, such as records that an expression does not choose.
        files_left_out: how many files are in partitions that were not wanted, and were not read.
    """

    folder: str
    shards: tuple[ShardEntry, ...]
    input_bytes: int
    bad: Mapping[str, int]
    listed: tuple[BadInput, ...]
    resumed: int
    seconds: float
    noted: Mapping[str, int] = field(default_factory=dict)
    noted_listed: tuple[BadInput, ...] = ()
    columns: tuple[ColumnReport, ...] = ()
    passed: int = 0
    files_left_out: int = 0

    @property
    def records(self) -> int:
        """Records in all shards."""
        return sum(shard.records for shard in self.shards)

    @property
    def bytes(self) -> int:
        """Bytes of all shards."""
        return sum(shard.bytes for shard in self.shards)

    @property
    def not_listed(self) -> int:
        """How many bad inputs are counted in `bad` but not in `listed`."""
        return sum(self.bad.values()) - len(self.listed)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            **asdict(self),
            "columns": [column.to_json() for column in self.columns],
            "records": self.records,
            "bytes": self.bytes,
            "not_listed": self.not_listed,
        }

    def to_entry(self, prefixes: Sequence[str]) -> dict[str, Any]:
        """Return what `report.json` says of the job."""
        entry = self.to_dict() | {"prefixes": list(prefixes), "shards": len(self.shards)}
        return {name: value for name, value in entry.items() if name not in ("folder", "resumed", "seconds")}


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """What `report.json` says of a job, as far as it is read again."""

    prefixes: tuple[str, ...]
    shards: int
    records: int
    bytes: int
    input_bytes: int
    bad: Mapping[str, int]
    listed: tuple[BadInput, ...]
    not_listed: int
    noted: Mapping[str, int]
    noted_listed: tuple[BadInput, ...]
    passed: int = 0
    files_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """A task that is done: what the journal keeps of it.

    Attributes:
        name: of the shard, or of the part of a shuffle.
        records: in it.
        bytes: size of the file.
        input_bytes: how much was read.
        bad: bad inputs by reason.
        listed: the first of them.
        buckets: of a part: records and bytes for each bucket.
        chunks: of a part: where each chunk begins in the file.
        noted: what was noticed and kept, by reason.
        noted_listed: the first of each.
        passed: good inputs that were not wanted.
        features: names of features that were looked for and found.
        path: where the attempt has written it; of a part the journal keeps the name of the file, of a shard nothing.
        checksum: of the end of the file, as in an index; the journal does not keep it.
    """

    name: str
    records: int
    bytes: int
    input_bytes: int
    bad: Mapping[str, int]
    listed: tuple[BadInput, ...]
    buckets: tuple[tuple[int, int], ...] = ()
    chunks: tuple[int, ...] = ()
    noted: Mapping[str, int] = field(default_factory=dict)
    noted_listed: tuple[BadInput, ...] = ()
    passed: int = 0
    features: tuple[str, ...] = ()
    path: str = ""
    checksum: int = 0

    @classmethod
    def of(cls, name: str, records: int, size: int, reporter: TaskReporter, **more: Any) -> Self:
        """Take what a task has reported, and what is known beside it."""
        return cls(
            name, records, size, reporter.input_bytes, reporter.counts, tuple(reporter.listed), noted=reporter.noted,
            noted_listed=tuple(reporter.noted_listed), passed=reporter.passed,
            features=tuple(sorted(reporter.features)), **more,
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        line = asdict(self)
        del line["checksum"]
        if not is_part(self.name):
            del line["path"], line["buckets"], line["chunks"]
        return line

    @classmethod
    def from_json(cls, line: object) -> Finished:
        """Read a line of the journal.

        Raises:
            ValueError: it is not one, or names what no task writes.
        """
        done = from_json(cls, line)
        if not is_file_name(done.name) and _PART.fullmatch(done.name) is None:
            raise ValueError(f"expected the name of a task but got {shorten(done.name)}")
        if done.path and not is_file_name(done.path):
            raise ValueError(f"expected the name of a file but got {shorten(done.path)}")
        return done


def is_part(name: str) -> bool:
    """Return whether a finished task is a part of a shuffle, not a shard. Pure: no I/O."""
    return "/" in name


def make_report(
    job: Job, shards: Iterable[ShardEntry], finished: Iterable[Finished], resumed: int, seconds: float
) -> BuildReport:
    """Sum up a job, whose plan has bad inputs of its own; `finished` are all tasks in its order. Pure: no I/O."""
    counts = Counter([bad.reason for bad in job.bad] if job.counts is None else job.counts)
    listed = list(job.bad)
    input_bytes = passed = 0
    noted = Counter([found.reason for found in job.noted] if job.noted_counts is None else job.noted_counts)
    noted_listed = list(job.noted)
    for task in finished:
        input_bytes += task.input_bytes
        passed += task.passed
        listed += task.listed
        counts.update(task.bad)
        noted_listed += [found for found in task.noted_listed if found.reason not in noted]
        noted.update(task.noted)
    entries = tuple(sorted(shards, key=lambda shard: shard.name))
    return BuildReport(
        job.folder,
        entries,
        input_bytes,
        dict(sorted(counts.items())),
        tuple(listed[:MAX_LISTED]),
        resumed,
        seconds,
        dict(sorted(noted.items())),
        tuple(noted_listed[:MAX_LISTED]),
        job.columns,
        passed if job.good is None else job.good - sum(shard.records for shard in entries),
        job.files_left_out,
    )


def report_from(
    entry: Mapping[str, Any], job: Job, shards: Iterable[ShardEntry], resumed: int, seconds: float
) -> BuildReport:
    """Return the report of a complete job from its entry in `report.json`. Pure: no I/O."""
    found = from_json(ReportEntry, entry)
    entries = tuple(sorted(shards, key=lambda shard: shard.name))
    return BuildReport(
        job.folder, entries, found.input_bytes, found.bad, found.listed, resumed, seconds, found.noted,
        found.noted_listed, job.columns, found.passed, found.files_left_out,
    )  # fmt: skip


def report_path(folder: str) -> str:
    """Return the path of a folder's report."""
    return os.path.join(folder, "report.json")


def read_report(folder: str) -> dict[str, Any]:
    """Return the entries of a folder's report by the digests of the jobs; none if there is no report.

    Raises:
        DataLossError: the file is no report.
    """
    path = report_path(folder)
    try:
        data = files.read_bytes(path)
    except NotFoundError:
        return {}
    try:
        content = parse_json(data)
    except ValueError as error:
        raise DataLossError(f"{path}; expected JSON but got: {error}. Delete it.", path=path) from error
    if (
        not isinstance(content, dict)
        or content.get("format") != _FORMAT
        or not isinstance(content.get("jobs"), dict)
    ):
        raise DataLossError(
            f"{path}; expected a report of tfrkit's but got something else. Move it away.", path=path
        )
    if not is_count(content.get("version")) or content["version"] != _VERSION:
        raise DataLossError(
            f"{path}; expected version {_VERSION} but got {shorten(content.get('version'))}. Use a newer tfrkit.",
            path=path,
        )
    jobs: dict[str, Any] = content["jobs"]
    for digest, entry in jobs.items():
        try:
            from_json(ReportEntry, entry)
            if not is_digest(digest):
                raise ValueError("no digest")
        except ValueError as error:
            raise DataLossError(
                f"{path}; expected what a job did but got {shorten({digest: entry})}. Delete it.", path=path
            ) from error
    return jobs


def save_report(folder: str, digest: str, entry: Mapping[str, Any]) -> None:
    """Put a job's entry into the report; entries of other jobs stay if they have other prefixes."""
    mine = set(entry["prefixes"])
    with folder_lock(folder, "manifest.lock"):
        if files.is_local(folder):
            remove_temporary(report_path(folder))
        jobs = {digest: dict(entry)}
        for other, found in read_report(folder).items():
            left = [prefix for prefix in found["prefixes"] if prefix not in mine]
            if other != digest and left:
                jobs[other] = {**found, "prefixes": left}
        content = {"format": _FORMAT, "version": _VERSION, "jobs": jobs}
        files.write_bytes(report_path(folder), json_bytes(content))
