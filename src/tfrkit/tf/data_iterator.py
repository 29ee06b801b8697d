"""Iterators over tf.data.Datasets: Tensors, or what numpy makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfrkit.data.iterator import DatasetIterator
from tfrkit.data.structure import map_structure
from tfrkit.tf.lift import wrap

__all__ = ["NumpyIterator", "OwnedIterator"]


class OwnedIterator(DatasetIterator):
    """An iterator over the elements of a Dataset, as Tensors; see `tfrkit.DatasetIterator`."""

    def __next__(self) -> Any:
        return wrap(super().__next__())

    def next(self) -> Any:
        """The next element, as `next(iterator)` gives it."""
        return self.__next__()


class NumpyIterator:
    """Elements as numpy's scalars, arrays that cannot be written to, and bytes."""

    def __init__(self, iterator: DatasetIterator) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return map_structure(_numpy, wrap(next(self._iterator)))

    def next(self) -> Any:
        """The next element."""
        return self.__next__()


def _numpy(value: Any) -> Any:
    if value is None:
        return None
    made = value.numpy()
    if isinstance(made, np.ndarray):
        made.flags.writeable = False
    return made
