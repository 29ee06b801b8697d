"""sample: some records of any files, chosen at random, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tfrkit.build.job.job import BuildReport, Job, MaxBad, Progress, ShardGroup, plan_shards, run_job
from tfrkit.build.reshape.frame_choice import RandomChoice, random_edges
from tfrkit.build.reshape.frame_input import FrameInput, frame_input
from tfrkit.build.reshape.frame_output import frame_job, one_or_many
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.policy import OnCorrupt
from tfrkit.stores.paths import PathLike, Paths

__all__ = ["plan_sample", "sample"]


def sample(
    paths: Paths,
    out: PathLike,
    *,
    count: int | None = None,
    fraction: float | None = None,
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
    """Write a random sample of the records of files: exactly `count` of them, none twice, in the same order.

    Every sample of this size is equally likely. A larger sample with the same seed contains a smaller one.

    Args:
        paths: the inputs, as for `read_blocks`.
        out: the file to write, such as "some.tfrecord"; with `shards` or `shard_bytes` a prefix, such as "out/some".
        count: how many records.
        fraction: or which share of them, from 0 to 1; the number is rounded.
        seed: decides the choice.
        shards: how many files, of about equal numbers of records.
        shard_bytes: or about how large each may become, before compression.
        compression: see `reshard`, also for the next ones.
        level: of the compression.
        on_corrupt: what to do about damaged records.
        max_bad: more damages than this number, or than this share of the records ("1%"), are an error.
        overwrite: replace what is there.
        workers: how many files are written at once.
        progress: called several times a second.

    Raises:
        InvalidArgumentError: there are fewer records than `count`; or the arguments contradict each other.
        AlreadyExistsError: the output is there already.
        DataLossError: an input is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("all.tfrecord") as writer:
    ...     writer.write_many([b"%d" % number for number in range(100)])
    >>> sample("all.tfrecord", "some.tfrecord", count=3, seed=1).records
    3
    """
    with frame_input(paths, on_corrupt) as given:
        job = plan_sample(given, out, count, fraction, seed, shards, shard_bytes, compression, level)
        return run_job(job, workers=workers, max_bad=max_bad, overwrite=overwrite, progress=progress)


def plan_sample(
    given: FrameInput,
    out: PathLike,
    count: int | None,
    fraction: float | None,
    seed: int,
    shards: int | None,
    shard_bytes: int | None,
    compression: str | None,
    level: int | None,
) -> Job:
    """Plan it: see `sample`."""
    if (count is None) == (fraction is None):
        raise InvalidArgumentError(
            "Expected either a number of records or a fraction of them, and not both (-n or --fraction)."
        )
    if fraction is not None and not 0 <= fraction <= 1:
        raise InvalidArgumentError(f"Expected a fraction from 0 to 1 but got {fraction}.")
    output = one_or_many(given, out, shards, shard_bytes, compression, level)
    frames = given.survey(shards or 1)
    wanted = round(Fraction(str(fraction)) * frames.records) if count is None else count
    if not 0 <= wanted <= frames.records:
        raise InvalidArgumentError(
            f"Expected a sample of at most {frames.records} records, which is how many there are, but got {wanted}."
        )
    choice = RandomChoice(seed, *random_edges([wanted], frames.records, seed)[0])
    files = None
    if shards is not None or shard_bytes is not None:
        size = frames.stream_bytes * wanted // max(1, frames.records)
        files = plan_shards(size, shards, shard_bytes, most=wanted, multiple=1)
    recipes = [frames.range(begin, end, choices=[choice]) for begin, end in frames.by_records(files or 1)]
    group = ShardGroup(output.prefix, tuple(recipes), files)
    arguments = {"command": "sample", "count": wanted, "seed": seed}
    return frame_job(given, output, [group], arguments, frames.bad, good=frames.records)
