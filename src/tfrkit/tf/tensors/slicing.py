"""Indexing a Tensor: `tensor[...]` with TensorFlow's keys and errors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.tf.ops.arrays.gather import boolean_mask
from tfrkit.tf.ops.arrays.strided_slice import strided_slice

__all__ = ["index_value"]

_VALID: Final = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid "
    "indices, got "
)
_INDEX_TYPES: Final = ("int16", "int32", "int64")


def index_value(value: Any, key: Any) -> Any:
    """Return `value[key]` by TensorFlow's rules.

    Args:
        value: the value of a tensor.
        key: an integer, a slice, an ellipsis, None, a scalar tensor of integers, or a tuple or list of them; or a
            tensor or array of bools, which is a mask.

    Raises:
        TypeError: it is something else; the text is TensorFlow's.
        InvalidArgumentError: it is out of range.
    """
    if isinstance(key, (list, tuple)):
        return strided_slice(value, tuple(map(_item, key)))
    mask = getattr(key, "value", key) if hasattr(key, "get_shape") else key
    if isinstance(mask, (bool, np.bool_)) or (isinstance(mask, np.ndarray) and mask.dtype == bool):
        return boolean_mask(value, mask)
    return strided_slice(value, (_item(key),))


def _item(item: Any) -> Any:
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return slice(_bound(item.start), _bound(item.stop), _bound(item.step))
    return _integer(item)


def _bound(given: Any) -> int | None:
    return None if given is None else _integer(given)


def _integer(given: Any) -> int:
    if type(given) is int:
        return given
    if isinstance(given, (bool, np.bool_)):
        raise InvalidArgumentError(
            f"Value for attr 'Index' of bool is not in the list of allowed values: {', '.join(_INDEX_TYPES)}"
        )
    number = given.value if hasattr(given, "value") else given  # of a Tensor or a Dimension
    if isinstance(number, int):
        return number
    if isinstance(number, (np.integer, np.ndarray)) and not number.ndim:
        allowed = _INDEX_TYPES if number is not given else tuple("bhilqBHILQ")
        if (number.dtype.name if number is not given else number.dtype.char) in allowed:
            return int(number)
    raise TypeError(f"{_VALID}{given!r}")
