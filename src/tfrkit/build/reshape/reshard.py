"""reshard: the records of any files into another number of files, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tfrkit.build.job.job import BuildReport, Job, MaxBad, Progress, ShardGroup, plan_shards, run_job
from tfrkit.build.reshape.frame_input import FrameInput, frame_input
from tfrkit.build.reshape.frame_output import FrameOutput, frame_job
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.policy import OnCorrupt
from tfrkit.stores.paths import PathLike, Paths

__all__ = ["Balance", "plan_reshard", "reshard"]

Balance = Literal["records", "bytes"]


def reshard(
    paths: Paths,
    prefix: PathLike,
    *,
    shards: int | None = None,
    shard_bytes: int | None = None,
    balance: Balance | None = None,
    compression: str | None = None,
    level: int | None = None,
    on_corrupt: OnCorrupt = "raise",
    max_bad: MaxBad | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Write the records of files into another number of files, in the same order.

    Frames are copied as they are, with their checksums, which are checked on the way.

    Args:
        paths: the inputs, as for `read_blocks`; of any compressions.
        prefix: folder and beginning of the names, such as "out/train".
        shards: how many files. With more of them than records, some are empty.
        shard_bytes: or how large each may become, about, before compression; 256 MB by default.
        balance: whether files have equal numbers of "records" (default with `shards`) or of "bytes" (else).
        compression: "none", "GZIP", "ZLIB", "XZ" or "ZSTD"; by default as the inputs have it, or none if they differ.
        level: of the compression.
        on_corrupt: what to do about damaged records: "raise", "skip" them, or "stop" reading their file.
        max_bad: more damages than this number, or than this share of the records ("1%"), are an error.
        overwrite: replace what is there under the prefix; else that is an error.
        workers: how many files are written at once; as many as there are cores by default.
        progress: called several times a second.

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
    with frame_input(paths, on_corrupt) as given:
        job = plan_reshard(given, prefix, shards, shard_bytes, balance, compression, level)
        return run_job(job, workers=workers, max_bad=max_bad, overwrite=overwrite, progress=progress)


def plan_reshard(
    given: FrameInput,
    prefix: PathLike,
    shards: int | None,
    shard_bytes: int | None,
    balance: Balance | None,
    compression: str | None,
    level: int | None,
) -> Job:
    """Plan it: see `reshard`."""
    if balance not in (None, "records", "bytes"):
        raise InvalidArgumentError(f"Expected balance to be 'records' or 'bytes' but got {balance!r}.")
    output = FrameOutput.shards(prefix, compression, level, given)
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
    return frame_job(given, output, [group], arguments, frames.bad, good=frames.records)
