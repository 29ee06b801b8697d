"""Casting values of elements to another type, as tf.cast does."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.data.columns import Column, Padded, Rows, read_only
from tfrkit.errors import UnimplementedError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse

__all__ = ["cast_column", "cast_value"]

_STRING = np.dtype(object)


def cast_column(column: Column, dtype: np.dtype[Any]) -> Column:
    """Cast all rows of a column.

    Raises:
        UnimplementedError: of or to strings; the text is TensorFlow's.
    """
    if isinstance(column, Padded):
        filler = column.default if dtype == _STRING else _cast_array(np.asarray(column.default), dtype)[()]
        return Padded(cast_value(column.ragged, dtype), filler)
    if isinstance(column, Rows):
        return Rows([cast_value(item, dtype) for item in column.items])
    made: Column = cast_value(column, dtype)
    return made


def cast_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Cast one value: a scalar, an array, or the numbers in a Ragged or Sparse.

    Floats lose what is behind the point, integers wrap round, everything but 0 is True.

    Raises:
        UnimplementedError: of or to strings; the text is TensorFlow's.

    >>> cast_value(np.float32(-2.7), np.dtype("int8")), cast_value(np.array([0, 300]), np.dtype("uint8")).tolist()
    (np.int8(-2), [0, 44])
    """
    if isinstance(value, Ragged):
        return Ragged.unchecked(cast_value(value.values, dtype), value.row_splits)
    if isinstance(value, Sparse):
        return Sparse.unchecked(value.indices, cast_value(value.values, dtype), value.dense_shape)
    if isinstance(value, (bytes, BytesColumn)):
        if dtype == _STRING:
            return value
        raise UnimplementedError(f"Cast string to {op_name(dtype_name(dtype))} is not supported")
    if not isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(
            f"expected a number, an array, a Ragged or a Sparse to cast but got {type(value).__name__}"
        )
    if value.dtype == dtype:
        return value
    if _STRING in (value.dtype, dtype):
        names = [op_name(dtype_name(kind)) for kind in (value.dtype, dtype)]
        raise UnimplementedError(f"Cast {names[0]} to {names[1]} is not supported")
    made = _cast_array(np.asarray(value), dtype)
    return read_only(made) if isinstance(value, np.ndarray) else made[()]


def _cast_array(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    with np.errstate(all="ignore"):  # what does not fit is what the processor makes of it
        return array.astype(dtype)
