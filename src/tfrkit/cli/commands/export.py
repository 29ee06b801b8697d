"""`tfr export`: files of records into Parquet, Arrow, JSON lines, CSV, image files, WebDataset or ArrayRecord."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tfrkit.build.export.export_options import (
    ArrayRecordOptions,
    ColumnOptions,
    CsvOptions,
    Format,
    ImageExportOptions,
    LevelOptions,
    TableExportOptions,
    UnsetOptions,
    WebDatasetOptions,
    compression_of,
)
from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import data_files, shard_files
from tfrkit.cli.console import UsageError, out_json, plain, say, table
from tfrkit.cli.frame_command import Inputs, run_command
from tfrkit.cli.options import command
from tfrkit.cli.progress import job_progress, size_text, time_text
from tfrkit.errors import OpError
from tfrkit.options import option_class

if TYPE_CHECKING:
    from tfrkit.build.export.export_images import ImagesReport
    from tfrkit.build.export.export_table import ExportReport

_SHOWN = 20
_STDOUT = "-"
_WHOLE = "an export appears as a whole or not at all; if it is not there, run it again from its beginning"
_CUT = "what was written ends in the middle"

app = typer.Typer(rich_markup_mode=None, add_completion=False, no_args_is_help=True)

_FILE, _FOLDER = "A file, if it has the suffix of the format;", "else a folder with a file for each shard."
Out: TypeAlias = Annotated[str, arg.positional("OUT", f"{_FILE} {_FOLDER}")]
TextOut: TypeAlias = Annotated[str, arg.positional("OUT", f"{_FILE} - for standard output; {_FOLDER}")]


@option_class
class Printed(arg.PrintOptions, arg.SplitChoice):
    """What all exports share that is not of the export itself."""


@option_class
class ParquetOptions(LevelOptions, UnsetOptions, ColumnOptions):
    """The options of `tfr export parquet`."""

    compression: str = compression_of("parquet")


@option_class
class ArrowOptions(LevelOptions, UnsetOptions, ColumnOptions):
    """The options of `tfr export arrow`."""

    compression: str = compression_of("arrow")


@option_class
class JsonlOptions(UnsetOptions, ColumnOptions):
    """The options of `tfr export jsonl`."""


@option_class
class CsvExportOptions(CsvOptions, ColumnOptions):
    """The options of `tfr export csv`."""


@app.callback()
def _export() -> None:
    """Write records as Parquet, Arrow, JSON lines, CSV, image files, WebDataset or ArrayRecord.

    Parquet, Arrow and JSON lines lose nothing: `tfr build table` makes the same records of them. The others say what
    they drop.

    Example: tfr export parquet 'out/train-*.tfrecord' train.parquet
    """


@app.command()
@command("export parquet")
def parquet(paths: arg.ShardPaths, out: Out, options: ParquetOptions, printed: Printed) -> None:
    """Write Parquet files: a column for each feature. Nothing is lost.

    Example: tfr export parquet out/ tables/
    """
    _run("parquet", paths, out, options, printed)


@app.command()
@command("export arrow")
def arrow(paths: arg.ShardPaths, out: Out, options: ArrowOptions, printed: Printed) -> None:
    """Write Arrow files (Feather): a column for each feature. Nothing is lost.

    Example: tfr export arrow a.tfrecord a.arrow
    """
    _run("arrow", paths, out, options, printed)


@app.command()
@command("export jsonl")
def jsonl(paths: arg.ShardPaths, out: TextOut, options: JsonlOptions, printed: Printed) -> None:
    """Write JSON lines: an object for each record. Nothing is lost.

    Example: tfr export jsonl a.tfrecord - | head -1
    """
    _run("jsonl", paths, out, options, printed)


@app.command()
@command("export csv")
def csv(paths: arg.ShardPaths, out: TextOut, options: CsvExportOptions, printed: Printed) -> None:
    """Write CSV, with a line of names. What it cannot say is counted: lists, kinds, absent features, bytes.

    Example: tfr export csv a.tfrecord a.csv --key label --key price
    """
    _run("csv", paths, out, options, printed)


@app.command()
@command("export images")
def images(
    paths: arg.ShardPaths,
    out: Annotated[str, arg.positional("FOLDER", "Gets a folder for each class.")],
    options: ImageExportOptions,
    printed: Printed,
) -> None:
    """Write image files, in a folder for each class. All other features are dropped.

    Example: tfr export images 'out/train-*' photos/
    """
    given = data_files(paths, split=printed.split)
    from tfrkit.build.export.export_images import run_image_export

    with job_progress(quiet=printed.quiet, kept=_WHOLE) as progress:
        report = run_image_export(given.paths, out, options.but(progress=progress), given.class_names)
    rows = [(plain(name) or "(no classes)", f"{number:,}") for name, number in report.classes.items()]
    ending = (
        f"{report.folder}: {report.images:,} images of {report.records:,} records, "
        f"{size_text(report.bytes)}, in {time_text(report.seconds)}"
    )
    _show(report, printed, rows, ("class", "images"), ending)


@app.command()
@command("export webdataset")
def webdataset(
    paths: Inputs,
    prefix: Annotated[str, arg.positional("PREFIX", "Folder and beginning of the names, such as out/train.")],
    options: WebDatasetOptions,
    printed: arg.FramePrintOptions,
) -> None:
    """Write tar files for WebDataset: a sample for each record, a file for each feature.

    It is a job: run again, it continues where it was interrupted. Files are called KEY.FEATURE.jpg, .png, .txt, .cls,
    .npy, .json or .bin, by the content.

    Example: tfr export webdataset 'in/train-*' out/train --name image/encoded=jpg --name image/class/label=cls
    """
    from tfrkit.build.export.export_webdataset import plan_webdataset

    run_command(plan_webdataset, paths, prefix, options, printed)


@app.command("array_record")
@command("export array_record")
def array_record(
    paths: Inputs,
    prefix: Annotated[str, arg.positional("PREFIX", "Folder and beginning of the names, such as out/train.")],
    options: ArrayRecordOptions,
    printed: arg.FramePrintOptions,
) -> None:
    """Write ArrayRecord files, which grain reads by number; the bytes of records stay as they are.

    It is a job: run again, it continues where it was interrupted. Records may be anything.

    Example: tfr export array_record 'in/train-*' out/train --shards 16
    """
    from tfrkit.build.export.export_array_record import plan_array_record

    run_command(plan_array_record, paths, prefix, options, printed)


def _run(form: Format, paths: list[str], out: str, options: ColumnOptions, printed: Printed) -> None:
    """What all tables share."""
    if out == _STDOUT and printed.as_json:
        raise UsageError(
            "--json and the records cannot both go to standard output", "leave out --json, or name a file."
        )
    if out == _STDOUT and form not in ("jsonl", "csv"):
        raise UsageError(f"expected a file or folder for {form}: only jsonl and csv go to standard output")
    files = shard_files(paths, split=printed.split)
    from tfrkit.build.export.export_table import run_export

    with job_progress(quiet=printed.quiet, kept=_CUT if out == _STDOUT else _WHOLE) as progress:
        wanted = TableExportOptions(**{**vars(options), "progress": progress})
        try:
            report = run_export(files, out, form, wanted)
        except OpError as error:
            if isinstance(error.__cause__, BrokenPipeError):
                raise error.__cause__ from None  # `tfr export jsonl FILE - | head`: the reader has what it wanted
            raise
    rows = [(plain(file.path), f"{file.records:,}", size_text(file.bytes)) for file in report.files]
    ending = f"{report.records:,} records in {time_text(report.seconds)}"
    _show(report, printed, rows if out != _STDOUT else None, ("file", "records", "size"), ending)


def _show(
    report: ExportReport | ImagesReport,
    printed: arg.PrintOptions,
    rows: Sequence[tuple[str, ...]] | None,
    head: tuple[str, ...],
    ending: str,
) -> None:
    """Print what was written, as a table unless that went to standard output, and say what was lost."""
    if printed.as_json:
        out_json(report.to_dict())
    elif rows is not None:
        table(head, rows[:_SHOWN], numbers=range(1, len(head)))
        if len(rows) > _SHOWN:
            say(f"... and {len(rows) - _SHOWN:,} more")
    if printed.quiet:
        return
    if report.dropped:
        say("dropped or changed:")
        for what, number in report.dropped.items():
            say(f"  {number:,} {plain(what)}")
    if report.skipped:
        say(f"{report.skipped:,} damaged places in the inputs were skipped")
    say(ending)
