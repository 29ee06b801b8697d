"""`tfr sql`: query files with DuckDB."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO, Annotated, Any, Final, cast

from tfrkit.build.job.job_options import DamageOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.console import CommandError, UsageError, bad_usage, number_of, out, say, table
from tfrkit.cli.options import command
from tfrkit.options import option, option_class

_SHOWN: Final = 100  # rows of a table


@option_class
class SqlOptions(arg.JsonOptions, DamageOptions, arg.ThreadOptions, arg.OverwriteOptions):
    """The options of `tfr sql`."""

    as_csv: bool = option(False, "Print CSV.", "--csv")
    parquet: str | None = option(None, "Write a Parquet file instead.", "--parquet", metavar="OUT")
    count: int | None = option(
        None, f"At most this many rows; {_SHOWN} by default as a table, else all.", "-n", "--count", least=0
    )
    with_source: bool = option(False, "Add the columns _file and _record: where each record comes from.")
    blobs: bool = option(False, "Bytes that look like text stay BLOB; by default they are VARCHAR.")

    def __post_init__(self) -> None:
        """Check that there is one output."""
        super().__post_init__()
        outputs = {"--json": self.as_json, "--csv": self.as_csv, "--parquet": self.parquet}
        given = [flag for flag, value in outputs.items() if value]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} exclude each other", "pass one of them.")


@command("sql")
def sql(
    query: Annotated[
        str, arg.positional("QUERY", "A query in DuckDB's dialect; files stand in it in quotes.")
    ],
    options: SqlOptions,
) -> None:
    """Query files with DuckDB.

    Files are named in the query, in quotes: names, globs and URLs. Only the features that the query needs are
    decoded. Nothing else is read, and no extensions are loaded.

    Example: tfr sql "select label, count(*) from 'train-*.tfrecord' group by label"
    """
    from tfrkit.integrations.interrupt import interruptible
    from tfrkit.integrations.sql import connect, prepare

    con = connect()
    try:
        reading = {
            "text": not options.blobs,
            "with_source": options.with_source,
            "on_corrupt": options.on_corrupt,
            "threads": options.threads,
        }
        with bad_usage("sql"):
            datasets = interruptible(con, lambda: prepare(con, query, {}, reading))
        with _errors(datasets):
            _print(con, query, options)
    finally:
        con.close()


def _print(con: Any, query: str, options: SqlOptions) -> None:
    from tfrkit.integrations.interrupt import interruptible
    from tfrkit.integrations.sql import refused
    from tfrkit.optional import require

    duckdb, pyarrow = require("duckdb", "sql"), require("pyarrow", "sql")
    with bad_usage("sql"):
        try:
            relation = interruptible(con, lambda: con.sql(query))
        except (duckdb.ProgrammingError, duckdb.NotSupportedError) as error:
            raise refused(error) from error
    if relation is None:  # a statement without rows
        return
    as_table = not (options.as_json or options.as_csv or options.parquet)
    # One row more than is shown tells that there are more.
    most = _SHOWN + 1 if options.count is None and as_table else options.count
    limited = relation if most is None else relation.limit(most)
    reader = interruptible(con, lambda: pyarrow.RecordBatchReader.from_stream(limited))
    batches = iter(lambda: interruptible(con, lambda: next(reader, None)), None)
    if options.parquet is not None:
        _write_parquet(options.parquet, reader.schema, batches, options.overwrite)
    elif not as_table:
        _print_lines(reader.schema, batches, options.as_json)
    else:
        _print_table(pyarrow, reader.schema, batches, _SHOWN if options.count is None else options.count)


def _print_lines(schema: Any, batches: Iterator[Any], as_json: bool) -> None:
    from tfrkit.cli.result_rows import csv_line, csv_lines, json_lines

    if not as_json:
        out(csv_line(schema.names))
    for batch in batches:
        for line in json_lines(batch) if as_json else csv_lines(batch):
            out(line)


def _print_table(pyarrow: Any, schema: Any, batches: Iterator[Any], most: int) -> None:
    from tfrkit.cli.result_rows import table_rows

    types = pyarrow.types
    numeric = (types.is_integer, types.is_floating, types.is_decimal)
    numbers = [place for place, field in enumerate(schema) if any(test(field.type) for test in numeric)]
    rows = [row for batch in batches for row in table_rows(batch)]
    table(schema.names, rows[:most], numbers=numbers)
    if len(rows) > most:
        say(f"{number_of(most, 'row')} shown, and there are more: -n shows more, --json and --csv all.")


def _write_parquet(path: str, schema: Any, batches: Iterator[Any], overwrite: bool) -> None:
    from tfrkit.build.export.export_format import OutputFile
    from tfrkit.build.export.export_paths import ExportTarget, refuse_existing
    from tfrkit.optional import require
    from tfrkit.stores import files

    parquet = require("pyarrow.parquet", "--parquet")
    refuse_existing([ExportTarget(path, ())], overwrite)
    output = files.create(path)
    file = OutputFile(output)
    rows = 0
    try:
        with parquet.ParquetWriter(cast("IO[bytes]", file), schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
                rows += batch.num_rows
        output.close()
    except BaseException:
        file.abandon()
        output.discard()
        raise
    say(f"{path}: {number_of(rows, 'row')}")


@contextlib.contextmanager
def _errors(datasets: list[Any]) -> Iterator[None]:
    """Raise what went wrong in a scan, and not DuckDB's words about it."""
    from tfrkit.optional import require

    duckdb, pyarrow = require("duckdb", "sql"), require("pyarrow", "sql")
    try:
        yield
    except (duckdb.Error, pyarrow.ArrowException, OSError) as error:
        for dataset in datasets:
            for failure in dataset.failures:
                raise failure from error
        if isinstance(error, (duckdb.Error, pyarrow.ArrowException)):
            raise CommandError(str(error)) from error
        raise
