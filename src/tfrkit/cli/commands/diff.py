"""`tfr diff`: how two data sets differ."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Final

import typer

from tfrkit.build.job.job_options import DamageOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import positional, shard_files
from tfrkit.cli.console import BAD_DATA, bad_usage, exit_code, out, out_json, plain
from tfrkit.cli.options import command
from tfrkit.cli.progress import reading_bar
from tfrkit.options import option_class
from tfrkit.records.compare.diff_options import CompareOptions

DIFFERENT: Final = 1
FAILED: Final = 3  # damage, and everything else that ends other commands with 1
_DATA_SET: Final = "A file, a folder of shards, or a glob in quotes; a path or a URL."


@option_class
class DiffOptions(CompareOptions, DamageOptions, arg.ThreadOptions, arg.PrintOptions):
    """The options of `tfr diff`."""


@command("diff")
def diff(
    a: Annotated[str, positional("A", _DATA_SET)],
    b: Annotated[str, positional("B", _DATA_SET)],
    options: DiffOptions,
) -> None:
    """Compare two data sets: records, schemas, statistics.

    Which records were added, removed, changed and moved, where schemas differ, and how far each feature has drifted.
    Records whose bytes differ are the same if they mean the same. Ends with 1 if anything differs, and with 3 if an
    input is damaged.

    Example: tfr diff 'old/train-*' 'new/train-*' --key id --max-drift 0.1
    """
    from tfrkit.records.compare.diff import diff_files

    with _failures():
        files_a, files_b = shard_files([a]), shard_files([b])
        read = (files_a + files_b) * (2 if options.compare == "all" else 1)
        with reading_bar("diff", read, quiet=options.quiet) as progress, bad_usage("diff"):
            report = diff_files(
                files_a,
                files_b,
                options,
                progress,
                on_corrupt=options.on_corrupt,
                threads=options.threads,
            )
    if options.as_json:
        out_json(report.to_dict())
    else:
        for line in str(report).splitlines():
            out(plain(line))
    if report.differs:
        raise typer.Exit(DIFFERENT)


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """Let failures end with another code than differences do."""
    try:
        yield
    except Exception as error:
        if exit_code(error) == BAD_DATA:
            error.exit_code = FAILED  # type: ignore[attr-defined]  # which `exit_code` reads
        raise
