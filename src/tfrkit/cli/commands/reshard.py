"""`tfr reshard`: records into another number of files."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, RunOptions, run_command


def reshard(
    paths: Inputs,
    prefix: Annotated[str, arg.positional("PREFIX", "Folder and beginning of the names, such as out/train.")],
    shards: arg.Shards = None,
    shard_size: arg.ShardSize = None,
    balance: Annotated[
        Literal["records", "bytes"] | None,
        typer.Option(
            help="Whether files have equal numbers of records (default with --shards) or of bytes.",
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
    """Write records into another number of files.

    The order stays. Frames are copied as they are; their checksums are checked. By default files of about 256 MB
    are made, compressed as the inputs are. With more --shards than records, some files are empty.

    Example: tfr reshard 'in/*.tfrecord' out/train --shards 16
    """
    from tfrkit.build.reshape.reshard import plan_reshard

    run_command(
        paths,
        lambda given: plan_reshard(given, prefix, shards, shard_size, balance, compression, level),
        RunOptions(on_corrupt, max_bad, overwrite, workers, dry_run, as_json, quiet),
    )
