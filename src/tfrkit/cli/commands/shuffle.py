"""`tfr shuffle`: records in a random order."""

from __future__ import annotations

from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, Output, RunOptions, run_command


def shuffle(
    paths: Inputs,
    out: Output,
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
    """Write records in a random order, over all files.

    Records go to temporary files beside the output on the way, which need as much room as they.

    Example: tfr shuffle 'in/*.tfrecord' out/train --shards 16 --seed 1
    """
    from tfrkit.build.reshape.shuffle import plan_shuffle

    run_command(
        paths,
        lambda given: plan_shuffle(given, out, seed, shards, shard_size, compression, level),
        RunOptions(on_corrupt, max_bad, overwrite, workers, dry_run, as_json, quiet),
    )
