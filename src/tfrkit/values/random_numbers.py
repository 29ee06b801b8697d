"""Random numbers of a distribution out of Philox's stream, in TensorFlow's order and with its bits.

A distribution takes the numbers of the stream in groups; which number of the result comes from which of the stream is
part of what is reproduced. Seeds are a matter of `seeds` and `random`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.values.philox import Philox

__all__ = ["RandomStream", "full_integers", "integers", "normal", "truncated_normal", "uniform"]

_LEAST: Final = 1e-7  # what logarithms are taken of at least
_BOUND: Final = 2  # of the truncated normal distribution
_RESERVED: Final = 256  # numbers of the stream that each of a truncated normal distribution may use up
_TURN: Final = 2 * np.pi
_BLOCKS: Final = 2**64  # that the low half of the counter tells apart


@dataclass(frozen=True, slots=True)
class RandomStream:
    """Where numbers begin.

    Attributes:
        key: of Philox.
        high: half of its counter.
        block: where to begin, in blocks of four numbers.
    """

    key: int
    high: int
    block: int = 0

    def numbers(self, count: int, block: int = 0) -> npt.NDArray[np.uint32]:
        """So many numbers from a block on, counted from where the stream begins."""
        carry, first = divmod(self.block + block, _BLOCKS)
        high = (self.high + carry) % _BLOCKS
        if first + count // 4 < _BLOCKS - 1:
            return Philox(self.key, high, first).uint32(count)
        before = min(count, 4 * (_BLOCKS - first))  # the counter overflows into its high half
        rest = Philox(self.key, (high + 1) % _BLOCKS, 0).uint32(count - before)
        return np.concatenate([Philox(self.key, high, first).uint32(before), rest])


def uniform(stream: RandomStream, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Floats in [0, 1): the random bits of a number are the fraction of one in [1, 2).

    >>> uniform(RandomStream(0, 0), 2, np.dtype("float32")).tolist()
    [0.3117929697036743, 0.8263412714004517]
    """
    if dtype == np.float64:
        return _doubles(stream.numbers(2 * count))
    numbers = stream.numbers(count)
    if dtype == np.float32:
        return _singles(numbers)
    fraction, one = (0x3FF, 0x3C00) if dtype == np.float16 else (0x7F, 0x3F80)
    bits = (numbers.astype(np.uint16) & np.uint16(fraction)) | np.uint16(one)
    made: npt.NDArray[Any] = bits.view(dtype) - dtype.type(1)
    return made


def _singles(numbers: npt.NDArray[np.uint32]) -> npt.NDArray[np.float32]:
    bits = (numbers & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000)
    return bits.view(np.float32) - np.float32(1)


def _doubles(numbers: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    high, low = numbers[0::2].astype(np.uint64), numbers[1::2].astype(np.uint64)
    bits = ((high & np.uint64(0xFFFFF)) << np.uint64(32)) | low | np.uint64(0x3FF << 52)
    return bits.view(np.float64) - 1


def full_integers(stream: RandomStream, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Integers of 32 or 64 bits, all of them random.

    >>> full_integers(RandomStream(0, 0), 2, np.dtype("uint32")).tolist() == [0x6627E8D5, 0xE169C58D]
    True
    """
    numbers = stream.numbers(count * dtype.itemsize // 4)
    if dtype.itemsize == 8:
        low, high = numbers[0::2].astype(np.uint64), numbers[1::2].astype(np.uint64)
        return (low | high << np.uint64(32)).view(dtype)
    return numbers.view(dtype)


def integers(stream: RandomStream, count: int, low: int, high: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Integers from `low` on and below `high`: the rest that is left of a random one.

    >>> integers(RandomStream(0, 0), 4, 10, 20, np.dtype("int32")).tolist()
    [11, 13, 18, 10]
    """
    unsigned = np.dtype(f"uint{dtype.itemsize * 8}")
    drawn = full_integers(stream, count, unsigned)
    with np.errstate(over="ignore"):
        made: npt.NDArray[Any] = drawn % unsigned.type(high - low) + unsigned.type(
            low % 2 ** (dtype.itemsize * 8)
        )
    return made.view(dtype)


def normal(stream: RandomStream, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Floats of the standard normal distribution, in pairs out of pairs (Box and Muller).

    >>> normal(RandomStream(0, 0), 2, np.dtype("float32")).round(4).tolist()
    [-1.3544000387191772, 0.7045000195503235]
    """
    pairs = (count + 1) // 2
    return _normals(stream.numbers(pairs * _per_pair(dtype)), dtype)[:count].astype(dtype)


def _per_pair(dtype: np.dtype[Any]) -> int:
    return 4 if dtype == np.float64 else 2


def _normals(numbers: npt.NDArray[np.uint32], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """As float32, or as float64 if that is the type."""
    if dtype == np.float64:
        fractions: npt.NDArray[Any] = _doubles(numbers)
        first, turn = np.maximum(fractions[0::2], _LEAST), _TURN * fractions[1::2]
        radius = np.sqrt(-2 * np.log(first))
        return np.stack([np.sin(turn) * radius, np.cos(turn) * radius], axis=1).ravel()
    fractions = _singles(numbers)
    first = np.maximum(fractions[0::2], np.float32(_LEAST))
    turn = (_TURN * fractions[1::2].astype(np.float64)).astype(np.float32).astype(np.float64)
    logarithm = np.log(first.astype(np.float64)).astype(np.float32)  # rounded from double, as good as exact
    radius = np.sqrt(np.float32(-2) * logarithm)
    waves = np.sin(turn).astype(np.float32), np.cos(turn).astype(np.float32)
    return np.stack([wave * radius for wave in waves], axis=1).ravel()


def truncated_normal(stream: RandomStream, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Those of the standard normal distribution that are nearer to 0 than 2.

    Every group of four (of doubles, two) begins at a place of its own in the stream and takes what it needs.

    >>> truncated_normal(RandomStream(0, 0), 2, np.dtype("float32")).round(4).tolist()
    [-1.3544000387191772, 0.7045000195503235]
    """
    size = 8 // _per_pair(dtype)
    made = np.empty(-(-count // size) * size, np.float64 if dtype == np.float64 else np.float32)
    for group in range(len(made) // size):
        first = group * size * _RESERVED // 4
        drawn = 16
        while True:
            found = _normals(stream.numbers(drawn, first), dtype)
            found = found[np.abs(found) < _BOUND]
            if len(found) >= size:
                break
            drawn *= 2
        made[group * size : (group + 1) * size] = found[:size]
    return made[:count].astype(dtype)
