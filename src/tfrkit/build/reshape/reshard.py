"""reshard: the records of any files into another number of files, in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from tfrkit.build.job.job import BuildReport, Job, ShardGroup, plan_shards
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_options import ReshardOptions
from tfrkit.build.reshape.frame_output import FrameOutput, frame_job, run_frames
from tfrkit.options import takes
from tfrkit.stores.paths import PathLike, Paths

if TYPE_CHECKING:
    from tfrkit.build.keywords import ReshardKeywords

__all__ = ["plan_reshard", "reshard"]


@takes(ReshardOptions)
def reshard(paths: Paths, prefix: PathLike, **options: Unpack[ReshardKeywords]) -> BuildReport:
    """Write the records of files into another number of files, in the same order.

    Frames are copied as they are, with their checksums, which are checked on the way.

    Args:
        paths: the inputs, as for `read_blocks`; of any compressions.
        prefix: folder and beginning of the names, such as "out/train".

    Returns:
        What was written. What was left out for damage is in `.bad`.

    Raises:
        AlreadyExistsError: there are files under the prefix already.
        InvalidArgumentError: an input would be replaced; or the arguments contradict each other.
        DataLossError: an input is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("all.tfrecord") as writer:
    ...     writer.write_many([b"a", b"b", b"c"])
    >>> [shard.records for shard in reshard("all.tfrecord", "out/part", shards=2).shards]
    [2, 1]
    >>> list(tfrkit.read_records("out/part-*"))
    [b'a', b'b', b'c']
    """
    return run_frames(plan_reshard, paths, prefix, ReshardOptions.of(options))


def plan_reshard(given: FrameInput, prefix: PathLike, options: ReshardOptions) -> Job:
    """Plan it: see `reshard`."""
    shards, shard_bytes, balance = options.shards, options.shard_bytes, options.balance
    output = FrameOutput.shards(prefix, options, given)
    if shards == 1:
        return frame_job(
            given, output, [ShardGroup(output.prefix, (given.whole(),), 1)], {"command": "reshard"}
        )
    estimated = plan_shards(given.file_bytes, shards, shard_bytes, multiple=1)
    frames = given.survey(estimated)
    count = plan_shards(frames.stream_bytes, shards, shard_bytes, most=frames.records, multiple=1)
    by_records = balance == "records" or (balance is None and shards is not None)
    ranges = frames.by_records(count) if by_records else frames.by_bytes(count)
    group = ShardGroup(output.prefix, tuple(frames.range(begin, end) for begin, end in ranges), count)
    arguments = {"command": "reshard", "balance": "records" if by_records else "bytes"}
    return frame_job(given, output, [group], arguments, frames)
