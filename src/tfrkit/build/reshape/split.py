"""split: the records of any files into parts, such as train and validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Unpack

from tfrkit.build.job.job import BuildReport, Job, ShardGroup, plan_shards
from tfrkit.build.reshape.frame_choice import EveryChoice, KeyChoice, RandomChoice, random_edges
from tfrkit.build.reshape.frame_input import FrameInput, InputFrames
from tfrkit.build.reshape.frame_options import SplitOptions
from tfrkit.build.reshape.frame_output import FrameOutput, frame_job, run_frames
from tfrkit.build.reshape.frame_recipe import Choice
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import takes
from tfrkit.stores.paths import PathLike, Paths

if TYPE_CHECKING:
    from tfrkit.build.keywords import SplitKeywords

__all__ = ["plan_split", "split"]


@takes(SplitOptions)
def split(
    paths: Paths,
    folder: PathLike,
    parts: Mapping[str, float | Fraction] | Sequence[str],
    **options: Unpack[SplitKeywords],
) -> BuildReport:
    """Write the records of files into parts; each record into one, and in the same order.

    Frames are copied as they are, with their checksums, which are checked on the way. Each part reads all inputs.

    Args:
        paths: the inputs, as for `read_blocks`.
        folder: where the parts go.
        parts: names and shares, such as {"train": 0.9, "validation": 0.1}; the shares add up to 1. With `every`, two
            names.

    Raises:
        InvalidArgumentError: the arguments contradict each other, or a record has no such feature.
        AlreadyExistsError: there are files of these names already.
        DataLossError: an input is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("all.tfrecord") as writer:
    ...     writer.write_many([b"%d" % number for number in range(10)])
    >>> report = split("all.tfrecord", "parts", {"train": 0.8, "validation": 0.2}, in_order=True)
    >>> [(shard.name, shard.records) for shard in report.shards]
    [('train.tfrecord', 8), ('validation.tfrecord', 2)]
    """
    return run_frames(plan_split, paths, folder, SplitOptions.of(options), parts)


@dataclass(frozen=True, slots=True)
class _Part:
    """One part: which range of all records, which of them, and about how many."""

    name: str
    begin: int
    end: int
    choice: Choice | None
    count: int


def plan_split(
    given: FrameInput,
    folder: PathLike,
    how: SplitOptions,
    parts: Mapping[str, float | Fraction] | Sequence[str],
) -> Job:
    """Plan it: see `split`."""
    names = list(parts)
    shares = _shares(parts, how.every)
    numbers = _shard_numbers(names, how.shards)
    output = FrameOutput.named(folder, how, given)
    frames = given.survey(max((number or 1 for number in numbers.values()), default=1))
    groups = [
        _group(frames, part, numbers[part.name], how.shard_bytes)
        for part in _parts(names, shares, how, frames)
    ]
    arguments = {
        "command": "split",
        "parts": {name: str(share) for name, share in zip(names, shares, strict=True)},
        "by": "order" if how.in_order else f"every {how.every}" if how.every else how.by and f"key {how.by}",
        "seed": None if how.in_order or how.every else how.seed,
    }
    return frame_job(given, output, groups, arguments, frames)


def _shares(parts: Mapping[str, float | Fraction] | Sequence[str], every: int | None) -> list[Fraction]:
    if every is not None:
        if len(parts) != 2 or isinstance(parts, Mapping):
            raise InvalidArgumentError(
                "Expected two names without shares for every (--parts train,validation --every 10)."
            )
        return [1 - Fraction(1, every), Fraction(1, every)]
    if not isinstance(parts, Mapping) or not parts:
        raise InvalidArgumentError(
            "Expected names of parts with their shares, such as train=0.9,validation=0.1 (--parts)."
        )
    shares = [Fraction(str(share)) for share in parts.values()]
    if any(share < 0 for share in shares) or abs(sum(shares, Fraction()) - 1) > Fraction(1, 10**6):
        given = ", ".join(f"{name}={share}" for name, share in parts.items())
        raise InvalidArgumentError(
            f"Expected shares from 0 on that add up to 1 but got {given}: {float(sum(shares)):g} in all."
        )
    return shares


def _shard_numbers(names: Sequence[str], shards: int | Mapping[str, int] | None) -> dict[str, int | None]:
    if not isinstance(shards, Mapping):
        return dict.fromkeys(names, shards)
    unknown = [name for name in shards if name not in names]
    if unknown:
        raise InvalidArgumentError(f"Expected numbers of shards for {names} but got one for {unknown[0]!r}.")
    return {name: shards.get(name) for name in names}


def _parts(
    names: Sequence[str], shares: Sequence[Fraction], how: SplitOptions, frames: InputFrames
) -> list[_Part]:
    total = frames.records
    edges = [0, *(round(total * edge) for edge in list(accumulate(shares))[:-1]), total]
    counts = [end - begin for begin, end in pairwise(edges)]
    choices: list[Choice | None]
    if how.in_order:
        spans = zip(names, pairwise(edges), counts, strict=True)
        return [_Part(name, begin, end, None, count) for name, (begin, end), count in spans]
    if how.every is not None:
        choices = [EveryChoice(how.every, others=True), EveryChoice(how.every)]
        counts = [total - total // how.every, total // how.every]
    elif how.by is not None:
        hashes = [0, *(int(edge * 2**64) for edge in list(accumulate(shares))[:-1]), 2**64]
        choices = [KeyChoice(how.by, how.seed, low, high) for low, high in pairwise(hashes)]
    else:
        choices = [RandomChoice(how.seed, *edge) for edge in random_edges(counts, total, how.seed)]
    chosen = zip(names, choices, counts, strict=True)
    return [_Part(name, 0, total, choice, count) for name, choice, count in chosen]


def _group(frames: InputFrames, part: _Part, shards: int | None, shard_bytes: int | None) -> ShardGroup:
    number = shards
    if shard_bytes is not None:
        size = frames.stream_bytes * part.count // max(1, frames.records)
        number = plan_shards(size, shards, shard_bytes, most=max(1, part.count), multiple=1)
    choices = () if part.choice is None else (part.choice,)
    ranges = frames.by_records(number or 1, part.begin, part.end)
    recipes = tuple(replace(frames.range(begin, end), choices=choices) for begin, end in ranges)
    return ShardGroup(part.name, recipes, number)
