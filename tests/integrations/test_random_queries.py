"""Random conditions on random tables: an engine on a scan returns what it returns on the exported Parquet file.

Engines differ in what null and NaN mean, so that each is compared with itself. `where` is compared with DuckDB, in
whose words it is put: no null, and "some value" of a list. `TFRKIT_QUERIES=10000` tries so many conditions.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any

import datafusion
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

import tfrkit
from tfrkit.records.access.zones import build_zones

QUERIES = int(os.environ.get("TFRKIT_QUERIES", "240"))
TABLES = 6
SCALARS = ("i", "f", "b", "s")
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
VALUES: dict[str, tuple[Any, ...]] = {
    "i": (-(2**63), -3, 0, 1, 2, 7, 2**63 - 1),
    "f": (-1.5, 0.0, 0.5, 2.0, 1e30),
    "b": (b"", b"a", b"\xff\x00", b"ab"),
    "s": ("", "a", "字", "it's"),
    "l": (-3, 0, 1, 2),
}


@dataclass(frozen=True)
class Test:
    """One comparison: of a column with a value or with several, or with null."""

    __test__ = False
    column: str
    operator: str  # one of OPERATORS, "in", "null"
    value: Any = None

    def sql(self) -> str:
        if self.operator == "null":
            return f"{self.column} is null"
        if self.operator == "in":
            return f"{self.column} in ({', '.join(map(_sql, self.value))})"
        return f"{self.column} {'=' if self.operator == '==' else self.operator} {_sql(self.value)}"

    def arrow(self) -> Any:
        field = pc.field(self.column)
        if self.operator == "null":
            return field.is_null()
        if self.operator == "in":
            return field.isin(list(self.value))
        return _compare(field, self.operator, self.value)

    def polars(self) -> Any:
        column = pl.col(self.column)
        if self.operator == "null":
            return column.is_null()
        if self.operator == "in":
            return column.is_in(list(self.value))
        return _compare(column, self.operator, pl.lit(self.value))

    def where(self) -> str:
        if self.operator == "null":
            return f"not {self.column}"
        if self.operator == "in":
            return f"{self.column} in ({', '.join(map(repr, self.value))})"
        return f"{self.column} {self.operator} {self.value!r}"

    def two_valued(self) -> str:
        if self.operator == "null":
            return f"({self.column} is null)"
        if self.operator == "in":
            return f"({' or '.join(Test(self.column, '==', value).two_valued() for value in self.value)})"
        if self.column == "l":
            inner = Test("x", self.operator, self.value).sql()
            return f"coalesce(len(list_filter(l, lambda x: {inner})) > 0, false)"
        if self.column == "f":  # a NaN is different from everything, and nothing else
            other = "true" if self.operator == "!=" else "false"
            return f"coalesce(case when isnan(f) then {other} else {self.sql()} end, false)"
        return f"coalesce({self.sql()}, false)"


@dataclass(frozen=True)
class Join:
    """Conditions that are joined."""

    word: str  # "and", "or", "not"
    parts: tuple[Any, ...]

    def sql(self) -> str:
        return self._words([part.sql() for part in self.parts])

    def where(self) -> str:
        return self._words([part.where() for part in self.parts])

    def two_valued(self) -> str:
        return self._words([part.two_valued() for part in self.parts])

    def arrow(self) -> Any:
        return self._call([part.arrow() for part in self.parts])

    def polars(self) -> Any:
        return self._call([part.polars() for part in self.parts])

    def _words(self, parts: list[str]) -> str:
        return f"not ({parts[0]})" if self.word == "not" else f"({f' {self.word} '.join(parts)})"

    def _call(self, parts: list[Any]) -> Any:
        if self.word == "not":
            return ~parts[0]
        return parts[0] & parts[1] if self.word == "and" else parts[0] | parts[1]


def _sql(value: Any) -> str:
    if isinstance(value, bytes):
        return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::blob"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        return f"{value!r}::real"
    return f"({value})" if value < 0 else str(value)


def _compare(left: Any, operator: str, right: Any) -> Any:
    compare = {
        "==": left.__eq__, "!=": left.__ne__, "<": left.__lt__, "<=": left.__le__, ">": left.__gt__,
        ">=": left.__ge__,
    }  # fmt: skip
    return compare[operator](right)


def make_condition(rng: random.Random, columns: tuple[str, ...], depth: int = 3) -> Any:
    if depth == 0 or rng.random() < 0.4:
        column = rng.choice(columns)
        operator = rng.choice((*OPERATORS, "in", "null"))
        if column in "bs" and operator in OPERATORS[2:]:
            operator = "=="  # the language of `where` has no order of texts
        if operator == "null":
            return Test(column, operator)
        if operator == "in":
            return Test(column, operator, tuple(rng.choices(VALUES[column], k=rng.randint(1, 3))))
        return Test(column, operator, rng.choice(VALUES[column]))
    word = rng.choice(("and", "or", "not"))
    parts = tuple(make_condition(rng, columns, depth - 1) for _ in range(1 if word == "not" else 2))
    return Join(word, parts)


def make_features(rng: random.Random) -> dict[str, Any]:
    features: dict[str, Any] = {}
    if rng.random() < 0.8:
        features["i"] = rng.choice(VALUES["i"])
    if rng.random() < 0.8:
        features["f"] = np.float32(rng.choice((*VALUES["f"], float("nan"), float("inf"))))
    if rng.random() < 0.8:
        features["b"] = rng.choice(VALUES["b"])
    if rng.random() < 0.8:
        features["s"] = rng.choice(VALUES["s"])
    if rng.random() < 0.8:
        features["l"] = np.array(rng.choices(VALUES["l"], k=rng.randint(0, 3)), np.int64)
    return features


def make_record(rng: random.Random, features: dict[str, Any], sequences: bool) -> bytes:
    if not sequences:
        return tfrkit.make_example(features).SerializeToString()
    steps = {"w": [[rng.choice(VALUES["s"])] * rng.randint(0, 2) for _ in range(rng.randint(0, 3))]}
    return tfrkit.make_sequence_example(features, steps).SerializeToString()


def make_table(folder: Any, seed: int) -> tuple[str, str]:
    """Write records, all columns of which are there, and export them; half of the tables are of SequenceExamples.

    Half of them are sorted and have zones, by which scans leave out runs of records, or take all of a run.
    """
    rng = random.Random(seed)
    rows = [make_features(rng) for _ in range(1, rng.randint(2, 120))]
    if has_zones := seed >= TABLES // 2:
        rows.sort(key=lambda row: (row.get("i", 0), row.get("s", "")))
    path = str(folder / f"{seed}.tfrecord")
    whole = {"id": 0, "i": 1, "f": 0.5, "b": b"\xff", "s": "字", "l": [1, 2]}
    first = (
        tfrkit.make_sequence_example(whole, {"w": [["字"], ["a", "b"]]})
        if seed % 2
        else tfrkit.make_example(whole)
    )
    with tfrkit.TFRecordWriter(path) as writer:
        writer.write(first.SerializeToString())
        writer.write_many(
            [make_record(rng, {"id": number, **row}, bool(seed % 2)) for number, row in enumerate(rows, 1)]
        )
    if has_zones:
        build_zones(path, save=True)
    out = str(folder / f"{seed}.parquet")
    tfrkit.build.export(path, out)
    return path, out


def scan_of(path: str) -> tfrkit.Scan:
    return tfrkit.scan(path, text=["s"])


def exported(parquet: str) -> Any:
    """The exported file as Arrow's own dataset, with text where the scan has it."""
    table = pq.read_table(parquet)
    place = table.schema.get_field_index("s")
    return pads.dataset(table.set_column(place, "s", table.column(place).cast(pa.string())))


