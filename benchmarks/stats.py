"""Claim: `stats` of A, all 41 features, runs at 0.3 x our own parse of it; the whole command is shown too.

Then 200 million floats in one feature, nearly all different: in lists of 10,000 and in lists of 8, beside our own parse
of the same files, and numpy's least, greatest, mean and standard deviation of as many floats in memory, which are not
all that `stats` says (quantiles, frequent and distinct values, a histogram). Rates are for information.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import parsers, specs
from benchmarks.data import dataset, folder
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS, PARSE, COMMAND = "stats", "parse_example, 41 features", "tfr stats, the whole command"
FLOATS = 200_000_000
WIDTHS = (10_000, 8)  # floats in a record
PARSE_FLOATS, NUMPY = "parse_example", "numpy: min, max, mean, std"


def _command(files: list[str]) -> int:
    command = [sys.executable, "-m", "tfrkit", "stats", "--json", *files]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return int(json.loads(done.stdout)["records"])


def contenders(settings: Settings) -> list[Contender]:
    """All read the files with CRC."""
    import tfrkit as tfr

    data = dataset("A", settings.scale)
    spec = specs.a_spec(tfr)
    files = [str(path) for path in data.plain]
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    return [
        Contender(OURS, lambda: tfr.stats(files).examples, "records", **amount),
        Contender(PARSE, partial(parsers.ours, data.plain, spec), "records", **amount),
        Contender(COMMAND, partial(_command, files), "records", **amount),
    ]


def _make_floats(settings: Settings, width: int) -> tuple[Path, int]:
    """Make a file of floats if it is not there; returns it and its number of records."""
    import tfrkit as tfr

    path = folder(settings.scale) / f"floats-{width}.tfrecord"
    count = max(1, round(FLOATS * settings.scale / width))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        random = np.random.default_rng(width)
        with tfr.TFRecordWriter(str(path), atomic=True) as writer:
            for first in range(0, count, max(1, 4_000_000 // width)):
                rows = min(max(1, 4_000_000 // width), count - first)
                writer.write_batch({"x": random.standard_normal((rows, width), np.float32)})
    return path, count


def floats(settings: Settings, *, width: int) -> list[Contender]:
    """`stats`, our own parse, and numpy of floats that are in memory."""
    import tfrkit as tfr

    path, count = _make_floats(settings, width)
    spec = {"x": tfr.FixedLenFeature([width], "float32")}
    values = np.random.default_rng(1).standard_normal(count * width, np.float32)

    def parse() -> int:
        batches = tfr.TFRecordDataset(str(path)).batch(max(1, 1_000_000 // width)).parse(spec)
        return sum(len(batch["x"]) for batch in batches)

    def numpy() -> int:
        values.min(), values.max(), values.mean(), values.std()
        return count

    amount: dict[str, Any] = {"records": count, "bytes": 4 * count * width}
    return [
        Contender(OURS, lambda: tfr.stats(str(path)).examples, "records", **amount),
        Contender(PARSE_FLOATS, parse, "records", **amount),
        Contender(NUMPY, numpy, "records", **amount),
        Contender(COMMAND, partial(_command, [str(path)]), "records", **amount, at_most=1),
    ]


def run(settings: Settings) -> Report:
    """Measure A on two cores."""
    report = Report("stats")
    results = in_child("stats", "contenders", settings, cores=2)
    report.add_results("Statistics of all features: A, 2 cores", results)
    named = by_name(results)
    report.ratio("A, 2 cores", named[OURS], [named[PARSE]], 0.3)
    report.ratio("A, 2 cores", named[COMMAND], [named[PARSE]], 0.3)
    for width in WIDTHS:
        results = in_child("stats", "floats", settings, cores=2, width=width)
        report.add_results(f"Statistics of 200 million floats, {width:,} in a record, 2 cores", results)
        named = by_name(results)
        where = f"Floats, {width:,} in a record, 2 cores"
        report.ratio(where, named[OURS], [named[PARSE_FLOATS]], None)
        report.ratio(where, named[OURS], [named[NUMPY]], None)
    return report
