"""String tensors as arguments: whatever holds byte strings, as one BytesColumn with its shape.

What TensorFlow makes a tensor of strings of, and our own columns and blocks; the texts of refusals are its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.values.to_array import all_are, leaves_of

__all__ = ["as_bytes", "as_strings"]

_STRINGS = (bytes, str, bytearray, memoryview)


def as_strings(value: Any) -> BytesColumn:
    """Return byte strings as a column: of shape () for one string, else of the shape of the argument.

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
        if all_are(list(value), *_STRINGS):  # buffers are not taken apart
            return BytesColumn.from_list(list(value))
        shape, leaves = leaves_of(value)
        if all_are(leaves, *_STRINGS):
            return BytesColumn.from_list(leaves).reshape(shape)
        if isinstance(leaves[0], _STRINGS):
            raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
        raise TypeError(f"Cannot convert {value!r:.100} to EagerTensor of dtype string")
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
    """Return the one byte string that an argument is; a str as UTF-8, views of buffers without copying.

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
