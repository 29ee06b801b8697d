"""Claim: `parse_single_example` in a Python loop over A at 5 x TensorFlow's one-by-one map.

Both give a dict of 41 values for each record, with CRC; each gets a part of the records.
"""

from __future__ import annotations

from functools import partial

from benchmarks import parsers, rivals, specs
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child
from benchmarks.parse_examples import ONE_BY_ONE, part

OURS = "tfrkit, parse_single_example in a loop"


def _loop(paths: list[str], limit: int) -> int:
    import tfrkit as tfr

    spec, number = specs.a_spec(tfr), 0
    for record in tfr.read_records(paths):
        tfr.parse_single_example(record, spec)
        number += 1
        if number == limit:
            break
    return number


def contenders(settings: Settings) -> list[Contender]:
    """Ours and TensorFlow's."""
    theirs = specs.a_spec(specs.TensorFlowIo(rivals.tensorflow()))
    data = dataset("A", settings.scale)
    paths = [str(path) for path in data.plain]
    return [
        part(data, OURS, partial(_loop, paths), 10),
        part(data, ONE_BY_ONE, partial(parsers.tf_one_by_one, data.plain, theirs), 25),
    ]


def run(settings: Settings) -> Report:
    """Measure A on two cores."""
    report = Report("parse_single")
    results = in_child("parse_single", "contenders", settings, cores=2)
    report.add_results("Records to dicts, one by one: A, 2 cores", results)
    named = by_name(results)
    report.ratio("A, 2 cores", named[OURS], [named[ONE_BY_ONE]], 5.0)
    return report
