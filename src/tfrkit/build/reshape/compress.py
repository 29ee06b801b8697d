"""compress: the records of each file into a file of the same name and another compression."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

from tfrkit.build.export.export_paths import record_stem
from tfrkit.build.job.job import BuildReport, Job, ShardGroup
from tfrkit.build.job.job_options import CompressionOptions
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_options import CompressOptions
from tfrkit.build.reshape.frame_output import FrameOutput, frame_job, is_file_name, run_frames
from tfrkit.codecs.table import SEEKABLE
from tfrkit.options import takes
from tfrkit.stores.files import is_folder
from tfrkit.stores.paths import PathLike, Paths, path_text

if TYPE_CHECKING:
    from tfrkit.build.keywords import CompressKeywords

__all__ = ["compress", "plan_compress", "plan_files"]


@takes(CompressOptions)
def compress(paths: Paths, out: PathLike, **options: Unpack[CompressKeywords]) -> BuildReport:
    """Write the records of each file into a file of the same name and another compression.

    Frames are copied as they are, with their checksums, which are checked on the way. GZIP is written in members,
    which can be read on all cores and from any record on.

    Args:
        paths: the inputs, as for `read_blocks`.
        out: a folder, in which every input has a file of its name; or for one input the file to write.

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
    return run_frames(plan_compress, paths, out, CompressOptions.of(options))


def plan_compress(given: FrameInput, out: PathLike, options: CompressOptions) -> Job:
    """Plan it: see `compress`."""
    output, groups = plan_files(given, out, options, default=SEEKABLE.name)
    return frame_job(given, output, groups, {"command": "compress"})


def plan_files(
    given: FrameInput, out: PathLike, options: CompressionOptions, *, default: str | None = None
) -> tuple[FrameOutput, list[ShardGroup]]:
    """Plan a file for each input in a folder, or one file of all of them if that is what `out` names."""
    text = path_text(out)
    if is_file_name(text) and not is_folder(text):
        output = FrameOutput.file(text, options)
        return output, [ShardGroup(output.prefix, (given.whole(),), None)]
    output = FrameOutput.named(text, options, given, default=default)
    names = [record_stem(os.path.basename(name)) if name != "-" else "stdin" for name in given.names]
    return output, [
        ShardGroup(name, (recipe,), None) for name, recipe in zip(names, given.each(), strict=True)
    ]
