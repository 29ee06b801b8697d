"""Byte strings of elements as numbers: all rows of a column in one step, or one element.

A shape is that of the numbers of one byte string. Its sizes may be held by other features of the element, and so may
the whole shape.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.data.elements.columns import Column, RowList, rows
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.shapes import show_dims
from tfrkit.parsing.payloads.decode_raw import decode_raw

__all__ = ["decode_column", "decode_value"]

IntArray = npt.NDArray[np.int64]


def decode_column(
    columns: dict[str, Any], key: str, dtype: np.dtype[Any], shape: Any, little_endian: bool
) -> Column:
    """Decode the byte strings of all elements.

    Args:
        columns: those of the elements.
        key: the feature with byte strings.
        dtype: of the numbers.
        shape: None, sizes or names of features that hold them, or the name of a feature that holds all sizes.
        little_endian: order of the bytes.

    Raises:
        InvalidArgumentError: some element's bytes do not fit the type or the shape.
        TypeError: the feature holds no bytes, or a size no integers.
    """
    column = columns[key]
    if isinstance(column, BytesColumn):
        sizes = _column_sizes(columns, shape)
        same = sizes is None or not len(sizes) or bool((sizes == sizes[0]).all())
        lengths = column.lengths
        if same and (not len(lengths) or bool((lengths == lengths[0]).all())):
            return _shaped(
                column, dtype, sizes[0] if sizes is not None and len(sizes) else None, little_endian
            )
    used = {name: columns[name] for name in (key, *_names(shape))}
    elements = zip(*(rows(part) for part in used.values()), strict=True)
    return RowList(
        [
            decode_value(dict(zip(used, each, strict=True)), key, dtype, shape, little_endian)
            for each in elements
        ]
    )


def decode_value(
    element: dict[str, Any], key: str, dtype: np.dtype[Any], shape: Any, little_endian: bool
) -> npt.NDArray[Any]:
    """Decode the byte strings of one element, which may be a batch: then its sizes must be the same for all.

    Raises:
        InvalidArgumentError: the bytes do not fit the type or the shape.
        TypeError: the feature holds no bytes, or a size no integers.
    """
    value = element[key]
    if isinstance(value, bytes):
        value = BytesColumn.from_list([value]).reshape(())
    elif isinstance(value, np.ndarray) and value.dtype == object:
        value = BytesColumn.from_list(value)
    if not isinstance(value, BytesColumn):
        raise TypeError(f"expected bytes under {key!r} but got {type(value).__name__}")
    return _shaped(value, dtype, _element_sizes(element, shape), little_endian)


def _shaped(
    column: BytesColumn, dtype: np.dtype[Any], sizes: IntArray | None, little_endian: bool
) -> npt.NDArray[Any]:
    """Numbers with the shape of the column and then the sizes."""
    decoded = decode_raw(column, dtype, little_endian)
    if sizes is None:
        return decoded
    wanted = [int(size) for size in sizes]
    values = decoded.shape[-1]
    known = prod(size for size in wanted if size >= 0)
    if wanted.count(-1) == 1 and known and values % known == 0:
        wanted[wanted.index(-1)] = values // known
    if min(wanted, default=0) < 0 or prod(wanted) != values:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {values} values, but the requested shape has {known}: "
            f"expected the shape {show_dims([int(size) for size in sizes])}"
        )
    return decoded.reshape(*column.shape, *wanted)


def _names(shape: Any) -> list[str]:
    """The features that a shape names, each once."""
    if isinstance(shape, str):
        return [shape]
    return list(dict.fromkeys(size for size in shape or () if isinstance(size, str)))


def _element_sizes(element: dict[str, Any], shape: Any) -> IntArray | None:
    if shape is None:
        return None
    if isinstance(shape, str):
        return np.asarray(_common_row(element[shape], shape, 1), np.int64)
    return np.array(
        [_common_row(element[size], size, 0) if isinstance(size, str) else size for size in shape], np.int64
    )


def _common_row(value: Any, name: str, ndim: int) -> Any:
    """What a feature of one element holds; of a batch, what all its rows hold."""
    if isinstance(value, Ragged) and len(value) and len(set(value.row_lengths().tolist())) == 1:
        value = value.to_padded()
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or not ndim <= array.ndim <= ndim + 1:
        raise TypeError(f"expected integers under {name!r}, which is to be a shape, but got {value!r:.60}")
    if array.ndim == ndim:
        return array
    if not len(array) or bool((array != array[0]).any()):
        raise InvalidArgumentError(
            f"expected one shape for all byte strings of a batch but {name!r} holds {array[:3].tolist()}...; "
            "decode before batching"
        )
    return array[0]


def _column_sizes(columns: dict[str, Any], shape: Any) -> IntArray | None:
    """The sizes for every row, as the rows of a matrix; None without a shape. May be refused for single rows later."""
    if shape is None:
        return None
    if isinstance(shape, str):
        found = columns[shape]
        if isinstance(found, Ragged) and len(set(found.row_lengths().tolist())) == 1:
            found = found.to_padded()
        return (
            found
            if isinstance(found, np.ndarray) and found.ndim == 2 and found.dtype.kind in "iu"
            else _DIFFERENT
        )
    parts = [columns[size] if isinstance(size, str) else np.full(1, size, np.int64) for size in shape]
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "iu" for part in parts):
        return _DIFFERENT
    if not parts:
        return np.zeros((1, 0), np.int64)
    return np.stack(np.broadcast_arrays(*parts), axis=1)


_DIFFERENT: IntArray = np.array([[0], [1]])  # sizes that cannot be taken together
