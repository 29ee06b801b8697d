"""Claim: on Ray and two cores A is read at 100 x Ray's own read_tfrecords, and written at 20 x its write_tfrecords.

Reading is done when all blocks are Arrow tables in this process; it is half as fast as our own `read_table` at least.
Ray's own ways go record by record, and get the first 5,000 only; reading, Ray checks no CRC. And the same conversion of
Parquet files to 5 GB of shards takes at most 1.5 times as long with the engine `ray` as with threads. Ray and its
workers are started before the clock.
"""

from __future__ import annotations

import itertools
import logging
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import ray

import tfrkit as tfr
from benchmarks.data import dataset, in_memory
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

READ, TABLE, THEIRS = "tfr.ray.read_tfrecords", "tfr.read_table", "ray.data.read_tfrecords, 5,000 (no CRC)"
WRITE, THEIRS_WRITE = "tfr.ray.write_tfrecords", "ray.data.Dataset.write_tfrecords, 5,000"
RAY, THREADS = "tfr.build.table, engine ray", "tfr.build.table, engine threads"
FEW = 5_000
ROWS = 200_000  # that are written
TABLES = 40  # of these rows, which are converted together
CORES = 2


def _start() -> None:
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  # Ray's name for it: as threads of this process have it
    ray.init(
        "local", num_cpus=CORES, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
        object_store_memory=2 << 30,
    )  # fmt: skip
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _tables(ds: Any) -> int:
    """Fetch all blocks; the number of rows."""
    return sum(len(ray.get(ref)) for ref in ds.to_arrow_refs())


def _first(settings: Settings, folder: str) -> tuple[Path, int]:
    """A file of the first records of A, and its bytes."""
    path = Path(folder) / "few.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for record in itertools.islice(tfr.read_records(str(dataset("A", settings.scale).plain[0])), FEW):
            writer.write(record)
    return path, path.stat().st_size


def reading(settings: Settings, folder: str) -> list[Contender]:
    """A to Arrow."""
    _start()
    data = dataset("A", settings.scale)
    paths = [str(path) for path in data.plain]
    few, size = _first(settings, folder)
    whole: dict[str, Any] = {"unit": "records", "records": data.records, "bytes": data.stream_bytes}
    found = [
        Contender(READ, lambda: _tables(tfr.ray.read_tfrecords(paths)), **whole),
        Contender(TABLE, lambda: len(tfr.read_table(paths)), **whole),
        Contender(
            THEIRS, lambda: _tables(ray.data.read_tfrecords(str(few))), "records", FEW, size, at_most=3
        ),
    ]
    for contender in (found[0], found[2]):
        contender.fn()  # so that workers are there, and have imported what they need
    return found


def writing(settings: Settings, folder: str) -> list[Contender]:
    """Columns of A as shards."""
    _start()
    data = dataset("A", settings.scale)
    rows = tfr.scan(str(data.plain[0]), limit=round(ROWS * settings.scale)).to_table()
    size = round(data.stream_bytes * len(rows) / data.records)
    many = ray.data.from_arrow([rows.slice(start, 50_000) for start in range(0, len(rows), 50_000)])
    few = ray.data.from_arrow(rows.slice(0, FEW))
    ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"

    def write_few() -> int:
        few.write_tfrecords(str(theirs))
        return FEW

    found = [
        Contender(
            WRITE,
            lambda: tfr.ray.write_tfrecords(many, ours / "a").records,
            "records", len(rows), size, output=ours,
        ),
        Contender(
            THEIRS_WRITE, write_few, "records", FEW, size * FEW // len(rows), output=theirs, at_most=3
        ),
    ]  # fmt: skip
    tfr.ray.write_tfrecords(many, Path(folder) / "before" / "a")
    few.write_tfrecords(str(Path(folder) / "before-theirs"))
    return found


def converting(settings: Settings, folder: str) -> list[Contender]:
    """The same conversion with both engines."""
    _start()
    data = dataset("A", settings.scale)
    rows = tfr.scan(str(data.plain[0]), limit=round(ROWS * settings.scale)).to_table()
    tables = [Path(folder) / f"{number}.parquet" for number in range(TABLES)]
    pa.parquet.write_table(rows, tables[0])
    for table in tables[1:]:
        table.hardlink_to(tables[0])
    size = round(data.stream_bytes * len(rows) / data.records) * len(tables)

    def make(name: str, engine: Any) -> Contender:
        out = Path(folder) / engine

        def convert() -> int:
            return tfr.build.table(tables, out, shards=8, engine=engine, workers=CORES).records

        return Contender(name, convert, "records", len(rows) * len(tables), size, output=out)

    before = Path(folder) / "before"
    tfr.build.table(tables[:1], before, shards=2, engine="ray")
    shutil.rmtree(before)
    return [make(RAY, "ray"), make(THREADS, "threads")]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("ray_read_write")
    rows = (
        ("reading", "A to Arrow tables on Ray", ((READ, THEIRS, 100.0), (READ, TABLE, 0.5))),
        ("writing", "Columns of A to shards on Ray", ((WRITE, THEIRS_WRITE, 20.0),)),
        ("converting", "Parquet to shards", ((RAY, THREADS, 1 / 1.5),)),
    )
    for function, title, claims in rows:
        with in_memory(settings.scale) as folder:
            results = in_child("ray_read_write", function, settings, cores=CORES, folder=folder)
        report.add_results(f"{title}, 2 cores", results)
        named = by_name(results)
        for ours, rival, required in claims:
            report.ratio(title, named[ours], [named[rival]], required)
    return report
