"""RaggedTensor: a Ragged under TensorFlow's interface."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import RaggedTensorSpec, as_dtype
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.ragged import ragged_make, ragged_shape
from tfrkit.tf.ops.ragged.ragged_index import index_ragged
from tfrkit.tf.ops.strings.string_values import with_flat
from tfrkit.tf.tensors.dtype import DType, dtype_of_numpy
from tfrkit.tf.tensors.ragged_operators import RaggedOperators
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_shape import TensorShape

__all__ = ["RaggedTensor"]


_Lengths = tuple[int | None, ...]


def _maker(make: Callable[..., Any], lengths: Callable[[dict[str, Any]], _Lengths] | None = None) -> Any:
    """A static method of RaggedTensor.

    Args:
        make: makes a Ragged of values.
        lengths: takes the arguments by name and returns the lengths of rows that they decide, outermost first.
    """
    signature = inspect.signature(make)

    @functools.wraps(make)
    def call(*args: Any, **options: Any) -> Any:
        plain = [_plain(arg) for arg in args]
        named = {key: _plain(value) for key, value in options.items()}
        made = make(*plain, **named)
        values = args[0] if args else options.get("values", options.get("flat_values"))
        if not isinstance(made, Ragged):
            return values  # there are no rows
        known = () if lengths is None else lengths(signature.bind(*plain, **named).arguments)
        if isinstance(values, RaggedTensor) and values.uniform:
            known = (*(known or [None] * (made.ragged_rank - values.ragged_rank)), *values.uniform)
        return RaggedTensor(made, known)

    return staticmethod(call)


def _lengths_of_rows(given: dict[str, Any]) -> _Lengths:
    return (int(given["uniform_row_length"]),)


def _lengths_of_array(given: dict[str, Any]) -> _Lengths:
    if given.get("lengths") is not None:
        return ()
    tensor = given["tensor"]
    shape = tensor.shape if isinstance(tensor, BytesColumn) else np.shape(tensor)
    sizes = tuple(shape[1 : given.get("ragged_rank", 1) + 1])
    return sizes if given.get("padding") is None else (*sizes[:-1], None)


class RaggedTensor(RaggedOperators):
    """Rows of different lengths.

    Attributes:
        ragged: the values.
        uniform: the length of all rows, for each ragged dimension that has one.
    """

    __slots__ = ("__weakref__", "ragged", "uniform")

    def __init__(self, ragged: Ragged, uniform: tuple[int | None, ...] = ()) -> None:
        """Wrap values; programs use `from_row_splits` and the like."""
        self.ragged = ragged
        self.uniform = uniform

    # --- how they are made

    from_row_splits = _maker(ragged_make.from_row_splits)
    from_row_lengths = _maker(ragged_make.from_row_lengths)
    from_row_starts = _maker(ragged_make.from_row_starts)
    from_row_limits = _maker(ragged_make.from_row_limits)
    from_value_rowids = _maker(ragged_make.from_value_rowids)
    from_uniform_row_length = _maker(ragged_make.from_uniform_row_length, _lengths_of_rows)
    from_nested_row_splits = _maker(ragged_make.from_nested_row_splits)
    from_nested_row_lengths = _maker(ragged_make.from_nested_row_lengths)
    from_nested_value_rowids = _maker(ragged_make.from_nested_value_rowids)
    from_tensor = _maker(ragged_make.from_tensor, _lengths_of_array)
    from_sparse = _maker(ragged_make.from_sparse)

    # --- what they are

    @property
    def dtype(self) -> DType | None:
        """The type of the entries."""
        return dtype_of_numpy(self.ragged.dtype)

    @property
    def shape(self) -> TensorShape:
        """Number of rows, None for each ragged dimension, then the inner dimensions."""
        sizes = list(self.ragged.shape)
        for level, length in enumerate(self.uniform):
            sizes[level + 1] = length
        return TensorShape(sizes)

    @property
    def ragged_rank(self) -> int:
        """Number of ragged dimensions."""
        return self.ragged.ragged_rank

    @property
    def values(self) -> Any:
        """The values of all rows, one after another: a Tensor, or a RaggedTensor of one ragged dimension less."""
        return self._part(self.ragged.values)

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        return Tensor(self.ragged.flat_values)

    @property
    def row_splits(self) -> Tensor:
        """Where rows begin and end in `values`."""
        return Tensor(self.ragged.row_splits)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of every ragged dimension, outermost first."""
        return tuple(Tensor(splits) for splits in self.ragged.nested_row_splits)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, if they were made with one."""
        length = self.uniform[0] if self.uniform else None
        return None if length is None else Tensor(self.ragged.row_splits.dtype.type(length))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Return the row lengths of every ragged dimension, outermost first."""
        return tuple(Tensor(np.diff(splits)) for splits in self.ragged.nested_row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Return the row numbers of the values of every ragged dimension, outermost first."""
        return tuple(Tensor(_row_numbers(splits)) for splits in self.ragged.nested_row_splits)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the number of entries of the rows of a dimension."""
        return self._part(ragged_shape.row_lengths(self.ragged, axis))

    def row_starts(self, name: str | None = None) -> Tensor:
        """Return where rows begin in `values`."""
        return Tensor(self.ragged.row_splits[:-1])

    def row_limits(self, name: str | None = None) -> Tensor:
        """Return where rows end in `values`."""
        return Tensor(self.ragged.row_splits[1:])

    def value_rowids(self, name: str | None = None) -> Tensor:
        """Return the row number of each of `values`."""
        return Tensor(_row_numbers(self.ragged.row_splits))

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """Return the number of rows."""
        dtype = self.ragged.row_splits.dtype if out_type is None else as_dtype(out_type)
        return Tensor(dtype.type(len(self.ragged)))

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Tensor:
        """Return the sizes of the array that holds all rows."""
        return Tensor(ragged_shape.bounding_shape(self.ragged, _plain(axis), out_type))

    # --- in other forms

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Tensor:
        """Pad rows to an array."""
        return Tensor(ragged_shape.to_tensor(self.ragged, _plain(default_value), _plain(shape)))

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Return the entries with their coordinates."""
        return SparseTensor.of(self.ragged.to_sparse())

    def to_list(self) -> list[Any]:
        """Return all rows as nested lists."""
        return self.ragged.to_list()

    def numpy(self) -> Any:
        """Return an array of arrays, or a plain array if all rows have one length."""
        return _rows_of(self.ragged)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return the same rows with other values."""
        made = ragged_make.as_values(_plain(new_values))
        if len(made) != len(self.ragged.values):
            raise ValueError(f"Shapes ({len(self.ragged.values)},) and ({len(made)},) are incompatible")
        return RaggedTensor(Ragged.unchecked(made, self.ragged.row_splits), self.uniform[:1])

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return the same rows with other innermost values."""
        made = ragged_make.as_values(_plain(new_values))
        if len(made) != len(self.ragged.flat_values):
            raise ValueError(f"Shapes ({len(self.ragged.flat_values)},) and ({len(made)},) are incompatible")
        return RaggedTensor(with_flat(self.ragged, made), self.uniform)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Return the same with splits of another type, int32 or int64."""
        wanted = as_dtype(dtype)
        if wanted not in (np.dtype(np.int32), np.dtype(np.int64)):
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {dtype}.")
        return RaggedTensor(_with_splits(self.ragged, wanted), self.uniform)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Merge dimensions that follow each other."""
        return self._part(
            ragged_shape.merge_dims(self.ragged, outer_axis, inner_axis), whole=outer_axis == inner_axis
        )

    def consumers(self) -> list[Any]:
        """Return an empty list: there is no graph."""
        return []

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        splits = self.ragged.row_splits.dtype
        return RaggedTensorSpec(self.shape.as_list(), self.ragged.dtype, self.ragged_rank, splits)

    # --- how they are used

    def __getitem__(self, key: Any) -> Any:
        keys = tuple(map(_key, key)) if isinstance(key, (tuple, list)) else _key(key)
        return self._part(index_ragged(self.ragged, keys, self.uniform), kept=not isinstance(keys, tuple))

    def __iter__(self) -> Iterator[Any]:
        return (self._part(row) for row in self.ragged)

    def __len__(self) -> NoReturn:
        raise TypeError("object of type 'RaggedTensor' has no len(): use nrows()")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        made = np.empty((), object)
        made[()] = self
        return made

    def __repr__(self) -> str:
        with np.printoptions(formatter={"all": _shown}):
            return f"<tf.RaggedTensor {_shown(self.numpy())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RaggedTensor, (self.ragged, self.uniform)

    def _part(self, value: Any, *, whole: bool = False, kept: bool = False) -> Any:
        """Wrap a part of it: what is known of the lengths below stays known."""
        if not isinstance(value, Ragged):
            return Tensor(value)
        if whole or (kept and value.ragged_rank == self.ragged_rank):
            return RaggedTensor(value, self.uniform)
        known = self.uniform[self.ragged_rank - value.ragged_rank :]
        return RaggedTensor(value, known if value.ragged_rank < self.ragged_rank else ())


def _plain(value: Any) -> Any:
    """Tensors replaced by their values, also in lists."""
    if isinstance(value, RaggedTensor):
        return value.ragged
    if isinstance(value, SparseTensor):
        return value.sparse
    if isinstance(value, Tensor):
        return value.value
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(part) for part in value)
    return value


def _row_numbers(splits: Any) -> Any:
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), np.diff(splits))


def _key(key: Any) -> Any:
    if isinstance(key, slice):
        return slice(_key(key.start), _key(key.stop), _key(key.step))
    return key.value if isinstance(key, Tensor) else key


def _rows_of(value: Any) -> Any:
    """A value as numpy knows it: rows are an array if all rows of their dimension have one length, else objects."""
    if not isinstance(value, Ragged):
        return value.to_numpy() if isinstance(value, BytesColumn) else value
    flat = _rows_of(value.values)
    rows = [flat[start:stop] for start, stop in pairwise(value.row_splits.tolist())]
    if not rows:
        return np.array([], flat.dtype)
    if len({len(row) for row in rows}) == 1:
        return np.stack(rows)
    made = np.empty(len(rows), object)
    for number, row in enumerate(rows):
        made[number] = row
    return made


def _shown(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=", ") if value.size else str(value.tolist())


def _with_splits(value: Ragged, dtype: Any) -> Ragged:
    inner = value.values
    return Ragged.unchecked(
        _with_splits(inner, dtype) if isinstance(inner, Ragged) else inner, value.row_splits.astype(dtype)
    )
