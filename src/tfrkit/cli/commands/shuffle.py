"""`tfr shuffle`: records in a random order."""

from __future__ import annotations

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
    Seed,
    Shards,
    ShardSize,
    Workers,
)
from tfrkit.cli.frame_command import Inputs, Output, run_command

app = typer.Typer(rich_markup_mode=None)


@app.command()
def shuffle(
    paths: Inputs,
    out: Output,
    seed: Seed = 0,
    shards: Shards = None,
    shard_size: ShardSize = None,
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
    """Write records in a random order, over all files.

    Records go to temporary files beside the output on the way, which need as much room as they.

    Example: tfr shuffle 'in/*.tfrecord' out/train --shards 16 --seed 1
    """
    from tfrkit.build.reshape.shuffle import plan_shuffle

    run_command(
        paths,
        lambda given: plan_shuffle(given, out, seed, shards, shard_size, compression, level),
        on_corrupt=on_corrupt,
        max_bad=max_bad,
        overwrite=overwrite,
        workers=workers,
        dry_run=dry_run,
        as_json=as_json,
        quiet=quiet,
    )
