"""Claim: a scan costs what parsing the asked columns costs: 0.9 x for one of 41, and 3 million records a second.

A condition that keeps a hundredth of the rows, with all 41 columns of these asked for, runs at 0.8 x the scan of the
condition's column alone; on sorted data with zones 20 times as fast as without. Counting by indexes takes 50 ms.
"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import parsers, specs
from benchmarks.data import dataset, scratch
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child

COLUMN = "C1"
PARSE, ONE, FEW, SURVEYED = (
    f"parse_example, {COLUMN}",
    f"scan, {COLUMN}",
    "scan of 41 columns, 1 % of the rows",
    f"scan, {COLUMN}, without a spec",
)
ZONES, NO_ZONES = "sorted, 1 %, with zones", "sorted, 1 %, without zones"
COUNT = "count of 100 files"
FILES = 100


def sort_records(settings: Settings) -> None:
    """Write the records of A in the order of a column, with and without zones, and as 100 files with indexes."""
    import tfrkit as tfr
    from tfrkit.records.access.zones import build_zones

    place = scratch(settings.scale) / "scan"
    data = dataset("A", settings.scale)
    block = tfr.RecordFiles(list(data.plain))[:]
    values = tfr.scan(list(data.plain), [COLUMN], spec=specs.a_spec(tfr)).to_table()[COLUMN].to_numpy()
    order = np.argsort(values, kind="stable")
    for name in ("zones", "plain"):
        (place / name).mkdir(parents=True)
        with tfr.TFRecordWriter(place / name / "a.tfrecord") as writer:
            for start in range(0, len(order), 10_000):
                writer.write_many(block.take(order[start : start + 10_000]).to_list())
    build_zones(place / "zones" / "a.tfrecord", save=True)
    with tfr.ShardWriter(place / "many" / "a", shards=FILES) as shards:
        for start in range(0, len(order), 10_000):
            shards.write_many(block[start : start + 10_000].to_list())


def contenders(settings: Settings) -> list[Contender]:
    """All read the files with CRC."""
    import tfrkit as tfr

    data = dataset("A", settings.scale)
    files = list(data.plain)
    spec = specs.a_spec(tfr)
    values = tfr.scan(files, [COLUMN], spec=spec).to_table()[COLUMN].to_numpy()
    where = f"{COLUMN} > {int(np.quantile(values, 0.99))}"

    def rows(found: Any) -> int:
        return sum(batch.num_rows for batch in found)

    kept = rows(tfr.scan(files, [], where, spec=spec))
    place = scratch(settings.scale) / "scan"
    shard = {name: place / name / "a.tfrecord" for name in ("zones", "plain")}
    many = sorted(map(str, (place / "many").glob("*.tfrecord")))
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    some: dict[str, Any] = {"records": kept, "bytes": data.stream_bytes}
    return [
        Contender(PARSE, partial(parsers.ours, data.plain, {COLUMN: spec[COLUMN]}), "records", **amount),
        Contender(ONE, lambda: rows(tfr.scan(files, [COLUMN], spec=spec)), "records", **amount),
        Contender(FEW, lambda: rows(tfr.scan(files, None, where, spec=spec)), "records", **some),
        Contender(SURVEYED, lambda: rows(tfr.scan(files, [COLUMN])), "records", **amount),
        Contender(ZONES, lambda: rows(tfr.scan(shard["zones"], None, where, spec=spec)), "records", **some),
        Contender(
            NO_ZONES, lambda: rows(tfr.scan(shard["plain"], None, where, spec=spec)), "records", **some
        ),
        Contender(COUNT, lambda: tfr.scan(many).count(), "records", **amount),
    ]


def run(settings: Settings) -> Report:
    """Measure A on two cores."""
    report = Report("scan")
    place: Path = scratch(settings.scale) / "scan"
    shutil.rmtree(place, ignore_errors=True)
    try:
        in_child("scan", sort_records.__name__, settings, cores=None)
        results = in_child("scan", "contenders", settings, cores=2)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    report.add_results("Scanning A, 2 cores", results)
    named = by_name(results)
    report.ratio("A, one column", named[ONE], [named[PARSE]], 0.9)
    report.ratio("A, 1 % of the rows", named[FEW], [named[ONE]], 0.8)
    report.ratio("A, sorted", named[ZONES], [named[NO_ZONES]], 20)
    report.ratio("A, one column, surveyed", named[SURVEYED], [named[ONE]], None)
    report.add_claim(
        Claim("A, one column: million records a second", named[ONE].records / named[ONE].best / 1e6, 3)
    )
    report.add_claim(Claim("count of 100 files, times in 50 ms", 0.05 / named[COUNT].best, 1))
    return report
