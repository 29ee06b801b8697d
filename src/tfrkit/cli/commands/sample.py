"""`tfr sample`: some records, chosen at random."""

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
    Seed,
    Shards,
    ShardSize,
    Workers,
)
from tfrkit.cli.frame_command import Inputs, Output, run_command

app = typer.Typer(rich_markup_mode=None)


@app.command()
def sample(
    paths: Inputs,
    out: Output,
    count: Annotated[
        int | None, typer.Option("-n", "--count", min=0, help="How many records.", show_default=False)
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            "--fraction", min=0, max=1, help="Or which share of them, from 0 to 1.", show_default=False
        ),
    ] = None,
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
    """Write a random choice of records.

    Exactly so many, none twice, in the same order. A larger sample with the same seed holds a smaller one.

    Example: tfr sample 'in/*.tfrecord' some.tfrecord -n 1000 --seed 1
    """
    from tfrkit.build.reshape.sample import plan_sample

    run_command(
        paths,
        lambda given: plan_sample(given, out, count, fraction, seed, shards, shard_size, compression, level),
        on_corrupt=on_corrupt,
        max_bad=max_bad,
        overwrite=overwrite,
        workers=workers,
        dry_run=dry_run,
        as_json=as_json,
        quiet=quiet,
    )
