"""How a column looks in Arrow's columnar format, and the protocol methods that hand it over without copying.

A layout is a tree of plain tuples which `_core` turns into the structures of Arrow's C data interface. Knows arrays and
bytes, and no column class: those derive from `ArrowColumn` and say what their layout is. Pyarrow is not needed.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.optional import require

__all__ = [
    "NUMBER_FORMATS",
    "ArrowColumn",
    "Layout",
    "Requested",
    "array_layout",
    "bytes_layout",
    "child_of",
    "export_layout",
    "fixed_layout",
    "list_layout",
]

NUMBER_FORMATS: Final[dict[str, np.dtype[Any]]] = {
    "c": np.dtype(np.int8),
    "C": np.dtype(np.uint8),
    "s": np.dtype(np.int16),
    "S": np.dtype(np.uint16),
    "i": np.dtype(np.int32),
    "I": np.dtype(np.uint32),
    "l": np.dtype(np.int64),
    "L": np.dtype(np.uint64),
    "e": np.dtype(np.float16),
    "f": np.dtype(np.float32),
    "g": np.dtype(np.float64),
}
_FORMATS: Final = {dtype: code for code, dtype in NUMBER_FORMATS.items()}
_NULLABLE: Final = 2
_MAX_INT32: Final = 2**31 - 1

Valid: TypeAlias = npt.NDArray[np.bool_] | None
Requested: TypeAlias = (
    tuple[Any, ...] | None
)  # (format, name, flags, children, dictionary), as _core.read_arrow_schema gives it


class Layout(NamedTuple):
    """One array with its schema."""

    format: str
    name: str
    flags: int
    length: int
    null_count: int
    buffers: tuple[Any, ...]
    children: tuple[Layout, ...] = ()

    def named(self, name: str) -> Layout:
        """The same under another name."""
        return Layout(self[0], name, *self[2:])

    def masked(self, valid: Valid) -> Layout:
        """The same with nulls where `valid` is false."""
        if valid is None or bool(valid.all()):
            return self
        nulls = len(valid) - int(np.count_nonzero(valid))
        bits = np.packbits(valid, bitorder="little")
        return self._replace(null_count=nulls, buffers=(bits, *self.buffers[1:]))


def array_layout(array: npt.NDArray[Any]) -> Layout:
    """Numbers or booleans; further dimensions are lists of fixed size. Booleans are copied: Arrow packs them in bits.

    Raises:
        TypeError: the dtype has no counterpart.

    >>> layout = array_layout(np.zeros((4, 3), np.float32))
    >>> layout.format, layout.length, layout.children[0].format
    ('+w:3', 4, 'f')
    """
    if array.ndim == 1 and array.flags.c_contiguous and (code := _FORMATS.get(array.dtype)) is not None:
        return _leaf(code, len(array), (None, array))
    flat = np.ascontiguousarray(array.ravel())
    flat = flat.astype(flat.dtype.newbyteorder("="), copy=False)
    if flat.dtype == bool:
        leaf = _leaf("b", len(flat), (None, np.packbits(flat, bitorder="little")))
    elif flat.dtype in _FORMATS:
        leaf = _leaf(_FORMATS[flat.dtype], len(flat), (None, flat))
    else:
        raise TypeError(f"expected numbers, booleans or bytes for Arrow but got {array.dtype}")
    return fixed_layout(leaf, array.shape)


def bytes_layout(
    data: npt.NDArray[np.uint8], offsets: npt.NDArray[Any], requested: str | None = None
) -> Layout:
    """Byte strings: large_binary, or what is requested of binary, utf8 and large_utf8 if the values are that."""
    count = len(offsets) - 1
    code = requested if requested in ("z", "u", "U") else "Z"
    if code in "uU" and not _is_utf8(data, offsets):
        code = "Z"
    if code in "zu":
        if offsets[-1] > _MAX_INT32:
            code = {"z": "Z", "u": "U"}[code]
        else:
            offsets = offsets.astype(np.int32)
    return _leaf(code, count, (None, np.ascontiguousarray(offsets), data))


def list_layout(splits: npt.NDArray[Any], child: Layout, requested: str | None = None) -> Layout:
    """Lists: `list` for int32 splits and `large_list` for int64, or what is requested of the two."""
    if requested == "+l" and splits[-1] <= _MAX_INT32:
        splits = splits.astype(np.int32, copy=False)
    elif requested == "+L":
        splits = splits.astype(np.int64, copy=False)
    code = "+l" if splits.dtype == np.int32 else "+L"
    buffers = (None, np.ascontiguousarray(splits))
    return Layout(code, "", _NULLABLE, len(splits) - 1, 0, buffers, (child.named("item"),))


def fixed_layout(leaf: Layout, shape: tuple[int, ...]) -> Layout:
    """Give flat values a shape: each dimension after the first is a list of fixed size."""
    layout = leaf
    for axis in range(len(shape) - 1, 0, -1):
        count = int(np.prod(shape[:axis]))
        layout = Layout(f"+w:{shape[axis]}", "", _NULLABLE, count, 0, (None,), (layout.named("item"),))
    return layout


def export_layout(layout: Layout) -> tuple[object, object]:
    """Make the capsules `arrow_schema` and `arrow_array`; they keep the buffers alive."""
    return _core.export_arrow_schema(layout), _core.export_arrow_array(layout)


class ArrowColumn:
    """What makes a column known to Arrow: pyarrow, pandas, polars, duckdb and others take it as it is."""

    __slots__ = ()

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        raise NotImplementedError

    def arrow_layout(self, requested: Requested = None) -> Layout:
        """The column's layout, as near to the requested type as goes without changing values."""
        raise NotImplementedError

    def __arrow_c_schema__(self) -> object:
        return _core.export_arrow_schema(self.arrow_layout())

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        requested = None if requested_schema is None else _core.read_arrow_schema(requested_schema)
        return export_layout(self.arrow_layout(requested))

    def to_arrow(self) -> Any:
        """A pyarrow array on the same memory.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        return require("pyarrow", "to_arrow").array(self)


def child_of(requested: Requested) -> Requested:
    """The requested type of the values inside a list."""
    return requested[3][0] if requested is not None and len(requested[3]) == 1 else None


def _leaf(code: str, length: int, buffers: tuple[Any, ...]) -> Layout:
    return Layout(code, "", _NULLABLE, length, 0, buffers)


def _is_utf8(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> bool:
    """Whether every entry is UTF-8 by itself: together they are, and none begins inside a character."""
    used = data[offsets[0] : offsets[-1]]
    try:
        str(used, "utf-8")
    except UnicodeDecodeError:
        return False
    begins = (offsets[:-1] - offsets[0])[offsets[:-1] < offsets[-1]]
    return not bool(((used[begins] & 0xC0) == 0x80).any())
