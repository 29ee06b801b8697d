"""`tfr export`: files of records into Parquet, Arrow, JSON lines, CSV or image files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import shard_files
from tfrkit.cli.console import UsageError, out_json, plain, say, table
from tfrkit.cli.progress import job_progress, number_text, size_text, time_text
from tfrkit.errors import OpError

if TYPE_CHECKING:
    from tfrkit.build.export.export_format import Format
    from tfrkit.build.export.export_images import ImagesReport
    from tfrkit.build.export.export_table import ExportReport

_SHOWN = 20
_STDOUT = "-"
_WHOLE = "an export appears as a whole or not at all; if it is not there, run it again from its beginning"
_CUT = "what was written ends in the middle"

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)

Out: TypeAlias = Annotated[
    str,
    arg.positional(
        "OUT", "A file, if it has the suffix of the format; else a folder with a file for each shard."
    ),
]
TextOut: TypeAlias = Annotated[
    str,
    arg.positional(
        "OUT",
        "A file, if it has the suffix of the format; - for standard output; else a folder with a file for each "
        "shard.",
    ),
]
ExportWorkers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="How many files are written at once; as many as there are cores by default, but at most 4.",
    ),
]
UnsetOption: TypeAlias = Annotated[
    Literal["absent", "raise"],
    typer.Option(
        "--unset", help="A feature that has no kind at all is written as if it were absent, or is an error."
    ),
]


@app.callback()
def _export() -> None:
    """Write records as Parquet, Arrow, JSON lines, CSV or image files.

    Parquet, Arrow and JSON lines lose nothing: `tfr build table` makes the same records of them. The others say what
    they drop.

    Example: tfr export parquet 'out/train-*.tfrecord' train.parquet
    """


@app.command()
def parquet(
    paths: arg.ShardPaths,
    out: Out,
    keys: arg.Keys = None,
    compression: Annotated[
        Literal["zstd", "snappy", "gzip", "lz4", "brotli", "none"],
        typer.Option(case_sensitive=False, help="Of the columns."),
    ] = "zstd",
    level: arg.Level = None,
    unset: UnsetOption = "absent",
    overwrite: arg.Overwrite = False,
    workers: ExportWorkers = None,
    on_corrupt: arg.OnCorrupt = "raise",
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Write Parquet files: a column for each feature. Nothing is lost.

    Example: tfr export parquet out/ tables/
    """
    options = {"compression": compression, "level": level, "unset": unset, "overwrite": overwrite}
    _run("parquet", paths, out, keys, workers, on_corrupt, as_json, quiet, options)


