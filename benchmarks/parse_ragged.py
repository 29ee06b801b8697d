"""Claim: C, lists of 512 to 2,048 values, file to ragged arrays, at 4 x TensorFlow's best.

TensorFlow reads them as VarLenFeature (a SparseTensor) or as RaggedFeature; the faster one counts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import parsers, rivals, specs
from benchmarks.data import Dataset, dataset, payloads
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS = "tfrkit, VarLenFeature"
CHECKED = 200


def _check(data: Dataset, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    import tfrkit as tfr

    records = [record for record, _ in zip(payloads(data.plain[0]), range(CHECKED), strict=False)]
    mine = tfr.parse_example(records, ours)
    for name, tensor in rivals.tensorflow().io.parse_example(records, theirs).items():
        parsers.check_same(name, mine[name], tensor)


def contenders(settings: Settings) -> list[Contender]:
    """Ours, and TensorFlow's ways with both kinds of feature."""
    import tfrkit as tfr

    io = specs.TensorFlowIo(rivals.tensorflow())
    data = dataset("C", settings.scale)
    _check(data, specs.c_spec(tfr), specs.c_ragged_spec(io))
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    return [
        Contender(OURS, partial(parsers.ours, data.plain, specs.c_spec(tfr)), "records", **amount),
        *parsers.tf_contenders(data.plain, specs.c_spec(io), amount, ", VarLen"),
        *parsers.tf_contenders(data.plain, specs.c_ragged_spec(io), amount, ", Ragged"),
    ]


def run(settings: Settings) -> Report:
    """Measure C on two cores."""
    report = Report("parse_ragged")
    results = in_child("parse_ragged", "contenders", settings, cores=2)
    report.add_results("Files to ragged arrays: C, 2 cores", results)
    named = by_name(results)
    best = [result for name, result in named.items() if name != OURS]
    report.ratio("C, 2 cores", named[OURS], best, 4.0)
    return report
