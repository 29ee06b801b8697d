"""Default values of a spec, converted to the feature's type and shape as TensorFlow converts them.

Arrays are cast; Python's numbers and lists must have the type already: 1.5 is not a default for int64.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dtypes import op_name, type_name
from tfrkit.model.shapes import show_dims
from tfrkit.values.literal import of_literal

__all__ = ["convert_default"]

_DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "int64": np.dtype(np.int64),
    "float32": np.dtype(np.float32),
    "string": np.dtype(object),
}


def convert_default(
    value: Any, name: str, shape: tuple[int, ...], index: int = 0, *, padding: bool = False
) -> Any:
    """Convert a default.

    Args:
        value: what the spec says.
        name: the feature's type: "int64", "float32" or "string".
        shape: the feature's shape.
        index: number of the feature among the fixed ones in alphabetic order, for errors.
        padding: the default is the value to pad with; TensorFlow then reshapes tensors, too.

    Returns:
        A contiguous array, or a list of bytes, of as many values as the shape has.

    Raises:
        InvalidArgumentError: there are more or fewer values.
        TypeError: they are of another type.
        ValueError: a feature cannot hold them.

    >>> convert_default([7, 8], "int64", (2, 1)).tolist()
    [7, 8]
    """
    if hasattr(value, "numpy") and hasattr(value, "shape"):
        value = _of_tensor(value, name, None if padding else shape, index)
    if isinstance(value, BytesColumn):
        value = value.to_numpy()
    flat = _of_array(value, name) if isinstance(value, (np.ndarray, np.generic)) else _of_python(value, name)
    wanted = math.prod(shape)
    if len(flat) != wanted:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {len(flat)} values, but the requested shape has {wanted}"
        )
    return flat


def _of_tensor(value: Any, name: str, shape: tuple[int, ...] | None, index: int) -> Any:
    """Tensors are taken as they are; TensorFlow neither casts nor reshapes them."""
    given = type_name(value.dtype)
    if given != name:
        raise InvalidArgumentError(
            f"Value for attr 'Tdense' of {op_name(given)} is not in the list of allowed values: float, int64, string"
            if given not in _DTYPES
            else f"expected a default of type {op_name(name)} but got a tensor of {op_name(given)}"
        )
    array = np.asarray(value.numpy())
    if shape is not None and array.shape != shape:
        raise InvalidArgumentError(
            f"def_value[{index}].shape() == {show_dims(array.shape)} is not compatible with "
            f"dense_shapes_[{index}] == {show_dims(shape)}"
        )
    return array


def _of_array(value: Any, name: str) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return _of_python(array.ravel().tolist(), name)
    if name == "string" and array.dtype.kind not in "SU":
        item = type(array.ravel().tolist()[0]).__name__ if array.size else array.dtype.name
        raise ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported object type {item}).")
    if name != "string" and array.dtype.kind in "SU":
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {op_name(name)}")
    if name == "string":
        return [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(array.ravel().astype(_DTYPES[name]))


def _of_python(value: Any, name: str) -> Any:
    flat = of_literal(value, _DTYPES[name]).ravel()
    return flat.tolist() if name == "string" else flat
