"""merge: the records of any files into one file, in the same order."""

from __future__ import annotations

from collections.abc import Callable

from tfrkit.build.job.job import BuildReport, Job, MaxBad, Progress, ShardGroup, run_job
from tfrkit.build.reshape.frame_input import FrameInput, frame_input
from tfrkit.build.reshape.frame_output import FrameOutput, frame_job
from tfrkit.model.policy import OnCorrupt
from tfrkit.stores.paths import PathLike, Paths

__all__ = ["merge", "plan_merge"]


def merge(
    paths: Paths,
    path: PathLike,
    *,
    compression: str | None = None,
    level: int | None = None,
    on_corrupt: OnCorrupt = "raise",
    max_bad: MaxBad | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Write the records of files into one file, in the same order.

    Frames are copied as they are, with their checksums, which are checked on the way.

    Args:
        paths: the inputs, as for `read_blocks`; of any compressions.
        path: the file to write. Its name ends with ".tfrecord", or with ".tfrecord.gz" and so on.
        compression: the name says it; if given, it must be the same.
        level: of the compression.
        on_corrupt: what to do about damaged records: "raise", "skip" them, or "stop" reading their file.
        max_bad: more damages than this number, or than this share of the records ("1%"), are an error.
        overwrite: replace the file if it is there; else that is an error.
        workers: of no effect on one file but for compressing it.
        progress: called several times a second.

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
    with frame_input(paths, on_corrupt) as given:
        job = plan_merge(given, path, compression, level)
        return run_job(job, workers=workers, max_bad=max_bad, overwrite=overwrite, progress=progress)


def plan_merge(given: FrameInput, path: PathLike, compression: str | None, level: int | None) -> Job:
    """Plan it: see `merge`."""
    output = FrameOutput.file(path, compression, level)
    return frame_job(given, output, [ShardGroup(output.prefix, (given.whole(),), None)], {"command": "merge"})
