"""Progress of a job on standard error: a bar on a terminal, a line now and then elsewhere.

What to show is a pure function of the job's snapshots. While a job runs, SIGTERM is an interruption like Ctrl-C, so
that it ends cleanly.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from tfrkit.cli.arguments import STDIN
from tfrkit.cli.console import fancy, say

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
    of = f" of {size_text(now.total_bytes)}" if known else ""
    parts = [size_text(now.done_bytes) + of] if of or now.done_bytes or not now.files else []
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
        parts.append(f"{now.bad:,} bad")
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
        if quiet:
            yield None
        elif fancy(sys.stderr):
            with _bar() as show:
                yield show
        else:
            yield _lines()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(kept) from None


def _lines() -> Callable[[Progress], None]:
    """Return what shows a plain line now and then."""
    last = time.monotonic()

    def show(now: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= _LINE_SECONDS:
            last = time.monotonic()
            say(progress_text(now))

    return show


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
                total=max(1, now.total_bytes)
                if now.total_bytes or now.stage == "write"
                else now.files or None,
                completed=now.done_bytes if now.total_bytes else now.files_done if now.files else 1,
                description=text if len(text) <= room else text[: room - 1] + "…",
            )

        yield show


@contextlib.contextmanager
def progress_bar(
    title: str, *, total: Iterable[object] = (), files: int = 0, quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show how far something has come, in a terminal; elsewhere nothing is drawn.

    Args:
        title: what is done.
        total: the files whose bytes it is; none if that is not known.
        files: or how many files there are, if files are counted.
        quiet: draw nothing anyway.

    Yields:
        A function to call with how much more is done, from any thread.
    """
    if quiet or not fancy(sys.stderr):
        yield lambda _done: None
        return
    from tfrkit.build.job.progress import SurveyMeter
    from tfrkit.stores.files import file_sizes

    size = sum(file_sizes(path for path in total if isinstance(path, str) and path != STDIN))
    with _bar() as show:
        meter = SurveyMeter(show, files, size, title)

        def advance(more: int) -> None:
            meter.add(more if files else 0, 0 if files else more)
            meter.tick()

        yield advance


@contextlib.contextmanager
def reading_bar(
    title: str, total: Iterable[object] = (), *, quiet: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """Show how far reading has come, as `progress_bar`; what is yielded takes totals of records and bytes."""
    done = 0
    with progress_bar(title, total=total, quiet=quiet) as advance:

        def progress(_records: int, data_bytes: int) -> None:
            nonlocal done
            advance(data_bytes - done)
            done = data_bytes

        yield progress
