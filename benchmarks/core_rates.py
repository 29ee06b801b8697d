"""Claim: none. What a second of one core does, by CPU time: the figures with which docs/hundred-terabytes.md plans.

CPU time of the whole process is counted, of all its threads, and of none of the server's: other work of the machine
makes it longer by a little only, where it would double the time on the clock. The best of some runs counts.
"""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import images, specs
from benchmarks.data import dataset, scratch
from benchmarks.harness import Report, Settings, in_child
from benchmarks.remote import Place, bucket_with

COLUMN = "C1"
HEADS = ("work", "CPU s", "MB/s of records", "MB/s of files", "records/s")


def place(settings: Settings) -> Path:
    """Where files are written."""
    return scratch(settings.scale) / "core_rates"


def prepare(settings: Settings) -> None:
    """Write A in GZIP members with tfrkit, and as Parquet."""
    import pyarrow.parquet as pq

    import tfrkit as tfr

    data, folder = dataset("A", settings.scale), place(settings)
    folder.mkdir(parents=True)
    for path in data.plain:
        with tfr.TFRecordWriter(folder / f"{path.name}.gz", index=True) as writer:
            for block in tfr.read_blocks(path):
                writer.write_frames(block)
        pq.write_table(
            tfr.scan(str(path), spec=specs.a_spec(tfr)).to_table(), folder / f"{path.stem}.parquet"
        )


def cpu_seconds(work: Callable[[], object], repeat: int) -> float:
    """Return the least CPU time of some runs; the first, which fills caches, does not count."""
    work()
    found = []
    for _ in range(repeat):
        gc.collect()
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def rates(settings: Settings, near: str) -> list[list[Any]]:
    """Return rows of a table: the work, its CPU time, bytes of records and of files, and records."""
    import tfrkit as tfr

    data, photos, folder = dataset("A", settings.scale), dataset("B", settings.scale), place(settings)
    spec, files = specs.a_spec(tfr), [str(path) for path in data.plain]
    members = sorted(map(str, folder.glob("*.gz")))
    parquet = sorted(map(str, folder.glob("*.parquet")))
    sizes = {
        name: sum(Path(each).stat().st_size for each in paths)
        for name, paths in {"gz": members, "tf": data.gzip, "parquet": parquet}.items()
    }
    store = Place.load(near)
    store.configure()
    remote = [store.url(Path(path).name) for path in files]
    table = tfr.scan(files, spec=spec, threads=1).to_table()

    def drain(batches: Any) -> None:
        for _ in batches:
            pass

    def parse() -> None:
        for block in tfr.read_blocks(files, threads=1):
            tfr.parse_example(block, spec, threads=1)

    def write(name: str) -> None:
        with tfr.TFRecordWriter(folder / name, index=True) as writer:
            for batch in table.to_batches(max_chunksize=10_000):
                writer.write_batch(batch)

    def build() -> None:
        shutil.rmtree(folder / "built", ignore_errors=True)
        tfr.build.table(parquet, folder / "built", shards=4, workers=1)

    one = {"spec": spec, "threads": 1}
    whole, records = data.stream_bytes, data.records
    works: list[tuple[str, Callable[[], object], int, int]] = [
        ("read, CRC checked", lambda: drain(tfr.read_blocks(files, threads=1)), whole, whole),
        (
            "read from an S3 server, without TLS",
            lambda: drain(tfr.read_blocks(remote, threads=1)),
            whole,
            whole,
        ),
        ("read GZIP in members", lambda: drain(tfr.read_blocks(members, threads=1)), whole, sizes["gz"]),
        (
            "read one GZIP stream",
            lambda: drain(tfr.read_blocks(list(data.gzip), threads=1)),
            whole,
            sizes["tf"],
        ),
        ("scan 1 column of 41", lambda: drain(tfr.scan(files, [COLUMN], **one)), whole, whole),
        ("scan 41 columns", lambda: drain(tfr.scan(files, **one)), whole, whole),
        ("parse_example, 41 features", parse, whole, whole),
        ("write columns, plain", lambda: write("a.tfrecord"), whole, whole),
        ("write columns, GZIP", lambda: write("a.tfrecord.gz"), whole, sizes["gz"]),
        ("build table from Parquet, plain", build, whole, sizes["parquet"]),
    ]
    found = [
        [name, cpu_seconds(work, settings.repeat), size, in_files, records]
        for name, work, size, in_files in works
    ]
    decode = cpu_seconds(lambda: drain(images.WAYS["scaled"](tfr, photos.plain)), settings.repeat)
    return [
        *found,
        ["photos to 96 x 96", decode, photos.stream_bytes, photos.stream_bytes, photos.records],
    ]


def run(settings: Settings) -> Report:
    """Measure, one kind of work after the other."""
    report = Report("core_rates")
    shutil.rmtree(place(settings), ignore_errors=True)
    try:
        in_child("core_rates", "prepare", settings, cores=None)
        with bucket_with(dataset("A", settings.scale).plain) as (near, _):
            rows = in_child("core_rates", "rates", settings, cores=None, near=near)
    finally:
        shutil.rmtree(place(settings), ignore_errors=True)
    report.add_table(
        "One core: A, and photos B",
        HEADS,
        [
            [
                name,
                f"{cpu:.3f}",
                f"{size / cpu / 1e6:.0f}",
                f"{in_files / cpu / 1e6:.0f}",
                f"{records / cpu:,.0f}",
            ]
            for name, cpu, size, in_files, records in rows
        ],
    )
    return report
