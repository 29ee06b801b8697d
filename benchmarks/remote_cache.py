"""Claim: an epoch from the cache, after one request a file, runs at 0.9 x local files.

Measured in the process that has filled the cache, and in a new one, where each range is checked once. The server shares
the two cores.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child
from benchmarks.remote import Place, bucket_with

CACHED, UNCHECKED, FIRST, LOCAL = (
    "second epoch, cache=True",
    "first epoch of a new process, cache=True",
    "first epoch, cache=True",
    "local files",
)


def contenders(settings: Settings, *, near: str, cache: str) -> list[Contender]:
    """Read all of A from the cache and from the disk; the cache is filled by the first turn, which is not counted."""
    os.environ["TFRKIT_CACHE"] = cache
    import tfrkit as tfr
    from tfrkit.stores.cache import chunks

    data = dataset("A", settings.scale)
    place = Place.load(near)
    place.configure()
    urls = [place.url(path.name) for path in data.plain]

    def read(paths: list[Any], **options: Any) -> int:
        return sum(len(block) for block in tfr.read_blocks(paths, **options))

    def read_unchecked() -> int:
        """Know as little of the cache as a new process."""
        chunks._open.clear()
        chunks._sound.clear()
        return read(urls, cache=True)

    def read_first() -> int:
        shutil.rmtree(cache)
        return read_unchecked()

    read(urls, cache=True)
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    return [
        Contender(CACHED, partial(read, urls, cache=True), "records", **amount),
        Contender(LOCAL, partial(read, list(data.plain)), "records", **amount),
        Contender(UNCHECKED, read_unchecked, "records", **amount),
        Contender(FIRST, read_first, "records", **amount, at_most=2),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("remote_cache")
    files = list(dataset("A", settings.scale).plain)
    with bucket_with(files) as (near, _), tempfile.TemporaryDirectory() as folder:
        results = in_child(
            "remote_cache", "contenders", settings, cores=2, near=near, cache=str(Path(folder, "cache"))
        )
    report.add_results("A from the cache, 2 cores shared with the S3 server", results)
    named = by_name(results)
    report.ratio("cache", named[CACHED], [named[LOCAL]], 0.9)
    report.ratio("cache, new process", named[UNCHECKED], [named[LOCAL]], None)
    report.ratio("cache, while it is filled", named[FIRST], [named[LOCAL]], None)
    return report
