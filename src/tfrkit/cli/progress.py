"""Progress of a job on standard error: a bar on a terminal, a line now and then elsewhere.

What to show is a pure function of the job's snapshots. While a job runs, SIGTERM is an interruption like Ctrl-C, so
that it ends cleanly.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from tfrkit.cli.console import fancy, say
from tfrkit.cli.termination import terminated_like_interrupted

if TYPE_CHECKING:
    from tfrkit.build.job.progress import Progress

_LINE_SECONDS: Final = 10.0  # between lines where there is no terminal


def size_text(size: float) -> str:
    """Return bytes as people read them. Pure: no I/O.

    >>> size_text(999), size_text(25_300_000), size_text(1_500_000_000_000)
    ('999 B', '25.3 MB', '1.5 TB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.95 or (unit == "B" and size < 1000):
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def number_text(number: int) -> str:
    """Return a count as people read it. Pure: no I/O.

    >>> number_text(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def time_text(seconds: float) -> str:
    """Return a duration as people read it. Pure: no I/O.

    >>> time_text(0.26), time_text(75), time_text(4000)
    ('0.3 s', '1:15', '1:06:40')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def progress_text(now: Progress) -> str:
    """Say in a line how far a job has come: bytes, rate, time left, shards, records, bad inputs. Pure: no I/O.

    >>> from tfrkit.build.job.progress import Progress
    >>> progress_text(Progress(50_000_000, 200_000_000, 1000, 2, 1, 4, 1.0))
    '50.0 MB of 200.0 MB, 50.0 MB/s, 3.0 s left, 1 of 4 shards, 1,000 records, 2 bad'
    """
    known = bool(now.total_bytes) or now.stage == "write"
    parts = [size_text(now.done_bytes) + (f" of {size_text(now.total_bytes)}" if known else "")]
    rate = (now.done_bytes - now.resumed_bytes) / now.seconds if now.seconds > 0 else 0.0
    if rate > 0 and known:
        left = time_text((now.total_bytes - now.done_bytes) / rate)
        parts += [f"{size_text(rate)}/s", f"{left} left"]
    if now.stage != "write":
        of = f" of {now.files:,}" if now.files else ""
        parts += [f"{now.files_done:,}{of} files"] if now.files_done or of else []
        return f"{now.stage}: {', '.join(parts)}"
    parts += [f"{now.shards_done:,} of {now.shards:,} shards", f"{now.records:,} records"]
    if now.bad:
        parts.append(f"{number_text(now.bad)} bad")
    return ", ".join(parts)


_KEPT: Final = "what is finished stays, and the same command again does the rest"


@contextlib.contextmanager
def job_progress(*, quiet: bool = False, kept: str = _KEPT) -> Iterator[Callable[[Progress], None] | None]:
    """Yield the callback that shows a job's progress while it runs; None if nothing is to be shown.

    An interruption is raised on, with a text that says what is `kept` then, and what to do.

    >>> with job_progress(quiet=True) as progress:
    ...     progress is None
    True
    """
    try:
        with terminated_like_interrupted():
            if quiet:
                yield None
            elif fancy(sys.stderr):
                with _bar() as show:
                    yield show
            else:
                yield _Lines()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(kept) from None


class _Lines:
    """A plain line now and then."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, now: Progress) -> None:
        if time.monotonic() - self._last >= _LINE_SECONDS:
            self._last = time.monotonic()
            say(progress_text(now))


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(12), TaskProgressColumn(), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("planning", total=None)

        def show(now: Progress) -> None:
            text, room = progress_text(now), max(1, bar.console.width - 19)  # bar, percentage and spaces
            bar.update(
                task,
                total=max(1, now.total_bytes) if now.total_bytes or now.stage == "write" else None,
                completed=now.done_bytes if now.total_bytes else 1,
                description=text if len(text) <= room else text[: room - 1] + "…",
            )

        yield show


def of_totals(advance: Callable[[int], None]) -> Callable[[int, int], None]:
    """Return what takes totals of records and bytes, and advances a bar by what was added."""
    done = 0

    def progress(_records: int, data_bytes: int) -> None:
        nonlocal done
        before, done = done, data_bytes
        advance(done - before)

    return progress


@contextlib.contextmanager
def progress_bar(
    title: str, total: int, *, quiet: bool = False, unit: str = "bytes"
) -> Iterator[Callable[[int], None]]:
    """Show how far something has come, in a terminal; elsewhere nothing is drawn.

    Args:
        title: what is done.
        total: how much there is; 0 if unknown.
        quiet: draw nothing anyway.
        unit: "bytes", or what is counted.

    Yields:
        A function to call with how much more is done, from any thread.
    """
    if quiet or not fancy(sys.stderr):
        yield lambda _done: None
        return
    from rich import progress
    from rich.console import Console

    amounts = (
        (progress.DownloadColumn(), progress.TransferSpeedColumn())
        if unit == "bytes"
        else (progress.MofNCompleteColumn(), progress.TextColumn(unit))
    )
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        *amounts,
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total or None)
        yield lambda done: bar.advance(task, done)
