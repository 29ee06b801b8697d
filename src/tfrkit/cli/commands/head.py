"""`tfr head`: the first records of files, or some at random."""

from __future__ import annotations

from tfrkit.cli import arguments as arg
from tfrkit.cli.options import command
from tfrkit.cli.show_records import ShowOptions, show_records
from tfrkit.options import option, option_class


@option_class
class HeadOptions(ShowOptions):
    """The options of `tfr head`."""

    count: int = option(5, "How many records.", "-n", "--count", least=0)


@command("head")
def head(paths: arg.ShardPathsOrStdin, options: HeadOptions) -> None:
    """Show the first records of files, or some at random.

    Example: tfr head train.tfrecord -n 2 --key label
    """
    show_records(paths, options.count, options)
