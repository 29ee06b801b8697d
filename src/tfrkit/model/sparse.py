"""Sparse: values with their coordinates in a larger array, as TensorFlow's SparseTensor has them.

Coordinates need not be sorted, unique or inside the shape: TensorFlow's parsers do not see to that either. What needs
it checks it. It never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NoReturn, overload

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dlpack import as_torch, pinned
from tfrkit.model.nested import fill_value, leaf_values
from tfrkit.model.row_selection import IntArray, row_number, run_positions, select_rows
from tfrkit.optional import require

if TYPE_CHECKING:
    from tfrkit.model.ragged import Ragged

__all__ = ["Sparse", "connect_ragged"]

_SHOWN = 6  # values in a repr
_set = object.__setattr__
_ragged: Final[list[Callable[[Any, IntArray], Any]]] = []  # makes a Ragged of values and lengths


class Sparse:
    """A sparse array: `values[i]` stands at the coordinates `indices[i]`, and zero or b"" everywhere else.

    Attributes:
        indices: int64 of shape (number of values, number of dimensions).
        values: a one-dimensional array or BytesColumn.
        dense_shape: int64, the size of every dimension.

    An integer gives a row: a Sparse of one dimension less, or of one dimension a value. A slice or a list or array of
    integers or booleans gives the Sparse of those rows. Two are equal if all three attributes are; NaN is equal to
    nothing, as in numpy.

    >>> sparse = Sparse([[0, 1], [2, 0]], np.array([5, 6]), [3, 2])
    >>> sparse.to_dense().tolist(), len(sparse)
    ([[0, 5], [0, 0], [6, 0]], 3)
    """

    __slots__ = ("dense_shape", "indices", "values")

    indices: IntArray
    values: Any
    dense_shape: IntArray

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        """Wrap arrays without copying; they must not change any more. Lists are made into arrays.

        Raises:
            ValueError: the three do not fit together, or a size is negative.
        """
        sizes = np.atleast_1d(np.asarray(dense_shape, np.int64))
        flat = leaf_values(values, None)
        places = np.asarray(indices, np.int64)
        if not places.size and places.ndim < 2:
            places = places.reshape(0, len(sizes))
        if sizes.ndim != 1 or not len(sizes) or bool((sizes < 0).any()):
            raise ValueError(f"expected a dense_shape of sizes of at least 0 but got {sizes.tolist()}")
        if flat.ndim != 1:
            raise ValueError(f"expected values of one dimension but got the shape {flat.shape}")
        if places.shape != (len(flat), len(sizes)):
            raise ValueError(
                f"expected indices of shape {(len(flat), len(sizes))}, the numbers of values and of dimensions, "
                f"but got {places.shape}"
            )
        _set(self, "indices", places)
        _set(self, "values", flat)
        _set(self, "dense_shape", sizes)

    @classmethod
    def unchecked(cls, indices: IntArray, values: Any, dense_shape: IntArray) -> Sparse:
        """Make a Sparse of arrays that are known to be right, such as a kernel's results; nothing is checked."""
        self = object.__new__(cls)
        _set(self, "indices", indices)
        _set(self, "values", values)
        _set(self, "dense_shape", dense_shape)
        return self

    @classmethod
    def concat(cls, parts: Iterable[Sparse]) -> Sparse:
        """Join the rows of several, copying; the other dimensions become as large as the largest.

        Raises:
            ValueError: there is none, they differ in number of dimensions, or in kind.
        """
        chosen = list(parts)
        if not chosen:
            raise ValueError("expected at least one Sparse to concatenate but got none")
        if len({part.ndim for part in chosen}) > 1:
            raise ValueError(
                f"expected one number of dimensions but got {sorted({part.ndim for part in chosen})}"
            )
        if len({isinstance(part.values, BytesColumn) for part in chosen}) > 1:
            raise ValueError("expected values of one kind but got bytes and numbers")
        sizes = np.max([part.dense_shape for part in chosen], axis=0)
        sizes[0] = sum(len(part) for part in chosen)
        moved = [part.indices.copy() for part in chosen]
        first = 0
        for part, places in zip(chosen, moved, strict=True):
            places[:, 0] += first
            first += len(part)
        values = [part.values for part in chosen]
        joined = BytesColumn.concat(values) if isinstance(values[0], BytesColumn) else np.concatenate(values)
        return cls.unchecked(np.concatenate(moved), joined, sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """`dense_shape` as a tuple of int."""
        return tuple(self.dense_shape.tolist())

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.dense_shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the values; object for bytes."""
        return self.values.dtype  # type: ignore[no-any-return]

    def to_dense(self, default: Any = 0) -> Any:
        """All places of the array, as TensorFlow's `sparse.to_dense` gives them.

        Args:
            default: the value of places without one. For bytes, 0 means b"".

        Returns:
            An array, or a BytesColumn.

        Raises:
            InvalidArgumentError: coordinates are not in ascending order, repeated or out of bounds.
        """
        self._check_order()
        shape = self.shape
        places = (
            np.ravel_multi_index(tuple(self.indices.T), shape) if len(self.indices) else self.indices[:, 0]
        )
        if isinstance(self.values, BytesColumn):
            fill = b"" if isinstance(default, int) and default == 0 else default
            source = np.full(int(np.prod(self.dense_shape)), len(self.values), np.int64)
            source[places] = np.arange(len(self.values))
            stock = BytesColumn.concat([self.values, BytesColumn.from_list([fill])])
            return stock.take(source).reshape(shape)
        dense = np.empty(shape, self.values.dtype)
        dense[...] = fill_value(default, self.values.dtype)
        dense.ravel()[places] = self.values
        return dense

    def to_ragged(self) -> Ragged:
        """The rows without their coordinates, as TensorFlow's `RaggedTensor.from_sparse` gives them.

        Raises:
            InvalidArgumentError: a row's values do not stand one after another from its begin.
            ValueError: there are not two dimensions.

        >>> Sparse([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 2]).to_ragged().to_list()
        [[1, 2], [], [3]]
        """
        if self.ndim != 2:
            raise ValueError(f"rank(st_input) must be 2. The array has {self.ndim} dimensions.")
        rows, columns = self.indices[:, 0], self.indices[:, 1]
        same = rows[1:] == rows[:-1]
        steps = np.where(same, columns[1:] == columns[:-1] + 1, (rows[1:] > rows[:-1]) & (columns[1:] == 0))
        inside = len(rows) == 0 or (columns[0] == 0 and rows[0] >= 0 and rows[-1] < len(self))
        if not inside or not bool(steps.all()):  # as in TensorFlow, a row may be longer than the shape says
            raise InvalidArgumentError(
                "SparseTensor is not right-ragged: expected the values of every row at columns 0, 1, 2 and so on. "
                "Use to_dense(), or take the values and indices as they are."
            )
        return _ragged[0](self.values, np.bincount(rows, minlength=len(self)))  # type: ignore[no-any-return]

    def to_torch(self) -> Any:
        """A `torch.sparse_coo_tensor` of the numbers, on the same memory; arrays that are read-only are copied.

        Raises:
            MissingExtraError: torch is not installed.
            TypeError: the values are bytes, of which there are no tensors.
        """
        if isinstance(self.values, BytesColumn):
            raise TypeError(
                "torch has no tensors of bytes: expected a Sparse of numbers but its values are bytes"
            )
        torch = require("torch", "to_torch")
        indices, values = as_torch(self.indices).t(), as_torch(self.values)
        return torch.sparse_coo_tensor(indices, values, self.shape, check_invariants=True)

    def pin_memory(self) -> Sparse:
        """A copy in pinned memory; PyTorch's DataLoader calls it, if it is to pin what it gives."""
        values = self.values
        inner = values.pin_memory() if isinstance(values, BytesColumn) else pinned(values)
        return Sparse.unchecked(pinned(self.indices), inner, self.dense_shape)

    def take(self, indices: Any) -> Sparse:
        """The rows at these positions (or where a mask is true), in this order; a copy.

        >>> Sparse([[0, 1], [2, 0]], np.array([5, 6]), [3, 2]).take([2, 2]).to_dense().tolist()
        [[6, 0], [6, 0]]
        """
        rows = select_rows(indices, len(self))
        order = np.argsort(self.indices[:, 0], kind="stable")
        stored = self.indices[order, 0]
        begins, ends = np.searchsorted(stored, rows), np.searchsorted(stored, rows, side="right")
        picked = order[run_positions(begins, ends - begins)]
        places = self.indices[picked]
        places[:, 0] = np.repeat(np.arange(len(rows)), ends - begins)
        values = self.values[picked] if isinstance(self.values, np.ndarray) else self.values.take(picked)
        return Sparse.unchecked(places, values, np.array([len(rows), *self.shape[1:]], np.int64))

    def __len__(self) -> int:
        return int(self.dense_shape[0])

    @overload
    def __getitem__(self, index: slice) -> Sparse: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        """One row, or a Sparse of some; views where the coordinates are in order."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return self.take(np.arange(start, stop, step))
            stop = max(start, stop)
            places, values = self._between(start, stop)
            places = places - np.array([start] + [0] * (self.ndim - 1)) if start else places
            return Sparse.unchecked(places, values, np.array([stop - start, *self.shape[1:]], np.int64))
        if isinstance(index, tuple):
            if len(index) > 1 and not hasattr(index[0], "__index__"):
                raise TypeError("a tuple of indices must begin with an integer: use to_dense() for columns")
            row = self[index[0]] if index else self
            return row[index[1] if len(index) == 2 else index[1:]] if len(index) > 1 else row
        if hasattr(index, "__index__") and not isinstance(index, (bool, np.bool_, np.ndarray)):
            number = row_number(index, len(self))
            return self._row(*self._between(number, number + 1))
        return self.take(index)

    def __iter__(self) -> Iterator[Any]:
        ordered = self if self._in_order() else self.take(np.arange(len(self)))
        ends = np.searchsorted(ordered.indices[:, 0], np.arange(len(self) + 1)).tolist()
        for begin, end in pairwise(ends):
            yield self._row(ordered.indices[begin:end], ordered.values[begin:end])

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise TypeError("a Sparse does not become an array by itself: use to_dense(), or its values")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sparse):
            return NotImplemented
        if not np.array_equal(self.dense_shape, other.dense_shape):
            return False
        if not np.array_equal(self.indices, other.indices):
            return False
        if isinstance(self.values, np.ndarray) and isinstance(other.values, np.ndarray):
            return np.array_equal(self.values, other.values)
        return type(self.values) is type(other.values) and bool(self.values == other.values)

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Sparse cannot be changed: {name!r} is read-only")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Sparse cannot be changed: {name!r} is read-only")

    def __copy__(self) -> Sparse:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Sparse.unchecked, (self.indices, self.values, self.dense_shape)

    def __repr__(self) -> str:
        keys = self.indices[:_SHOWN].tolist()
        values = self.values[:_SHOWN]
        shown = values.to_list() if isinstance(values, BytesColumn) else values.tolist()
        texts = [
            f"({', '.join(map(str, key))}): {value!r:.40}" for key, value in zip(keys, shown, strict=True)
        ]
        more = ", ..." if len(self.indices) > _SHOWN else ""
        dtype = "bytes" if isinstance(self.values, BytesColumn) else self.dtype
        return f"Sparse(dense_shape={self.shape}, dtype={dtype}, {{{', '.join(texts)}{more}}})"

    def _row(self, places: IntArray, values: Any) -> Any:
        """What an integer index gives, of the coordinates and values of that row."""
        if self.ndim > 1:
            return Sparse.unchecked(places[:, 1:], values, self.dense_shape[1:])
        if len(values):
            return values[-1]
        return b"" if isinstance(values, BytesColumn) else values.dtype.type(0)

    def _in_order(self) -> bool:
        rows = self.indices[:, 0]
        return bool((rows[1:] >= rows[:-1]).all())

    def _between(self, start: int, stop: int) -> tuple[IntArray, Any]:
        """Coordinates and values of the rows [start, stop)."""
        rows = self.indices[:, 0]
        if self._in_order():
            begin, end = np.searchsorted(rows, [start, stop]).tolist()
            return self.indices[begin:end], self.values[begin:end]
        inside = np.flatnonzero((rows >= start) & (rows < stop))
        values = self.values[inside] if isinstance(self.values, np.ndarray) else self.values.take(inside)
        return self.indices[inside], values

    def _check_order(self) -> None:
        """Raise TensorFlow's error for the first coordinates that are out of bounds, out of order or repeated."""
        places = self.indices
        outside: npt.NDArray[np.bool_] = ((places < 0) | (places >= self.dense_shape)).any(axis=1)  # type: ignore[assignment]
        step = np.sign(places[1:] - places[:-1])
        first = np.argmax(step != 0, axis=1) if len(step) else np.zeros(0, np.int64)
        ahead = np.take_along_axis(step, first[:, None], axis=1)[:, 0] if len(step) else np.zeros(0, np.int64)
        wrong = outside.copy()
        wrong[1:] |= ahead <= 0
        if not bool(wrong.any()):
            return
        number = int(np.argmax(wrong))
        what = f"indices[{number}] = [{','.join(map(str, places[number].tolist()))}]"
        if outside[number]:
            bounds = ",".join(map(str, self.dense_shape.tolist()))
            raise InvalidArgumentError(f"{what} is out of bounds: need 0 <= index < [{bounds}]")
        if ahead[number - 1] == 0:
            raise InvalidArgumentError(f"{what} is repeated")
        raise InvalidArgumentError(
            f"{what} is out of order. Many sparse ops require sorted indices.\n"
            "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
        )


def connect_ragged(make: Callable[[Any, IntArray], Any]) -> None:
    """Tell how a Ragged is made of values and lengths; `ragged.py` does, which knows this module."""
    _ragged[:] = [make]
