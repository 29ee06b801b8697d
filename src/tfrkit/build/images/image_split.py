"""Which images go to train, validation and test, and in which order: seeded, exact, the same everywhere.

Pure: no I/O. Random numbers are the raw ones of Philox, which are the same in every version of numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.build.images.image_classes import SPLIT_FOLDERS
from tfrkit.errors import InvalidArgumentError

__all__ = ["Split", "assign_ratios", "parse_split", "permutation", "share_out"]

IntArray = npt.NDArray[Any]
_SPLITTING: Final = 1
_ORDER: Final = 2
_EXAMPLE: Final = "'train=0.8,validation=0.1,test=0.1' or 'folders'"


@dataclass(frozen=True, slots=True)
class Split:
    """How images are split.

    Attributes:
        names: of the splits, in the order given.
        ratios: of each; None if folders decide.
        folders: names of the splits by folder; None if ratios decide.
    """

    names: tuple[str, ...]
    ratios: tuple[Fraction, ...] | None = None
    folders: Mapping[bytes, str] | None = None


def parse_split(given: str | Mapping[str, Any] | None) -> Split:
    """Parse how to split.

    Args:
        given: None for everything in "train"; "folders" for folders called train, validation (val, valid) and test;
            names with ratios that add up to 1, as "train=0.8,test=0.2" or a dict; or names with folders, as
            "train=photos2023,test=photos2024" or a dict.

    Raises:
        InvalidArgumentError: it is none of these.

    >>> parse_split("train=0.75,test=0.25").ratios
    (Fraction(3, 4), Fraction(1, 4))
    """
    if given is None:
        return Split(("train",), (Fraction(1),))
    if given == "folders":
        return Split(("train", "validation", "test"), None, SPLIT_FOLDERS)
    pairs = _pairs(given)
    names = tuple(name for name, _ in pairs)
    for name in names:
        if not name or name.startswith((".", "-")) or "/" in name or "\0" in name or names.count(name) > 1:
            raise InvalidArgumentError(
                f"split {name!r}: expected names that begin files, each once, such as {_EXAMPLE}"
            )
    ratios = [_ratio(value) for _, value in pairs]
    if all(ratio is not None for ratio in ratios):
        exact = tuple(ratio for ratio in ratios if ratio is not None)
        total = sum(exact, Fraction(0))
        if abs(total - 1) > Fraction(1, 10**6) or min(exact) < 0:
            raise InvalidArgumentError(
                f"split {given!r}: expected ratios that add up to 1 but got {float(total):g}, such as {_EXAMPLE}"
            )
        return Split(names, exact)
    if any(ratio is not None for ratio in ratios):
        raise InvalidArgumentError(
            f"split {given!r}: expected ratios or folders, and not both, as in {_EXAMPLE}"
        )
    return Split(names, None, {str(value).encode("utf-8", "surrogateescape"): name for name, value in pairs})


def _pairs(given: str | Mapping[str, Any]) -> list[tuple[str, Any]]:
    if not isinstance(given, str):
        return [(str(name), value) for name, value in given.items()]
    pairs = []
    for part in given.split(","):
        name, equals, value = part.partition("=")
        if not equals or not value.strip():
            raise InvalidArgumentError(f"split {given!r}: expected {_EXAMPLE} but got {part!r}")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _ratio(value: Any) -> Fraction | None:
    """The number that is meant, exactly as it is written; None if it is no number."""
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def share_out(count: int, ratios: Sequence[Fraction]) -> list[int]:
    """Share out a number so that the parts add up to it: rounded down, the rest to the largest remainders.

    >>> share_out(10, [Fraction(8, 10), Fraction(1, 10), Fraction(1, 10)]), share_out(1, [Fraction(1, 2)] * 2)
    ([8, 1, 1], [1, 0])
    """
    total = sum(ratios)
    exact = [count * ratio / total for ratio in ratios]
    parts = [int(share) for share in exact]
    order = sorted(range(len(ratios)), key=lambda place: (parts[place] - exact[place], place))
    for place in order[: count - sum(parts)]:
        parts[place] += 1
    return parts


def assign_ratios(count: int, ratios: Sequence[Fraction], seed: int, labels: IntArray | None) -> IntArray:
    """Return the number of the split of each of `count` images.

    Args:
        count: of images.
        ratios: of the splits.
        seed: another one gives another choice.
        labels: split each class by itself, so that classes have the same shares in all splits; None: all images as one.
    """
    chosen = np.zeros(count, np.int8)
    if len(ratios) == 1 or not count:
        return chosen
    keys = _random(count, seed, _SPLITTING)
    if labels is None:
        chosen[np.argsort(keys, kind="stable")] = np.repeat(np.arange(len(ratios)), share_out(count, ratios))
        return chosen
    order = np.lexsort((keys, labels))
    _, counts = np.unique(labels, return_counts=True)
    shares = {number: share_out(number, ratios) for number in set(counts.tolist())}
    parts = np.array([shares[number] for number in counts.tolist()], np.int64)
    chosen[order] = np.repeat(np.tile(np.arange(len(ratios)), len(counts)), parts.ravel())
    return chosen


def permutation(count: int, seed: int) -> IntArray:
    """Return the numbers from 0 to `count` - 1 in an order that the seed decides.

    >>> permutation(5, 0).tolist() == permutation(5, 0).tolist(), sorted(permutation(5, 1).tolist())
    (True, [0, 1, 2, 3, 4])
    """
    return np.argsort(_random(count, seed, _ORDER), kind="stable")


def _random(count: int, seed: int, purpose: int) -> IntArray:
    key = np.array([seed & 0xFFFF_FFFF_FFFF_FFFF, purpose], np.uint64)
    return np.asarray(np.random.Philox(key=key).random_raw(count))
