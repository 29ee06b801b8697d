"""`tfr build table`: tables of many formats into shards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import size_bytes
from tfrkit.cli.console import UsageError, bad_usage


def _shards(text: str | None) -> int | Literal["per-input"] | None:
    if text is None:
        return None
    if text == "per-input":
        return "per-input"
    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"expected a number or per-input but got {text!r}", param_hint="--shards")
    return int(text)


def _pair(text: str) -> str:
    if "=" not in text:
        raise typer.BadParameter(f"expected OLD=NEW but got {text!r}")
    return text


def table(
    inputs: Annotated[
        list[str] | None,
        arg.positional("INPUT...", "Files, globs, folders, or @LIST: a file with an input a line."),
    ] = None,
    out: Annotated[str, arg.positional("OUT", "Folder for the shards.")] = "",
    list_file: Annotated[
        list[str] | None, typer.Option("--list", metavar="FILE", help="Read inputs from a file, one a line.")
    ] = None,
    format: Annotated[  # noqa: A002  # the name that users expect
        Literal["csv", "tsv", "hive", "jsonl", "parquet", "arrow"] | None,
        typer.Option(help="Of all inputs; by default from suffix or content."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:KIND",
            help="Kind of a column: fea1:float, label:int64, name:bytes, or 'tags:bytes[|]' for a list.",
        ),
    ] = None,
    columns: Annotated[list[str] | None, typer.Option(metavar="A,B", help="Only these columns.")] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="A,B", help="Not these columns.")] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", parser=_pair, help="Another name for a column's feature."),
    ] = None,
    null_value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]VALUE",
            help="What stands for a null, in all columns or one; else the feature is absent.",
        ),
    ] = None,
    names: Annotated[
        str | None, typer.Option(metavar="A,B", help="Names of the columns of text without a header.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether delimited text begins with names.", show_default=False
        ),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(metavar="TEXT", help=r"Between fields of text: ';', '\t', '\x01'.")
    ] = None,
    quote: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Quotation mark of text; '' for none.")
    ] = None,
    escape: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Takes the next character as it is.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Of delimited text: utf-8, gbk, latin-1 ...")] = None,
    null: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help=r"Text that means null, such as \N or NULL.")
    ] = None,
    max_field: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE", parser=size_bytes, help="A longer field is a bad line; 64MiB by default."
        ),
    ] = None,
    partitions: Annotated[
        bool, typer.Option("--partitions/--no-partitions", help="Make columns of folders called name=value.")
    ] = True,
    shards: Annotated[
        str | None, typer.Option(metavar="N|per-input", help="How many files, or one for each input.")
    ] = None,
    shard_size: arg.ShardSize = None,
    prefix: Annotated[str, typer.Option(help="File name prefix of the shards.")] = "data",
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Shuffle the rows of all inputs.")] = False,
    seed: arg.Seed = 0,
    compression: arg.Compression = None,
    level: arg.Level = None,
    on_bad: Annotated[
        Literal["skip", "raise"],
        typer.Option(help="Leave bad lines out and count them, or end at the first."),
    ] = "skip",
    max_bad: arg.MaxBad = None,
    workers: arg.Workers = None,
    overwrite: arg.Overwrite = False,
    dry_run: arg.DryRun = False,
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Build shards from CSV, TSV, Hive text, JSON lines, Parquet, Arrow.

    Types are settled over all inputs first. The same inputs and options give the same bytes, whatever the number of
    workers; an interrupted job resumes when the same command is run again.

    Example: tfr build table 'logs/dt=2024-01-*' out --format hive --names fea1,fea2,label --shards 16
    """
    from tfrkit.build.job.job import dry_run as summarize
    from tfrkit.build.job.job import run_job
    from tfrkit.build.tables.table import MAX_FIELD, TableOptions, check_options, plan_table
    from tfrkit.cli.build_report import end_dry_run, show_report
    from tfrkit.cli.progress import job_progress

    given = [*(inputs or ()), *(f"@{path}" for path in list_file or ())]
    if not given or not out:
        raise UsageError(
            "expected at least one INPUT, and OUT",
            "tfr build table INPUT... OUT, such as: tfr build table 'logs/*.csv' out",
        )
    options = TableOptions(
        format=format,
        column=column or (),
        columns=None if columns is None else _listed(columns),
        drop=_listed(drop or ()),
        rename=dict(pair.rsplit("=", 1) for pair in name or ()),
        null_value=dict(map(_null_value, null_value or ())),
        names=None if names is None else _listed([names]),
        header=header,
        delimiter=None if delimiter is None else _plain(delimiter),
        quote=quote,
        escape=escape,
        encoding=encoding,
        nulls=null,
        max_field=max_field or MAX_FIELD,
        partitions=partitions,
        prefix=prefix,
        shards=_shards(shards),
        shard_bytes=shard_size,
        shuffle=shuffle,
        seed=seed,
        compression=compression,
        level=level,
    )
    with bad_usage("build table"):
        check_options(options)
    job = plan_table(given, out, options, workers=workers)
    if dry_run:
        plan = summarize(job, on_bad=on_bad, max_bad=max_bad, overwrite=overwrite)
        end_dry_run(plan, as_json=as_json)
        return
    with job_progress(quiet=quiet) as progress:
        report = run_job(
            job, workers=workers, on_bad=on_bad, max_bad=max_bad, overwrite=overwrite, progress=progress
        )
    show_report(report, as_json=as_json, quiet=quiet)


def _null_value(text: str) -> tuple[str | None, str]:
    name, equals, value = text.rpartition("=")
    return (name, value) if equals else (None, text)


def _listed(texts: Iterable[str]) -> list[str]:
    return [name for text in texts for name in text.split(",")]


def _plain(text: str) -> str:
    from tfrkit.build.tables.table_schema import unescape

    return unescape(text)
