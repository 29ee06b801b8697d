"""Claim: an epoch of A from S3, global_shuffle(window=64 MB) + parse + batch(1,024), at 0.7 x the same in order.

Each request takes 20 ms more. Indexes are in the cache folder before the clock starts; nothing else is kept. The server
and the proxy that delays share the two cores. A window of 16 MB and the local files stand beside. Without a window each
record would be a request, or nearly so.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from typing import Any

from benchmarks import pipelines
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child
from benchmarks.remote import Place, bucket_with

DELAY = 0.02
IN_ORDER, WINDOW = "in order", "global_shuffle, window of 64 MB"
SMALL_WINDOW, LOCAL = "global_shuffle, window of 16 MB", "global_shuffle, window of 64 MB, local"


def contenders(settings: Settings, *, far: str, cache: str) -> list[Contender]:
    """An epoch of A from the server, in order and shuffled."""
    os.environ["TFRKIT_CACHE"] = cache
    data, mine = dataset("A", settings.scale), pipelines.ours()
    place = Place.load(far)
    place.configure()
    urls: list[Any] = [place.url(path.name) for path in data.plain]
    for paths in (urls, data.plain):
        len(mine.records(paths))  # makes the indexes

    def make(name: str, way: Any, paths: Any = urls) -> Contender:
        fn = lambda: pipelines.drain(way(mine, paths))  # noqa: E731
        return Contender(name, fn, "records", data.records, data.stream_bytes)

    large = partial(pipelines.epoch, window=pipelines.WINDOW)
    return [
        make(WINDOW, large),
        make(IN_ORDER, pipelines.parse_batch),
        make(SMALL_WINDOW, partial(pipelines.epoch, window=pipelines.WINDOW // 4)),
        make(LOCAL, large, data.plain),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("epochs_remote")
    with (
        tempfile.TemporaryDirectory() as cache,
        bucket_with(dataset("A", settings.scale).plain, delay=DELAY) as (_, far),
    ):
        results = in_child("epochs_remote", "contenders", settings, cores=2, far=far, cache=cache)
    report.add_results("An epoch of A from an S3 server, 20 ms a request, 2 cores shared with it", results)
    named = by_name(results)
    report.ratio("S3, 20 ms", named[WINDOW], [named[IN_ORDER]], 0.7)
    report.ratio("S3, 20 ms", named[SMALL_WINDOW], [named[IN_ORDER]], None)
    report.ratio("S3, 20 ms", named[WINDOW], [named[LOCAL]], None)
    return report