@app.command()
def arrow(
    paths: arg.ShardPaths,
    out: Out,
    keys: arg.Keys = None,
    compression: Annotated[
        Literal["none", "lz4", "zstd"], typer.Option(case_sensitive=False, help="Of the columns.")
    ] = "none",
    level: arg.Level = None,
    unset: UnsetOption = "absent",
    overwrite: arg.Overwrite = False,
    workers: ExportWorkers = None,
    on_corrupt: arg.OnCorrupt = "raise",
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Write Arrow files (Feather): a column for each feature. Nothing is lost.

    Example: tfr export arrow a.tfrecord a.arrow
    """
    options = {"compression": compression, "level": level, "unset": unset, "overwrite": overwrite}
    _run("arrow", paths, out, keys, workers, on_corrupt, as_json, quiet, options)


@app.command()
def jsonl(
    paths: arg.ShardPaths,
    out: TextOut,
    keys: arg.Keys = None,
    unset: UnsetOption = "absent",
    overwrite: arg.Overwrite = False,
    workers: ExportWorkers = None,
    on_corrupt: arg.OnCorrupt = "raise",
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Write JSON lines: an object for each record. Nothing is lost.

    Example: tfr export jsonl a.tfrecord - | head -1
    """
    options = {"unset": unset, "overwrite": overwrite}
    _run("jsonl", paths, out, keys, workers, on_corrupt, as_json, quiet, options)


@app.command()
def csv(
    paths: arg.ShardPaths,
    out: TextOut,
    keys: arg.Keys = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Between columns.  [default: a comma; a tab if OUT ends with .tsv]")
    ] = None,
    separator: Annotated[str, typer.Option(help="Between the values of a list.")] = "|",
    overwrite: arg.Overwrite = False,
    workers: ExportWorkers = None,
    on_corrupt: arg.OnCorrupt = "raise",
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Write CSV, with a line of names. What it cannot say is counted: lists, kinds, absent features, bytes.

    Example: tfr export csv a.tfrecord a.csv --key label --key price
    """
    options = {"delimiter": delimiter, "separator": separator, "overwrite": overwrite}
    _run("csv", paths, out, keys, workers, on_corrupt, as_json, quiet, options)


@app.command()
def images(
    paths: arg.ShardPaths,
    out: Annotated[str, arg.positional("FOLDER", "Gets a folder for each class.")],
    image: Annotated[str | None, typer.Option(help="Feature with the image.")] = None,
    label: Annotated[str | None, typer.Option(help="Feature with the number of the class.")] = None,
    text: Annotated[str | None, typer.Option(help="Feature with the name of the class.")] = None,
    filename: Annotated[str | None, typer.Option(help="Feature with the name of the file.")] = None,
    label_map: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A class name on each line, for numbers.  [default: labels.txt beside the first input]",
        ),
    ] = None,
    overwrite: arg.Overwrite = False,
    threads: arg.Threads = None,
    on_corrupt: arg.OnCorrupt = "raise",
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Write image files, in a folder for each class. All other features are dropped.

    Example: tfr export images 'out/train-*' photos/
    """
    files = shard_files(paths)
    from tfrkit.build.export.export_images import export_images

    with job_progress(quiet=quiet, kept=_WHOLE) as progress:
        report = export_images(
            files,
            out,
            image=image,
            label=label,
            text=text,
            filename=filename,
            label_map=label_map,
            overwrite=overwrite,
            threads=threads,
            on_corrupt=on_corrupt,
            progress=progress,
        )
    _show_images(report, as_json, quiet)


def _run(
    form: Format,
    paths: list[str],
    out: str,
    keys: list[str] | None,
    workers: int | None,
    on_corrupt: Literal["raise", "skip", "stop"],
    as_json: bool,
    quiet: bool,
    options: dict[str, Any],
) -> None:
    """What all tables share."""
    if out == _STDOUT and as_json:
        raise UsageError(
            "--json and the records cannot both go to standard output", "leave out --json, or name a file."
        )
    if out == _STDOUT and form not in ("jsonl", "csv"):
        raise UsageError(f"expected a file or folder for {form}: only jsonl and csv go to standard output")
    files = shard_files(paths)
    from tfrkit.build.export.export_table import export

    with job_progress(quiet=quiet, kept=_CUT if out == _STDOUT else _WHOLE) as progress:
        try:
            report = export(
                files,
                out,
                form,
                columns=keys,
                workers=workers,
                on_corrupt=on_corrupt,
                progress=progress,
                **options,
            )
        except OpError as error:
            if isinstance(error.__cause__, BrokenPipeError):
                raise error.__cause__ from None  # `tfr export jsonl FILE - | head`: the reader has what it wanted
            raise
    _show(report, as_json, quiet, to_stdout=out == _STDOUT)


def _show(report: ExportReport, as_json: bool, quiet: bool, *, to_stdout: bool) -> None:
    if as_json:
        out_json(report.to_dict())
    elif not to_stdout:
        rows = [(plain(file.path), number_text(file.records), size_text(file.bytes)) for file in report.files]
        _print(("file", "records", "size"), rows)
    if not quiet:
        _say_losses(report.dropped, report.skipped)
        say(f"{number_text(report.records)} records in {time_text(report.seconds)}")


def _show_images(report: ImagesReport, as_json: bool, quiet: bool) -> None:
    if as_json:
        out_json(report.to_dict())
    else:
        rows = [
            (plain(name) or "(no classes)", number_text(number)) for name, number in report.classes.items()
        ]
        _print(("class", "images"), rows)
    if not quiet:
        _say_losses(report.dropped, report.skipped)
        say(
            f"{report.folder}: {number_text(report.images)} images of {number_text(report.records)} records, "
            f"{size_text(report.bytes)}, in {time_text(report.seconds)}"
        )


def _print(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    hidden = len(rows) - _SHOWN
    table(head, rows[:_SHOWN], numbers=range(1, len(head)))
    if hidden > 0:
        say(f"... and {number_text(hidden)} more")


def _say_losses(dropped: Mapping[str, int], skipped: int) -> None:
    if dropped:
        say("dropped or changed:")
        for what, number in dropped.items():
            say(f"  {number_text(number)} {plain(what)}")
    if skipped:
        say(f"{number_text(skipped)} damages of the inputs were passed over")
