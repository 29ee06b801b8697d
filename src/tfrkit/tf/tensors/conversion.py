"""Making Tensors of anything, tf.convert_to_tensor, and questions about whether and which Tensor something is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.tf.functions.lift import unwrap_argument
from tfrkit.tf.ops.arrays import make
from tfrkit.tf.tensors.dtype import DType, as_dtype
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_shape import as_shape
from tfrkit.values.operands import convert, convert_hinted

__all__ = [
    "assert_same_float_dtype", "constant", "constant_v1", "convert_to_tensor", "convert_to_tensor_or_sparse_tensor",
    "convert_to_tensor_v1", "get_static_value", "is_numeric_tensor", "is_tensor",
]  # fmt: skip


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """Make a Tensor of numbers or strings; arrays are copied.

    Args:
        value: numbers, strings, nested sequences of them, or an array.
        dtype: the type wanted; by default int32 (int64 if it must be), float32, bool or string, and an array's own.
        shape: the shape wanted; a single element is repeated to fill it.
        name: ignored.

    Raises:
        TypeError, ValueError: the value does not fit; the text is TensorFlow's.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if type(value) is Tensor and wanted is not None and value.dtype is not wanted:
        raise TypeError(f"Expected tensor {value:} with dtype {wanted!r}, but got dtype {value.dtype!r}.")
    return Tensor(make.constant(unwrap_argument(value), wanted, shape))


def constant_v1(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False
) -> Tensor:
    """Make a Tensor, with the arguments of TensorFlow 1."""
    made = constant(value, dtype, None if verify_shape else shape, name)
    if verify_shape and shape is not None and made.shape != as_shape(shape):
        raise TypeError(f"Expected Tensor's shape: {as_shape(shape)}, got {made.shape}.")
    return made


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
) -> Tensor:
    """Make a Tensor of a value; return a Tensor of the right type as it is.

    Args:
        value: a Tensor, numbers, strings, an array, or nested sequences of them.
        dtype: the type that it must have.
        dtype_hint: the type that it gets if possible.
        name: ignored.

    Raises:
        ValueError, TypeError: the value does not fit; the text is TensorFlow's.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if type(value) is Tensor:
        if wanted is not None and value.dtype != wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if isinstance(value, (RaggedTensor, SparseTensor, Ragged, Sparse)):
        raise ValueError(
            f"Attempt to convert a value ({value!r:.300}) with an unsupported type ({type(value)}) to a Tensor."
        )
    if hasattr(value, "as_list"):
        value = _sizes(value)
    given = unwrap_argument(value)
    if wanted is not None:
        return Tensor(make.constant(given, wanted))
    if dtype_hint is not None:
        made = convert_hinted(given, np.dtype(as_dtype(dtype_hint).as_numpy_dtype))
        return Tensor(made.copy() if made is given and isinstance(made, np.ndarray) else made)
    return Tensor(make.constant(given))


def convert_to_tensor_v1(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Tensor:
    """Make a Tensor of a value, with the arguments of TensorFlow 1."""
    return convert_to_tensor(value, dtype, preferred_dtype if dtype_hint is None else dtype_hint, name)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Make a Tensor of a value; return a SparseTensor as it is."""
    return value if isinstance(value, SparseTensor) else convert_to_tensor(value, dtype, None, name)


def is_tensor(x: Any) -> bool:
    """Return whether something is a Tensor, RaggedTensor or SparseTensor."""
    return isinstance(x, (Tensor, RaggedTensor, SparseTensor))


def is_numeric_tensor(tensor: Any) -> bool:
    """Return whether something is a tensor of numbers; a Python number is not one, nor are bools and strings."""
    if not is_tensor(tensor):
        return False
    dtype = as_dtype(tensor.dtype)
    return dtype.is_floating or dtype.is_integer or dtype.is_complex


def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: Any = None) -> DType:
    """Check that all tensors have one type of floats, and return it.

    Raises:
        ValueError: they differ, or are of another type.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    first = None
    for tensor in tensors or ():
        found = as_dtype(tensor.dtype)
        if wanted is None:
            wanted, first = found, tensor
        elif found != wanted:
            beside = f" as {first!s}" if first is not None else ""
            raise ValueError(f"{tensor!s}, type={found!s}, must be of the same type ({wanted!s}){beside}.")
    if wanted is None:
        return as_dtype("float32")
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted!s}.")
    return wanted


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the value of a Tensor as numpy has it."""
    return tensor.numpy() if isinstance(tensor, Tensor) else convert(tensor)


def _sizes(shape: Any) -> Any:
    sizes = shape.as_list()
    if None in sizes:
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    return np.array(sizes, np.int32 if all(size < 2**31 for size in sizes) else np.int64)
