"""String tensors as arguments: whatever holds byte strings, as one BytesColumn with its shape.

What TensorFlow makes a tensor of strings of, and our own columns and blocks; the texts of refusals are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn

__all__ = ["as_bytes", "as_strings"]

_STRINGS = (bytes, str, bytearray, memoryview)


def as_strings(value: Any) -> BytesColumn:
    """Give byte strings as a column: of shape () for one string, else of the shape of the argument.

    Args:
        value: bytes or str (as UTF-8), nested lists of them, an ndarray of objects or strings, BytesColumn, Block, or
            anything that numpy can make such an array of, as of a tensor.

    Returns:
        The column itself if it is one already; otherwise a copy.

    Raises:
        TypeError: one value is no string.
        ValueError: a list holds other things than strings, or lists of different lengths.

    >>> as_strings([["a", b"b"], ["c", b"d"]]).shape, as_strings(b"xyz").shape
    ((2, 2), ())
    """
    if isinstance(value, BytesColumn):
        return value
    if isinstance(value, _STRINGS):
        return BytesColumn.from_list([value]).reshape(())
    if isinstance(value, Block):
        return BytesColumn.from_list(value.to_list())
    if isinstance(value, (list, tuple)):
        try:
            items, shape = _flatten(value)
        except TypeError:
            raise TypeError(f"Cannot convert {value!r:.100} to EagerTensor of dtype string") from None
        return BytesColumn.from_list(items).reshape(shape)
    if value is None:
        raise ValueError(
            f"Attempt to convert a value (None) with an unsupported type ({type(None)}) to a Tensor."
        )
    array = np.asarray(value)
    if array.dtype.kind not in "SUO" or not all(
        isinstance(item, _STRINGS) for item in array.ravel().tolist()
    ):
        raise TypeError(f"Cannot convert {value!r:.100} to EagerTensor of dtype string")
    return BytesColumn.from_list(array)


def as_bytes(value: Any, argument: str) -> bytes | memoryview:
    """Give the one byte string that an argument is; a str as UTF-8, views of buffers without copying.

    Raises:
        InvalidArgumentError: it is not one string but an array of them, see `as_strings` for other errors.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return memoryview(value).cast("B")
    column = as_strings(value)
    if column.shape != ():
        shape = ",".join(map(str, column.shape))
        raise InvalidArgumentError(f"Expected `{argument}` to be a scalar, got shape: [{shape}]")
    return bytes(column.reshape((1,))[0])


def _flatten(rows: Sequence[Any]) -> tuple[list[Any], tuple[int, ...]]:
    """Take nested lists apart into their strings and the shape; the first item of each level says what is expected."""
    shape: list[int] = []
    items: list[Any] = list(rows)
    while True:
        shape.append(len(items) if not shape else len(items) // max(1, _product(shape)))
        if not items or isinstance(items[0], _STRINGS):
            break
        items = _open_up(items)
    if not all(isinstance(item, _STRINGS) for item in items):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    return items, tuple(shape)


def _open_up(items: list[Any]) -> list[Any]:
    opened: list[Any] = []
    size = None
    for part in items:
        item = part.to_numpy() if isinstance(part, BytesColumn) else part
        item = item.tolist() if isinstance(item, np.ndarray) and item.dtype.kind in "SUO" else item
        if not isinstance(item, (list, tuple)):
            if size is None:
                raise TypeError(f"Cannot convert {item!r:.100} to EagerTensor of dtype string")
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
        if size is not None and len(item) != size:
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
        size = len(item)
        opened += item
    return opened


def _product(sizes: Sequence[int]) -> int:
    return int(np.prod(sizes, dtype=np.int64))
