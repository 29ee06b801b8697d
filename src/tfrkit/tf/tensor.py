"""Tensor: a value of a pipeline under TensorFlow's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.model.bytes_column import BytesColumn

__all__ = ["Tensor"]


class Tensor:
    """A value that does not change: a number, a string, or an array of them.

    Attributes:
        value: a numpy scalar or array, `bytes`, or a BytesColumn.
    """

    __slots__ = ("__weakref__", "value")

    def __init__(self, value: Any) -> None:
        """Use `tf.constant`; this wraps a value as it is."""
        self.value = value

    def numpy(self) -> Any:
        """The value as numpy knows it: an array, a numpy scalar, or bytes."""
        value = self.value
        return value.to_numpy() if isinstance(value, BytesColumn) else value

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return np.dtype(object) if isinstance(self.value, bytes) else np.dtype(self.value.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return () if isinstance(self.value, bytes) else tuple(self.value.shape)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.numpy(), dtype, copy=copy)
