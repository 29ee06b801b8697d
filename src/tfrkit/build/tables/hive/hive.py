"""build.hive: a table of Hive, or a query, into shards of Examples.

Spark reads the rows, wherever and in whatever format Hive keeps them; they are then a table like any other
(`table.py`): columns are settled, shards planned, and an engine, by default Spark again, writes them.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from tfrkit.build.job.job import BuildReport, run_job
from tfrkit.build.tables.hive.hive_options import HiveOptions
from tfrkit.build.tables.hive.hive_query import FEATURE, HiveQuery
from tfrkit.build.tables.hive.hive_rows import KeptRows, keep_rows
from tfrkit.build.tables.table import check_options, plan_table
from tfrkit.engines.spark_session import spark_session
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import takes
from tfrkit.records.manifest import folder_lock
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.url import is_url, local_path

if TYPE_CHECKING:
    from tfrkit.build.keywords import HiveKeywords

__all__ = ["build_hive", "hive"]


@takes(HiveOptions)
def hive(table: str | None, out: PathLike, **options: Unpack[HiveKeywords]) -> BuildReport:
    """Write the rows of a table of Hive as Examples, a feature for each column.

    Spark with Hive support reads the table: the active session, or one that is started. Types become features as those
    of Parquet files do (docs/spark-and-hive.md). Until the shards are complete the rows are kept beside them; an
    interrupted job resumes with those. A second run into the same folder waits for the first.

    Args:
        table: its name, such as "shop.clicks"; None with `sql`.
        out: folder for the shards, which all executors see.

    Returns:
        The report: shards with counts, bad rows by reason. Shards in folders of partitions have their names with them.

    Raises:
        InvalidArgumentError: the query, a condition or an option is wrong, no feature can hold a column, or no row is
            there.
        NotFoundError: there is no such table.
        AlreadyExistsError: the folder has the shards of another job.
        MissingExtraError: pyspark is not installed.
        FailedPreconditionError: there is no Java.
        UnavailableError: Spark cannot be reached, or fails.
    """
    return build_hive(table, path_text(out), HiveOptions.of(options))


def build_hive(table: str | None, out: str, options: HiveOptions) -> BuildReport:
    """Do what `hive` says."""
    started = time.perf_counter()
    check_options(options.of_table())
    folder = out.rstrip("/") if is_url(out) else os.path.abspath(local_path(out))
    session = spark_session(FEATURE, options.address, hive=True)
    address = options.address if options.engine == "spark" else None  # it is Spark's
    run = replace(
        options, address=address
    ).of_job()  # an engine that cannot be had is named before rows are read
    query = HiveQuery.of(session, table, options)
    with folder_lock(folder, "hive.lock"):  # a second run of the query would take the rows away
        rows = keep_rows(query, folder)
        if not rows.paths:
            rows.remove()
            raise InvalidArgumentError(
                f"{query.source}: no rows. Check the conditions (--where, --partition) and that the table is not empty."
            )
        reports = [_write(query, rows, folder, within, options, run) for within in rows.paths]
        rows.remove()
    return _joined(folder, list(rows.paths), reports, time.perf_counter() - started)


def _write(
    query: HiveQuery, rows: KeptRows, folder: str, within: str, options: HiveOptions, run: Mapping[str, Any]
) -> BuildReport:
    job = plan_table(
        rows.paths[within], os.path.join(folder, within) if within else folder, options.of_table()
    )
    made = {**job.made_by, "command": "build hive", "query": query.made_by}
    return run_job(replace(job, made_by=made), on_bad=options.on_bad, **run)


def _joined(
    folder: str, within: Sequence[str], reports: Sequence[BuildReport], seconds: float
) -> BuildReport:
    """Return one report of the jobs of all folders. Pure: no I/O."""
    if len(reports) == 1 and not within[0]:
        return replace(reports[0], seconds=seconds)
    shards = [
        replace(shard, name=f"{place}/{shard.name}")
        for place, report in zip(within, reports, strict=True)
        for shard in report.shards
    ]
    bad, noted = Counter[str](), Counter[str]()
    for report in reports:
        bad.update(report.bad)
        noted.update(report.noted)
    return BuildReport(
        folder,
        tuple(shards),
        sum(report.input_bytes for report in reports),
        dict(bad),
        tuple(each for report in reports for each in report.listed),
        sum(report.resumed for report in reports),
        seconds,
        dict(noted),
        tuple(each for report in reports for each in report.noted_listed),
        reports[0].columns,
        sum(report.passed for report in reports),
    )
