"""`tfr reshard`: records into another number of files."""

from __future__ import annotations

from typing import Annotated, Literal

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
    Shards,
    ShardSize,
    Workers,
)
from tfrkit.cli.frame_command import Inputs, run_command

app = typer.Typer(rich_markup_mode=None)


@app.command()
def reshard(
    paths: Inputs,
    prefix: Annotated[
        str,
        typer.Argument(
            metavar="PREFIX", help="Folder and beginning of the names, such as out/train.", show_default=False
        ),
    ],
    shards: Shards = None,
    shard_size: ShardSize = None,
    balance: Annotated[
        Literal["records", "bytes"] | None,
        typer.Option(
            "--balance",
            help="Whether files have equal numbers of records (default with --shards) or of bytes.",
            show_default=False,
        ),
    ] = None,
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
    """Write records into another number of files.

    The order stays. Frames are copied as they are; their checksums are checked. By default files of about 256 MB
    are made, compressed as the inputs are. With more --shards than records, some files are empty.

    Example: tfr reshard 'in/*.tfrecord' out/train --shards 16
    """
    from tfrkit.build.reshape.reshard import plan_reshard

    run_command(
        paths,
        lambda given: plan_reshard(given, prefix, shards, shard_size, balance, compression, level),
        on_corrupt=on_corrupt,
        max_bad=max_bad,
        overwrite=overwrite,
        workers=workers,
        dry_run=dry_run,
        as_json=as_json,
        quiet=quiet,
    )
