"""`tfr reshard`: records into another number of files."""

from __future__ import annotations

from typing import Annotated

from tfrkit.build.reshape.frame_options import ReshardOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, run_command
from tfrkit.cli.options import command


@command("reshard")
def reshard(
    paths: Inputs,
    prefix: Annotated[str, arg.positional("PREFIX", "Folder and beginning of the names, such as out/train.")],
    options: ReshardOptions,
    printed: arg.JobPrintOptions,
) -> None:
    """Write records into another number of files.

    The order stays. Frames are copied as they are; their checksums are checked. By default files of about 256 MB
    are made, compressed as the inputs are. With more --shards than records, some files are empty.

    Example: tfr reshard 'in/*.tfrecord' out/train --shards 16
    """
    from tfrkit.build.reshape.reshard import plan_reshard

    run_command(paths, prefix, plan_reshard, options, printed)
