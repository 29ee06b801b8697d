"""`tfr repair`: save what is whole of a damaged file."""

from __future__ import annotations

import os
from typing import Annotated, Final

import typer

from tfrkit.cli.arguments import Json, Overwrite, Quiet, shard_files
from tfrkit.cli.console import (
    BAD_DATA,
    BAD_USAGE,
    CommandError,
    number_of,
    out,
    out_json,
    plain,
)
from tfrkit.cli.progress import progress_bar

app = typer.Typer(rich_markup_mode=None)
_LISTED: Final = 20


@app.command()
def repair(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The damaged file.", show_default=False)],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="The file to make; its suffix says how it is compressed (.gz, .zlib, .xz, .zst).",
            show_default=False,
        ),
    ],
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Copy every whole record of a damaged file to a new one.

    The source stays as it is; the new file appears when it is whole. Ends with 1 if no record could be saved.

    Example: tfr repair broken.tfrecord mended.tfrecord
    """
    from tfrkit.records.repair import repair as mend

    files = shard_files([source])
    if len(files) != 1 or os.path.isdir(source):
        raise CommandError(
            f"expected one file to repair but got {source!r}, which is {len(files)} files",
            "repair them one by one; `tfr verify` says which are damaged.",
            exit_code=BAD_USAGE,
        )
    if os.path.isdir(target):
        raise CommandError(f"{target}: is a folder", "name the file to make.", exit_code=BAD_USAGE)
    if os.path.lexists(target) and not overwrite:
        raise CommandError(
            f"{target}: exists already", "choose another name, or pass --overwrite.", exit_code=BAD_USAGE
        )
    with progress_bar("repair", os.path.getsize(files[0]), quiet=quiet) as advance:
        report = mend(files[0], target, progress=advance)
    if as_json:
        out_json(report.to_dict())
    else:
        lost = "nothing lost"
        if report.lost:
            damages = number_of(len(report.lost) + report.more_lost, "damage")
            lost = f"{damages} with {number_of(report.lost_bytes, 'byte')} lost"
        saved = number_of(report.records, "record")
        out(f"{plain(report.source)} -> {plain(report.target)}: {saved} saved, {lost}")
        for damage in report.lost[:_LISTED]:
            out(
                f"  lost bytes {damage.start}-{damage.end} after {number_of(damage.record, 'record')}: {damage.kind}"
            )
        more = len(report.lost) + report.more_lost - _LISTED
        if more > 0:
            out(
                f"  ... and {more:,} more; --json lists {'all' if not report.more_lost else len(report.lost)}"
            )
    if report.lost and not report.records:
        raise typer.Exit(BAD_DATA)
