"""SparseTensor: a Sparse under TensorFlow's interface."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import SparseTensorSpec
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ops.math import elementwise
from tfrkit.tf.tensors.dtype import DType, dtype_of_numpy
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_shape import TensorShape
from tfrkit.values.operands import convert

__all__ = ["SparseTensor", "SparseTensorValue"]

_INT64 = np.dtype(np.int64)


class SparseTensorValue(NamedTuple):
    """TensorFlow 1's sparse value: three arrays or lists."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor:
    """Values at some places of an array.

    Attributes:
        sparse: the values.
    """

    __slots__ = ("__weakref__", "sparse")
    __tensor_operand__ = True  # a Tensor on the left leaves the work to the right

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        """Put values at indices of an array of a shape.

        Raises:
            ValueError: the arguments do not fit together; the texts are TensorFlow's.
        """
        places = convert(_plain(indices), _INT64)
        sizes = convert(_plain(dense_shape), _INT64)
        entries = convert(_plain(values))
        if np.ndim(places) != 2:
            raise ValueError(
                f"Shape {_shape(places)} must have rank 2: indices are a row of numbers for each value"
            )
        if len(_shape(entries)) != 1:
            raise ValueError(f"Shape {_shape(entries)} must have rank 1: values are a list")
        if not np.ndim(sizes):
            kind = f"{type(sizes).__module__}.{type(sizes).__name__}"
            raise TypeError(
                f"'{kind}' object is not iterable: dense_shape has a size for each dimension, got {sizes}"
            )
        if np.ndim(sizes) != 1:
            raise ValueError(f"Shape {_shape(sizes)} must have rank 1: dense_shape is a list of sizes")
        for size in sizes.tolist():
            if size < 0:
                raise ValueError(f"Dimension {size} must be >= 0")
        for found, wanted, what in (
            (places.shape[0], len(entries), "rows of indices, and values"),
            (places.shape[1], len(sizes), "columns of indices, and sizes in dense_shape"),
        ):
            if found != wanted:
                raise ValueError(f"Dimensions {found} and {wanted} are not compatible: {what}")
        self.sparse = Sparse.unchecked(places, entries, sizes)

    @classmethod
    def of(cls, sparse: Sparse) -> SparseTensor:
        """Wrap values as they are."""
        made = cls.__new__(cls)
        made.sparse = sparse
        return made

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Make a SparseTensor from a SparseTensorValue; return a SparseTensor as it is."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not (isinstance(sparse_tensor_value, tuple) and hasattr(sparse_tensor_value, "dense_shape")):
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor SparseTensorValue."
            )
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Tensor:
        """The coordinates of the values."""
        return Tensor(self.sparse.indices)

    @property
    def values(self) -> Tensor:
        """The values."""
        return Tensor(self.sparse.values)

    @property
    def dense_shape(self) -> Tensor:
        """The sizes of the array."""
        return Tensor(self.sparse.dense_shape)

    @property
    def shape(self) -> TensorShape:
        """The sizes of the array."""
        return TensorShape(self.sparse.shape)

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check the shape.

        Raises:
            ValueError: it differs.
        """
        self.shape.merge_with(shape)

    @property
    def dtype(self) -> DType | None:
        """The type of the values."""
        return dtype_of_numpy(self.sparse.dtype)

    def with_values(self, new_values: Any) -> SparseTensor:
        """Return a SparseTensor with other values at the same places."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def consumers(self) -> list[Any]:
        """Return an empty list: there is no graph."""
        return []

    @property
    def op(self) -> NoReturn:
        """Undefined: there is no graph."""
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> NoReturn:
        """Undefined: there is no graph."""
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Undefined: there is no graph; use the values."""
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.sparse.shape, self.sparse.dtype)

    def __mul__(self, other: Any) -> SparseTensor:
        return self._with(elementwise.multiply, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        return self._with(elementwise.truediv, other)

    def __repr__(self) -> str:
        parts = self.indices, self.values, self.dense_shape
        texts = [str(part) for part in parts]
        return f"SparseTensor(indices={texts[0]}, values={texts[1]}, dense_shape={texts[2]})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseTensor.of, (self.sparse,)

    def __copy__(self) -> SparseTensor:
        return self

    def __deepcopy__(self, memo: Any) -> SparseTensor:
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        made = np.empty((), object)
        made[()] = self
        return made

    def _with(self, function: Any, other: Any) -> SparseTensor:
        given = _plain(other)
        dense = convert(given, self.sparse.dtype) if not isinstance(other, Tensor) else given
        sparse = self.sparse
        there = np.broadcast_to(np.asarray(dense), sparse.shape)[tuple(sparse.indices.T)]
        return SparseTensor.of(
            Sparse.unchecked(sparse.indices, function(sparse.values, there), sparse.dense_shape)
        )


def _plain(value: Any) -> Any:
    """Tensors replaced by their values, also in lists."""
    if isinstance(value, Tensor):
        return value.value
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value


def _shape(value: Any) -> tuple[int, ...]:
    return value.shape if isinstance(value, BytesColumn) else np.shape(value)
