"""Claim: `read_blocks` with CRC runs at 0.7 x a plain `readinto` on two cores and 0.4 x on one, on A and B.

`readinto` uses one thread on any number of cores, one reused buffer of 1 MB, and looks at nothing.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import rivals
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

REQUIRED = {2: 0.7, 1: 0.4}
OURS, OURS_NO_CRC, PLAIN = "read_blocks", "read_blocks, crc=False", "readinto"


def contenders(settings: Settings, *, kind: str) -> list[Contender]:
    """Ours with and without CRC, and the plain read."""
    import tfrkit as tfr

    data = dataset(kind, settings.scale)

    def blocks(crc: bool) -> int:
        return sum(len(block) for block in tfr.read_blocks(list(data.plain), crc=crc))

    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    return [
        Contender(OURS, partial(blocks, True), "records", **amount),
        Contender(OURS_NO_CRC, partial(blocks, False), "records", **amount),
        Contender(PLAIN, partial(rivals.readinto, data.plain), "bytes", records=0, bytes=data.stream_bytes),
    ]


def run(settings: Settings) -> Report:
    """Measure A and B on two cores and on one."""
    report = Report("read_blocks")
    for cores, required in REQUIRED.items():
        for kind in "AB":
            results = in_child("read_blocks", "contenders", settings, cores=cores, kind=kind)
            where = f"{kind}, {cores} core{'s' if cores > 1 else ''}"
            report.add_results(f"Reading blocks: {where}", results)
            named = by_name(results)
            report.ratio(where, named[OURS], [named[PLAIN]], required)
    return report
