"""Ownership of arrays: those of an element that a user gets are its own, and may be written to.

The mark for it is numpy's `writeable`. A writeable array in a chunk lies on memory that no other element shares; a
stage that keeps elements as well as passing them on (a cache), or returns rows of a user's arrays, freezes them first:
read-only views, whose own views are read-only too. On the way out to the user, arrays that are read-only or still
referred to elsewhere are copied. So nothing is copied that is not shared.

A user's function may write to its arguments, too. They are handed out in the same way if the input is pure: if the call
is interrupted, they are made again. Elsewhere the function gets copies.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.data.elements.structure import is_nested, map_structure, parts, rebuild
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.sparse import Sparse

__all__ = ["copies_for", "freeze", "freeze_elements", "may_write", "own_elements", "read_only"]


# The attributes of columns that hold arrays, or columns.
_PARTS: Final[dict[type, tuple[str, ...]]] = {
    BytesColumn: ("data", "offsets"),
    Ragged: ("values", "row_splits"),
    Sparse: ("indices", "values", "dense_shape"),
}


def own_elements(elements: list[Any]) -> list[Any]:
    """The elements for a user, who may write to them.

    Args:
        elements: of which the list is the only owner, as far as they are to be given without a copy.

    >>> shared = freeze(np.arange(2))
    >>> (own,) = own_elements([shared])
    >>> own += 1
    >>> own, shared
    (array([1, 2]), array([0, 1]))
    """
    return _core.own_elements(elements, _PARTS, _own)


def copies_for(function: Any, elements: list[Any]) -> list[Any]:
    """The elements as arguments of a user's function, which may write to them and be called again: copies."""
    return _core.copy_elements(elements, _PARTS, _own) if may_write(function) else elements


def may_write(function: Any) -> bool:
    """Whether a user's function may write to its arguments.

    One that turns them into something that cannot be written to says so with an attribute `keeps_values`.
    """
    return not getattr(function, "keeps_values", False)


def freeze_elements(elements: list[Any]) -> list[Any]:
    """The elements for several holders at once: read-only."""
    return _core.freeze_elements(elements, _PARTS, _freeze)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, or a view that cannot be written to."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def freeze(value: Any) -> Any:
    """A column, or one value of an element, on the same memory, which cannot be written to."""
    if isinstance(value, np.ndarray):
        return read_only(value)
    if isinstance(value, BytesColumn) and not isinstance(value, RecordColumn):
        if not value.data.flags.writeable and not value.offsets.flags.writeable:
            return value
        return BytesColumn.unchecked(read_only(value.data), read_only(value.offsets), value.shape)
    if isinstance(value, Ragged):
        return Ragged.unchecked(freeze(value.values), read_only(value.row_splits))
    if isinstance(value, Sparse):
        return Sparse.unchecked(read_only(value.indices), freeze(value.values), read_only(value.dense_shape))
    return value


def _freeze(value: Any, shared: bool) -> Any:  # noqa: ARG001  # the kernel tells it to all
    return map_structure(freeze, value)


def _own(value: Any, shared: bool) -> Any:
    """What arrays are in, and structures that are neither dicts nor tuples; others as they are."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable and not shared else value.copy()
    if isinstance(value, RecordColumn):  # it copies the records when it is asked for them
        return RecordColumn(value.records) if shared else value
    if isinstance(value, BytesColumn):
        if value.data.flags.writeable and value.offsets.flags.writeable and not shared:
            return value
        return value.compact()
    if isinstance(value, Ragged):
        return Ragged.unchecked(_own(value.values, shared), _own(value.row_splits, shared))
    if isinstance(value, Sparse):
        found = (value.indices, value.values, value.dense_shape)
        return Sparse.unchecked(*(_own(part, shared) for part in found))
    return rebuild(value, [_own(part, True) for part in parts(value)]) if is_nested(value) else value
