"""`tfr sample`: some records, chosen at random."""

from __future__ import annotations

from tfrkit.build.reshape.frame_options import SampleOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, Output, run_command
from tfrkit.cli.options import command


@command("sample")
def sample(paths: Inputs, out: Output, options: SampleOptions, printed: arg.JobPrintOptions) -> None:
    """Write a random sample of records.

    Exactly this many, none twice, in the same order. A larger sample with the same seed contains a smaller one.

    Example: tfr sample 'in/*.tfrecord' some.tfrecord -n 1000 --seed 1
    """
    from tfrkit.build.reshape.sample import plan_sample

    run_command(paths, out, plan_sample, options, printed)
