"""Questions about the types of Tensors that an operation on values cannot answer: a Python number is no tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfrkit.tf.tensors.dtype import DType, as_dtype
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor

__all__ = ["assert_same_float_dtype", "is_numeric_tensor"]


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether something is a tensor of numbers; bools and strings are none."""
    if not isinstance(tensor, (Tensor, RaggedTensor, SparseTensor)):
        return False
    dtype = as_dtype(tensor.dtype)
    return dtype.is_floating or dtype.is_integer or dtype.is_complex


def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: Any = None) -> DType:
    """Check that all tensors have one type of floats, and give it.

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
