"""The query behind `build.hive`: a table or SQL, conditions, partitions, and the columns that are needed of it.

Everything that can be refused is refused before Spark reads a row. Reading them is in `hive_rows.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from tfrkit.build.tables.arrow.arrow_types import leaves, survey_schema
from tfrkit.build.tables.hive.hive_options import HiveOptions
from tfrkit.build.tables.hive.spark_columns import column_schema
from tfrkit.build.tables.partition_filter import NULL_PARTITION, parse_partitions
from tfrkit.build.tables.table_format import InputFile
from tfrkit.build.tables.table_schema import choose_columns, settle
from tfrkit.engines.spark_session import first_line
from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.model.near_names import near_names
from tfrkit.optional import require
from tfrkit.stores.json_file import json_line

__all__ = ["FEATURE", "HiveQuery"]

FEATURE: Final = "tfr build hive"


@dataclass(frozen=True, slots=True)
class HiveQuery:
    """What is asked of Spark.

    Attributes:
        source: the table, or "sql".
        rows: the DataFrame with the columns that are needed.
        folders: partition columns that become folders.
        made_by: everything that determines the rows, as JSON has it.
    """

    source: str
    rows: Any
    folders: tuple[str, ...]
    made_by: dict[str, Any]

    @property
    def digest(self) -> str:
        """16 hex digits that are the same for the same query."""
        return hashlib.blake2b(json_line(self.made_by), digest_size=8).hexdigest()

    @classmethod
    def of(cls, session: Any, table: str | None, options: HiveOptions) -> HiveQuery:
        """Make the query.

        Raises:
            InvalidArgumentError: Spark does not understand it, or no feature can hold a column.
            NotFoundError: there is no such table.
        """
        try:
            source, rows, keys = _source(session, table, options)
            if options.partition:
                rows = rows.where(_partitions(session, table, options.partition, keys))
            if options.where is not None:
                rows = rows.where(options.where)
        except require("pyspark.errors", FEATURE).PySparkException as error:
            raise InvalidArgumentError(f"{table or 'The query'}: {first_line(error)}") from error
        folders = keys if options.partitions == "folders" else ()
        if options.partitions == "folders" and not folders:
            raise InvalidArgumentError(
                f"partitions (--partitions): {source} has no partition columns that could be folders."
            )
        rows = rows.select(*_needed(rows, folders, options, source))
        made = {
            "source": source if options.sql is None else options.sql,
            "where": options.where,
            "partition": parse_partitions(options.partition).texts if options.partition else [],
            "columns": rows.columns,
            "folders": list(folders),
        }
        return cls(source, rows, folders, made)


def _source(session: Any, table: str | None, options: HiveOptions) -> tuple[str, Any, tuple[str, ...]]:
    """Return the name of what is read, its rows, and its partition columns."""
    if (table is None) == (options.sql is None):
        raise InvalidArgumentError(
            "Expected either a table, such as db.clicks, or a query (--sql), and not both."
        )
    if table is None:
        return "sql", session.sql(options.sql), ()
    if not session.catalog.tableExists(table):
        database, _, name = table.rpartition(".")
        known = (
            [] if database and not session.catalog.databaseExists(database) else _tables(session, database)
        )
        raise NotFoundError(f"{table}; there is no such table. {near_names(name, known)}", path=table)
    keys = tuple(column.name for column in session.catalog.listColumns(table) if column.isPartition)
    return table, session.table(table), keys


def _tables(session: Any, database: str) -> list[str]:
    return [found.name for found in session.catalog.listTables(database or None)]


def _partitions(session: Any, table: str | None, given: str | Sequence[str], keys: Sequence[str]) -> Any:
    """Return the condition that chooses partitions: those of the table that `given` chooses."""
    functions = require("pyspark.sql.functions", FEATURE)
    if not keys or table is None:
        raise InvalidArgumentError(
            f"partition (--partition): {table or 'a query'} has no partition columns. Use a condition (--where)."
        )
    found = [_said(row[0]) for row in session.sql(f"SHOW PARTITIONS {table}").collect()]
    chosen = parse_partitions(given).choose(found)
    condition = functions.lit(False)
    for said, is_chosen in zip(found, chosen, strict=True):
        if is_chosen:
            one = functions.lit(True)
            for key, text in said.items():
                null = text == NULL_PARTITION
                one = one & (
                    functions.col(key).isNull() if null else functions.col(key) == functions.lit(text)
                )
            condition = condition | one
    return condition


def _said(text: str) -> dict[str, str]:
    """Return what the name of a partition says, such as `dt=2024-01-01/hour=3`. Pure: no I/O."""
    pairs = (part.partition("=") for part in text.split("/"))
    return {unquote(key): unquote(value) for key, _, value in pairs}


def _needed(rows: Any, folders: Sequence[str], options: HiveOptions, source: str) -> list[Any]:
    """Return the columns that are read; raises if one that is wanted cannot be a feature."""
    functions = require("pyspark.sql.functions", FEATURE)
    arrow = column_schema(rows.schema, source)
    kept = require("pyarrow", FEATURE).schema([field for field in arrow if field.name not in folders])
    survey = survey_schema(kept, InputFile(source, source, {}, 0), (), lambda _: True)
    wanted = {column.name for column in settle([survey], choose_columns(options.of_table()))}
    tops = {leaf.path[0] for leaf in leaves(kept) if leaf.name in wanted}
    return [
        functions.col("`{}`".format(name.replace("`", "``")))
        for name in arrow.names
        if name in tops or name in folders
    ]
