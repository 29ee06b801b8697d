"""Specs of elements: the type and shape that a value of a pipeline has, as TensorFlow's TypeSpecs say it.

A spec describes one value; the structure of a whole element (dicts, tuples) is a matter of `data`. Types are numpy's,
with `object` for bytes; shapes are tuples in which None stands for a size that is not known, or None for any shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.shapes import Dims, as_dims
from tfrkit.model.sparse import Sparse
from tfrkit.model.tensor_types import tensor_type, tensor_type_of

__all__ = [
    "DatasetSpec",
    "ElementSpec",
    "NoneTensorSpec",
    "RaggedTensorSpec",
    "SparseTensorSpec",
    "TensorSpec",
    "as_dtype",
    "common_shape",
    "compatible_shapes",
    "dtype_name",
    "spec_of_value",
]

_STRING = np.dtype(object)
_set = object.__setattr__


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """The numpy type for TensorFlow's, numpy's or Python's name of a type; object for strings.

    Raises:
        TypeError: it names no type of a tensor.

    >>> as_dtype("string"), as_dtype(np.float64), as_dtype("bool")
    (dtype('O'), dtype('float64'), dtype('bool'))
    """
    if isinstance(dtype, np.dtype):
        found = tensor_type_of(dtype)
        if found is not None:
            return _STRING if found.name == "string" else dtype.newbyteorder("=")
    try:
        return tensor_type(dtype).numpy()
    except TypeError:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {dtype!r} to a TensorFlow DType."
        ) from None


def dtype_name(dtype: np.dtype[Any]) -> str:
    """TensorFlow's name of a numpy type.

    >>> dtype_name(np.dtype(object)), dtype_name(np.dtype("float32"))
    ('string', 'float32')
    """
    found = tensor_type_of(dtype)
    return dtype.name if found is None else found.name


def compatible_shapes(first: Dims | None, second: Dims | None) -> bool:
    """Whether there can be a value that has both shapes.

    >>> compatible_shapes((None, 2), (3, 2)), compatible_shapes((1,), (2,)), compatible_shapes(None, (2,))
    (True, False, True)
    """
    if first is None or second is None:
        return True
    return len(first) == len(second) and all(
        one is None or other is None or one == other for one, other in zip(first, second, strict=True)
    )


def common_shape(first: Dims | None, second: Dims | None) -> Dims | None:
    """The most exact shape that holds the values of both.

    >>> common_shape((1, 2), (3, 2)), common_shape((1,), (1, 2))
    ((None, 2), None)
    """
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(one if one == other else None for one, other in zip(first, second, strict=True))


class ElementSpec:
    """What the kinds of specs have in common: a shape and a type."""

    __slots__ = ()

    shape: Dims | None
    dtype: np.dtype[Any]

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a value has this type and shape, or a value of another spec could.

        Args:
            other: a spec, or a value: an array, a numpy scalar, bytes, a BytesColumn, Ragged or Sparse.
        """
        spec = other if isinstance(other, ElementSpec) else spec_of_value(other)
        if type(spec) is not type(self):
            return False
        return self._fits(spec) and compatible_shapes(self.shape, spec.shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value of this spec is one of another."""
        return bool(self.most_specific_common_supertype([other]) == other)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Self | None:
        """The most exact spec of which the values of this and all others are; None if there is none."""
        shape = self.shape
        for other in others:
            if type(other) is not type(self) or not self._fits(other):
                return None
            if not self._merges(other):
                return None
            shape = common_shape(shape, other.shape)
        return self.with_shape(shape)

    def most_specific_compatible_type(self, other: Any) -> Self:
        """As `most_specific_common_supertype` for one other.

        Raises:
            ValueError: there is none.
        """
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    def with_shape(self, shape: Dims | None) -> Self:
        """The same with another shape."""
        return replace(self, shape=shape)  # type: ignore[type-var]

    def batched(self, size: int | None) -> Any:
        """That of a batch of such values."""
        return self.with_shape(None if self.shape is None else (size, *self.shape))

    def unbatched(self) -> Any:
        """That of the rows of such a value.

        Raises:
            ValueError: it has none.
        """
        if self.shape is None:
            return self
        if not self.shape:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return self.with_shape(self.shape[1:])

    def _fits(self, other: Any) -> bool:
        """Whether everything but the shape is the same."""
        return bool(self.dtype == other.dtype)

    def _merges(self, other: Any) -> bool:
        return True


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TensorSpec(ElementSpec):
    """An array, a numpy scalar or, of type object, bytes and BytesColumn.

    Attributes:
        shape: sizes, None for one that is not known; None if not even the rank is known.
        dtype: numpy's type; object for bytes.
        name: whatever the user says.

    >>> TensorSpec([None, 2], "int32")
    TensorSpec(shape=(None, 2), dtype=tf.int32, name=None)
    >>> TensorSpec([None], "float32").is_compatible_with(np.zeros(3, np.float32))
    True
    """

    shape: Dims | None
    dtype: np.dtype[Any]
    name: str | None

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        _set(self, "shape", as_dims(shape))
        _set(self, "dtype", as_dtype(dtype))
        _set(self, "name", name)

    def __repr__(self) -> str:
        shape = "<unknown>" if self.shape is None else self.shape
        return f"TensorSpec(shape={shape}, dtype=tf.{dtype_name(self.dtype)}, name={self.name!r})"

    def _merges(self, other: Any) -> bool:
        return bool(self.name == other.name)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RaggedTensorSpec(ElementSpec):
    """A Ragged; with `ragged_rank` 0 an array that is a row of one.

    >>> RaggedTensorSpec([None, None], "int32")
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    shape: Dims | None
    dtype: np.dtype[Any]
    ragged_rank: int
    row_splits_dtype: np.dtype[Any]

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = "float32",
        ragged_rank: int | None = None,
        row_splits_dtype: Any = "int64",
    ) -> None:
        dims = as_dims(shape)
        if ragged_rank is None:
            if dims is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = len(dims) - 1
        elif not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if dims is not None and ragged_rank >= len(dims):
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({len(dims)}).")
        _set(self, "shape", dims)
        _set(self, "dtype", as_dtype(dtype))
        _set(self, "ragged_rank", ragged_rank)
        _set(self, "row_splits_dtype", as_dtype(row_splits_dtype))

    def __repr__(self) -> str:
        types = f"tf.{dtype_name(self.dtype)}, {self.ragged_rank}, tf.{dtype_name(self.row_splits_dtype)}"
        return f"RaggedTensorSpec({_tensor_shape(self.shape)}, {types})"

    def is_compatible_with(self, other: Any) -> bool:
        """As of other specs; with `ragged_rank` 0, arrays are good too."""
        if self.ragged_rank == 0 and not isinstance(other, (ElementSpec, Ragged, Sparse)):
            return TensorSpec(self.shape, self.dtype).is_compatible_with(other)
        return ElementSpec.is_compatible_with(self, other)

    def batched(self, size: int | None) -> RaggedTensorSpec:
        """One dimension more, and ragged."""
        shape = None if self.shape is None else (size, *self.shape)
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank + 1, self.row_splits_dtype)

    def unbatched(self) -> RaggedTensorSpec | TensorSpec:
        """One dimension less; the values of a row are as those of an array."""
        if not self.ragged_rank:
            found: TensorSpec = TensorSpec(self.shape, self.dtype).unbatched()
            return found
        shape = None if self.shape is None else self.shape[1:]
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank - 1, self.row_splits_dtype)

    def _fits(self, other: Any) -> bool:
        mine = (self.dtype, self.ragged_rank, self.row_splits_dtype)
        return mine == (other.dtype, other.ragged_rank, other.row_splits_dtype)

    def _merges(self, other: Any) -> bool:
        return self.shape is None or other.shape is None or len(self.shape) == len(other.shape)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SparseTensorSpec(ElementSpec):
    """A Sparse.

    >>> SparseTensorSpec([2, None], "string")
    SparseTensorSpec(TensorShape([2, None]), tf.string)
    """

    shape: Dims | None
    dtype: np.dtype[Any]

    def __init__(self, shape: Any = None, dtype: Any = "float32") -> None:
        _set(self, "shape", as_dims(shape))
        _set(self, "dtype", as_dtype(dtype))

    def __repr__(self) -> str:
        return f"SparseTensorSpec({_tensor_shape(self.shape)}, tf.{dtype_name(self.dtype)})"


