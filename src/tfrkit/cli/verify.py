"""`tfr verify`: read everything, and say what is damaged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import typer

from tfrkit.cli.arguments import STDIN, Json, Quiet, ShardPathsOrStdin, Threads, opened, shard_files
from tfrkit.cli.console import BAD_DATA, number_of, out, out_json, plain, say, style
from tfrkit.cli.progress import progress_bar

if TYPE_CHECKING:
    from tfrkit.records.verify import FileReport

app = typer.Typer(rich_markup_mode=None)
_LISTED: Final = 20  # damages of a file


@app.command()
def verify(
    paths: ShardPathsOrStdin, threads: Threads = None, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Read files completely and report all damage.

    Both checksums of every record are checked, and the number of records against the manifest where there is one.
    Ends with 1 if anything is damaged.

    Example: tfr verify 'out/*.tfrecord'
    """
    from tfrkit.records.verify import verify as check

    files = shard_files(paths, stdin=True)
    total = sum(os.path.getsize(path) for path in files if path != STDIN and os.path.isfile(path))
    with progress_bar("verify", total, quiet=quiet) as advance:
        report = check(opened(files), threads=threads, progress=advance)
    unlike = {file.path: text for file in report.files if (text := _unlike_manifest(file))}
    ok = report.ok and not unlike
    if as_json:
        listed = [{**file.to_dict(), "manifest": unlike.get(file.path, "")} for file in report.files]
        out_json({"ok": ok, "records": report.records, "files": listed})
    else:
        for file in report.files:
            _print_file(file, unlike.get(file.path, ""))
    bad = sum(not file.ok or file.path in unlike for file in report.files)
    if not quiet:
        what = f"{number_of(len(report.files), 'file')}, {number_of(report.records, 'record')}"
        say(f"{what}: " + ("all is well" if ok else f"{bad:,} damaged"))
    if not ok:
        raise typer.Exit(BAD_DATA)


def _unlike_manifest(file: FileReport) -> str:
    """Say how a file differs from what the manifest beside it says."""
    from tfrkit.records.count import manifest_says

    known = manifest_says(file.path) if os.path.isfile(file.path) else None
    if known is None or known == (file.records, file.file_bytes):
        return ""
    return (
        f"the manifest says {known[0]:,} records in {known[1]:,} bytes, "
        f"but there are {file.records:,} in {file.file_bytes or 0:,}"
    )


def _print_file(file: FileReport, unlike: str) -> None:
    ok = file.ok and not unlike
    verdict = style("ok", fg="green") if ok else style("DAMAGED", fg="red", bold=True)
    kind = file.compression or "plain"
    amount = f"{number_of(file.records, 'record')}, {number_of(file.data_bytes, 'byte')}"
    out(f"{plain(file.path)}: {amount}, {kind}: {verdict}")
    for line in (file.error, f"looks like {file.looks_like}" if file.looks_like else "", unlike):
        if line:
            out(f"  {plain(line)}")
    for damage in file.damages[:_LISTED]:
        where = f"at bytes {damage.start}-{damage.end}, after {number_of(damage.record, 'record')}"
        out(f"  {damage.kind} {where}: {plain(damage.text)}")
    more = len(file.damages) + file.more_damages - _LISTED
    if more > 0:
        out(f"  ... and {more:,} more; --json lists {'all' if not file.more_damages else len(file.damages)}")
