"""`tfr merge`: records into one file."""

from __future__ import annotations

from typing import Annotated

from tfrkit.build.reshape.frame_options import MergeOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, run_command
from tfrkit.cli.options import command


@command("merge")
def merge(
    paths: Inputs,
    out: Annotated[str, arg.positional("OUT", "The file to write, such as all.tfrecord or all.tfrecord.gz.")],
    options: MergeOptions,
    printed: arg.JobPrintOptions,
) -> None:
    """Write the records of files into one file.

    The order stays. Frames are copied as they are; their checksums are checked. The name of the file says its
    compression.

    Example: tfr merge 'in/*.tfrecord' all.tfrecord
    """
    from tfrkit.build.reshape.merge import plan_merge

    run_command(paths, out, plan_merge, options, printed)