@dataclass(frozen=True, slots=True, repr=False)
class NoneTensorSpec(ElementSpec):
    """None, which stays None in a batch.

    >>> NoneTensorSpec()
    NoneTensorSpec()
    """

    def __repr__(self) -> str:
        return "NoneTensorSpec()"

    def is_compatible_with(self, other: Any) -> bool:
        """Whether it is None too."""
        return other is None or isinstance(other, NoneTensorSpec)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> NoneTensorSpec | None:
        """Itself, if all others are the same."""
        return self if all(isinstance(other, NoneTensorSpec) for other in others) else None

    def batched(self, size: int | None) -> NoneTensorSpec:
        """None again."""
        return self

    def unbatched(self) -> NoneTensorSpec:
        """None again."""
        return self


@dataclass(frozen=True, slots=True, repr=False)
class DatasetSpec(ElementSpec):
    """A dataset, as the windows of a dataset are.

    >>> DatasetSpec(TensorSpec([], "int64"))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    element_spec: Any
    make: Any = field(default=None, compare=False)  # makes such a dataset of a node, where that is known

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"

    def is_compatible_with(self, other: Any) -> bool:
        """Whether it is a dataset of such elements."""
        return bool(getattr(other, "element_spec", None) == self.element_spec)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> DatasetSpec | None:
        """Itself, if all others are the same."""
        return self if all(other == self for other in others) else None


def spec_of_value(value: Any) -> ElementSpec:
    """The spec of one value, with all sizes known.

    Args:
        value: a numpy scalar, bytes, an array, BytesColumn, Ragged or Sparse, or None.

    Raises:
        TypeError: it is of another type.

    >>> spec_of_value(np.zeros((2, 3), np.uint8)), spec_of_value(b"x")
    (TensorSpec(shape=(2, 3), dtype=tf.uint8, name=None), TensorSpec(shape=(), dtype=tf.string, name=None))
    """
    if isinstance(value, Ragged):
        return RaggedTensorSpec(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
    if isinstance(value, Sparse):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, bytes):
        return TensorSpec((), _STRING)
    if isinstance(value, (np.ndarray, np.generic, BytesColumn)):
        return TensorSpec(value.shape, value.dtype)
    if value is None:
        return NoneTensorSpec()
    if hasattr(value, "element_spec"):
        return DatasetSpec(value.element_spec)
    raise TypeError(f"expected numpy values, bytes or columns in an element but got {value!r:.60}")


def _tensor_shape(shape: Dims | None) -> str:
    return "TensorShape(None)" if shape is None else f"TensorShape({list(shape)})"
