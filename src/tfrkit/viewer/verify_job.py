"""The job `verify`: every damage of every file, with the numbers of the records round it, as they are found.

Reading and judging are those of `verify`. Numbers are those of an index: it counts records whose data is damaged.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tfrkit.records.check.completeness import find_shards
from tfrkit.records.check.verify import FileReport, verify_files
from tfrkit.records.read.damage import Damage
from tfrkit.viewer.job import BackgroundJob, Work
from tfrkit.viewer.record_pass import JobFiles

__all__ = ["verification"]

_MOST_SHOWN: Final = 2000  # damages in an event


@dataclass(slots=True)
class _File:
    """What is known of one file so far."""

    damages: list[Damage] = field(default_factory=list)
    more: int = 0
    report: FileReport | None = None

    def places(self) -> list[tuple[Damage, int | None, int | None]]:
        """Return damages with the numbers of the records before and after them in the file."""
        found: list[tuple[Damage, int | None, int | None]] = []
        counted = 0  # damaged records that an index counts too
        report = self.report
        broken = sum(damage.kind == "bad data CRC" for damage in self.damages)
        total = None if report is None else report.records + broken
        for damage in self.damages:
            before = damage.record + counted - 1
            counted += damage.kind == "bad data CRC"
            after = damage.record + counted
            is_there = total is not None and after < total
            found.append((damage, before if before >= 0 else None, after if is_there else None))
        return found


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
                shown += (_shown(number, start, *place) for place in file.places())
        return shown[:_MOST_SHOWN], total

    def _starts(self) -> Sequence[int | None]:
        """Return the number of the first record of each file, where all files before it are known."""
        starts: list[int | None] = []
        start: int | None = 0
        for number, file in enumerate(self._files):
            starts.append(start)
            count = self._input.counts[number]
            if count is None and file.report is not None:
                count = file.report.records + sum(each.kind == "bad data CRC" for each in file.damages)
            start = None if start is None or count is None else start + count
        return starts


def _shown(
    number: int, start: int | None, damage: Damage, before: int | None, after: int | None
) -> dict[str, Any]:
    return {
        "file": number,
        "offset": damage.start,
        "length": damage.bytes,
        "record": damage.record,
        "before": None if before is None or start is None else start + before,
        "after": None if after is None or start is None else start + after,
        "kind": damage.kind,
        "reason": f"{damage.text}{damage.detail and f': {damage.detail}'}",
    }


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
