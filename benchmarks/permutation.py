"""Claims: a permutation of 10^6 and of 10^9 at 50 million indices a second on one core, and 20 x grain's.

Ours computes whole runs (`Permutation.run`) and lists of indices (`Permutation.at`). Grain's `index_shuffle`, with the
four rounds that its own shuffle asks for, takes one index a call, and gets a part of the indices only. Both are
functions of the index: nothing is stored. numpy's `permutation`, which stores everything, stands beside them at 10^6.
"""

from __future__ import annotations

import importlib

import numpy as np

from benchmarks import rivals
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child

RUN, AT, GRAIN, NUMPY = "Permutation.run", "Permutation.at", "grain index_shuffle", "numpy permutation"
SIZES = (10**6, 10**9)
INDICES = 1_000_000
GRAIN_INDICES = 50_000
GRAIN_MODULE = "grain._src.python.experimental.index_shuffle.python.index_shuffle_module"


def contenders(settings: Settings, size: int) -> list[Contender]:
    """The first indices of a permutation of `size`; 8 bytes an index."""
    permutation = importlib.import_module("tfrkit.values.permutation").Permutation(size, 1, 2)
    count = max(1000, round(INDICES * min(1.0, settings.scale)))
    indices = np.random.default_rng(0).integers(0, size, count)
    out = [
        Contender(RUN, lambda: len(permutation.run(0, count)), "records", count, 8 * count),
        Contender(AT, lambda: len(permutation.at(indices)), "records", count, 8 * count),
    ]
    if rivals.installed("grain"):
        some = min(count, GRAIN_INDICES)
        shuffle = importlib.import_module(GRAIN_MODULE).index_shuffle

        def each() -> int:
            return len([shuffle(index, size - 1, 1, 4) for index in range(some)])

        out.append(Contender(GRAIN, each, "records", some, 8 * some))
    if size == count:
        numpy = np.random.default_rng(0)
        out.append(Contender(NUMPY, lambda: len(numpy.permutation(size)), "records", count, 8 * count))
    return out


def run(settings: Settings) -> Report:
    """Measure on one core."""
    report = Report("permutation")
    for size in SIZES:
        named = by_name(results := in_child("permutation", "contenders", settings, cores=1, size=size))
        report.add_results(f"A permutation of {size:,}, 1 core", results)
        for name in (RUN, AT):
            millions = named[name].records / named[name].best / 1e6
            report.add_claim(Claim(f"Permutation of {size:,}: {name}", millions, 50.0, "M indices/s"))
        for rival, required in ((GRAIN, 20.0), (NUMPY, None)):
            if rival in named:
                report.ratio(f"Permutation of {size:,}", named[RUN], [named[rival]], required)
    return report
