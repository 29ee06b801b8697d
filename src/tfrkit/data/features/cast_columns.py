"""Casting columns of elements to another type, as tf.cast does."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.data.elements.columns import Column, Padded, RowList
from tfrkit.values.cast import cast_value
from tfrkit.values.operands import STRING, cast_array

__all__ = ["cast_column", "cast_value"]


def cast_column(column: Column, dtype: np.dtype[Any]) -> Column:
    """Cast all rows of a column.

    Raises:
        UnimplementedError: of or to strings; the text is TensorFlow's.
    """
    if isinstance(column, Padded):
        filler = column.default if dtype == STRING else cast_array(np.asarray(column.default), dtype)[()]
        return Padded(cast_value(column.ragged, dtype), filler)
    if isinstance(column, RowList):
        return RowList([cast_value(item, dtype) for item in column.items])
    made: Column = cast_value(column, dtype)
    return made
