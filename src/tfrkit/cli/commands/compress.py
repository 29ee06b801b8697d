"""`tfr compress`: another compression, and what each would give."""

from __future__ import annotations

from typing import Annotated

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import size_bytes
from tfrkit.cli.compression_table import show_compressions
from tfrkit.cli.console import BAD_USAGE, CommandError
from tfrkit.cli.frame_command import RunOptions, run_command

app = typer.Typer(rich_markup_mode=None)


@app.command()
def compress(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT... OUT",
            help="Files, globs, folders of shards, or - for standard input; then the folder to write to, or for one "
            "input the file. With --table only inputs.",
            show_default=False,
        ),
    ],
    table: Annotated[
        bool,
        typer.Option("--table", help="Write nothing; measure what each compression would give on a sample."),
    ] = False,
    sample_size: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=size_bytes,
            help="How much --table takes from the beginning of the inputs; 32MB by default.",
            show_default=False,
        ),
    ] = None,
    compression: arg.Compression = None,
    level: arg.Level = None,
    on_corrupt: arg.OnCorrupt = "raise",
    max_bad: arg.MaxBad = None,
    overwrite: arg.Overwrite = False,
    workers: arg.Workers = None,
    dry_run: arg.DryRun = False,
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Write files with another compression.

    GZIP by default; --table tells what each compression would give. Frames are copied as they are; their checksums
    are checked. TensorFlow reads none, gzip and zlib; gzip is written in members, which are read on all cores and
    from any record on.

    Example: tfr compress 'in/*.tfrecord' small --compression zstd --level 9
    """
    if table:
        show_compressions(paths, sample_size or 32_000_000, as_json=as_json, quiet=quiet)
        return
    from tfrkit.build.reshape.compress import plan_compress

    *inputs, out = paths
    if not inputs:
        raise CommandError(
            "expected inputs and then where to write to",
            f"say `tfr compress {out} FOLDER`, or `tfr compress --table {out}` to measure.",
            exit_code=BAD_USAGE,
        )
    run_command(
        inputs,
        lambda given: plan_compress(given, out, compression, level),
        RunOptions(on_corrupt, max_bad, overwrite, workers, dry_run, as_json, quiet),
    )
