"""merge: the records of any files into one file, in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from tfrkit.build.job.job import BuildReport, Job, ShardGroup
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_options import MergeOptions
from tfrkit.build.reshape.frame_output import FrameOutput, frame_job, run_frames
from tfrkit.options import takes
from tfrkit.stores.paths import PathLike, Paths

if TYPE_CHECKING:
    from tfrkit.build.keywords import MergeKeywords

__all__ = ["merge", "plan_merge"]


@takes(MergeOptions)
def merge(paths: Paths, path: PathLike, **options: Unpack[MergeKeywords]) -> BuildReport:
    """Write the records of files into one file, in the same order.

    Frames are copied as they are, with their checksums, which are checked on the way.

    Args:
        paths: the inputs, as for `read_blocks`; of any compressions.
        path: the file to write. Its name ends with ".tfrecord", or with ".tfrecord.gz" and so on.

    Raises:
        AlreadyExistsError: the file is there already.
        InvalidArgumentError: the file is an input, or not named as such files are.
        DataLossError: an input is damaged.

    >>> import tfrkit
    >>> for name in ("a.tfrecord", "b.tfrecord.gz"):
    ...     with tfrkit.TFRecordWriter(name) as writer:
    ...         writer.write_many([name.encode()])
    >>> merge(["a.tfrecord", "b.tfrecord.gz"], "all.tfrecord").records
    2
    """
    return run_frames(plan_merge, paths, path, MergeOptions.of(options))


def plan_merge(given: FrameInput, path: PathLike, options: MergeOptions) -> Job:
    """Plan it: see `merge`."""
    output = FrameOutput.file(path, options)
    return frame_job(given, output, [ShardGroup(output.prefix, (given.whole(),), None)], {"command": "merge"})
