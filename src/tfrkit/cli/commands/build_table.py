"""`tfr build table`: tables of many formats into shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from tfrkit.build.tables.table_options import TableOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.console import UsageError, bad_usage
from tfrkit.cli.frame_command import run_planned
from tfrkit.cli.options import command
from tfrkit.options import OptionSet, option, option_class


@option_class
class ListOptions(OptionSet):
    """What only the command has."""

    list_file: Sequence[str] = option(
        (), "Read inputs from a file, one a line.", "--list", metavar="FILE", several=True
    )


@command("build table")
def table(
    inputs: Annotated[
        list[str] | None,
        arg.positional("INPUT...", "Files, globs, folders, or @LIST: a file with an input a line."),
    ] = None,
    out: Annotated[str, arg.positional("OUT", "Folder for the shards.")] = "",
    *,
    lists: ListOptions,
    options: TableOptions,
    printed: arg.JobPrintOptions,
) -> None:
    """Build shards from CSV, TSV, Hive text, JSON, Parquet, Arrow.

    Types are settled over all inputs first. The same inputs and options give the same bytes, whatever the number of
    workers; an interrupted job resumes when the same command is run again.

    Example: tfr build table 'logs/dt=2024-01-*' out --format hive --names fea1,fea2,label --shards 16
    """
    from tfrkit.build.tables.table import check_options, plan_table

    given = [*(inputs or ()), *(f"@{path}" for path in lists.list_file)]
    if not given or not out:
        raise UsageError(
            "expected at least one INPUT, and OUT",
            "tfr build table INPUT... OUT, such as: tfr build table 'logs/*.csv' out",
        )
    with bad_usage("build table"):
        check_options(options)
    run_planned(
        lambda progress: plan_table(given, out, replace(options, progress=progress)),
        options,
        printed,
        on_bad=options.on_bad,
    )
