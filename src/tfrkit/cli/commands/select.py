"""`tfr select`: some records, with some of their features."""

from __future__ import annotations

from typing import Annotated

from tfrkit.build.reshape.frame_options import SelectOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, run_command
from tfrkit.cli.options import command


@command("select")
def select(
    paths: Inputs,
    out: Annotated[
        str,
        arg.positional(
            "OUT", "A folder, for a file of each input's name; or one file for all, such as some.tfrecord."
        ),
    ],
    options: SelectOptions,
    printed: arg.JobPrintOptions,
) -> None:
    """Write some records, with some of their features.

    The order stays. Without --where all records stay, without --key all features. What stays keeps its bytes:
    nothing is decoded and encoded again. The feature lists of SequenceExamples go by the same names.

    Example: tfr select in.tfrecord out.tfrecord --where 'label == 3' --drop image
    """
    from tfrkit.build.reshape.select import plan_select

    run_command(paths, out, plan_select, options, printed)
