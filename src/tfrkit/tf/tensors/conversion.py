"""Tensors out of anything: tf.convert_to_tensor and what asks whether something is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.tf.functions.lift import unwrap_argument
from tfrkit.tf.ops.arrays import make
from tfrkit.tf.tensors.dtype import as_dtype
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_shape import as_shape
from tfrkit.values.operands import convert, convert_hinted

__all__ = [
    "constant",
    "constant_v1",
    "convert_to_tensor",
    "convert_to_tensor_or_sparse_tensor",
    "convert_to_tensor_v1",
    "get_static_value",
    "is_tensor",
]


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:  # noqa: ARG001
    """Make a Tensor of numbers or strings; arrays are copied.

    Args:
        value: numbers, strings, nested sequences of them, or an array.
        dtype: the type wanted; by default int32 (int64 if it must be), float32, bool or string, and an array's own.
        shape: the shape wanted; a single element is repeated to fill it.
        name: ignored.

    Raises:
        TypeError, ValueError: there is no such Tensor; the text is TensorFlow's.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if type(value) is Tensor and wanted is not None and value.dtype is not wanted:
        raise TypeError(f"Expected tensor {value:} with dtype {wanted!r}, but got dtype {value.dtype!r}.")
    return Tensor(make.constant(unwrap_argument(value), wanted, shape))


def constant_v1(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False
) -> Tensor:
    """The same with the arguments of TensorFlow 1."""
    made = constant(value, dtype, None if verify_shape else shape, name)
    if verify_shape and shape is not None and made.shape != as_shape(shape):
        raise TypeError(f"Expected Tensor's shape: {as_shape(shape)}, got {made.shape}.")
    return made


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,  # noqa: ARG001
) -> Tensor:
    """Make a Tensor of a value; one of the right type is given back as it is.

    Args:
        value: a Tensor, numbers, strings, an array, or nested sequences of them.
        dtype: the type that it must have.
        dtype_hint: the type that it shall have if that goes.
        name: ignored.

    Raises:
        ValueError, TypeError: there is no such Tensor; the text is TensorFlow's.
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
    """The same with the arguments of TensorFlow 1."""
    return convert_to_tensor(value, dtype, preferred_dtype if dtype_hint is None else dtype_hint, name)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """The same; a SparseTensor is given back as it is."""
    return value if isinstance(value, SparseTensor) else convert_to_tensor(value, dtype, None, name)


def is_tensor(x: Any) -> bool:
    """Whether it is a Tensor, RaggedTensor or SparseTensor."""
    return isinstance(x, (Tensor, RaggedTensor, SparseTensor))


def get_static_value(tensor: Any, partial: bool = False) -> Any:  # noqa: ARG001
    """The value of a Tensor as numpy knows it."""
    return tensor.numpy() if isinstance(tensor, Tensor) else convert(tensor)


def _sizes(shape: Any) -> Any:
    sizes = shape.as_list()
    if None in sizes:
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    return np.array(sizes, np.int32 if all(size < 2**31 for size in sizes) else np.int64)
