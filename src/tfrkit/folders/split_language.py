"""The split language of TensorFlow Datasets: `train[:10%]+test[5:]` to ranges of records. Pure: no I/O.

Rounding, order and refusals are those of tfds: percentages round half to even, a bound beyond the end and an empty
slice are errors, and `[:0shard]` is the whole split.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.model.near_names import did_you_mean

__all__ = ["EvenSplit", "Rounding", "SplitLike", "SplitRange", "even_splits", "ranges_of", "splits_in"]

Rounding: TypeAlias = Literal["closest", "pct1_dropremainder"]
_ROUNDINGS: Final = ("closest", "pct1_dropremainder")

_PLUS: Final = re.compile(r"\s*\+\s*")
_PART: Final = re.compile(r"(?P<name>[\w-]+)(?:\[(?P<slice>[\d\w%:.-]+)\])?", re.ASCII)
_BOUND: Final = re.compile(r"(?:(?P<value>-?[\d_.]+)(?P<unit>%|shard)?)?", re.ASCII)
_FORMS: Final = "Expected a name, name[10:20], name[:10%], name[2shard], or several of them joined by +."


@dataclass(frozen=True, slots=True)
class SplitRange:
    """Records of one split: those with the numbers [start, stop), counted through its shards."""

    split: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class EvenSplit:
    """One of several equally large parts of a split; see `even_splits`.

    Attributes:
        split: what is divided, in the language of splits, or such a part itself.
        index: which part, counted from 0.
        count: of the parts.
        drop_remainder: all parts have the same size, and what is left over is in none.
    """

    split: SplitLike
    index: int
    count: int
    drop_remainder: bool = False


SplitLike: TypeAlias = "str | EvenSplit"


def even_splits(split: SplitLike, n: int, *, drop_remainder: bool = False) -> list[EvenSplit]:
    """Divide a split into parts that are equally large, for `tfr.load`.

    Args:
        split: in the language of splits, such as "train[10%:]"; of several splits joined by "+" each is divided.
        n: the number of parts.
        drop_remainder: leave out records so that all parts have the same size; else the first ones have one more.

    Returns:
        The parts, in order.

    Raises:
        InvalidArgumentError: n is less than 1.

    >>> ranges_of(even_splits("train", 3)[0], {"train": [11]})
    [SplitRange(split='train', start=0, stop=4)]
    """
    if n < 1:
        raise InvalidArgumentError(f"Expected at least 1 part but got n={n}.")
    return [EvenSplit(split, index, n, drop_remainder) for index in range(n)]


def ranges_of(
    split: SplitLike, shards: Mapping[str, Sequence[int]], rounding: Rounding = "closest"
) -> list[SplitRange]:
    """Return which records of which splits are meant.

    Args:
        split: in the language of splits, or a part of `even_splits`.
        shards: the number of records of each shard, by split.
        rounding: of percentages: "closest", or "pct1_dropremainder", where each is a multiple of one whole percent.

    Raises:
        InvalidArgumentError: it is not of the language, or the split is smaller.
        NotFoundError: there is no such split; the text names those that there are.

    >>> ranges_of("train[:10%]+test", {"train": [60, 45], "test": [7]})
    [SplitRange(split='train', start=0, stop=10), SplitRange(split='test', start=0, stop=7)]
    """
    if rounding not in _ROUNDINGS:
        raise InvalidArgumentError(f"Expected rounding to be one of {_ROUNDINGS} but got {rounding!r}.")
    found = _ranges(split, shards, rounding)
    if all(each.start == each.stop for each in found) and not (split == "all" or split in shards):
        counts = {each.split: sum(shards[each.split]) for each in found}
        raise InvalidArgumentError(f"Instruction {split!r} corresponds to no examples: there are {counts}.")
    return found


def _ranges(split: SplitLike, shards: Mapping[str, Sequence[int]], rounding: Rounding) -> list[SplitRange]:
    if isinstance(split, EvenSplit):
        return [_even_part(each, split) for each in _ranges(split.split, shards, rounding)]
    parts = [_parse(part, split) for part in _PLUS.split(split)]
    found = []
    for name, bounds in parts:
        if name == "all" and "all" not in shards:
            if bounds is not None:
                raise InvalidArgumentError(
                    f"{split!r}: 'all' does not support slices. Slice each split: "
                    f"{'+'.join(f'{each}[...]' for each in shards)}."
                )
            found += [SplitRange(each, 0, sum(counts)) for each, counts in shards.items()]
        else:
            found.append(_range(name, bounds, _counts_of(name, shards), rounding, split))
    return found


def splits_in(split: SplitLike, known: Sequence[str]) -> list[str]:
    """Return the names of the splits that are meant, whether there are such or not."""
    if isinstance(split, EvenSplit):
        return splits_in(split.split, known)
    names = [_parse(part, split)[0] for part in _PLUS.split(split)]
    return list(known) if "all" in names and "all" not in known else names


@dataclass(frozen=True, slots=True)
class _Bounds:
    start: float | int | None
    stop: float | int | None
    unit: str


def _parse(part: str, whole: str) -> tuple[str, _Bounds | None]:
    """Take one part of a sum apart."""
    found = _PART.fullmatch(part)
    if found is None:
        raise InvalidArgumentError(f"Unrecognized split format: {part!r} in {whole!r}. {_FORMS}")
    if found["slice"] is None:
        return found["name"], None
    bounds = [_BOUND.fullmatch(each) for each in found["slice"].split(":")]
    if len(bounds) > 2 or not all(bounds) or not any(each and each[0] for each in bounds):
        raise InvalidArgumentError(f"Unrecognized split format: {part!r} in {whole!r}. {_FORMS}")
    values = [(each["value"], each["unit"]) for each in bounds if each is not None]
    unit = next((unit for _, unit in values if unit), "abs")
    try:
        numbers = [None if text is None else float(text) if unit == "%" else int(text) for text, _ in values]
    except ValueError:
        raise InvalidArgumentError(f"Unrecognized number in {part!r} of {whole!r}. {_FORMS}") from None
    if len(numbers) == 1:
        (number,) = numbers
        if unit != "shard" or number is None:
            raise InvalidArgumentError(
                f"{part!r} in {whole!r}: only a shard can be named alone, as in name[3shard]; pass a slice."
            )
        return found["name"], _Bounds(number, number + 1, unit)
    if unit == "%" and any(number is not None and abs(number) > 100 for number in numbers):
        raise InvalidArgumentError(f"{part!r} in {whole!r}: expected percentages from -100 to 100.")
    return found["name"], _Bounds(numbers[0], numbers[1], unit)


def _counts_of(name: str, shards: Mapping[str, Sequence[int]]) -> Sequence[int]:
    if name not in shards:
        raise NotFoundError(
            f"Unknown split {name!r}. Should be one of {list(shards)}{did_you_mean(name, shards) or '.'}"
        )
    return shards[name]


def _range(
    name: str, bounds: _Bounds | None, counts: Sequence[int], rounding: Rounding, whole: str
) -> SplitRange:
    total = sum(counts)
    if bounds is None:
        return SplitRange(name, 0, total)
    start, stop = _absolute(bounds, counts, rounding, whole)
    if abs(start) > total or abs(stop) > total:
        raise InvalidArgumentError(
            f"Requested slice [{start or ''}:{stop or ''}] incompatible with {total} examples, in {whole!r}."
        )
    start, stop = start + total * (start < 0), stop + total * (stop < 0)
    if start > stop:
        raise InvalidArgumentError(
            f"Requested slice [{start}:{stop}] of {name!r} ends before it begins, in {whole!r}."
        )
    return SplitRange(name, start, stop)


def _absolute(bounds: _Bounds, counts: Sequence[int], rounding: Rounding, whole: str) -> tuple[int, int]:
    """Return the bounds as numbers of records, which may be negative."""
    total = sum(counts)
    start, stop = bounds.start, bounds.stop
    if bounds.unit == "%":
        return (
            0 if start is None else _percent(start, total, rounding, whole),
            total if stop is None else _percent(stop, total, rounding, whole),
        )
    first, last = None if start is None else int(start), None if stop is None else int(stop)
    if bounds.unit == "shard":
        if last is not None and last <= 0:
            last += len(counts)
        return sum(counts[:first]) if first is not None else 0, sum(counts[:last])
    return first or 0, total if last is None else last


def _percent(value: float, total: int, rounding: Rounding, whole: str) -> int:
    if rounding == "closest":
        return round(value * total / 100.0)
    if total < 100:
        raise InvalidArgumentError(
            f'{whole!r}: rounding="pct1_dropremainder" of a split with {total} examples, less than 100, always '
            "results in none."
        )
    return int(value * (total // 100))


def _even_part(whole: SplitRange, part: EvenSplit) -> SplitRange:
    each, rest = divmod(whole.stop - whole.start, part.count)
    start = whole.start + each * part.index
    stop = start + each
    if rest and not part.drop_remainder:
        start += min(part.index, rest)
        stop += min(part.index + 1, rest)
    return SplitRange(whole.split, start, stop)
