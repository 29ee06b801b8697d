"""sample: some records of any files, chosen at random, in the same order."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Unpack

from tfrkit.build.job.job import BuildReport, Job, ShardGroup
from tfrkit.build.reshape.frame_choice import RandomChoice, random_edges
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_options import SampleOptions
from tfrkit.build.reshape.frame_output import file_count, frame_job, one_or_many, run_frames
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import takes
from tfrkit.stores.paths import PathLike, Paths

if TYPE_CHECKING:
    from tfrkit.build.keywords import SampleKeywords

__all__ = ["plan_sample", "sample"]


@takes(SampleOptions)
def sample(paths: Paths, out: PathLike, **options: Unpack[SampleKeywords]) -> BuildReport:
    """Write a random sample of the records of files: exactly `count` of them, none twice, in the same order.

    Every sample of this size is equally likely. A larger sample with the same seed contains a smaller one.

    Args:
        paths: the inputs, as for `read_blocks`.
        out: the file to write, such as "some.tfrecord"; with `shards` or `shard_bytes` a prefix, such as "out/some".

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
    return run_frames(plan_sample, paths, out, SampleOptions.of(options))


def plan_sample(given: FrameInput, out: PathLike, options: SampleOptions) -> Job:
    """Plan it: see `sample`."""
    output = one_or_many(given, out, options)
    frames = given.survey(options.shards or 1)
    wanted = options.count
    if wanted is None:
        wanted = round(Fraction(str(options.fraction)) * frames.records)
    if not 0 <= wanted <= frames.records:
        raise InvalidArgumentError(
            f"Expected a sample of at most {frames.records} records, which is how many there are, but got {wanted}."
        )
    choice = RandomChoice(options.seed, *random_edges([wanted], frames.records, options.seed)[0])
    files = file_count(options, frames.stream_bytes * wanted // max(1, frames.records), wanted)
    recipes = [frames.range(begin, end) for begin, end in frames.by_records(files or 1)]
    group = ShardGroup(output.prefix, tuple(recipes), files)
    arguments = {"command": "sample", "count": wanted, "seed": options.seed}
    return frame_job(given, output, [group], arguments, frames, choices=(choice,))
