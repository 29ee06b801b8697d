"""`tfr head`: the first records of files, or some at random."""

from __future__ import annotations

import typer

from tfrkit.cli.arguments import Count, Json, Keys, OnCorrupt, ShardPathsOrStdin, Skip
from tfrkit.cli.show_records import Full, Random, RandomSeed, show_records

app = typer.Typer(rich_markup_mode=None)


@app.command()
def head(
    paths: ShardPathsOrStdin,
    count: Count = 5,
    skip: Skip = 0,
    keys: Keys = None,
    random: Random = False,
    seed: RandomSeed = None,
    full: Full = False,
    as_json: Json = False,
    on_corrupt: OnCorrupt = "raise",
) -> None:
    """Show the first records of files, or some at random.

    Example: tfr head train.tfrecord -n 2 --key label
    """
    show_records(
        paths,
        count,
        skip,
        keys=keys,
        random=random,
        seed=seed,
        full=full,
        as_json=as_json,
        on_corrupt=on_corrupt,
    )
