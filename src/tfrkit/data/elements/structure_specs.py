"""Specs of whole elements: a structure with an ElementSpec in place of every value.

Pure: no I/O. What a stage makes of the spec of its input is said by its node; these are the steps they share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.data.elements.columns import Column, Padded
from tfrkit.data.elements.structure import flatten, is_nested, map_structure, require_same
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import (
    ElementSpec,
    NoneTensorSpec,
    SparseTensorSpec,
    TensorSpec,
    dtype_name,
    spec_of_value,
)
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse

__all__ = [
    "batched",
    "check_same_state",
    "empty_batch",
    "merged",
    "shown_types",
    "spec_of",
    "spec_of_columns",
    "types_of",
    "unbatched",
    "without_sizes",
]


def spec_of(element: Any) -> Any:
    """The spec of an element, with all sizes known.

    >>> spec_of((b"x", {"a": None}))
    (TensorSpec(shape=(), dtype=tf.string, name=None), {'a': NoneTensorSpec()})
    """
    return map_structure(spec_of_value, element)


def spec_of_columns(columns: Any) -> Any:
    """The spec of the elements that a structure of columns has as rows.

    Raises:
        ValueError: a column has no rows.
    """
    return map_structure(_row_spec, columns)


def batched(spec: Any, size: int | None) -> Any:
    """The spec of batches of elements; the size is None if it is not always the same.

    >>> batched({"x": TensorSpec([2], "int32")}, None)
    {'x': TensorSpec(shape=(None, 2), dtype=tf.int32, name=None)}
    """
    return map_structure(lambda leaf: leaf.batched(size), spec)


def empty_batch(spec: Any) -> Any:
    """A batch of no elements of a spec; sizes that are not known are 0.

    >>> empty_batch({"x": TensorSpec([2], "int32"), "y": TensorSpec([], "string")})
    {'x': array([], shape=(0, 2), dtype=int32), 'y': BytesColumn(shape=(0,), [])}
    """
    return map_structure(_no_rows, spec)


def unbatched(spec: Any) -> Any:
    """The spec of the rows of elements.

    Raises:
        ValueError: a value has none.
    """
    return map_structure(lambda leaf: leaf.unbatched(), spec)


def without_sizes(spec: Any) -> Any:
    """The spec of elements of which only one is known: the next may have other sizes."""

    def of_leaf(leaf: Any) -> Any:
        shape = getattr(leaf, "shape", None)  # None has none
        return leaf.with_shape(tuple(None for _ in shape)) if shape else leaf

    return map_structure(of_leaf, spec)


def merged(first: Any, second: Any) -> Any | None:
    """The most specific spec that holds for the elements of both; None if none does.

    >>> merged((TensorSpec([2]),), (TensorSpec([3]),))
    (TensorSpec(shape=(None,), dtype=tf.float32, name=None),)
    """
    try:
        require_same(first, second)
    except (TypeError, ValueError):
        return None
    both = map_structure(lambda one, other: one.most_specific_common_supertype([other]), first, second)
    return None if any(leaf is None for leaf in flatten(both)) else both


def types_of(spec: Any, *, kinds: bool = False) -> Any:
    """The types in a spec, as TensorFlow prints them; with `kinds`, of what is no tensor its kind.

    >>> types_of((TensorSpec([2]), TensorSpec([], "string")))
    (tf.float32, tf.string)
    """
    return map_structure(lambda leaf: _TypeName(leaf, kinds=kinds), spec)


def check_same_state(initial: Any, made: Any) -> None:
    """Refuse a new state of a fold that is not of the type of the first.

    Raises:
        InvalidArgumentError: it has another number of values.
        TypeError: a value is of another type.
    """
    one, other = spec_of(initial), spec_of(made)
    counts = len(flatten(one)), len(flatten(other))
    if counts[0] != counts[1]:
        raise InvalidArgumentError(
            "The number of components of the initial state and the reduce function output does not match. "
            f"(initial_state={counts[0]}, output={counts[1]})."
        )
    if any(first.dtype != second.dtype for first, second in zip(flatten(one), flatten(other), strict=True)):
        raise TypeError(
            "The element types for the new state must match the initial state. "
            f"Expected {shown_types(one)} but got {shown_types(other)}."
        )


def shown_types(spec: Any) -> str:
    """The types in a spec, as TensorFlow's errors name them."""
    return str(types_of(spec)) if is_nested(spec) else f"<dtype: '{dtype_name(spec.dtype)}'>"


class _TypeName:
    """A type in a structure, for a message."""

    def __init__(self, spec: ElementSpec, *, kinds: bool) -> None:
        other = kinds and not isinstance(spec, TensorSpec)
        self._name = type(spec).__name__ if other else f"tf.{dtype_name(spec.dtype)}"

    def __repr__(self) -> str:
        return self._name


def _no_rows(leaf: Any) -> Any:
    if isinstance(leaf, NoneTensorSpec):
        return None
    spec = leaf.batched(0)
    shape = tuple(size or 0 for size in spec.shape or (0,))
    rank = getattr(spec, "ragged_rank", 0)
    sizes = (0,) if isinstance(spec, SparseTensorSpec) else shape[rank:]
    sizes = (0, *sizes[1:])  # of the values
    strings = spec.dtype == object
    values: Any = BytesColumn.from_list([]).reshape(*sizes) if strings else np.zeros(sizes, spec.dtype)
    if isinstance(spec, SparseTensorSpec):
        return Sparse(np.zeros((0, len(shape)), np.int64), values, shape)
    for _ in range(rank):
        values = Ragged(values, np.zeros(1, spec.row_splits_dtype))
    return values


def _row_spec(column: Column) -> ElementSpec:
    if isinstance(column, Padded):
        ragged = column.ragged
        return TensorSpec(ragged.shape[1:], ragged.dtype)
    spec: ElementSpec = spec_of_value(column).unbatched()
    return spec
