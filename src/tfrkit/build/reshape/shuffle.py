"""shuffle: the records of any files in a random order, in the memory of a few blocks."""

from __future__ import annotations

from collections.abc import Callable

from tfrkit.build.job.job import BuildReport, Job, MaxBad, Progress, ShardGroup, plan_shards, run_job
from tfrkit.build.reshape.frame_input import FrameInput, frame_input
from tfrkit.build.reshape.frame_output import frame_job, one_or_many
from tfrkit.model.policy import OnCorrupt
from tfrkit.stores.paths import PathLike, Paths

__all__ = ["plan_shuffle", "shuffle"]


def shuffle(
    paths: Paths,
    out: PathLike,
    *,
    seed: int = 0,
    shards: int | None = None,
    shard_bytes: int | None = None,
    compression: str | None = None,
    level: int | None = None,
    on_corrupt: OnCorrupt = "raise",
    max_bad: MaxBad | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Write the records of files in a random order: every order of all records is possible.

    Memory stays small; the records go to temporary files beside the output on the way, which need as much room.

    Args:
        paths: the inputs, as for `read_blocks`.
        out: the file to write, such as "all.tfrecord"; with `shards` or `shard_bytes` a prefix, such as "out/train".
        seed: decides the order. The same records in the same files and the same seed give the same bytes.
        shards: how many files.
        shard_bytes: or about how large each may become, before compression.
        compression: see `reshard`, also for the next ones.
        level: of the compression.
        on_corrupt: what to do about damaged records.
        max_bad: more damages than this number, or than this share of the records ("1%"), are an error.
        overwrite: replace what is there.
        workers: how many files are written at once.
        progress: called several times a second.

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
    with frame_input(paths, on_corrupt) as given:
        job = plan_shuffle(given, out, seed, shards, shard_bytes, compression, level)
        return run_job(job, workers=workers, max_bad=max_bad, overwrite=overwrite, progress=progress)


def plan_shuffle(
    given: FrameInput,
    out: PathLike,
    seed: int,
    shards: int | None,
    shard_bytes: int | None,
    compression: str | None,
    level: int | None,
) -> Job:
    """Plan it: see `shuffle`."""
    output = one_or_many(given, out, shards, shard_bytes, compression, level)
    frames = given.survey()
    count = None
    if shards is not None or shard_bytes is not None:
        count = plan_shards(frames.stream_bytes, shards, shard_bytes, most=frames.records, multiple=1)
    group = ShardGroup(output.prefix, tuple(frames.pieces()), count, shuffle_seed=seed)
    return frame_job(
        given, output, [group], {"command": "shuffle", "seed": seed}, frames.bad, good=frames.records
    )
