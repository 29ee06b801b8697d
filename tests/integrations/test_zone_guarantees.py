"""Filters of Arrow leave out runs of records by their zones, and only such as cannot match."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import tfrkit as tfr
from tests.records.support.examples import example
from tfrkit.integrations import zone_guarantees
from tfrkit.records.access.zones import build_zones

FIELDS = {"at": [0, 5, 57, 99, 150, 199], "f": [0.0, 0.5, 7.25, 99.5], "w": [b"", b"00042", b"00150", b"z"]}


@pytest.fixture
def shard(tmp_path, monkeypatch):
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_RECORDS", 10)
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_BYTES", 1)
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for number in range(200):
            row = {"at": number, "f": number / 2, "w": f"{number:05}", "n": number % 3}
            if number % 7 == 0:
                del row["at"]
            if 50 <= number < 60:
                del row["f"]
            if number == 150:
                row["f"] = float("nan")
            writer.write(example(**row))
    return path


def random_filter(rng: random.Random, depth: int = 2) -> pc.Expression:
    if depth and rng.random() < 0.6:
        one, other = random_filter(rng, depth - 1), random_filter(rng, depth - 1)
        return rng.choice([one & other, one | other, ~one])
    name = rng.choice(list(FIELDS))
    field, value = pc.field(name), rng.choice(FIELDS[name])
    kind = {"at": pa.int64(), "f": pa.float32(), "w": pa.binary()}[name]
    literal = pa.scalar(value, kind)
    return rng.choice(
        [
            field == literal,
            field != literal,
            field < literal,
            field <= literal,
            field > literal,
            field >= literal,
            field.is_null(),
            field.is_valid(),
            field.isin([literal]),
        ]
    )


def test_filters_give_what_they_give_on_a_table(shard, monkeypatch):
    rng = random.Random(1)
    table = tfr.scan(shard).to_table()
    tfr.build_zones(shard, save=True)
    read = []
    runs = zone_guarantees.runs_of_expression

    def watch(*arguments):
        found = runs(*arguments)
        read.append(int(np.count_nonzero(found)))
        return found

    monkeypatch.setattr("tfrkit.integrations.pushdown.runs_of_expression", watch)
    dataset = tfr.scan(shard).dataset()
    for _ in range(300):
        wanted = random_filter(rng)
        found = dataset.to_table(filter=wanted)
        assert repr(found.to_pylist()) == repr(table.filter(wanted).to_pylist()), wanted
    assert min(read) == 0
    assert len(set(read)) > 5


def test_a_narrow_filter_reads_one_run(shard, monkeypatch):
    zones = tfr.build_zones(shard, save=True)
    scan = tfr.scan(shard)
    for wanted, runs in [
        (pc.field("at") == 57, 1),
        (pc.field("at").isin([3, 198]), 2),
        ((pc.field("at") > 57) & (pc.field("w") < b"00060"), 1),
        (pc.field("at").is_null(), 20),
        (pc.field("n") == 1, 20),
        (pc.field("w") > b"z", 0),
    ]:
        names = [column for column in scan.columns if column.name in str(wanted)]
        found = zone_guarantees.runs_of_expression(wanted, names, scan.schema, zones)
        assert np.count_nonzero(found) == runs, wanted


@pytest.mark.parametrize("value", [1e30, 0.1, 1e39, -1e39, 1e-46, 3.4028235e38])
def test_literals_that_are_rounded_to_a_bound_match_it(value, tmp_path, monkeypatch):
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_RECORDS", 1)
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_BYTES", 1)
    with np.errstate(over="ignore"):
        stored = np.float32(value)
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for f in (stored, np.float32(7), np.float32(8), np.float32(9)):
            writer.write(example(f=f))
    filters = [
        pc.field("f").isin([value]),
        pc.field("f") == value,
        pc.field("f") == pa.scalar(value, pa.float32()),
    ]
    without = [tfr.scan(path).dataset().to_table(filter=each) for each in filters]
    build_zones(path, save=True)
    assert [tfr.scan(path).dataset().to_table(filter=each) for each in filters] == without


def test_bounds_of_text_that_end_inside_a_character_leave_out_what_cannot_match(tmp_path, monkeypatch):
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_RECORDS", 4)
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_BYTES", 1)
    path = tmp_path / "a.tfrecord"
    words = [head + "\u00e9\u4e2d\U0001f600" * 6 + str(n) for head in "abcdefgh" for n in range(4)]
    with tfr.TFRecordWriter(path) as writer:
        writer.write_batch({"w": words})
    zones = tfr.build_zones(path, save=True)
    scan = tfr.scan(path, text=["w"])
    table = pa.table({"w": words})
    for word in [words[0], words[7], words[-1], "", "a", "c\u00e9", "d\U0001f600", "z"]:
        for wanted in (
            pc.field("w") == word,
            pc.field("w") < word,
            pc.field("w") >= word,
            pc.field("w").isin([word]),
        ):
            assert scan.dataset().to_table(filter=wanted) == table.filter(wanted)
    found = zone_guarantees.runs_of_expression(pc.field("w") == words[7], scan.columns, scan.schema, zones)
    assert found.tolist() == [False, True] + [False] * 6
