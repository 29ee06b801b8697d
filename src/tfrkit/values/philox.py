"""Philox4x32-10: TensorFlow's random numbers, number by number.

The generator is in `core/shuffle/philox.cc`. Here is how TensorFlow makes generators of seeds: its stateful ones
(`tf.data`, `Generator.from_seed`) use the seeds as they are, its stateless ones scramble them first.
"""

from __future__ import annotations

from typing import Final

from tfrkit._core import Philox

__all__ = ["Philox", "make_philox", "scramble", "scrambled_philox"]

_MASK: Final = 2**64 - 1
_SCRAMBLE_KEY: Final = 0x02461E29_3EC8F720  # TensorFlow's constant for making keys of seeds


def make_philox(seed: int, seed2: int) -> Philox:
    """Make the generator that TensorFlow makes of two seeds: the key, and the high half of the counter.

    Args:
        seed: any integer; its low 64 bits count.
        seed2: the same.

    >>> make_philox(0, 0).uint32(4).tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    True
    """
    return Philox(seed & _MASK, seed2 & _MASK)


def scrambled_philox(seed: int, seed2: int) -> Philox:
    """Make the generator of TensorFlow's stateless operations, which scramble the seeds first.

    Args:
        seed: any integer; its low 64 bits count.
        seed2: the same.

    >>> [int(number) & 0xFFFF for number in scrambled_philox(1, 2).uint32(3)]
    [2604, 38129, 33854]
    """
    return Philox(*scramble(seed, seed2))


def scramble(seed: int, seed2: int) -> tuple[int, int]:
    """Make the key and the high half of the counter of two seeds, as TensorFlow's stateless operations do.

    Args:
        seed: any integer; its low 64 bits count.
        seed2: the same.
    """
    mixed = Philox(_SCRAMBLE_KEY, seed2 & _MASK, seed & _MASK).uint32(4).tolist()
    return mixed[0] | mixed[1] << 32, mixed[2] | mixed[3] << 32
