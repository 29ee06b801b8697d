"""Claim: `take` of 1,024 random records of A from S3 runs at 0.7 x obstore's `get_ranges`, 20 x one by one.

Each request takes 20 ms more. The rival knows where the frames are, and joins neighbours as `get_ranges` does, with the
best of several gaps; it checks nothing, and the objects are asked at once. Indexes are read before the clock starts.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from benchmarks.data import FRAME_OVERHEAD, dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child
from benchmarks.remote import Place, bucket_with

DELAY = 0.02
TAKEN = 1024
ONE_BY_ONE = 128  # of them: it is slow and steady
GAPS = (0, 1 << 16, 1 << 18, 1 << 20)
OURS, SERIAL = "RecordFiles.take of 1,024", "a request for each record, one after the other"
RAW = {gap: f"obstore get_ranges, gaps of {gap >> 10} kB joined" for gap in GAPS}


def contenders(settings: Settings, *, far: str) -> list[Contender]:
    """The same random records of the four files of A in several ways."""
    import tfrkit as tfr

    data = dataset("A", settings.scale)
    place = Place.load(far)
    place.configure()
    client = place.client()
    files = tfr.RecordFiles([place.url(path.name) for path in data.plain], index="auto")
    numbers = random.Random(0).sample(range(len(files)), min(TAKEN, len(files)))
    by_key: dict[str, list[tuple[int, int]]] = {}
    frames = [tfr.RecordFile(path, index="memory").index.frames for path in data.plain]
    keys = [path.name for path in data.plain]
    order: list[tuple[str, int, int]] = []
    for number in numbers:
        url, record = files.locate(number)
        key = url.rpartition("/")[2]
        start, stop = frames[keys.index(key)][record : record + 2].tolist()
        by_key.setdefault(key, []).append((start, stop))
        order.append((key, start, stop))

    def take() -> int:
        return len(files.take(numbers))

    def get_ranges(gap: int) -> int:
        def of(key: str) -> int:
            starts, stops = zip(*sorted(by_key[key]), strict=True)
            return len(client.get_ranges(key, starts=starts, ends=stops, coalesce=gap))

        with ThreadPoolExecutor(len(by_key)) as pool:
            return sum(pool.map(of, by_key))

    def one_by_one(wanted: Sequence[tuple[str, int, int]]) -> int:
        return sum(1 for key, start, stop in wanted if len(client.get_range(key, start=start, end=stop)))

    amount: dict[str, Any] = {"records": len(order), "bytes": _payload(order)}
    few = order[:ONE_BY_ONE]
    return [
        Contender(OURS, take, "records", **amount),
        *(Contender(RAW[gap], partial(get_ranges, gap), "records", **amount) for gap in GAPS),
        Contender(SERIAL, partial(one_by_one, few), "records", len(few), _payload(few), at_most=2),
    ]


def _payload(ranges: Sequence[tuple[str, int, int]]) -> int:
    return sum(stop - start - FRAME_OVERHEAD for _, start, stop in ranges)


def run(settings: Settings) -> Report:
    """Measure on two cores, which the server and the proxy that delays share."""
    report = Report("remote_take")
    with bucket_with(dataset("A", settings.scale).plain, delay=DELAY) as (_, far):
        results = in_child("remote_take", "contenders", settings, cores=2, far=far)
    report.add_results("1,024 random records of A from an S3 server, 20 ms a request", results)
    named = by_name(results)
    report.ratio("S3, 20 ms", named[OURS], [named[RAW[gap]] for gap in GAPS], 0.7)
    report.ratio("S3, 20 ms", named[OURS], [named[SERIAL]], 20.0)
    return report
