"""`tfr build`: shards from photos, from tables of many formats, or from Hive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from tfrkit.build.images.image_arguments import ImagesOptions
from tfrkit.build.tables.hive.hive_options import HiveOptions
from tfrkit.build.tables.table_options import TableOptions
from tfrkit.cli.arguments import JobPrintOptions, PrintOptions, positional
from tfrkit.cli.command_group import CommandGroup
from tfrkit.cli.console import UsageError, bad_usage
from tfrkit.cli.frame_command import run_planned
from tfrkit.cli.options import command
from tfrkit.options import OptionSet, option, option_class
from tfrkit.stores.url import local_path

app = typer.Typer(cls=CommandGroup, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def _build() -> None:
    """Build shards: from photos, from tables, or from Hive.

    Example: tfr build images photos.zip out --split train=0.9,validation=0.1
    """


@app.command()
@command("build images")
def images(
    source: Annotated[
        str,
        positional(
            "SOURCE",
            "A folder with a folder for each class; the same in a .zip, .tar or .tar.gz; a .csv, .tsv or .jsonl list "
            "of path, label and more; or a folder of images without classes.",
        ),
    ],
    out: Annotated[str, positional("OUT", "The folder for the shards.")],
    options: ImagesOptions,
    printed: JobPrintOptions,
) -> None:
    """Make shards of Examples from JPEG, PNG, GIF, BMP and WebP images.

    Files are kept as they are unless they are resized or encoded again, which needs the extra `images`. Labels are the
    sorted names of the classes, written as labels.txt. An interrupted build resumes when it is run again.

    Example: tfr build images photos.zip out --split train=0.8,validation=0.1,test=0.1
    """
    from tfrkit.build.images.image_plan import check_apart, plan_images

    source, out = local_path(source), local_path(out)
    with bad_usage("build images"):
        check_apart(source, out)
    run_planned(
        lambda progress: plan_images(source, out, options, progress=progress),
        options,
        printed,
        on_bad=options.on_bad,
        mixed=options.shuffle,
    )


@option_class
class ListOptions(OptionSet):
    """What only the command has."""

    list_file: Sequence[str] = option(
        (), "Read inputs from a file, one a line.", "--list", metavar="FILE", several=True
    )


@app.command()
@command("build table")
def table(
    inputs: Annotated[
        list[str] | None,
        positional("INPUT...", "Files, globs, folders, or @LIST: a file with an input a line."),
    ] = None,
    out: Annotated[str, positional("OUT", "Folder for the shards.")] = "",
    *,
    lists: ListOptions,
    options: TableOptions,
    printed: JobPrintOptions,
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


@app.command()
@command("build hive")
def hive(
    source: Annotated[
        str, positional("TABLE", "The table, such as shop.clicks; with --sql the folder for the shards.")
    ],
    out: Annotated[str, positional("OUT", "Folder for the shards, which all executors see.")] = "",
    *,
    options: HiveOptions,
    printed: PrintOptions,
) -> None:
    """Build shards from a table of Hive, or from a query, through Spark.

    Needs the extra `spark` and Java. Hive's own settings (hive-site.xml) are found as Spark finds them. An interrupted
    job resumes when the same command is run again, with the rows that it read the first time.

    Example: tfr build hive shop.clicks out --partition 'dt>=2024-01-01' --where 'label is not null' --shards 64
    """
    from tfrkit.build.tables.hive.hive import build_hive
    from tfrkit.cli.build_report import show_report
    from tfrkit.cli.progress import job_progress

    if bool(out) == (options.sql is not None):
        raise UsageError(
            "expected TABLE and OUT, or OUT and --sql",
            "tfr build hive shop.clicks out, or: tfr build hive out --sql 'select ...'",
        )
    table, folder = (source, out) if out else (None, source)
    with job_progress(quiet=printed.quiet) as progress:
        report = build_hive(table, folder, replace(options, progress=progress))
    show_report(report, as_json=printed.as_json, quiet=printed.quiet)
