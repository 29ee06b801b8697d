"""The commands that copy records from files to files: `tfr merge`, `reshard`, `sample`, `select`, `shuffle`, `split`.

`tfr compress`, which also measures, has a file of its own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Final

from tfrkit.build.reshape.frame_options import (
    MergeOptions,
    ReshardOptions,
    SampleOptions,
    SelectOptions,
    ShuffleOptions,
    SplitOptions,
)
from tfrkit.cli.arguments import FramePrintOptions, positional
from tfrkit.cli.console import UsageError
from tfrkit.cli.frame_command import Inputs, Output, run_command
from tfrkit.cli.options import command
from tfrkit.options import OptionSet, option, option_class

_DEFAULT_PARTS: Final = "train=0.9,validation=0.1"


@command("merge")
def merge(
    paths: Inputs,
    out: Annotated[str, positional("OUT", "The file to write, such as all.tfrecord or all.tfrecord.gz.")],
    options: MergeOptions,
    printed: FramePrintOptions,
) -> None:
    """Write the records of files into one file.

    The order stays. Frames are copied as they are; their checksums are checked. The name of the file says its
    compression.

    Example: tfr merge 'in/*.tfrecord' all.tfrecord
    """
    from tfrkit.build.reshape.merge import plan_merge

    run_command(plan_merge, paths, out, options, printed)


@command("reshard")
def reshard(
    paths: Inputs,
    prefix: Annotated[str, positional("PREFIX", "Folder and beginning of the names, such as out/train.")],
    options: ReshardOptions,
    printed: FramePrintOptions,
) -> None:
    """Write records into another number of files.

    The order stays. Frames are copied as they are; their checksums are checked. By default files of about 256 MB
    are made, compressed as the inputs are. With more --shards than records, some files are empty.

    Example: tfr reshard 'in/*.tfrecord' out/train --shards 16
    """
    from tfrkit.build.reshape.reshard import plan_reshard

    run_command(plan_reshard, paths, prefix, options, printed)


@command("sample")
def sample(paths: Inputs, out: Output, options: SampleOptions, printed: FramePrintOptions) -> None:
    """Write a random sample of records.

    Exactly this many, none twice, in the same order. A larger sample with the same seed contains a smaller one.

    Example: tfr sample 'in/*.tfrecord' some.tfrecord -n 1000 --seed 1
    """
    from tfrkit.build.reshape.sample import plan_sample

    run_command(plan_sample, paths, out, options, printed)


@command("shuffle")
def shuffle(paths: Inputs, out: Output, options: ShuffleOptions, printed: FramePrintOptions) -> None:
    """Write records in a random order, over all files.

    Records go to temporary files beside the output on the way, which need as much room as they.

    Example: tfr shuffle 'in/*.tfrecord' out/train --shards 16 --seed 1
    """
    from tfrkit.build.reshape.shuffle import plan_shuffle

    run_command(plan_shuffle, paths, out, options, printed)


@command("select")
def select(
    paths: Inputs,
    out: Annotated[
        str,
        positional(
            "OUT", "A folder, for a file of each input's name; or one file for all, such as some.tfrecord."
        ),
    ],
    options: SelectOptions,
    printed: FramePrintOptions,
) -> None:
    """Write some records, with some of their features.

    The order stays. Without --where all records stay, without --key all features. What stays keeps its bytes:
    nothing is decoded and encoded again. The feature lists of SequenceExamples go by the same names.

    Example: tfr select in.tfrecord out.tfrecord --where 'label == 3' --drop image
    """
    from tfrkit.build.reshape.select import plan_select

    run_command(plan_select, paths, out, options, printed)


@option_class
class PartsOptions(OptionSet):
    """The parts, which are an argument of their own in Python."""

    parts: str = option(
        _DEFAULT_PARTS, "Names of the parts and their shares, which add up to 1.", metavar="NAME=SHARE,..."
    )


@command("split")
def split(
    paths: Inputs,
    folder: Annotated[str, positional("OUT", "The folder for the parts.")],
    parts: PartsOptions,
    options: SplitOptions,
    printed: FramePrintOptions,
) -> None:
    """Write records into parts, such as train and validation.

    Each record goes into one part; the order stays. Parts are random by default, with exactly the shares given.
    Frames are copied as they are; their checksums are checked.

    Example: tfr split all.tfrecord out --parts train=0.8,validation=0.1,test=0.1 --shards train=16
    """
    from tfrkit.build.reshape.split import plan_split

    shares = _part_names(parts.parts) if options.every is not None else _part_shares(parts.parts)
    run_command(plan_split, paths, folder, options, printed, shares)


def _part_names(text: str) -> list[str]:
    """Read `train,validation`: with --every parts have no shares."""
    names = ["train", "validation"] if text == _DEFAULT_PARTS else text.split(",")
    if any("=" in name or not name for name in names):
        raise UsageError(
            f"with --every the parts have no shares, but --parts is {text!r}",
            "say `--parts train,validation --every 10`.",
        )
    return names


def _part_shares(text: str) -> dict[str, Fraction]:
    """Read `train=0.9,validation=0.1`."""
    shares = {}
    for item in text.split(","):
        name, _, share = item.rpartition("=")
        try:
            shares[name] = Fraction(share)
        except (ValueError, ZeroDivisionError):
            name = ""
        if not name:
            raise UsageError(
                f"expected NAME=SHARE but --parts has {item!r}",
                "it looks like `--parts train=0.9,validation=0.1`.",
            )
    return shares
