"""Zones and conditions: a run of which nothing matches is left out, one of which all match is not evaluated."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

import tfrkit as tfr
from tests.records.support.examples import example
from tests.scanning.test_scan import random_row, random_where
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.access.zones import Zones, build_zones
from tfrkit.records.where import parse_where
from tfrkit.scanning.chunks import RowFilter
from tfrkit.scanning.columns import ScanParser
from tfrkit.scanning.settle import columns_of_spec
from tfrkit.scanning.zone_conditions import ALL, NOTHING, matching_runs

RUN = 8
SPEC = {
    "n": tfr.FixedLenFeature((), "int64"),
    "f": tfr.FixedLenFeature((), "float32"),
    "词": tfr.FixedLenFeature((), "string"),
    "ids": tfr.VarLenFeature("int64"),
    "tags": tfr.VarLenFeature("string"),
}


@pytest.fixture(autouse=True)
def small_runs(monkeypatch):
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_RECORDS", RUN)
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_BYTES", 1)


def zones_of(path: Any, rows: list[dict[str, Any]]) -> Zones:
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([example(**row) for row in rows])
    return build_zones(path, save=True)


def shares(zones: Zones, where: str, spec: dict[str, Any] = SPEC) -> list[int]:
    columns = {column.name: column for column in columns_of_spec(spec)}
    choice = parse_where(where)
    return matching_runs(choice.tree, {key: columns[key] for key in choice.keys}, zones).tolist()


def alike_rows(rng: random.Random) -> list[dict[str, Any]]:
    """Return the rows of some runs; those of a run are much alike, so that zones say much of them."""
    rows = []
    for _ in range(20):
        usual = random_row(rng)
        for _ in range(RUN):
            row = dict(usual)
            if rng.random() < 0.05:
                row = random_row(rng)
            rows.append(row)
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_what_evaluating_gives(seed, tmp_path):
    rng = random.Random(seed)
    rows = alike_rows(rng)
    zones = zones_of(tmp_path / "a.tfrecord", rows)
    block = tfr.Block.from_records([example(**row) for row in rows])
    seen = {NOTHING: 0, 1: 0, ALL: 0}
    for _ in range(300):
        where = random_where(rng)
        mask = parse_where(where).mask(0, block).reshape(-1, RUN)
        for share, taken in zip(shares(zones, where), mask, strict=True):
            assert not (share == NOTHING and taken.any()), where
            assert not (share == ALL and not taken.all()), where
            seen[share] += 1
    assert min(seen.values()) > 100  # neither is an answer that is never given


@pytest.mark.parametrize(
    ("where", "share"),
    [
        ("n > 9", ALL),
        ("n >= 10", ALL),
        ("n > 10", 1),
        ("n > 17", NOTHING),
        ("n != 9", ALL),
        ("n != 10", 1),
        ("not n < 10", ALL),
        ("not n > 9", NOTHING),
        ("n", ALL),
        ("not n", NOTHING),
        ("n > 9.5", ALL),
        ("n < 1e30", ALL),
        ("n == 10.5", 1),
        ("n != 10.5", 1),
        ("n == 9.5", NOTHING),
        ("n != 9.5", ALL),
        (f"n < {2**63}", ALL),
        (f"n < {2**70}", ALL),
        ("n > 9 or n < 0", ALL),
        ("n > 9 and n < 18", ALL),
        ("f >= 0", ALL),
        ("nan >= 0", 1),  # a NaN is not
        ("nan != 9", ALL),
        ("same == 'a'", ALL),
        ("same in ('b', 'a')", ALL),
        ("long == 'aaaaaaaaaaaaaaaa'", 1),  # bounds are cut
        ("long > 'a'", ALL),
        ("some > 0", 1),  # one record has it not
        ("not some < 0", ALL),  # one that has no value is not less, either
        ("list > 0", 1),  # a list may be empty
        ("not list < 0", ALL),
        ("nowhere", NOTHING),
        ("not nowhere", ALL),
        ("not nowhere > 3", ALL),
        ("n > 9 and kinds > 0", 1),
        ("n > 9 or kinds > 0", 1),  # evaluating raises an error
        ("n > 9 or text > 'a'", 1),  # of another kind than the spec's
        ("n > 9 or pair > 0", 1),  # of another shape
        ("given > 9", 1),  # one record has the default
        ("given", 1),
    ],
)
def test_runs_that_match(where, share, tmp_path):
    rows: list[dict[str, Any]] = []
    for number in range(RUN):
        row: dict[str, Any] = {"n": 10 + number, "f": number / 2, "same": "a", "long": "a" * 30}
        row |= {"nan": float("nan") if number == 3 else 1.0, "text": 3, "pair": 3}
        row |= {"list": np.arange(1, 3 if number else 1), "kinds": number if number else "a"}
        rows.append(row if number == 5 else row | {"some": 1, "given": 10})
    spec = {name: tfr.FixedLenFeature((), "int64") for name in ("n", "some", "nowhere", "kinds")}
    spec |= {name: tfr.FixedLenFeature((), "float32") for name in ("f", "nan")}
    spec |= {name: tfr.FixedLenFeature((), "string") for name in ("same", "long", "text")}
    spec |= {"list": tfr.VarLenFeature("int64"), "pair": tfr.FixedLenFeature((2,), "int64")}
    spec |= {"given": tfr.FixedLenFeature((), "int64", 5)}
    assert shares(zones_of(tmp_path / "a.tfrecord", rows), where, spec) == [share]


def both_ways(path: Any, where: str, **options: Any) -> tuple[Any, Any]:
    """Scan a file without zones and with them."""
    without = tfr.scan(path, where=where, with_source=True, **options).to_table()
    build_zones(path, save=True)
    return without, tfr.scan(path, where=where, with_source=True, **options).to_table()


def write_rows(path: Any, rows: list[dict[str, Any]]) -> Any:
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([example(**row) for row in rows])
    return path


def test_columns_that_are_named_otherwise_than_their_feature(tmp_path):
    path = write_rows(tmp_path / "a.tfrecord", [{"y": number} for number in range(40)])
    spec = {"x": tfr.RaggedFeature("int64", value_key="y")}
    without, found = both_ways(path, "x > 35", spec=spec)
    assert found.num_rows == 4
    assert found == without


@pytest.mark.parametrize(("where", "count"), [("y > 18", 21), ("y", 40), ("not y", 0), ("not y > 18", 19)])
def test_records_without_the_feature_have_the_default_of_the_spec(where, count, tmp_path):
    rows = [{"y": number} if number < 20 else {"z": number} for number in range(40)]
    path = write_rows(tmp_path / "a.tfrecord", rows)
    without, found = both_ways(path, where, spec={"y": tfr.FixedLenFeature((), "int64", 30)})
    assert found.num_rows == count
    assert found == without


@pytest.mark.parametrize(("where", "count"), [("not y", 8), ("y > 3", 32), ("y < 3", 0)])
def test_values_of_another_kind_are_nulls(where, count, tmp_path):
    rows = [{"y": number if number < 8 else float(number)} for number in range(40)]
    path = write_rows(tmp_path / "a.tfrecord", rows)
    without, found = both_ways(path, where, on_kind="null")
    assert found.num_rows == count
    assert found == without


def test_filters_of_engines_see_values_of_another_kind_as_nulls(tmp_path):
    rows = [{"y": number if number < 8 else float(number)} for number in range(40)]
    path = write_rows(tmp_path / "a.tfrecord", rows)
    build_zones(path, save=True)
    dataset = tfr.scan(path, on_kind="null").dataset()
    assert dataset.to_table(filter=pc.field("y").is_null()).num_rows == 8
    assert dataset.to_table(filter=pc.field("y") < 3).num_rows == 0


def test_an_error_of_the_condition_is_raised_where_zones_prove_another_part(tmp_path):
    path = write_rows(tmp_path / "a.tfrecord", [{"n": number, "m": 0.5} for number in range(40)])
    build_zones(path, save=True)
    spec = {name: tfr.FixedLenFeature((), "int64") for name in "nm"}
    with pytest.raises(InvalidArgumentError, match=r"'m' .* record 32 "):
        tfr.scan(path, ["n"], "n > 31 and (n > 3 or m > 3)", spec=spec).to_table()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("block_bytes", [1, 200, 1 << 21])
def test_only_runs_that_may_match_in_part_are_evaluated(block_bytes, threads, tmp_path, monkeypatch):
    path = write_rows(tmp_path / "a.tfrecord", [{"n": number, "m": number} for number in range(400)])
    build_zones(path, save=True)
    evaluated = []
    parse = ScanParser.parse

    def watch(self: ScanParser, blocks: Any, count: int) -> Any:
        if len(self.columns) == 1:  # the condition's
            evaluated.extend(number for block in blocks for number in block.places()[0].tolist())
        return parse(self, blocks, count)

    monkeypatch.setattr(ScanParser, "parse", watch)
    where = "n >= 300 or n < 29 and n >= 8 or n == 100"
    found = tfr.scan(path, where=where, with_source=True, threads=threads, block_bytes=block_bytes).to_table()
    wanted = [*range(8, 29), 100, *range(300, 400)]
    assert found["n"].to_pylist() == found["m"].to_pylist() == found["_record"].to_pylist() == wanted
    assert sorted(evaluated) == [*range(24, 32), *range(96, 104), *range(296, 304)]


def test_a_second_filter_is_evaluated_unless_zones_prove_both(tmp_path):
    path = write_rows(tmp_path / "a.tfrecord", [{"n": number} for number in range(80)])
    zones = build_zones(path, save=True)
    found = tfr.scan(path, where="n >= 40")
    kept = found.row_filter(["n"], lambda batch: np.asarray(batch["n"]) % 2 == 0)
    rows = [n for batch in found.read(["n"], kept) for n in batch["n"].to_pylist()]
    assert rows == list(range(40, 80, 2))
    one = RowFilter(kept.parser, kept.mask, lambda _: np.array([0, 1, 2, 2] + [0] * 6, np.int8))
    two = RowFilter(kept.parser, kept.mask, lambda _: np.array([2, 2, 2, 1] + [0] * 6, np.int8), one)
    assert two.shares(zones).tolist() == [0, 1, 2, 1] + [0] * 6
    assert kept.shares(zones).tolist() == [1] * 10


def test_an_error_of_the_last_group_comes_in_its_place(tmp_path):
    rows = [{"n": number} for number in range(100)] + [{"n": 0.5}]
    path = write_rows(tmp_path / "a.tfrecord", rows)
    batches = tfr.scan(path, spec={"n": tfr.FixedLenFeature((), "int64")}, block_bytes=500).to_batches()
    assert next(batches).num_rows < 100
    with pytest.raises(InvalidArgumentError, match="record 100 "):
        list(batches)
