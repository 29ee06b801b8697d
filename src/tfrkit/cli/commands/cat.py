"""`tfr cat`: all records of files."""

from __future__ import annotations

from tfrkit.cli import arguments as arg
from tfrkit.cli.options import command
from tfrkit.cli.show_records import ShowOptions, show_records
from tfrkit.options import option, option_class


@option_class
class CatOptions(ShowOptions):
    """The options of `tfr cat`."""

    count: int | None = option(None, "How many records; all by default.", "-n", "--count", least=0)


@command("cat")
def cat(paths: arg.ShardPathsOrStdin, options: CatOptions) -> None:
    """Show all records of files.

    Example: tfr cat 'train-*.tfrecord' --json --key label
    """
    show_records(paths, options.count, options)
