"""`tfr merge`: records into one file."""

from __future__ import annotations

from typing import Annotated

from tfrkit.cli import arguments as arg
from tfrkit.cli.frame_command import Inputs, RunOptions, run_command


def merge(
    paths: Inputs,
    out: Annotated[str, arg.positional("OUT", "The file to write, such as all.tfrecord or all.tfrecord.gz.")],
    compression: arg.Compression = None,
    level: arg.Level = None,
    on_corrupt: arg.OnCorrupt = "raise",
    max_bad: arg.MaxBad = None,
    overwrite: arg.Overwrite = False,
    workers: arg.Workers = None,
    dry_run: arg.DryRun = False,
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Write the records of files into one file.

    The order stays. Frames are copied as they are; their checksums are checked. The name of the file says its
    compression.

    Example: tfr merge 'in/*.tfrecord' all.tfrecord
    """
    from tfrkit.build.reshape.merge import plan_merge

    run_command(
        paths,
        lambda given: plan_merge(given, out, compression, level),
        RunOptions(on_corrupt, max_bad, overwrite, workers, dry_run, as_json, quiet),
    )
