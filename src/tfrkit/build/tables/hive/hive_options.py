"""The options of `tfr.build.hive` and `tfr build hive`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tfrkit.build.job.job_options import (
    BadOptions,
    CompressionOptions,
    RunOptions,
    SeedOptions,
    ShardOptions,
)
from tfrkit.build.tables.format_table import PARQUET
from tfrkit.build.tables.table_options import TableColumnOptions, TableOptions, TableRowOptions
from tfrkit.engines.engine import EngineName
from tfrkit.options import option, option_class

__all__ = ["HiveOptions"]


@option_class
class HiveOptions(
    TableColumnOptions, TableRowOptions, SeedOptions, ShardOptions, CompressionOptions, BadOptions, RunOptions
):
    """The options of `hive`."""

    where: str | None = option(
        None,
        "Only rows for which this condition of SQL holds: \"label >= 3 and country = 'de'\".",
        more="Spark evaluates it, and reads no partitions that it excludes.",
        metavar="CONDITION",
    )
    partition: str | Sequence[str] = option(
        (),
        "Only such partitions: 'dt>=2024-01-01', 'country in (de, fr)'.",
        more="One condition, or a list of conditions that all must hold, as `table` has it.",
        metavar="CONDITION",
        several=True,
    )
    sql: str | None = option(
        None, "Rows of this query instead of a table's.", more="Any SELECT of Spark's SQL.", metavar="QUERY"
    )
    partitions: Literal["columns", "folders"] = option(
        "columns",
        "What partition columns become: features of each record, or folders such as dt=2024-01-01 with shards of "
        "their own.",
    )
    engine: EngineName = option(
        "spark",
        "What writes the shards, after Spark has read the rows.",
        more="The result does not depend on it.",
    )

    def of_table(self) -> TableOptions:
        """Return the options with which the rows that Spark has read become shards."""
        own = ("where", "partition", "sql", "partitions", "engine", "address")
        given = {name: value for name, value in vars(self).items() if name not in own}
        return TableOptions(format=PARQUET.name, partitions=False, **given)
