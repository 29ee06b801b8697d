"""`tfr sample`: some records, chosen at random."""

from __future__ import annotations

from typing import Annotated

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, Output, RunOptions, run_command


def sample(
    paths: Inputs,
    out: Output,
    count: Annotated[
        int | None, typer.Option("-n", "--count", min=0, help="How many records.", show_default=False)
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Or which share of them, from 0 to 1.", show_default=False),
    ] = None,
    seed: arg.Seed = 0,
    shards: arg.Shards = None,
    shard_size: arg.ShardSize = None,
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
    """Write a random sample of records.

    Exactly this many, none twice, in the same order. A larger sample with the same seed contains a smaller one.

    Example: tfr sample 'in/*.tfrecord' some.tfrecord -n 1000 --seed 1
    """
    from tfrkit.build.reshape.sample import plan_sample

    run_command(
        paths,
        lambda given: plan_sample(given, out, count, fraction, seed, shards, shard_size, compression, level),
        RunOptions(on_corrupt, max_bad, overwrite, workers, dry_run, as_json, quiet),
    )
