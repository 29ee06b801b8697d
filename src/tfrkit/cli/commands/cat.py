"""`tfr cat`: all records of files."""

from __future__ import annotations

from typing import Annotated

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.show_records import Full, Random, RandomSeed, show_records


def cat(
    paths: arg.ShardPathsOrStdin,
    count: Annotated[
        int | None, typer.Option("-n", "--count", min=0, help="How many records; all by default.")
    ] = None,
    skip: arg.Skip = 0,
    keys: arg.Keys = None,
    random: Random = False,
    seed: RandomSeed = None,
    full: Full = False,
    as_json: arg.Json = False,
    on_corrupt: arg.OnCorrupt = "raise",
) -> None:
    """Show all records of files.

    Example: tfr cat 'train-*.tfrecord' --json --key label
    """
    show_records(paths, count, skip, keys, random, seed, full, as_json, on_corrupt)
