"""Claim: streaming a file of 10 GB takes at most 200 MB of memory at its peak.

One process per way. It reports the peak of its resident memory, the interpreter and numpy included; the
parent's memory is not in it. The files are 10 GB of real bytes (before compression): A's first file over and
over. They are removed at the end, and a way for which the disk has no room is skipped.
"""

from __future__ import annotations

import resource
import shutil
import sys
from pathlib import Path

from benchmarks.data import dataset, payloads, scratch
from benchmarks.harness import Claim, Report, Settings, count, in_child

FILE_BYTES = 10_000_000_000
LIMIT_MB = 200.0
SPARE_BYTES = 2_000_000_000
SUFFIXES = (".tfrecord", ".tfrecord.gz")


def peak_mb() -> float:
    """Peak resident memory of this process in MB.

    Linux keeps ru_maxrss across exec, so a child starts with the parent's peak; VmHWM starts anew.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def import_only(_settings: Settings) -> float:
    """Peak of a process that only imports tfrkit."""
    import tfrkit  # noqa: F401

    return peak_mb()


def import_torch(_settings: Settings) -> float:
    """Peak of a process that only imports torch."""
    import torch  # noqa: F401

    return peak_mb()


def write(settings: Settings, *, path: str) -> dict[str, float]:
    """Write the file by `write_many`, 10,000 records a call; returns the record count and the peak."""
    import tfrkit as tfr

    records = list(payloads(dataset("A", settings.scale).plain[0]))
    batches = [records[start : start + 10_000] for start in range(0, min(len(records), 50_000), 10_000)]
    del records
    written = size = turn = 0
    with tfr.TFRecordWriter(path) as writer:
        while size < FILE_BYTES * settings.scale:
            batch = batches[turn % len(batches)]
            writer.write_many(batch)
            turn += 1
            written += len(batch)
            size += sum(map(len, batch)) + 16 * len(batch)
    return {"records": written, "peak_mb": peak_mb()}


def stream(_settings: Settings, *, path: str, way: str) -> dict[str, float]:
    """Go through the file once; returns the record count and the peak."""
    import tfrkit as tfr

    if way == "read_blocks":
        records = sum(len(block) for block in tfr.read_blocks(path))
    else:
        records = count(tfr.read_records(path))
    return {"records": records, "peak_mb": peak_mb()}


def run(settings: Settings) -> Report:
    """Write and read a plain and a GZIP file of 10 GB."""
    report = Report("memory")
    rows = [["import tfrkit", "", f"{in_child('memory', 'import_only', settings, cores=2):.0f}"]]
    claims = []
    for suffix in SUFFIXES:
        path = scratch(settings.scale) / f"large{suffix}"
        free = shutil.disk_usage(path.parent).free
        if free < FILE_BYTES * settings.scale + SPARE_BYTES:
            print(f"SKIP {path.name}: {free / 1e9:.0f} GB free are not enough", file=sys.stderr)
            continue
        try:
            written = in_child("memory", "write", settings, cores=2, path=str(path))
            size = f"{path.stat().st_size / 1e9:.2f}"
            rows.append([f"write_many {suffix}", size, f"{written['peak_mb']:.0f}"])
            for way in ("read_blocks", "read_records"):
                read = in_child("memory", "stream", settings, cores=2, path=str(path), way=way)
                if read["records"] != written["records"]:
                    raise RuntimeError(f"expected {written['records']} records but got {read['records']}")
                rows.append([f"{way} {suffix}", size, f"{read['peak_mb']:.0f}"])
                text = f"Peak memory of {way} over {size} GB {suffix}"
                claims.append(Claim(text, read["peak_mb"], LIMIT_MB, unit="MB", sense="at most"))
        finally:
            path.unlink(missing_ok=True)
    report.add_table("Peak memory while streaming", ["way", "file GB", "peak MB"], rows)
    for claim in claims:
        report.add_claim(claim)
    return report
