"""Claim: `diff` of two equal data sets (A and copies of its files) runs at 0.6 x reading both with `read_blocks`.

Then B is A in other bytes (the features of every record in the opposite order), and A with a changed
feature in a hundredth of all records, with statistics and without. Rates are for information.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.data import dataset, scratch
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

READ, EQUAL = "read_blocks of both", "diff of equal data"
REENCODED, CHANGED, ALL = "diff of other bytes", "diff, 1 % changed: records", "diff, 1 % changed: all"


def _turned(record: bytes) -> bytes:
    """Return the same Example, its features in the opposite order; every key is unique in A."""
    import tfrkit as tfr

    features = tfr.Example.FromString(record).features.feature
    parts = [tfr.Example() for _ in features]
    for part, name in zip(parts, sorted(features, reverse=True), strict=True):
        part.features.feature[name].CopyFrom(features[name])
    return b"".join(part.SerializeToString() for part in parts)


def _changed(record: bytes, number: list[int]) -> bytes:
    """Return the record; every hundredth with another value in its first feature of floats or integers."""
    import tfrkit as tfr

    number[0] += 1
    if number[0] % 100:
        return record
    example = tfr.Example.FromString(record)
    name = next(
        name for name in sorted(example.features.feature) if example.features.feature[name].int64_list.value
    )
    example.features.feature[name].int64_list.value[0] += 1
    return example.SerializeToString()


def _make(settings: Settings, name: str, change: Callable[[bytes], bytes] | None) -> list[str]:
    """Make copies of A's files if they are not there."""
    import tfrkit as tfr

    folder = scratch(settings.scale) / "diff" / name
    files = []
    for path in dataset("A", settings.scale).plain:
        target = folder / Path(path).name
        files.append(str(target))
        if target.exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        if change is None:
            shutil.copyfile(path, target)
            continue
        with tfr.TFRecordWriter(files[-1], atomic=True) as writer:
            for record in tfr.read_records(str(path)):
                writer.write(change(record))
    return files


def contenders(settings: Settings) -> list[Contender]:
    """All read both data sets with CRC."""
    import tfrkit as tfr

    data = dataset("A", settings.scale)
    old = [str(path) for path in data.plain]
    copies = _make(settings, "copy", None)
    turned = _make(settings, "turned", _turned)
    changed = _make(settings, "changed", partial(_changed, number=[0]))
    amount: dict[str, Any] = {"records": 2 * data.records, "bytes": 2 * data.stream_bytes}

    def read() -> int:
        return sum(len(block) for files in (old, copies) for block in tfr.read_blocks(files))

    def compare(files: list[str], differences: int, **options: Any) -> int:
        found = tfr.diff(old, files, **options).records
        assert found is not None
        if found.changed != differences or found.added or found.removed:
            raise ValueError(f"expected {differences} changes but got {found.changed}, {found.added} added")
        return found.old + found.new

    some = data.records // 100
    return [
        Contender(READ, read, "records", **amount),
        Contender(EQUAL, partial(compare, copies, 0), "records", **amount),
        Contender(REENCODED, partial(compare, turned, 0), "records", **amount),
        Contender(CHANGED, partial(compare, changed, some, compare="records"), "records", **amount),
        Contender(ALL, partial(compare, changed, some), "records", **amount),
    ]


def run(settings: Settings) -> Report:
    """Measure A on two cores."""
    report = Report("diff")
    results = in_child("diff", "contenders", settings, cores=2)
    report.add_results("Two data sets like A, 2 cores", results)
    named = by_name(results)
    report.ratio("Equal data, 2 cores", named[EQUAL], [named[READ]], 0.6)
    for name in (REENCODED, CHANGED, ALL):
        report.ratio("Other data, 2 cores", named[name], [named[READ]], None)
    return report
