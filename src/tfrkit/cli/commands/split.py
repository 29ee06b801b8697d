"""`tfr split`: records into parts, such as train and validation."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from tfrkit.build.reshape.frame_options import SplitOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.console import UsageError
from tfrkit.cli.frame_command import Inputs, run_command
from tfrkit.cli.options import command
from tfrkit.options import OptionSet, option, option_class

if TYPE_CHECKING:
    from tfrkit.build.job.job import Job
    from tfrkit.build.reshape.frame_input import FrameInput

DEFAULT_PARTS = "train=0.9,validation=0.1"


@option_class
class PartsOptions(OptionSet):
    """The parts, which are an argument of their own in Python."""

    parts: str = option(
        DEFAULT_PARTS, "Names of the parts and their shares, which add up to 1.", metavar="NAME=SHARE,..."
    )


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


@command("split")
def split(
    paths: Inputs,
    folder: Annotated[str, arg.positional("OUT", "The folder for the parts.")],
    parts: PartsOptions,
    options: SplitOptions,
    printed: arg.JobPrintOptions,
) -> None:
    """Write records into parts, such as train and validation.

    Each record goes into one part; the order stays. Parts are random by default, with exactly the shares given.
    Frames are copied as they are; their checksums are checked.

    Example: tfr split all.tfrecord out --parts train=0.8,validation=0.1,test=0.1 --shards train=16
    """
    shares = part_shares(parts.parts, options.every is not None)

    def plan(given: FrameInput, out: str, chosen: SplitOptions) -> Job:
        from tfrkit.build.reshape.split import plan_split

        return plan_split(given, out, shares, chosen)

    run_command(paths, folder, plan, options, printed)
