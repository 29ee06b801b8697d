"""decode_raw: byte strings of elements as numbers, all rows of a column in one step, or those of one element.

A shape is that of the numbers of one byte string. Its sizes may be held by other features of the element, and so may
the whole shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.data.elements.columns import RowList, rows, strings_in
from tfrkit.data.features.column_ops import ColumnOp, require_features
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import IntArray
from tfrkit.model.shapes import show_dims
from tfrkit.parsing.payloads.decode_raw import decode_raw

__all__ = ["DecodeRawOp"]

_DIFFERENT: IntArray = np.array([[0], [1]])  # sizes that cannot be taken together


@dataclass(frozen=True)
class DecodeRawOp(ColumnOp):
    """Bytes to numbers, of the given shape for every byte string.

    Attributes:
        key: the feature with byte strings.
        dtype: of the numbers.
        shape: None, sizes or names of features that hold them, or the name of a feature that holds all sizes.
        little_endian: order of the bytes.
    """

    key: str
    dtype: np.dtype[Any]
    shape: Any
    little_endian: bool

    verb = "decode_raw"

    def _shown(self) -> str:
        shape = "" if self.shape is None else f", shape={self.shape!r}"
        return f"{self.key!r}, {self.dtype.name}{shape}"

    def on_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Decode all byte strings in one step if they are equally long."""
        require_features(self, columns, self._used())
        column = columns[self.key]
        if isinstance(column, BytesColumn):
            sizes = _column_sizes(columns, self.shape)
            same = sizes is None or not len(sizes) or bool((sizes == sizes[0]).all())
            lengths = column.lengths
            if same and (not len(lengths) or bool((lengths == lengths[0]).all())):
                one = sizes[0] if sizes is not None and len(sizes) else None
                return columns | {self.key: self._decoded(column, one)}
        names = list(dict.fromkeys(self._used()))
        elements = zip(*(rows(columns[name]) for name in names), strict=True)
        made = [self.on_element(dict(zip(names, each, strict=True)))[self.key] for each in elements]
        return columns | {self.key: RowList(made)}

    def on_element(self, element: dict[str, Any]) -> dict[str, Any]:
        """Decode one, or those of one batch: then the sizes must be the same for all."""
        require_features(self, element, self._used())
        value = strings_in(element[self.key])
        if isinstance(value, bytes):
            value = BytesColumn.from_list([value]).reshape(())
        if not isinstance(value, BytesColumn):
            raise TypeError(f"expected bytes under {self.key!r} but got {type(value).__name__}")
        sizes: Any = self.shape
        if isinstance(sizes, str):
            sizes = _common_row(element[sizes], sizes, 1)
        elif sizes is not None:
            sizes = [_common_row(element[size], size, 0) if isinstance(size, str) else size for size in sizes]
        return element | {
            self.key: self._decoded(value, None if sizes is None else np.asarray(sizes, np.int64))
        }

    def on_spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Sizes that other features hold are not known."""
        require_features(self, spec, self._used())
        outer = spec[self.key].shape
        if outer is None or isinstance(self.shape, str):
            return spec | {self.key: TensorSpec(None, self.dtype)}
        sizes = (None,) if self.shape is None else self.shape
        inner = tuple(size if isinstance(size, (int, np.integer)) and size >= 0 else None for size in sizes)
        return spec | {self.key: TensorSpec((*outer, *inner), self.dtype)}

    def _used(self) -> list[str]:
        """The features it looks at."""
        sizes = [self.shape] if isinstance(self.shape, str) else self.shape or ()
        return [self.key, *(size for size in sizes if isinstance(size, str))]

    def _decoded(self, column: BytesColumn, sizes: IntArray | None) -> npt.NDArray[Any]:
        """Numbers with the shape of the column and then the sizes."""
        decoded = decode_raw(column, self.dtype, self.little_endian)
        if sizes is None:
            return decoded
        wanted = [int(size) for size in sizes]
        values = decoded.shape[-1]
        known = prod(size for size in wanted if size >= 0)
        if wanted.count(-1) == 1 and known and values % known == 0:
            wanted[wanted.index(-1)] = values // known
        if min(wanted, default=0) < 0 or prod(wanted) != values:
            raise InvalidArgumentError(
                f"Input to reshape is a tensor with {values} values, but the requested shape has {known}: "
                f"expected the shape {show_dims([int(size) for size in sizes])}"
            )
        return decoded.reshape(*column.shape, *wanted)


def _common_row(value: Any, name: str, ndim: int) -> Any:
    """What a feature of one element holds; of a batch, what all its rows hold."""
    if isinstance(value, Ragged) and len(value) and len(set(value.row_lengths().tolist())) == 1:
        value = value.to_padded()
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or not ndim <= array.ndim <= ndim + 1:
        raise TypeError(f"expected integers under {name!r}, which is to be a shape, but got {value!r:.60}")
    if array.ndim == ndim:
        return array
    if not len(array) or bool((array != array[0]).any()):
        raise InvalidArgumentError(
            f"expected one shape for all byte strings of a batch but {name!r} holds {array[:3].tolist()}...; "
            "decode before batching"
        )
    return array[0]


def _column_sizes(columns: dict[str, Any], shape: Any) -> IntArray | None:
    """The sizes for every row, as the rows of a matrix; None without a shape. May be refused for single rows later."""
    if shape is None:
        return None
    if isinstance(shape, str):
        found = columns[shape]
        if isinstance(found, Ragged) and len(set(found.row_lengths().tolist())) == 1:
            found = found.to_padded()
        return (
            found
            if isinstance(found, np.ndarray) and found.ndim == 2 and found.dtype.kind in "iu"
            else _DIFFERENT
        )
    parts = [columns[size] if isinstance(size, str) else np.full(1, size, np.int64) for size in shape]
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "iu" for part in parts):
        return _DIFFERENT
    if not parts:
        return np.zeros((1, 0), np.int64)
    return np.stack(np.broadcast_arrays(*parts), axis=1)