def shown(table: Any) -> list[str]:
    """Rows as texts, in which a NaN equals another."""
    return [repr(row) for row in table.to_pylist()]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queries")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tfrkit.records.access.zone_maker.RUN_RECORDS", 5)
        patch.setattr("tfrkit.records.access.zone_maker.RUN_BYTES", 1)
        return [make_table(folder, seed) for seed in range(TABLES)]


def cases(columns: tuple[str, ...], tables: list[tuple[str, str]], salt: int):
    for seed in range(QUERIES):
        rng = random.Random(seed * 31 + salt)
        yield seed, make_condition(rng, columns), *tables[seed % len(tables)]


def test_arrow(tables):
    scans = {path: scan_of(path).dataset() for path, _ in tables}
    for seed, condition, path, parquet in cases(SCALARS, tables, 1):
        theirs = exported(parquet)
        columns = None if seed % 5 == 0 else ["id"]
        ours = scans[path].to_table(columns=columns, filter=condition.arrow())
        expected = theirs.to_table(columns=columns, filter=condition.arrow())
        assert shown(ours) == shown(expected.select(ours.column_names)), condition.sql()


def test_duckdb(tables):
    con = duckdb.connect()
    for number, (path, parquet) in enumerate(tables):
        con.register(f"ours{number}", scan_of(path).dataset())
        con.execute(
            f"create table theirs{number} as select * replace (decode(s) as s) from '{parquet}'"
        ).fetchall()
    for seed, condition, _, _ in cases(SCALARS, tables, 2):
        number = seed % len(tables)
        what = "id, f, l" if seed % 5 == 0 else "id"
        found, expected = (
            con.sql(f"select {what} from {name}{number} where {condition.sql()} order by id").fetchall()
            for name in ("ours", "theirs")
        )
        assert repr(found) == repr(expected), condition.sql()


