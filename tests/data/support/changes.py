"""Writing in place to everything that an element consists of, as numpy, torch and plain Python do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import tfrkit as tfr
from tests.data.support.calls import Failure, difference, outcomes

__all__ = ["arrays_of", "assert_changes_stay", "change"]


def arrays_of(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays in an element, those inside of columns too."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from arrays_of(part)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from arrays_of(part)
    elif isinstance(value, tfr.BytesColumn):
        yield from (value.data, value.offsets)
    elif isinstance(value, tfr.Ragged):
        yield from arrays_of((value.values, value.row_splits))
    elif isinstance(value, tfr.Sparse):
        yield from arrays_of((value.indices, value.values, value.dense_shape))


def change(element: Any) -> None:
    """Write to every array, by torch too, which warns of one that is read-only; and empty the dicts."""
    for array in arrays_of(element):
        assert array.flags.writeable
        if array.dtype == object:
            array[...] = b"changed"
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tensor = torch.from_numpy(array)
        tensor.bitwise_not_() if array.dtype.kind in "bi" else tensor.zero_()
        np.not_equal(array, 7, out=array, casting="unsafe")
    if isinstance(element, dict):
        for part in element.values():
            change_dicts(part)
        element.clear()
    elif isinstance(element, tuple):
        change_dicts(element)


def change_dicts(value: Any) -> None:
    """Empty the dicts in an element."""
    if isinstance(value, tuple):
        for part in value:
            change_dicts(part)
    elif isinstance(value, dict):
        change_dicts(tuple(value.values()))
        value.clear()


def assert_changes_stay(dataset: tfr.Dataset, reference: tfr.Dataset, passes: int = 2) -> None:
    """Run a dataset several times and write to all that it gives: what it gives afterwards is that of another one."""
    for number in range(passes):
        wanted = outcomes(iter(reference))
        iterator = iter(dataset)
        for place, expected in enumerate(wanted):
            found = outcomes(iterator, 1)
            where = difference(found, [expected])
            assert not where, f"pass {number}, element {place}: {where}"
            if not isinstance(found[0], (Failure, str)):
                change(found[0])
        iterator.close()
