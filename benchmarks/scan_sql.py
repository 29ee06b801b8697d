"""Claim: DuckDB and polars on a scan of A run at 0.7 x our own scan of the same three columns, or better.

Beside it what one does without: export to Parquet, and query that. The scans have a spec, so that nothing is looked
into before.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import specs
from benchmarks.data import dataset, scratch
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

NAMES = ("I3", "I5", "label")
QUERY = "select label, avg(I3), max(I5) from t group by label"
SCAN, DUCKDB, POLARS, EXPORT = (
    "scan, 3 columns",
    "DuckDB on a scan",
    "polars on a scan",
    "export to Parquet, DuckDB on it",
)


def _scan(paths: tuple[Any, ...]) -> Any:
    import tfrkit as tfr

    spec = specs.a_spec(tfr)
    return tfr.scan([str(path) for path in paths], NAMES, spec={name: spec[name] for name in NAMES})


def _read(paths: tuple[Any, ...]) -> int:
    return sum(batch.num_rows for batch in _scan(paths))


def _duckdb(paths: tuple[Any, ...]) -> int:
    import duckdb

    con = duckdb.connect()
    con.register("t", _scan(paths).dataset())
    return sum(row[-1] for row in con.sql(QUERY.replace(" from", ", count(*) from")).fetchall())


def _polars(paths: tuple[Any, ...]) -> int:
    import polars as pl

    found = _scan(paths).to_polars().group_by("label").agg(pl.col("I3").mean(), pl.col("I5").max(), pl.len())
    return int(found.collect()["len"].sum())


def _export(paths: tuple[Any, ...], out: str) -> int:
    import duckdb

    import tfrkit as tfr

    tfr.build.export([str(path) for path in paths], out, format="parquet", overwrite=True)
    query = QUERY.replace(" from t", f", count(*) from '{out}/*.parquet'")
    return sum(row[-1] for row in duckdb.sql(query).fetchall())


def contenders(settings: Settings) -> list[Contender]:
    """All read the files with CRC."""
    data = dataset("A", settings.scale)
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    out = str(scratch(settings.scale) / "scan_sql")
    return [
        Contender(SCAN, partial(_read, data.plain), "records", **amount),
        Contender(DUCKDB, partial(_duckdb, data.plain), "records", **amount),
        Contender(POLARS, partial(_polars, data.plain), "records", **amount),
        Contender(EXPORT, partial(_export, data.plain, out), "records", **amount),
    ]


def run(settings: Settings) -> Report:
    """Measure A on two cores."""
    report = Report("scan_sql")
    results = in_child("scan_sql", "contenders", settings, cores=2)
    report.add_results("A grouped by label, 2 cores", results)
    named = by_name(results)
    for name in (DUCKDB, POLARS):
        report.ratio(f"A, 2 cores, {name}", named[name], [named[SCAN]], 0.7)
    report.ratio("A, 2 cores, DuckDB", named[DUCKDB], [named[EXPORT]], None)
    return report
