"""Claims: `ds.at` of 1,024 random records of A at 3 x array_record; parsed at 0.4 x our parse in order; `ds[i]`.

array_record reads files of its own, made of A before the clock starts: not compressed, in groups of one, which is its
best for this. It has two ways, and the faster counts: its data source over the four files, and a reader for each, which
is handed the numbers of its file and need not bring the records into order. A list of bytes, as array_record gives it,
stands beside our column of bytes. Parsed batches are held against `parse_example` of the blocks of the same files; the
same pipeline, run in order, stands beside it. A single `ds[i]`, parsed, has at least half the rate of `RecordFile[i]`
and `parse_single_example`.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import tfrkit as tfr
from benchmarks import parsers, pipelines, rivals, specs
from benchmarks.data import Dataset, dataset, payloads, scratch
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

AT, AT_LIST = "ds.at of 1,024", "ds.at of 1,024, to_list"
ARRAY_SOURCE, ARRAY_READER = "array_record, data source", "array_record, a reader for each file"
AT_PARSED, BLOCKS = "ds.at of 1,024, parsed", "parse_example of blocks, in order"
IN_ORDER = "the same pipeline and batches, in order"
ITEM, RECORD_FILE = "ds[i], parsed", "RecordFile[i] and parse_single_example"
READS = 200_000
SINGLE_READS = 20_000
TAKEN = 1024
WRITER_OPTIONS = "group_size:1,uncompressed"
READER_OPTIONS = "readahead_buffer_size:0,max_parallelism:2"


def raw_contenders(settings: Settings) -> list[Contender]:
    """1,024 random records of A at a time, as they are."""
    data = dataset("A", settings.scale)
    numbers = _random_numbers(data.records, READS * settings.scale)
    amount = _amount(data, len(numbers))
    groups = _groups(numbers)
    ds = _records(data)

    def at(*, as_list: bool = False) -> int:
        return sum(len(found.to_list() if as_list else found) for found in map(ds.at, groups))

    out = [
        Contender(AT, at, "records", **amount),
        Contender(AT_LIST, partial(at, as_list=True), "records", **amount),
    ]
    if rivals.installed("array_record"):
        out += _array_record_contenders(data, settings, groups, amount)
    return out


def _array_record_contenders(
    data: Dataset, settings: Settings, groups: Sequence[list[int]], amount: dict[str, Any]
) -> list[Contender]:
    files = array_record_files(data, settings)
    module = importlib.import_module("array_record.python.array_record_module")
    data_source = importlib.import_module("array_record.python.array_record_data_source")
    source = data_source.ArrayRecordDataSource([str(path) for path in files])
    readers = [module.ArrayRecordReader(str(path), READER_OPTIONS) for path in files]
    each = data.records // len(files)  # all files have as many
    parts = [
        [(reader, [number - first for number in group if first <= number < first + each])
         for reader, first in zip(readers, range(0, data.records, each), strict=True)]
        for group in groups
    ]  # fmt: skip

    def read() -> int:
        return sum(len(reader.read(part)) for group in parts for reader, part in group)

    def get() -> int:
        return sum(len(source.__getitems__(group)) for group in groups)

    wanted = groups[0]
    if source.__getitems__(wanted) != _records(data).at(wanted).to_list():
        raise RuntimeError("array_record's files hold other records: delete the scratch folder")
    return [
        Contender(ARRAY_SOURCE, get, "records", **amount),
        Contender(ARRAY_READER, read, "records", **amount),
    ]


def array_record_files(data: Dataset, settings: Settings) -> list[Path]:
    """The files of A in array_record's format, which are made if they are missing, and kept."""
    writer_class = importlib.import_module("array_record.python.array_record_module").ArrayRecordWriter
    files = []
    for path in data.plain:
        file = scratch(settings.scale) / f"{path.stem}.array_record"
        if not file.exists() or file.stat().st_mtime < path.stat().st_mtime:
            unfinished = file.with_suffix(".part")
            writer = writer_class(str(unfinished), WRITER_OPTIONS)
            for payload in payloads(path):
                writer.write(payload)
            writer.close()
            unfinished.rename(file)
        files.append(file)
    return files


def parsed_contenders(settings: Settings) -> list[Contender]:
    """1,024 random records of A at a time, all features parsed; and as many in order."""
    data = dataset("A", settings.scale)
    numbers = _random_numbers(data.records, READS * settings.scale)
    groups = _groups(numbers)
    spec = specs.a_spec(tfr)
    ds = _records(data).parse(spec)
    in_order = _records(data).take(len(numbers)).parse(spec).batch(TAKEN)

    def at() -> int:
        return sum(len(batch["label"]) for batch in map(ds.at, groups))

    some = _amount(data, len(numbers))
    return [
        Contender(AT_PARSED, at, "records", **some),
        Contender(
            BLOCKS, partial(parsers.ours, data.plain, spec), "records", data.records, data.stream_bytes
        ),
        Contender(IN_ORDER, partial(pipelines.drain, in_order), "records", **some),
    ]


def item_contenders(settings: Settings) -> list[Contender]:
    """Single random records, all features parsed; of one file, as a RecordFile has one."""
    data = dataset("A_one", settings.scale)
    numbers = _random_numbers(data.records, SINGLE_READS * settings.scale)
    spec = specs.a_spec(tfr)
    ds = _records(data).parse(spec)
    file = tfr.RecordFile(data.plain[0])

    def items() -> int:
        for number in numbers:
            ds[number]
        return len(numbers)

    def records() -> int:
        for number in numbers:
            tfr.parse_single_example(file[number], spec)
        return len(numbers)

    amount = _amount(data, len(numbers))
    return [
        Contender(ITEM, items, "records", **amount),
        Contender(RECORD_FILE, records, "records", **amount),
    ]


def _records(data: Dataset) -> Any:
    """The records of files whose indexes are there, and read."""
    ds = tfr.TFRecordDataset([str(path) for path in data.plain])
    ds.at([0])
    return ds


def _random_numbers(below: int, count: float) -> list[int]:
    """At least four batches of numbers, all of them full."""
    return random.Random(0).choices(range(below), k=TAKEN * max(4, round(count / TAKEN)))


def _groups(numbers: list[int]) -> list[list[int]]:
    return [numbers[start : start + TAKEN] for start in range(0, len(numbers), TAKEN)]


def _amount(data: Dataset, records: int) -> dict[str, Any]:
    return {"records": records, "bytes": round(data.stream_bytes * records / data.records)}


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("lookup")
    named = by_name(results := in_child("lookup", "raw_contenders", settings, cores=2))
    report.add_results("Random records of A, 1,024 at a time, 2 cores", results)
    if theirs := [named[name] for name in (ARRAY_SOURCE, ARRAY_READER) if name in named]:
        report.ratio("Random records of A", named[AT], theirs, 3.0)
        report.ratio("Random records of A", named[AT_LIST], theirs, None)
    named = by_name(results := in_child("lookup", "parsed_contenders", settings, cores=2))
    report.add_results("Random records of A, parsed, 1,024 at a time, 2 cores", results)
    report.ratio("Random records of A, parsed", named[AT_PARSED], [named[BLOCKS]], 0.4)
    report.ratio("Random records of A, parsed", named[AT_PARSED], [named[IN_ORDER]], None)
    named = by_name(results := in_child("lookup", "item_contenders", settings, cores=2))
    report.add_results("Random records of A, parsed, one by one, 2 cores", results)
    report.ratio("Random records of A, one by one", named[ITEM], [named[RECORD_FILE]], 0.5)
    return report
