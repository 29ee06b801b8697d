"""`tfr shuffle`: records in a random order."""

from __future__ import annotations

from tfrkit.build.reshape.frame_options import ShuffleOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, Output, run_command
from tfrkit.cli.options import command


@command("shuffle")
def shuffle(paths: Inputs, out: Output, options: ShuffleOptions, printed: arg.JobPrintOptions) -> None:
    """Write records in a random order, over all files.

    Records go to temporary files beside the output on the way, which need as much room as they.

    Example: tfr shuffle 'in/*.tfrecord' out/train --shards 16 --seed 1
    """
    from tfrkit.build.reshape.shuffle import plan_shuffle

    run_command(paths, out, plan_shuffle, options, printed)
