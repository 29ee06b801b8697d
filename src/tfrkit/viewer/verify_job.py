"""The job `verify`: every damage of every file, with the numbers of the records round it, as they are found.

Reading and judging are those of `verify`. Numbers are those of an index: it counts records whose data is damaged.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tfrkit.records.check.completeness import find_shards
from tfrkit.records.check.verify import FileReport, verify_files
from tfrkit.records.read.damage import Damage
from tfrkit.viewer.job import BackgroundJob, Work
from tfrkit.viewer.record_pass import JobFiles

__all__ = ["damages_json", "verification"]

_MOST_SHOWN: Final = 2000  # damages in an event


@dataclass(slots=True)
class _File:
    """What is known of one file so far."""

    damages: list[Damage] = field(default_factory=list)
    more: int = 0
    report: FileReport | None = None


class _Map:
    """The damages of all files, while `verify_files` finds them."""

    def __init__(self, job: BackgroundJob, files: JobFiles) -> None:
        self._job, self._input = job, files
        self._files = [_File() for _ in files.paths]
        self._lock = threading.Lock()
        self._done = 0

    def progress(self, count: int) -> None:
        """Note bytes that were read; called by several threads."""
        with self._lock:
            self._done += count
        self._job.check()
        if self._job.is_due():
            self.publish()

    def damaged(self, number: int, damage: Damage) -> None:
        """See VerifyWatcher."""
        file = self._files[number]
        if len(file.damages) < _MOST_SHOWN:
            file.damages.append(damage)
        else:
            file.more += 1

    def verified(self, number: int, report: FileReport) -> None:
        """See VerifyWatcher."""
        self._files[number].report = report
        if self._job.is_due():
            self.publish()

    def publish(self, **values: Any) -> None:
        """Say what is known by now."""
        with self._lock:
            shown, total = self._damages()
            self._job.publish(
                done=self._done,
                of=self._input.bytes,
                share=round(min(1.0, self._done / max(1, self._input.bytes)), 4),
                files_done=sum(file.report is not None for file in self._files),
                damages=shown,
                damages_found=total,
                **values,
            )

    def _damages(self) -> tuple[list[dict[str, Any]], int]:
        shown: list[dict[str, Any]] = []
        total = 0
        for number, (file, start) in enumerate(zip(self._files, self._starts(), strict=True)):
            total += len(file.damages) + file.more
            if file.damages and len(shown) < _MOST_SHOWN:
                records = None if file.report is None else file.report.records + _broken(file.damages)
                shown += damages_json(number, start, file.damages, records)
        return shown[:_MOST_SHOWN], total

    def _starts(self) -> Sequence[int | None]:
        """Return the number of the first record of each file, where all files before it are known."""
        starts: list[int | None] = []
        start: int | None = 0
        for number, file in enumerate(self._files):
            starts.append(start)
            count = self._input.counts[number]
            if count is None and file.report is not None:
                count = file.report.records + _broken(file.damages)
            start = None if start is None or count is None else start + count
        return starts


def damages_json(
    file: int, start: int | None, damages: Iterable[Damage], records: int | None
) -> list[dict[str, Any]]:
    """Return damages of a file as the page gets them, with the records before and after each. Pure: no I/O.

    Args:
        file: its number.
        start: the number of its first record among all; None while it is not known.
        damages: in the order of the file, from its first on.
        records: how many the file has, those of damaged data among them; None while it is not known.
    """
    found = []
    counted = 0  # damaged records that an index counts too
    for damage in damages:
        before = damage.record + counted - 1
        counted += _broken([damage])
        after = damage.record + counted
        is_there = records is not None and after < records
        found.append(
            {
                "file": file,
                "offset": damage.start,
                "length": damage.bytes,
                "record": damage.record,
                "before": start + before if start is not None and before >= 0 else None,
                "after": start + after if start is not None and is_there else None,
                "kind": damage.kind,
                "reason": f"{damage.text}{damage.detail and f': {damage.detail}'}",
            }
        )
    return found


def _broken(damages: Iterable[Damage]) -> int:
    """Return how many are of data in a frame that is whole."""
    return sum(damage.kind == "bad data CRC" for damage in damages)


def verification(files: JobFiles) -> Work:
    """Return the work of verifying files."""

    def work(job: BackgroundJob) -> None:
        found = _Map(job, files)
        report = verify_files(find_shards(list(files.paths)), progress=found.progress, watcher=found)
        reports = [
            {
                "file": number,
                "records": each.records,
                "ok": each.ok,
                "error": each.error,
                "looks_like": each.looks_like,
                "damages": len(each.damages) + each.more_damages,
            }
            for number, each in enumerate(report.files)
        ]
        found.publish(
            ok=report.ok,
            files=reports[:10_000],
            problems=[str(problem) for problem in report.problems[:1000]],
        )

    return work
