"""shuffle: the records of any files in a random order, in the memory of a few blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from tfrkit.build.job.job import BuildReport, Job, ShardGroup
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_options import ShuffleOptions
from tfrkit.build.reshape.frame_output import file_count, frame_job, one_or_many, run_frames
from tfrkit.options import takes
from tfrkit.stores.paths import PathLike, Paths

if TYPE_CHECKING:
    from tfrkit.build.keywords import ShuffleKeywords

__all__ = ["plan_shuffle", "shuffle"]


@takes(ShuffleOptions)
def shuffle(paths: Paths, out: PathLike, **options: Unpack[ShuffleKeywords]) -> BuildReport:
    """Write the records of files in a random order: every order of all records is possible.

    Memory stays small; the records go to temporary files beside the output on the way, which need as much room.

    Args:
        paths: the inputs, as for `read_blocks`.
        out: the file to write, such as "all.tfrecord"; with `shards` or `shard_bytes` a prefix, such as "out/train".

    Raises:
        AlreadyExistsError: the output is there already.
        InvalidArgumentError: an input would be replaced; or the arguments contradict each other.
        DataLossError: an input is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("all.tfrecord") as writer:
    ...     writer.write_many([b"a", b"b", b"c"])
    >>> shuffle("all.tfrecord", "shuffled.tfrecord", seed=1).records
    3
    >>> sorted(tfrkit.read_records("shuffled.tfrecord"))
    [b'a', b'b', b'c']
    """
    return run_frames(plan_shuffle, paths, out, ShuffleOptions.of(options))


def plan_shuffle(given: FrameInput, out: PathLike, options: ShuffleOptions) -> Job:
    """Plan it: see `shuffle`."""
    output = one_or_many(given, out, options)
    frames = given.survey()
    count = file_count(options, frames.stream_bytes, frames.records)
    group = ShardGroup(output.prefix, tuple(frames.pieces()), count, shuffle_seed=options.seed)
    return frame_job(given, output, [group], {"command": "shuffle", "seed": options.seed}, frames)
