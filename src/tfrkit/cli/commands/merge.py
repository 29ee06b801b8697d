"""`tfr merge`: records into one file."""

from __future__ import annotations

from typing import Annotated

import typer

from tfrkit.cli.arguments import (
    Compression,
    DryRun,
    Json,
    Level,
    MaxBad,
    OnCorrupt,
    Overwrite,
    Quiet,
    Workers,
)
from tfrkit.cli.frame_command import Inputs, run_command

app = typer.Typer(rich_markup_mode=None)


@app.command()
def merge(
    paths: Inputs,
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="The file to write, such as all.tfrecord or all.tfrecord.gz.",
            show_default=False,
        ),
    ],
    compression: Compression = None,
    level: Level = None,
    on_corrupt: OnCorrupt = "raise",
    max_bad: MaxBad = None,
    overwrite: Overwrite = False,
    workers: Workers = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the records of files into one file.

    The order stays. Frames are copied as they are; their checksums are checked. The name of the file says its
    compression.

    Example: tfr merge 'in/*.tfrecord' all.tfrecord
    """
    from tfrkit.build.reshape.merge import plan_merge

    run_command(
        paths,
        lambda given: plan_merge(given, out, compression, level),
        on_corrupt=on_corrupt,
        max_bad=max_bad,
        overwrite=overwrite,
        workers=workers,
        dry_run=dry_run,
        as_json=as_json,
        quiet=quiet,
    )
