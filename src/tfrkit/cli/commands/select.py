"""`tfr select`: some records, with some of their features."""

from __future__ import annotations

from typing import Annotated

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import renames
from tfrkit.cli.frame_command import Inputs, RunOptions, run_command


def select(
    paths: Inputs,
    out: Annotated[
        str,
        arg.positional(
            "OUT", "A folder, for a file of each input's name; or one file for all, such as some.tfrecord."
        ),
    ],
    keys: arg.Keys = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Leave out this feature; may be given several times."),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="OLD=NEW", help="Give a feature another name; may be given several times."
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="EXPRESSION",
            help="Only records like these: label == 3 and not (name in ('a', 'b') or score < 0.5). A name alone means "
            "that the feature is there; odd names stand in backticks.",
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
    """Write some records, with some of their features.

    The order stays. Without --where all records stay, without --key all features. What stays keeps its bytes:
    nothing is decoded and encoded again. The feature lists of SequenceExamples go by the same names.

    Example: tfr select in.tfrecord out.tfrecord --where 'label == 3' --drop image
    """
    from tfrkit.build.reshape.select import plan_select

    rename = renames(names or [])
    run_command(
        paths,
        lambda given: plan_select(given, out, keys, drop or [], rename, where, compression, level),
        RunOptions(on_corrupt, max_bad, overwrite, workers, dry_run, as_json, quiet),
    )
