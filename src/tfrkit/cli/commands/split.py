"""`tfr split`: records into parts, such as train and validation."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.console import UsageError
from tfrkit.cli.frame_command import Inputs, RunOptions, run_command

DEFAULT_PARTS = "train=0.9,validation=0.1"


def part_shares(text: str, bare: bool) -> dict[str, Fraction] | list[str]:
    """Read `train=0.9,validation=0.1`, or without shares `train,validation`. Pure: no I/O.

    >>> part_shares("train=0.9,validation=0.1", False)["train"]
    Fraction(9, 10)
    """
    if bare:
        names = ["train", "validation"] if text == DEFAULT_PARTS else text.split(",")
        if any("=" in name or not name for name in names):
            raise UsageError(
                f"with --every the parts have no shares, but --parts is {text!r}",
                "say `--parts train,validation --every 10`.",
            )
        return names
    shares = {}
    for item in text.split(","):
        name, equals, share = item.rpartition("=")
        try:
            shares[name] = Fraction(share)
        except (ValueError, ZeroDivisionError):
            equals = ""
        if not equals or not name:
            raise UsageError(
                f"expected NAME=SHARE but --parts has {item!r}",
                "it looks like `--parts train=0.9,validation=0.1`.",
            )
    return shares


def shard_numbers(text: str | None) -> int | dict[str, int] | None:
    """Read `8`, or `train=8,validation=2`. Pure: no I/O.

    >>> shard_numbers("8"), shard_numbers("train=8,validation=2")
    (8, {'train': 8, 'validation': 2})
    """
    if text is None:
        return None
    numbers = {}
    for item in text.split(","):
        name, _, number = item.rpartition("=")
        if not re.fullmatch(r"0*[1-9][0-9]*", number, re.ASCII):
            raise UsageError(
                f"expected a number of files from 1 on but --shards has {item!r}",
                "it looks like `--shards 8` or `--shards train=8,validation=2`.",
            )
        numbers[name] = int(number)
    return numbers[""] if list(numbers) == [""] else numbers


def split(
    paths: Inputs,
    folder: Annotated[str, arg.positional("OUT", "The folder for the parts.")],
    parts: Annotated[
        str,
        typer.Option(
            metavar="NAME=SHARE,...", help="Names of the parts and their shares, which add up to 1."
        ),
    ] = DEFAULT_PARTS,
    seed: arg.Seed = 0,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="The first records go into the first part, and so on.")
    ] = False,
    every: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Each N-th record goes into the second of two --parts, which then have no shares.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FEATURE",
            help="Records with equal values of this feature go into the same part.",
            show_default=False,
        ),
    ] = None,
    shards: Annotated[
        str | None,
        typer.Option(
            metavar="N or NAME=N,...",
            help="How many files for each part; one by default.",
            show_default=False,
        ),
    ] = None,
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
    """Write records into parts, such as train and validation.

    Each record goes into one part; the order stays. Parts are random by default, with exactly the shares given.
    Frames are copied as they are; their checksums are checked.

    Example: tfr split all.tfrecord out --parts train=0.8,validation=0.1,test=0.1 --shards train=16
    """
    from tfrkit.build.reshape.split import SplitRule, plan_split

    shares = part_shares(parts, every is not None)
    numbers = shard_numbers(shards)
    run_command(
        paths,
        lambda given: plan_split(
            given,
            folder,
            shares,
            SplitRule(seed, in_order, every, by),
            numbers,
            shard_size,
            compression,
            level,
        ),
        RunOptions(on_corrupt, max_bad, overwrite, workers, dry_run, as_json, quiet),
    )
