"""`tfr head`: the first records of files, or some at random."""

from __future__ import annotations

from tfrkit.cli import arguments as arg
from tfrkit.cli.show_records import Full, Random, RandomSeed, show_records


def head(
    paths: arg.ShardPathsOrStdin,
    count: arg.Count = 5,
    skip: arg.Skip = 0,
    keys: arg.Keys = None,
    random: Random = False,
    seed: RandomSeed = None,
    full: Full = False,
    as_json: arg.Json = False,
    on_corrupt: arg.OnCorrupt = "raise",
) -> None:
    """Show the first records of files, or some at random.

    Example: tfr head train.tfrecord -n 2 --key label
    """
    show_records(paths, count, skip, keys, random, seed, full, as_json, on_corrupt)
