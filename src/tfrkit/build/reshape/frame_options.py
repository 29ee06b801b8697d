"""The options of everything that copies records from files to files: `tfr select`, `tfr reshard` and so on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from tfrkit.build.job.job_options import FrameOptions, SeedOptions, ShardOptions, ShardSizeOptions
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import option, option_class, read_pairs

__all__ = [
    "CompressOptions",
    "MergeOptions",
    "ReshardOptions",
    "SampleOptions",
    "SelectOptions",
    "ShuffleOptions",
    "SplitOptions",
]


@option_class
class CompressOptions(FrameOptions):
    """The options of `compress`."""


@option_class
class MergeOptions(FrameOptions):
    """The options of `merge`."""


@option_class
class ReshardOptions(ShardOptions, FrameOptions):
    """The options of `reshard`."""

    balance: Literal["records", "bytes"] | None = option(
        None, "Whether files have equal numbers of records (default with a number of files) or of bytes."
    )


@option_class
class SampleOptions(SeedOptions, ShardOptions, FrameOptions):
    """The options of `sample`."""

    count: int | None = option(None, "How many records.", "-n", "--count", least=0)
    fraction: float | None = option(
        None, "Or which share of them, from 0 to 1.", more="The number is rounded.", least=0, most=1
    )

    def __post_init__(self) -> None:
        """Check that there is one size."""
        super().__post_init__()
        if (self.count is None) == (self.fraction is None):
            raise InvalidArgumentError(
                "Expected either a number of records or a fraction of them, and not both (-n or --fraction)."
            )


@option_class
class ShuffleOptions(SeedOptions, ShardOptions, FrameOptions):
    """The options of `shuffle`."""


@option_class
class SelectOptions(FrameOptions):
    """The options of `select`."""

    keys: Collection[str] | None = option(
        None,
        "Only this feature; may be given several times.",
        "--key",
        more="A list of names here; those that get another name stay too. All by default.",
        metavar="NAME",
        several=True,
    )
    drop: Collection[str] = option(
        (),
        "Leave out this feature; may be given several times.",
        more="A list of names here.",
        metavar="NAME",
        several=True,
    )
    rename: Mapping[str, str] | None = option(
        None,
        "Give a feature another name; may be given several times.",
        "--name",
        more="New names by old names here.",
        metavar="OLD=NEW",
        several=True,
        read=read_pairs,
    )
    where: str | None = option(
        None,
        "Only records like these: label == 3 and not (name in ('a', 'b') or score < 0.5). A name alone means "
        "that the feature is there; odd names stand in backticks.",
        more="A comparison holds if it holds for some value of the feature, and never without one.",
        metavar="EXPRESSION",
    )

    def __post_init__(self) -> None:
        """Check that there is something to select."""
        super().__post_init__()
        if self.where is None and self.keys is None and not self.drop and not self.rename:
            raise InvalidArgumentError(
                "There is nothing to select. Say which records (--where) or which features (--key, --drop, --name)."
            )


def read_shard_numbers(text: str) -> int | dict[str, int]:
    """Read `8`, or `train=8,validation=2`. Pure: no I/O.

    Raises:
        ValueError: it is neither.

    >>> read_shard_numbers("8"), read_shard_numbers("train=8,validation=2")
    (8, {'train': 8, 'validation': 2})
    """
    numbers = {}
    for item in text.split(","):
        name, _, number = item.rpartition("=")
        if not (number.isascii() and number.isdecimal() and int(number)):
            raise ValueError("a number of files from 1 on, such as 8 or train=8,validation=2,")
        numbers[name] = int(number)
    return numbers[""] if list(numbers) == [""] else numbers


@option_class
class SplitOptions(SeedOptions, ShardSizeOptions, FrameOptions):
    """The options of `split`."""

    in_order: bool = option(
        False, "The first records go into the first part, and so on.", more="Nothing is random."
    )
    every: int | None = option(
        None,
        "Each N-th record goes into the second of two parts, which then have no shares.",
        metavar="N",
        least=1,
    )
    by: str | None = option(
        None,
        "Records with equal values of this feature go into the same part.",
        more="By the hash of the value and the seed: the shares are those of the values, not of the records.",
        metavar="FEATURE",
    )
    shards: int | Mapping[str, int] | None = option(
        None,
        "How many files for each part; one by default.",
        metavar="N or NAME=N,...",
        read=read_shard_numbers,
        least=1,
    )

    def __post_init__(self) -> None:
        """Check that only one way was chosen."""
        super().__post_init__()
        if self.in_order + (self.every is not None) + (self.by is not None) > 1:
            raise InvalidArgumentError(
                "Expected at most one of in_order, every and by (--in-order, --every, --by)."
            )
