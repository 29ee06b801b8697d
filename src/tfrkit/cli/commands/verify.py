"""`tfr verify`: read everything, and say what is damaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import found_shards
from tfrkit.cli.console import BAD_DATA, number_of, out, out_damages, out_json, plain, say, style
from tfrkit.cli.options import command
from tfrkit.cli.progress import progress_bar
from tfrkit.options import option_class

if TYPE_CHECKING:
    from tfrkit.records.check.verify import FileReport, VerifyReport

_LISTED: Final = 20  # files in no set


@option_class
class VerifyOptions(arg.ThreadOptions, arg.PrintOptions):
    """The options of `tfr verify`."""


@command("verify")
def verify(paths: arg.ShardPathsOrStdin, options: VerifyOptions) -> None:
    """Read files completely and report all damage.

    Both checksums of every record are checked. What a manifest, the journal of an interrupted build and the numbers in
    names (-of-00008) say must be there is compared with what is. Ends with 1 if anything is damaged or missing.

    Example: tfr verify 'out/*.tfrecord'
    """
    from tfrkit.records.check.verify import verify_files

    found = found_shards(paths, stdin=True)
    with progress_bar("verify", total=(*found.files, *found.unlisted), quiet=options.quiet) as advance:
        report = verify_files(found, threads=options.threads, progress=advance)
    unlike = {problem.path: problem.text for problem in report.problems if problem.kind == "differs"}
    if options.as_json:
        listed = [{**file.to_dict(), "manifest": unlike.get(file.path, "")} for file in report.files]
        out_json({**report.to_dict(), "files": listed})
    else:
        for file in report.files:
            _print_file(file, unlike.get(file.path, ""))
        for problem in report.problems:
            if problem.kind != "differs":
                kind = style(problem.kind.upper(), fg="red", bold=True)
                out(f"{plain(problem.path)}: {kind}: {plain(problem.text)}")
    if not options.quiet:
        _sum_up(report, unlike)
    if not report.ok:
        raise typer.Exit(BAD_DATA)


def _sum_up(report: VerifyReport, unlike: Mapping[str, str]) -> None:
    if others := report.others:
        names = ", ".join(map(plain, others[:_LISTED]))
        more = f" and {len(others) - _LISTED:,} more" if len(others) > _LISTED else ""
        say(f"{number_of(len(others), 'other file')} in no set: {names}{more}")
    bad = sum(not file.ok or file.path in unlike for file in report.files)
    wrong = [f"{bad:,} damaged"] if bad else []
    if report.missing:
        wrong.append(f"{len(report.missing):,} missing")
    if rest := len(report.problems) - len(report.missing) - len(unlike):
        wrong.append(number_of(rest, "other problem"))
    what = f"{number_of(len(report.files), 'file')}, {number_of(report.records, 'record')}"
    say(f"{what}: " + ("all is well" if report.ok else ", ".join(wrong)))


def _print_file(file: FileReport, unlike: str) -> None:
    ok = file.ok and not unlike
    verdict = style("ok", fg="green") if ok else style("DAMAGED", fg="red", bold=True)
    kind = file.compression or "plain"
    amount = f"{number_of(file.records, 'record')}, {number_of(file.data_bytes, 'byte')}"
    out(f"{plain(file.path)}: {amount}, {kind}: {verdict}")
    for line in (file.error, f"looks like {file.looks_like}" if file.looks_like else "", unlike):
        if line:
            out(f"  {plain(line)}")
    out_damages(
        [
            f"{damage.kind} at bytes {damage.start}-{damage.end}, after {number_of(damage.record, 'record')}: "
            f"{plain(damage.text)}"
            for damage in file.damages
        ],
        file.more_damages,
    )
