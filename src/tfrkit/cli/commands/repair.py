"""`tfr repair`: save the intact records of a damaged file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import found_shards, tell_problems
from tfrkit.cli.console import BAD_DATA, UsageError, number_of, out, out_damages, out_json, plain, say, style
from tfrkit.cli.options import command
from tfrkit.cli.progress import progress_bar
from tfrkit.codecs.table import record_codecs
from tfrkit.options import option, option_class
from tfrkit.stores import files

if TYPE_CHECKING:
    from tfrkit.records.check.repair import RepairReport

_SUFFIXES: Final = ", ".join(codec.suffix for codec in record_codecs() if codec.suffix)


@option_class
class RepairOptions(arg.OverwriteOptions, arg.PrintOptions):
    """The options of `tfr repair`."""

    replace: bool = option(False, "Mend files where they are, in the manifest too.")

    def __post_init__(self) -> None:
        """Check that there is something to overwrite."""
        super().__post_init__()
        if self.replace and self.overwrite:
            raise UsageError("--overwrite is for copies, --replace makes none", "leave one out.")


@command("repair")
def repair(
    paths: Annotated[
        list[str],
        arg.positional(
            "SOURCE... TARGET",
            f"The damaged file and the file to make, whose suffix says how it is compressed ({_SUFFIXES}); "
            "or files, globs and folders of shards, and the folder for mended copies. With --replace: sources.",
        ),
    ],
    options: RepairOptions,
) -> None:
    """Copy every whole record of a damaged file to a new one.

    A new file appears when it is whole. Sources stay as they are, unless --replace is given: then those that are
    damaged are replaced. Of a folder, or several files, index and manifest are mended too. Ends with 1 if no record of
    a file could be saved.

    Example: tfr repair broken.tfrecord mended.tfrecord
    """
    if options.replace:
        _repair_many(paths, None, options)
        return
    if len(paths) < 2:
        raise UsageError(
            "expected SOURCE and TARGET but got one path",
            "name the file or folder to make, or pass --replace.",
        )
    *sources, target = paths
    found = found_shards(sources).files
    if files.is_folder(target) or target.endswith("/"):
        _repair_many(sources, target, options)
    elif len(sources) == 1 == len(found) and not files.is_folder(sources[0]):
        _repair_one(str(found[0]), target, options)
    elif ".tfrecord" not in os.path.basename(target) and not files.is_there(target):
        _repair_many(sources, target, options)
    else:
        raise UsageError(
            f"expected a folder for {number_of(len(found), 'file')} but got {target!r}",
            "name a folder to make, or pass --replace to mend the files where they are.",
        )


def _repair_one(source: str, target: str, options: RepairOptions) -> None:
    from tfrkit.records.check.repair import repair as mend
    from tfrkit.records.sniff.file_sniffer import sniff_file

    if files.is_there(target) and not options.overwrite:
        raise UsageError(f"{target}: exists already", "choose another name, or pass --overwrite.")
    with progress_bar("repair", total=[source], quiet=options.quiet) as advance:
        report = mend(source, target, progress=advance)
    if options.as_json:
        out_json(report.to_dict())
    else:
        _print_file(report)
    if report.lost and not report.records:
        if look := sniff_file(files.open_source(source).peek(1024)):
            say(f"{plain(source)} looks like {look}")
        raise typer.Exit(BAD_DATA)


def _repair_many(sources: list[str], folder: str | None, options: RepairOptions) -> None:
    from tfrkit.records.check.repair_files import repair_files

    found = found_shards(sources)
    with progress_bar("repair", total=(*found.files, *found.unlisted), quiet=options.quiet) as advance:
        report = repair_files(sources, folder, overwrite=options.overwrite, progress=advance)
    if options.as_json:
        out_json(report.to_dict())
    else:
        for file in report.files:
            if folder is not None or file.lost or file.error or file.lost_records:
                _print_file(file)
    tell_problems(report.problems)
    failed = sum(bool(file.error) for file in report.files)
    if not options.quiet:
        damaged = sum(bool(file.lost) for file in report.files)
        saved = number_of(report.records, "record")
        what = f"{number_of(len(report.files), 'file')}, {damaged:,} damaged: {saved} saved"
        lost = sum(max(0, file.lost_records or 0) for file in report.files)
        known = f", {number_of(lost, 'record')} of the manifest lost" if lost else ""
        say(f"{what}{known}" + (f", {number_of(failed, 'file')} not repaired" if failed else ""))
    if failed or any(file.lost and not file.records for file in report.files):
        raise typer.Exit(BAD_DATA)


def _print_file(report: RepairReport) -> None:
    if report.error:
        out(f"{plain(report.source)}: {style('NOT REPAIRED', fg='red', bold=True)}: {plain(report.error)}")
        return
    lost = "nothing lost"
    if report.lost:
        damages = number_of(len(report.lost) + report.more_lost, "damage")
        lost = f"{damages} with {number_of(report.lost_bytes, 'byte')} lost"
    if report.lost_records:
        lost += f", {number_of(report.lost_records, 'record')} fewer than in the manifest"
    saved = number_of(report.records, "record")
    where = "" if report.target == report.source else f" -> {plain(report.target)}"
    out(f"{plain(report.source)}{where}: {saved} saved, {lost}")
    out_damages(
        [
            f"lost bytes {damage.start}-{damage.end} after {number_of(damage.record, 'record')}: {damage.kind}"
            for damage in report.lost
        ],
        report.more_lost,
    )