def test_polars(tables):
    frames = {}
    for path, parquet in tables:
        theirs = pl.read_parquet(parquet).with_columns(pl.col("s").cast(pl.String))
        frames[path] = scan_of(path).to_polars(), theirs.lazy()
    for _, condition, path, _ in cases(SCALARS, tables, 3):
        found, expected = (
            frame.filter(condition.polars()).select("id", "f", "l").collect().rows() for frame in frames[path]
        )
        assert repr(found) == repr(expected), condition.sql()


def test_datafusion(tables):
    context = datafusion.SessionContext()
    for number, (path, parquet) in enumerate(tables):
        context.register_dataset(f"ours{number}", scan_of(path).dataset())
        context.register_dataset(f"theirs{number}", exported(parquet))
    compared = 0
    for seed, condition, _, _ in cases(("i", "f", "s"), tables, 4):
        number = seed % len(tables)
        query = f"select id, f from {{}}{number} where {condition.sql().replace('::real', '')}"
        found = context.sql(query.format("ours")).to_arrow_table()
        try:
            expected = context.sql(query.format("theirs")).to_arrow_table()
        except Exception as error:
            if "pyarrow.lib.BooleanScalar" not in str(
                error
            ):  # what is always true or false, Arrow's own refuse
                raise
            assert found.num_rows in (0, pads.dataset(tables[number][1]).count_rows())
            continue
        assert shown(found) == shown(expected), condition.sql()
        compared += 1
    assert compared > QUERIES * 0.8


def test_where_and_select(tables, tmp_path):
    con = duckdb.connect()
    for number, (_, parquet) in enumerate(tables):
        con.execute(
            f"create table theirs{number} as select * replace (decode(s) as s) from '{parquet}'"
        ).fetchall()
    for seed, condition, path, _ in cases((*SCALARS, "l"), tables, 5):
        number = seed % len(tables)
        query = f"select id from theirs{number} where {condition.two_valued()} order by id"
        expected = [row[0] for row in con.sql(query).fetchall()]
        where = condition.where()
        assert tfrkit.scan(path, ["id"], where).to_table()["id"].to_pylist() == expected, where
        if seed % 12 == 0:
            out = str(tmp_path / "selected.tfrecord")
            tfrkit.select(path, out, where=where, overwrite=True)
            found = [row["id"][0] for row in tfrkit.read_examples(out)] if not number % 2 else None
            assert found is None or found == expected, where
            assert len(list(tfrkit.read_records(out))) == len(expected), where
