"""Ragged: rows of different lengths as one array of values and where each row begins.

Values may be an array, a BytesColumn or again a Ragged, so that any depth is a few arrays. It never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NoReturn, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.arrow.arrow_layout import (
    ArrowColumn,
    Layout,
    Requested,
    array_layout,
    child_of,
    list_layout,
)
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dlpack import as_torch, dlpack_capsule, pinned
from tfrkit.model.nested import fill_value, flatten_rows, leaf_values
from tfrkit.model.row_selection import IntArray, row_number, run_positions, select_rows, splits_of
from tfrkit.model.sparse import Sparse, connect_ragged

__all__ = ["Ragged"]

_SHOWN = 6  # rows in a repr, and values of each
_set = object.__setattr__


class Ragged(ArrowColumn):
    """Rows of different lengths: row `i` is `values[row_splits[i]:row_splits[i + 1]]`.

    Attributes:
        values: an array, a BytesColumn or a Ragged; its first dimension runs over the values of all rows.
        row_splits: int64 or int32, one more than there are rows; the first is 0, the last `len(values)`.

    An integer gives a row, a slice or a list or array of integers or booleans gives a Ragged. Rows and slices of
    step 1 do not copy values. Two are equal if they have the same rows; NaN is equal to nothing, as in numpy.

    >>> ragged = Ragged.from_list([[1, 2], [], [3]])
    >>> ragged.values.tolist(), ragged.row_splits.tolist(), ragged.shape
    ([1, 2, 3], [0, 2, 2, 3], (3, None))
    >>> ragged[0], ragged[1:]
    (array([1, 2]), Ragged(shape=(2, None), dtype=int64, [[], [3]]))
    """

    __slots__ = ("row_splits", "values")

    values: Any
    row_splits: npt.NDArray[Any]

    def __init__(self, values: Any, row_splits: Any) -> None:
        """Wrap values without copying; they must not change any more.

        Args:
            values: an array of at least one dimension, a BytesColumn or a Ragged. A list is made into an array.
            row_splits: integers that ascend from 0 to the number of values; int32 is kept, the rest becomes int64.

        Raises:
            ValueError: the splits do not ascend, or do not fit the values.
        """
        flat = values if isinstance(values, (BytesColumn, Ragged)) else leaf_values(values, None)
        splits = np.asarray(row_splits)
        if splits.ndim != 1 or not len(splits) or splits.dtype.kind not in "iu":
            raise ValueError(
                "expected row_splits of one dimension with at least one integer "
                f"but got {splits.dtype} of shape {splits.shape}"
            )
        splits = np.ascontiguousarray(splits, np.int32 if splits.dtype == np.int32 else np.int64)
        if splits[0] != 0 or splits[-1] != len(flat) or bool((splits[1:] < splits[:-1]).any()):
            raise ValueError(
                f"expected row_splits that ascend from 0 to {len(flat)}, the number of values, but got {_some(splits)}"
            )
        _set(self, "values", flat)
        _set(self, "row_splits", splits)

    @classmethod
    def unchecked(cls, values: Any, row_splits: npt.NDArray[Any]) -> Ragged:
        """Make a Ragged of arrays that are known to be right, such as a kernel's results; nothing is checked."""
        self = object.__new__(cls)
        _set(self, "values", values)
        _set(self, "row_splits", row_splits)
        return self

    @classmethod
    def from_lengths(cls, values: Any, lengths: Any) -> Ragged:
        """Cut values into rows of these lengths.

        Raises:
            ValueError: a length is negative, or together they are not the number of values.

        >>> Ragged.from_lengths(np.array([1, 2, 3]), [2, 0, 1]).to_list()
        [[1, 2], [], [3]]
        """
        sizes = np.asarray(lengths, np.int64) if not len(lengths) else np.asarray(lengths)
        if sizes.ndim != 1 or sizes.dtype.kind not in "iu":
            raise ValueError(
                f"expected lengths of one dimension, integers, but got {sizes.dtype} of shape {sizes.shape}"
            )
        return cls(values, splits_of(sizes, np.int32 if sizes.dtype == np.int32 else np.int64))

    @classmethod
    def from_list(cls, rows: Iterable[Any], dtype: npt.DTypeLike | None = None) -> Ragged:
        """Make a Ragged of lists that are nested two deep or more.

        Args:
            rows: lists of numbers, of bytes or str (then values are a BytesColumn), of lists and so on; or arrays.
            dtype: of the numbers; by default what numpy chooses.

        Raises:
            ValueError: numbers stand at different depths.

        >>> Ragged.from_list([[[1], [2, 3]], []]).shape
        (2, None, None)
        """
        items = list(rows)
        lengths, flat, deeper = flatten_rows(items)
        values = cls.from_list(flat, dtype) if deeper else leaf_values(flat, dtype)
        return cls.unchecked(values, splits_of(lengths))

    @classmethod
    def concat(cls, parts: Iterable[Ragged]) -> Ragged:
        """Join the rows of several, copying.

        Raises:
            ValueError: there is none, or they differ in depth or inner dimensions.
        """
        chosen = list(parts)
        if not chosen:
            raise ValueError("expected at least one Ragged to concatenate but got none")
        if len({part.ragged_rank for part in chosen}) > 1:
            raise ValueError(
                f"expected one depth but got the ragged ranks {[part.ragged_rank for part in chosen]}"
            )
        if len(chosen) == 1:
            return chosen[0]
        narrow = all(part.row_splits.dtype == np.int32 for part in chosen)
        lengths = np.concatenate([part.row_lengths() for part in chosen])
        splits = splits_of(lengths)
        if narrow and splits[-1] < 2**31:
            splits = splits.astype(np.int32)
        return cls.unchecked(_concat_values([part.values for part in chosen]), splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Number of rows, then None for each ragged dimension, then the inner dimensions."""
        return (len(self), None, *self.values.shape[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the flat values; object for bytes."""
        return self.values.dtype  # type: ignore[no-any-return]

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are ragged."""
        return 1 + (self.values.ragged_rank if isinstance(self.values, Ragged) else 0)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return 1 + int(self.values.ndim)

    @property
    def flat_values(self) -> Any:
        """The array or BytesColumn inside, whatever the depth."""
        return self.values.flat_values if isinstance(self.values, Ragged) else self.values

    @property
    def nested_row_splits(self) -> tuple[npt.NDArray[Any], ...]:
        """The splits of every ragged dimension, outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, Ragged) else ()
        return (self.row_splits, *inner)

    def row_lengths(self) -> npt.NDArray[Any]:
        """Number of values of each row, in the type of the splits."""
        return np.diff(self.row_splits)

    def to_list(self) -> list[Any]:
        """All rows as nested lists of Python values."""
        flat = self.values.to_list() if not isinstance(self.values, np.ndarray) else self.values.tolist()
        splits = self.row_splits.tolist()
        return [flat[start:stop] for start, stop in pairwise(splits)]

    def to_numpy(self) -> npt.NDArray[np.object_]:
        """An array of objects, the rows as they are when indexed: views."""
        rows = np.empty(len(self), object)
        for number, row in enumerate(self):
            rows[number] = row
        return rows

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False or (dtype is not None and np.dtype(dtype) != object):
            raise ValueError(
                "rows of different lengths make an array of objects only: use to_numpy(), or to_padded()"
            )
        return self.to_numpy()

    def to_padded(self, default: Any = 0, length: int | Sequence[int | None] | None = None) -> Any:
        """Fill rows up to one length, as TensorFlow's `RaggedTensor.to_tensor` does.

        Args:
            default: what to fill with: a value, or an array that fits one of the values. For bytes, 0 means b"".
            length: cut or fill rows to this; by default the longest row's. For several ragged dimensions, one for each.

        Returns:
            An array, or a BytesColumn of two or more dimensions.

        >>> Ragged.from_list([[1, 2], [], [3]]).to_padded().tolist()
        [[1, 2], [0, 0], [3, 0]]
        >>> Ragged.from_list([[1, 2], [], [3]]).to_padded(-1, length=1).tolist()
        [[1], [-1], [3]]
        """
        if isinstance(length, Sequence) and not 1 <= len(length) <= self.ragged_rank:
            raise ValueError(
                f"expected a length for each of {self.ragged_rank} ragged dimensions but got {length}"
            )
        first, *others = length if isinstance(length, Sequence) else (length,)
        values = self.values
        if isinstance(values, Ragged):
            values = values.to_padded(default, others or None)
        lengths = self.row_lengths()
        width = int(lengths.max(initial=0)) if first is None else int(first)
        if width < 0:
            raise ValueError(f"expected a length of at least 0 but got {width}")
        if isinstance(values, BytesColumn):
            kept: Any = slice(None)
            if width < lengths.max(initial=0):
                kept = run_positions(self.row_splits[:-1].astype(np.int64), np.minimum(lengths, width))
            return _padded_bytes(values[kept], np.arange(width) < lengths[:, None], default)
        filler = np.empty(values.shape[1:], values.dtype)
        filler[...] = fill_value(default, values.dtype)
        # A memcpy a row: 5 times as fast as numpy's assignment through a mask (benchmarks/parse_sequence.py).
        items = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        padded = _core.pad_rows(items, self.row_splits.astype(np.int64, copy=False), width, filler)
        return padded.view(values.dtype).reshape(len(self), width, *values.shape[1:])

    def to_sparse(self) -> Sparse:
        """The values with their coordinates, in row-major order, as TensorFlow's `RaggedTensor.to_sparse` gives them.

        Values are shared, not copied, unless they have inner dimensions.

        >>> Ragged.from_list([[7, 8], [], [9]]).to_sparse()
        Sparse(dense_shape=(3, 2), dtype=int64, {(0, 0): 7, (0, 1): 8, (2, 0): 9})
        """
        coordinates: list[npt.NDArray[Any]] = [np.arange(len(self))]
        bounds = [len(self)]
        for splits in self.nested_row_splits:
            lengths = np.diff(splits)
            within = np.arange(splits[-1]) - np.repeat(splits[:-1], lengths)
            coordinates = [np.repeat(column, lengths) for column in coordinates] + [within]
            bounds.append(int(lengths.max(initial=0)))
        flat = self.flat_values
        inner = flat.shape[1:]
        if inner:
            grid = np.indices(inner).reshape(len(inner), -1)
            each = grid.shape[1]
            coordinates = [np.repeat(column, each) for column in coordinates]
            coordinates += [np.tile(row, len(flat)) for row in grid]
            flat = flat.reshape(-1)
        indices = np.stack([np.asarray(column, np.int64) for column in coordinates], axis=1)
        return Sparse.unchecked(indices, flat, np.array([*bounds, *inner], np.int64))

    def arrow_layout(self, requested: Requested = None) -> Layout:
        """Arrow: `list` for int32 splits, `large_list` for int64; inner dimensions are lists of fixed size."""
        inner = child_of(requested)
        values = self.values
        child = array_layout(values) if isinstance(values, np.ndarray) else values.arrow_layout(inner)
        return list_layout(self.row_splits, child, None if requested is None else requested[0])

    def to_torch(self) -> tuple[Any, ...]:
        """Values (what BytesColumn and Ragged make of theirs), then row_splits, as tensors on the same memory.

        Arrays that are read-only are copied. For nested rows the splits go from the innermost to the outermost.
        """
        values = self.values
        inner = (as_torch(values),) if isinstance(values, np.ndarray) else values.to_torch()
        return (*inner, as_torch(self.row_splits))

    def pin_memory(self) -> Ragged:
        """A copy in pinned memory; PyTorch's DataLoader calls it, if it is to pin what it gives."""
        values = self.values
        inner = pinned(values) if isinstance(values, np.ndarray) else values.pin_memory()
        return Ragged.unchecked(inner, pinned(self.row_splits))

    def __dlpack__(self, **options: Any) -> object:
        flat = self.flat_values
        return dlpack_capsule(flat.used() if isinstance(flat, BytesColumn) else flat, options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU

    def take(self, indices: Any) -> Ragged:
        """The rows at these positions (or where a mask is true), in this order; a copy.

        >>> Ragged.from_list([[1, 2], [], [3]]).take([2, 0]).to_list()
        [[3], [1, 2]]
        """
        rows = select_rows(indices, len(self))
        starts = self.row_splits[:-1][rows].astype(np.int64, copy=False)
        lengths = self.row_splits[1:][rows] - starts
        splits = splits_of(lengths)
        if self.row_splits.dtype == np.int32 and splits[-1] < 2**31:
            splits = splits.astype(np.int32)
        return Ragged.unchecked(_take_runs(self.values, starts, lengths), splits)

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Ragged: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        """One row (a view), or a Ragged of some; `ragged[i, j]` is `ragged[i][j]`."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return self.take(np.arange(start, stop, step))
            splits = self.row_splits[start : max(start, stop) + 1]
            begin, end = int(splits[0]), int(splits[-1])
            return Ragged.unchecked(self.values[begin:end], splits - splits[0] if begin else splits)
        if isinstance(index, tuple):
            row = self[index[0]] if index else self
            if len(index) > 1 and isinstance(row, Ragged) and not hasattr(index[0], "__index__"):
                raise TypeError("a tuple of indices must begin with an integer: rows differ in length")
            return row[index[1] if len(index) == 2 else index[1:]] if len(index) > 1 else row
        if hasattr(index, "__index__") and not isinstance(index, (bool, np.bool_, np.ndarray)):
            row = row_number(index, len(self))
            begin, end = self.row_splits[row : row + 2].tolist()
            return self.values[begin:end]
        return self.take(index)

    def __iter__(self) -> Iterator[Any]:
        splits = self.row_splits.tolist()
        values = self.values
        return (values[start:stop] for start, stop in pairwise(splits))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ragged):
            return NotImplemented
        if not np.array_equal(self.row_splits, other.row_splits):
            return False
        if isinstance(self.values, np.ndarray) and isinstance(other.values, np.ndarray):
            return np.array_equal(self.values, other.values)
        kinds = (np.ndarray, BytesColumn, Ragged)
        alike = all(isinstance(self.values, kind) == isinstance(other.values, kind) for kind in kinds)
        return alike and bool(self.values == other.values)

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Ragged cannot be changed: {name!r} is read-only")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Ragged cannot be changed: {name!r} is read-only")

    def __copy__(self) -> Ragged:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Ragged.unchecked, (self.values, self.row_splits)

    def __repr__(self) -> str:
        return f"Ragged(shape={self.shape}, dtype={_dtype_name(self)}, {self.shown()})"

    def shown(self) -> str:
        """The first rows for a repr, shortened."""
        rows = [_shown_row(row) for row in self[:_SHOWN]]
        return f"[{', '.join(rows)}{', ...' if len(self) > _SHOWN else ''}]"


Values: TypeAlias = "npt.NDArray[Any] | BytesColumn | Ragged"


def _dtype_name(ragged: Ragged) -> str:
    return "bytes" if isinstance(ragged.flat_values, BytesColumn) else str(ragged.dtype)


def _shown_row(row: Values) -> str:
    if not isinstance(row, np.ndarray):
        return row.shown()
    text = ", ".join(str(value) for value in row[:_SHOWN].tolist())
    return f"[{text}{', ...' if len(row) > _SHOWN else ''}]"


def _some(splits: npt.NDArray[Any]) -> str:
    text = ", ".join(str(value) for value in splits[:8].tolist())
    return f"[{text}, ..., {splits[-1]}]" if len(splits) > 8 else f"[{text}]"


def _take_runs(values: Values, starts: IntArray, lengths: IntArray) -> Values:
    if not isinstance(values, np.ndarray):
        return values.take(run_positions(starts, lengths))
    each = values[:1].nbytes if len(values) else 0
    if not each or not values.flags.c_contiguous:
        return values[run_positions(starts, lengths)]
    data = _core.gather_runs([values], None, starts * each, lengths * each)
    return data.view(values.dtype).reshape(-1, *values.shape[1:])


def _concat_values(parts: list[Any]) -> Values:
    if all(isinstance(part, BytesColumn) for part in parts):
        return BytesColumn.concat(parts)
    if all(isinstance(part, Ragged) for part in parts):
        return Ragged.concat(parts)
    if any(isinstance(part, BytesColumn) for part in parts):
        raise ValueError("expected values of one kind but got bytes and numbers")
    return np.concatenate(parts)


def _padded_bytes(values: BytesColumn, filled: npt.NDArray[np.bool_], default: Any) -> BytesColumn:
    """Entries in the places of `filled`, the default in the others."""
    fill = b"" if isinstance(default, int) and default == 0 else default
    inner = values.shape[1:]
    stock = BytesColumn.concat([values.reshape(-1), BytesColumn.from_list([fill])])
    source = np.full((*filled.shape, *inner), values.size, np.int64)
    source[filled] = np.arange(values.size).reshape(values.shape)
    return stock.take(source.ravel()).reshape(source.shape)


connect_ragged(Ragged.from_lengths)
