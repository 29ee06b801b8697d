"""A pseudo-random permutation of any size, computed where it is asked for and stored nowhere.

The kernel is in `core/shuffle/permutation.cc`; FORMAT.md defines it, so that other programs can compute it too. Which
elements the numbers stand for is the caller's business.

The idea: a Feistel network permutes the numbers of k bits, and numbers beyond the size go through it again until they
are below. Any index costs the same, wherever it is, so that an epoch can be resumed or divided anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core

__all__ = ["MAX_SIZE", "VERSION", "Permutation"]

VERSION: Final = 1  # of what a size, a seed and an epoch stand for; states that hold these three hold it too
MAX_SIZE: Final = 2**62


@dataclass(frozen=True, slots=True)
class Permutation:
    """The numbers from 0 up to a size in a random order, a pure function of size, seed and epoch. Thread-safe.

    Permutations of different seeds, epochs or sizes have nothing to do with each other. Not for secrets.

    Args:
        size: how many numbers; at most 2**62.
        seed: any integer of 64 bits, with a sign or without. It counts, and is kept, modulo 2**64.
        epoch: from 0 up to 2**64 - 1.

    Raises:
        ValueError: one of them is not in its range.

    >>> order = Permutation(10, seed=42)
    >>> order.run(0, 10).tolist()
    [3, 6, 2, 4, 1, 5, 7, 8, 0, 9]
    >>> order.at(np.array([9, 0])).tolist()
    [9, 3]
    >>> Permutation(10, seed=42, epoch=1).run(0, 10).tolist()
    [9, 8, 2, 0, 6, 1, 3, 7, 5, 4]
    """

    size: int
    seed: int
    epoch: int = 0

    def __post_init__(self) -> None:
        """Check the three numbers.

        Raises:
            ValueError: one of them is not in its range.
        """
        if not 0 <= self.size <= MAX_SIZE:
            raise ValueError(f"Expected a size from 0 to 2**62 but got {self.size}.")
        if not -(2**63) <= self.seed < 2**64:
            raise ValueError(f"Expected a seed of 64 bits, from -2**63 to 2**64 - 1, but got {self.seed}.")
        if not 0 <= self.epoch < 2**64:
            raise ValueError(f"Expected an epoch from 0 to 2**64 - 1 but got {self.epoch}.")
        object.__setattr__(self, "seed", self.seed % 2**64)

    def __len__(self) -> int:
        return self.size

    def at(self, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the numbers at these places of the order, as a new array.

        Args:
            indices: one-dimensional; from 0 up to the size, in any order, also repeatedly.

        Raises:
            TypeError: the array has another type, of which numbers may not fit into int64.
            IndexError: an index is negative, or not below the size; the first such one is named.

        >>> Permutation(1_000_000_000, seed=1).at(np.array([999_999_999, 0, 999_999_999])).tolist()
        [200398644, 407969216, 200398644]
        """
        places = np.asarray(indices).astype(np.int64, order="C", casting="safe", copy=False)
        return _core.permute_indices(self.size, self.seed, self.epoch, places).view(np.int64)  # not longlong

    def run(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """Return the numbers at the places from `start` up to `stop`, as a new array.

        Raises:
            IndexError: 0 <= start <= stop <= size does not hold.

        >>> Permutation(1_000_000_000, seed=1).run(0, 3).tolist()
        [407969216, 43035044, 346927739]
        """
        if not 0 <= start <= stop <= self.size:
            raise IndexError(
                f"places {start} up to {stop} are out of range: the permutation has {self.size} entries"
            )
        return _core.permute_run(self.size, self.seed, self.epoch, start, stop).view(np.int64)
