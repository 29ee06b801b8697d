"""Lifting: an operation on arrays becomes a function on Tensors.

Tensors among the arguments, also in lists, tuples and dicts, are replaced by their values, and the values that come
back by Tensors. Nothing is copied. TensorFlow's argument `name` is dropped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ragged_tensor import RaggedTensor
from tfrkit.tf.sparse_tensor import SparseTensor
from tfrkit.tf.tensor import Tensor

__all__ = ["lift", "unwrap", "wrap"]

_PLAIN: Final = frozenset({int, float, bool, str, bytes, type(None), np.ndarray})


def unwrap(value: Any) -> Any:
    """Replace Tensors by their values, also inside lists, tuples and dicts."""
    kind = type(value)
    if kind is Tensor:
        return value.value
    if kind in _PLAIN:
        return value
    if kind is RaggedTensor:
        return value.ragged
    if kind is SparseTensor:
        return value.sparse
    if isinstance(value, tuple):
        parts = [unwrap(part) for part in value]
        return kind(*parts) if hasattr(value, "_fields") else tuple(parts)
    if kind is list:
        return [unwrap(part) for part in value]
    if kind is dict:
        return {key: unwrap(part) for key, part in value.items()}
    return value


def wrap(value: Any) -> Any:
    """Replace values by Tensors, RaggedTensors and SparseTensors, also inside lists, tuples and dicts."""
    kind = type(value)
    if kind is np.ndarray or kind is bytes or isinstance(value, np.generic):
        return Tensor(value)
    if kind is BytesColumn or kind is RecordColumn:
        return Tensor(value)
    if kind is Ragged:
        return RaggedTensor(value)
    if kind is Sparse:
        return SparseTensor.of(value)
    if isinstance(value, tuple):
        parts = [wrap(part) for part in value]
        return kind(*parts) if hasattr(value, "_fields") else tuple(parts)
    if kind is list:
        return [wrap(part) for part in value]
    if kind is dict:
        return {key: wrap(part) for key, part in value.items()}
    return value


def lift(function: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Make a function on Tensors of an operation on arrays.

    Args:
        function: the operation.
        path: TensorFlow's dotted name of it, under which it pickles.
    """

    @functools.wraps(function)
    def lifted(*args: Any, name: str | None = None, **options: Any) -> Any:  # noqa: ARG001
        if options:
            options = {key: unwrap(value) for key, value in options.items()}
        return wrap(function(*[unwrap(arg) for arg in args], **options))

    lifted.__module__ = "tfrkit.tf"
    lifted.__qualname__ = path
    return lifted
