"""compress: the records of each file into a file of the same name and another compression."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfrkit.build.job.job import BuildReport, Job, MaxBad, Progress, ShardGroup, run_job
from tfrkit.build.reshape.frame_input import FrameInput, frame_input
from tfrkit.build.reshape.frame_output import (
    FrameOutput,
    frame_job,
    is_file_name,
    name_without_suffix,
)
from tfrkit.build.reshape.frame_recipe import Change, Choice
from tfrkit.codecs.table import SEEKABLE
from tfrkit.model.policy import OnCorrupt
from tfrkit.stores.files import is_folder
from tfrkit.stores.paths import PathLike, Paths, path_text

__all__ = ["compress", "plan_compress", "plan_files"]


def compress(
    paths: Paths,
    out: PathLike,
    *,
    compression: str | None = None,
    level: int | None = None,
    on_corrupt: OnCorrupt = "raise",
    max_bad: MaxBad | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Write the records of each file into a file of the same name and another compression.

    Frames are copied as they are, with their checksums, which are checked on the way. GZIP is written in members,
    which can be read on all cores and from any record on.

    Args:
        paths: the inputs, as for `read_blocks`.
        out: a folder, in which every input has a file of its name; or for one input the file to write.
        compression: "none", "GZIP", "ZLIB", "XZ" or "ZSTD"; by default what the name of the file says, or GZIP.
        level: of the compression; by default a good one.
        on_corrupt: what to do about damaged records.
        max_bad: more damages than this number, or than this share of the records ("1%"), are an error.
        overwrite: replace what is there.
        workers: how many files are written at once.
        progress: called several times a second.

    Raises:
        AlreadyExistsError: there are such files already.
        InvalidArgumentError: two inputs have the same name, or an input would be replaced.
        DataLossError: an input is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_many([b"x" * 1000] * 100)
    >>> [shard.name for shard in compress("a.tfrecord", "small", compression="GZIP").shards]
    ['a.tfrecord.gz']
    """
    with frame_input(paths, on_corrupt) as given:
        job = plan_compress(given, out, compression, level)
        return run_job(job, workers=workers, max_bad=max_bad, overwrite=overwrite, progress=progress)


def plan_compress(given: FrameInput, out: PathLike, compression: str | None, level: int | None) -> Job:
    """Plan it: see `compress`."""
    output, groups = plan_files(given, out, compression, level, default=SEEKABLE.name)
    return frame_job(given, output, groups, {"command": "compress"})


def plan_files(
    given: FrameInput,
    out: PathLike,
    compression: str | None,
    level: int | None,
    *,
    default: str | None = None,
    choices: Sequence[Choice] = (),
    changes: Sequence[Change] = (),
) -> tuple[FrameOutput, list[ShardGroup]]:
    """Plan a file for each input in a folder, or one file of all of them if that is what `out` names."""
    text = path_text(out)
    if is_file_name(text) and not is_folder(text):
        output = FrameOutput.file(text, compression, level)
        return output, [ShardGroup(output.prefix, (given.whole(choices=choices, changes=changes),), None)]
    output = FrameOutput.named(text, compression or default, level, given)
    recipes = given.each(choices=choices, changes=changes)
    names = [name_without_suffix(name) if name != "-" else "stdin" for name in given.names]
    return output, [ShardGroup(name, (recipe,), None) for name, recipe in zip(names, recipes, strict=True)]
