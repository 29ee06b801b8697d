"""Claim: `stats` of A, all 41 features, runs at 0.3 x our own parse of it; the whole command is shown too."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from typing import Any

from benchmarks import parsers, specs
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS, PARSE, COMMAND = "stats", "parse_example, 41 features", "tfr stats, the whole command"


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


def run(settings: Settings) -> Report:
    """Measure A on two cores."""
    report = Report("stats")
    results = in_child("stats", "contenders", settings, cores=2)
    report.add_results("Statistics of all features: A, 2 cores", results)
    named = by_name(results)
    report.ratio("A, 2 cores", named[OURS], [named[PARSE]], 0.3)
    report.ratio("A, 2 cores", named[COMMAND], [named[PARSE]], 0.3)
    return report
