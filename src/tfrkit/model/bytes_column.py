"""BytesColumn: many byte strings in one buffer, with offsets and a shape.

A value without a Python object for each entry. Nothing here changes it, and threads may share it. What stands for
missing entries is not decided here: a column has a value in every place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn, overload

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.arrow.arrow_layout import (
    ArrowColumn,
    Layout,
    Requested,
    bytes_layout,
    child_of,
    fixed_layout,
)
from tfrkit.model.dlpack import as_torch, dlpack_capsule, pinned
from tfrkit.model.row_selection import IntArray, row_number, select_rows, splits_of

__all__ = ["BytesColumn"]

_SHOWN = 6  # entries in a repr
_SHOWN_BYTES = 24  # bytes of each
_set = object.__setattr__


class BytesColumn(ArrowColumn):
    """Byte strings, entry `i` of the flattened column being `data[offsets[i]:offsets[i + 1]]`.

    Attributes:
        data: the buffer, a uint8 array. It may hold more than the entries, and is read-only if others use it.
        offsets: int64, one more than there are entries, ascending. A slice need not begin at 0.
        shape: as numpy's; entries are in row-major order.

    Indexing is numpy's: an integer, a slice, a list or array of integers or booleans, or a tuple of them. Slices of
    step 1 and rows are views. Two columns are equal if their shapes and all entries are.

    >>> column = BytesColumn.from_list([b"ab", "c", b""])
    >>> column[0], len(column), column[1:]
    (b'ab', 3, BytesColumn(shape=(2,), [b'c', b'']))
    >>> column[[2, 0]].to_list()
    [b'', b'ab']
    """

    __slots__ = ("data", "offsets", "shape")

    data: npt.NDArray[np.uint8]
    offsets: IntArray
    shape: tuple[int, ...]

    def __init__(self, data: Any, offsets: Any, shape: Sequence[int] | None = None) -> None:
        """Wrap a buffer without copying; it must not change any more.

        Args:
            data: anything with the buffer protocol, contiguous.
            offsets: one integer more than there are entries, ascending, within `data`.
            shape: of the column; by default one dimension.

        Raises:
            ValueError: the offsets do not ascend, leave the buffer, or do not fit the shape.
        """
        view = memoryview(data).toreadonly()
        flat = np.frombuffer(view.cast("B"), np.uint8) if view.nbytes else _NO_BYTES
        places = _integers(offsets)
        if places[0] < 0 or places[-1] > len(flat) or bool((places[1:] < places[:-1]).any()):
            raise ValueError(
                f"expected offsets that ascend from at least 0 to at most {len(flat)}, the size of the data, "
                f"but got {_first(places)}"
            )
        count = len(places) - 1
        sizes = (count,) if shape is None else tuple(int(size) for size in shape)
        if math.prod(sizes) != count or min(sizes, default=0) < 0:
            raise ValueError(f"expected a shape of {count} entries but got {sizes}")
        _set(self, "data", flat)
        _set(self, "offsets", places)
        _set(self, "shape", sizes)

    @classmethod
    def unchecked(
        cls, data: npt.NDArray[np.uint8], offsets: IntArray, shape: tuple[int, ...] | None = None
    ) -> BytesColumn:
        """Make a column of arrays that are known to be right, such as a kernel's results; nothing is checked."""
        self = object.__new__(cls)
        _set(self, "data", data)
        _set(self, "offsets", offsets)
        _set(self, "shape", (len(offsets) - 1,) if shape is None else shape)
        return self

    @classmethod
    def from_list(
        cls, values: Iterable[bytes | str | bytearray | memoryview] | npt.NDArray[Any]
    ) -> BytesColumn:
        r"""Make a column of values that are in memory; they are copied.

        Args:
            values: bytes, or str, which is encoded as UTF-8. An array keeps its shape.

        Raises:
            TypeError: a value is of another type; its position is named.

        >>> BytesColumn.from_list(["ü", b"x"]).to_list()
        [b'\xc3\xbc', b'x']
        """
        shape: tuple[int, ...] | None = None
        if isinstance(values, np.ndarray):
            shape = values.shape
            values = values.ravel().tolist()
        items = list(values)
        kinds = set(map(type, items))
        if kinds - {bytes}:
            items = [item.encode() if isinstance(item, str) else item for item in items]
        try:
            data = bytearray().join(items)
        except TypeError:
            raise _wrong_item(items) from None
        lengths = np.fromiter(map(_byte_count if memoryview in kinds else len, items), np.int64, len(items))
        return cls.unchecked(np.frombuffer(data, np.uint8), splits_of(lengths), shape)

    @classmethod
    def concat(cls, columns: Iterable[BytesColumn]) -> BytesColumn:
        """Join columns along the first dimension, copying; the other dimensions must be equal.

        Raises:
            ValueError: there is no column, or their shapes do not fit.
        """
        parts = list(columns)
        if not parts:
            raise ValueError("expected at least one column to concatenate but got none")
        if len(parts) == 1:
            return parts[0]
        inner = parts[0].shape[1:]
        if any(part.shape[1:] != inner or not part.shape for part in parts):
            raise ValueError(
                f"expected columns that differ in their first dimension only but got the shapes "
                f"{[part.shape for part in parts]}"
            )
        data = np.concatenate([part.used() for part in parts])
        offsets = splits_of(np.concatenate([part.lengths.ravel() for part in parts]))
        return cls.unchecked(data, offsets, (sum(part.shape[0] for part in parts), *inner))

    @property
    def lengths(self) -> IntArray:
        """Bytes of each entry, int64, in the column's shape."""
        return np.diff(self.offsets).reshape(self.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of all entries together."""
        return int(self.offsets[-1] - self.offsets[0])

    @property
    def dtype(self) -> np.dtype[np.object_]:
        """That of `to_numpy()`: object."""
        return np.dtype(object)

    def to_list(self) -> list[Any]:
        """All entries as bytes objects, nested as the shape is; one native call."""
        flat: list[Any] = _core.split_records(self.data, self.offsets[:-1], np.diff(self.offsets))
        if len(self.shape) == 1:
            return flat
        return self._objects(flat).tolist()  # type: ignore[no-any-return]

    def to_numpy(self) -> npt.NDArray[np.object_]:
        """All entries as an array of bytes objects, of the same shape."""
        return self._objects(_core.split_records(self.data, self.offsets[:-1], np.diff(self.offsets)))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError(
                "a BytesColumn becomes an array only as a copy: leave out copy=False, or use its data"
            )
        objects = self.to_numpy()
        return objects if dtype is None or np.dtype(dtype) == object else objects.astype(dtype)

    def reshape(self, *shape: Any) -> BytesColumn:
        """Give the same entries another shape, without copying; one size may be -1, as in numpy.

        >>> BytesColumn.from_list([b"a", b"b", b"c", b"d"]).reshape(2, -1).shape
        (2, 2)
        """
        sizes = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        found = np.broadcast_to(np.uint8(0), self.shape).reshape(sizes).shape
        return BytesColumn.unchecked(self.data, self.offsets, found)

    def take(self, indices: Any) -> BytesColumn:
        """The rows at these positions (or where a mask is true), in this order; a copy.

        >>> BytesColumn.from_list([b"a", b"b", b"c"]).take([2, -3]).to_list()
        [b'c', b'a']
        """
        rows = select_rows(indices, len(self))
        shape = (len(rows), *self.shape[1:])
        if len(shape) > 1:
            each = math.prod(shape[1:])
            rows = (rows[:, None] * each + np.arange(each)).ravel()
        return self._entries(rows, shape)

    def arrow_layout(self, requested: Requested = None) -> Layout:
        """Arrow: large_binary (or the binary or string type that is requested), in lists of fixed size if n-D."""
        for _ in self.shape[1:]:
            requested = child_of(requested)
        flat = bytes_layout(self.data, self.offsets, None if requested is None else requested[0])
        return fixed_layout(flat, self.shape)

    def to_torch(self) -> tuple[Any, Any]:
        """The bytes in use as a uint8 tensor, and where each entry begins and ends in it.

        They are on the same memory, except arrays that are read-only, and offsets that do not begin at 0: copies.
        """
        first = self.offsets[0]
        return as_torch(self.used()), as_torch(self.offsets - first if first else self.offsets)

    def pin_memory(self) -> BytesColumn:
        """A copy in pinned memory; PyTorch's DataLoader calls it, if it is to pin what it gives."""
        return BytesColumn.unchecked(pinned(self.used()), pinned(self.offsets - self.offsets[0]), self.shape)

    def __dlpack__(self, **options: Any) -> object:
        return dlpack_capsule(self.used(), options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(
                "len() of unsized object: a BytesColumn without dimensions is one value: take column[()]"
            )
        return self.shape[0]

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> BytesColumn: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        """One entry as bytes (a copy), or a column of some: a view for a row and a slice of step 1, else a copy."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self._rows(start, max(start, stop))
            return self.take(np.arange(start, stop, step))
        if hasattr(index, "__index__") and not isinstance(index, (bool, np.bool_, np.ndarray)) and self.shape:
            row = row_number(index, self.shape[0])
            if len(self.shape) > 1:
                return self._rows(row, row + 1).reshape(self.shape[1:])
            begin, end = self.offsets[row : row + 2].tolist()
            return self.data[begin:end].tobytes()
        entries = np.arange(self.size).reshape(self.shape)[index]
        if np.ndim(entries) == 0 and not isinstance(entries, np.ndarray):
            begin, end = self.offsets[entries : entries + 2].tolist()
            return self.data[begin:end].tobytes()
        return self._entries(entries.ravel(), entries.shape)

    def __iter__(self) -> Iterator[Any]:
        if len(self.shape) == 1:
            return iter(self.to_list())
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BytesColumn):
            return NotImplemented
        if self.shape != other.shape or not np.array_equal(np.diff(self.offsets), np.diff(other.offsets)):
            return False
        return np.array_equal(self.used(), other.used())

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a BytesColumn cannot be changed: {name!r} is read-only")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a BytesColumn cannot be changed: {name!r} is read-only")

    def __copy__(self) -> BytesColumn:
        return self

    def __deepcopy__(self, memo: object) -> BytesColumn:
        return self.compact()

    def __reduce__(self) -> tuple[object, ...]:
        # Only the bytes in use are written, whatever the buffer of a slice holds.
        return _rebuild, (self.used(), self.offsets - self.offsets[0], self.shape)

    def __repr__(self) -> str:
        return f"BytesColumn(shape={self.shape}, {self.shown()})"

    def shown(self) -> str:
        """The first entries for a repr, shortened."""
        if len(self.shape) > 1:
            rows: list[str] = [self[row].shown() for row in range(min(len(self), _SHOWN))]
        else:
            count = min(self.size, _SHOWN)
            rows = [_short(self.data[self.offsets[i] : self.offsets[i + 1]]) for i in range(count)]
        if not self.shape:
            return rows[0]
        return f"[{', '.join(rows)}{', ...' if self.shape[0] > _SHOWN else ''}]"

    def used(self) -> npt.NDArray[np.uint8]:
        """The part of `data` that holds the entries; a view."""
        return self.data[self.offsets[0] : self.offsets[-1]]

    def compact(self) -> BytesColumn:
        """A copy, without what `data` holds besides the entries."""
        offsets = self.offsets
        first, last = offsets.item(0), offsets.item(-1)
        return BytesColumn.unchecked(self.data[first:last].copy(), offsets - first, self.shape)

    def _objects(self, flat: list[bytes]) -> npt.NDArray[np.object_]:
        objects = np.empty(len(flat), object)
        objects[:] = flat
        return objects.reshape(self.shape)

    def _rows(self, start: int, stop: int) -> BytesColumn:
        inner = self.shape[1:]
        each = math.prod(inner)
        return BytesColumn.unchecked(
            self.data, self.offsets[start * each : stop * each + 1], (stop - start, *inner)
        )

    def _entries(self, chosen: IntArray, shape: tuple[int, ...]) -> BytesColumn:
        starts = self.offsets[:-1][chosen]
        lengths = self.offsets[1:][chosen] - starts
        data = _core.gather_runs([self.data], None, starts, lengths)
        return BytesColumn.unchecked(data, splits_of(lengths), shape)


_NO_BYTES = np.frombuffer(b"", np.uint8)


def _rebuild(data: npt.NDArray[np.uint8], offsets: IntArray, shape: tuple[int, ...]) -> BytesColumn:
    return BytesColumn.unchecked(data, offsets, shape)


def _integers(offsets: Any) -> IntArray:
    places = np.asarray(offsets)
    if places.ndim != 1 or not len(places) or places.dtype.kind not in "iu":
        raise ValueError(
            f"expected offsets of one dimension with at least one integer "
            f"but got {places.dtype} of shape {places.shape}"
        )
    return np.ascontiguousarray(places, np.int64)


def _first(places: npt.NDArray[Any]) -> str:
    return f"[{', '.join(map(str, places[:8].tolist()))}{', ...' if len(places) > 8 else ''}]"


def _short(data: npt.NDArray[np.uint8]) -> str:
    text = repr(data[:_SHOWN_BYTES].tobytes())
    return text if len(data) <= _SHOWN_BYTES else f"{text}..."


def _byte_count(item: bytes | bytearray | memoryview) -> int:
    return item.nbytes if isinstance(item, memoryview) else len(item)


def _wrong_item(items: list[Any]) -> TypeError:
    for index, item in enumerate(items):
        if not isinstance(item, (bytes, bytearray, memoryview)):
            return TypeError(f"expected bytes or str but got {type(item).__name__} at index {index}")
    return TypeError("expected memoryviews of contiguous memory but got one with gaps: pass bytes(view)")
