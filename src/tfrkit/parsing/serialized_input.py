"""SerializedInput: serialised examples in any form that the parsers accept, as pieces for the kernels.

A piece is `(data, offsets, lengths)` or a list of bytes. Data are copied only where they must be; the file positions
that a block knows are kept for errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.record_rows import RecordRows
from tfrkit.model.shapes import show_dims

__all__ = ["InputPosition", "SerializedInput", "as_records", "as_scalar"]

_SHOWN: Final = 200  # characters of a wrong value in an error
_NUMBERS: Final = {int: np.int32, float: np.float32, bool: np.bool_}  # what TensorFlow makes of Python's


class InputPosition(NamedTuple):
    """Position of an example in its file; None for what is not known."""

    path: str | None
    record: int | None
    offset: int | None


_NOWHERE: Final = InputPosition(None, None, None)


class SerializedInput:
    """Serialised examples, ready for a kernel.

    Attributes:
        pieces: what the native plans take.
        count: number of examples.
        scalar: the input was one example, not a batch.
    """

    __slots__ = ("_sources", "count", "pieces", "scalar")

    def __init__(self, pieces: list[Any], sources: list[Any], count: int, *, scalar: bool = False) -> None:
        self.pieces = pieces
        self._sources = sources  # a Block, RecordRows, a BytesColumn or a list of bytes for each piece
        self.count = count
        self.scalar = scalar

    def __getitem__(self, row: int) -> bytes:
        """The bytes of one example."""
        source, inner = self._find(row)
        found: bytes = source[inner]
        return found

    def place(self, row: int) -> InputPosition:
        """Where an example came from."""
        source, inner = self._find(row)
        return InputPosition(source.path, *source.place(inner)) if isinstance(source, Block) else _NOWHERE

    def _find(self, row: int) -> tuple[Any, int]:
        for source in self._sources:
            if row < len(source):
                return source.find(row) if isinstance(source, RecordRows) else (source, row)
            row -= len(source)
        raise IndexError(f"expected a row of {self.count} but got {row}")


def as_scalar(serialized: Any) -> SerializedInput:
    """Take one serialised example; a batch is refused.

    Raises:
        ValueError: it is not a single example.
    """
    records = as_records(serialized, matrix=True)
    if not records.scalar:
        raise ValueError("Input serialized must be a scalar")
    return records


def as_records(serialized: Any, *, strict: bool = False, matrix: bool = False) -> SerializedInput:
    """Take serialised examples in any of the forms that the parsers accept.

    Args:
        serialized: bytes; a list, tuple or array of them; a Block, a list or iterator of Blocks; a BytesColumn; an
            Arrow array of binary; a message or a list of messages.
        strict: refuse an empty list, of which TensorFlow makes a tensor of floats.
        matrix: more than one dimension is refused with the text for a single example.

    Raises:
        InvalidArgumentError: there are more dimensions than one.
        ValueError: it is something else.
    """
    if isinstance(serialized, bytes):
        return SerializedInput([[serialized]], [[serialized]], 1, scalar=True)
    if isinstance(serialized, Block):
        return SerializedInput([serialized.piece], [serialized], len(serialized))
    if isinstance(serialized, BytesColumn):
        return _of_column(serialized, matrix)
    if isinstance(serialized, (list, tuple)):
        if not serialized and strict:
            raise _wrong_dtype(np.zeros(0, np.float32))
        return _of_items(serialized, matrix)
    one = _one_record(serialized)
    if one is not None:
        return SerializedInput([[one]], [[one]], 1, scalar=True)
    if hasattr(serialized, "__arrow_c_stream__") or hasattr(serialized, "__arrow_c_array__"):
        return _of_arrow(serialized)
    if hasattr(serialized, "__array__"):
        return _of_array(np.asarray(serialized), matrix)
    if isinstance(serialized, Iterator):
        return _of_items(list(serialized), matrix)
    raise _wrong_value(serialized)


def _one_record(value: Any) -> bytes | None:
    """The bytes of what can only be one example, or None."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if hasattr(value, "SerializeToString"):
        message: bytes = value.SerializeToString()
        return message
    if hasattr(value, "__array__") and tuple(getattr(value, "shape", (0,))) == ():
        item = np.asarray(value).item()  # a tensor or array of one string
        return _one_record(item) if isinstance(item, (bytes, str)) else None
    return None


def _of_items(items: list[Any] | tuple[Any, ...], matrix: bool) -> SerializedInput:
    types = set(map(type, items))
    if types <= {bytes}:
        return SerializedInput([items if isinstance(items, list) else list(items)], [items], len(items))
    if types == {Block}:
        pieces: list[Any] = [block.piece for block in items]
        return SerializedInput(pieces, list(items), sum(map(len, items)))
    records = [_one_record(item) for item in items]
    found = [record for record in records if record is not None]
    if len(found) == len(items):
        return SerializedInput([found], [found], len(found))
    if not found:
        nested = [as_records(item, matrix=True) for item in items if _is_batch(item)]
        if len(nested) == len(items):
            raise _refuse_matrix((len(items), nested[0].count), matrix)
        if matrix and type(items[0]) in _NUMBERS:
            raise _refuse_matrix((len(items),), matrix)
        raise _wrong_value(items)
    error = ValueError("Can't convert Python sequence with mixed types to Tensor.")
    wrong = records.index(None)
    error.add_note(f"Expected bytes but got {type(items[wrong]).__name__} at index {wrong}.")
    raise error


def _is_batch(item: Any) -> bool:
    return isinstance(item, (list, tuple, np.ndarray, BytesColumn))


def _of_column(column: BytesColumn, matrix: bool) -> SerializedInput:
    if column.ndim > 1:
        raise _refuse_matrix(column.shape, matrix)
    if not column.ndim:
        value = column.to_numpy().item()
        return SerializedInput([[value]], [[value]], 1, scalar=True)
    if isinstance(column, RecordColumn):
        return SerializedInput(column.records.pieces(), [column.records], len(column))
    piece = (column.data, column.offsets[:-1], np.diff(column.offsets))
    return SerializedInput([piece], [column], len(column))


def _of_array(array: np.ndarray[Any, Any], matrix: bool) -> SerializedInput:
    if array.ndim > 1 or (array.ndim and matrix):
        raise _refuse_matrix(array.shape, matrix)
    if array.dtype.kind not in "OSU":
        raise _wrong_dtype(array)
    if not array.ndim:
        return as_records(array.item(), matrix=matrix)
    # Of an S array numpy and TensorFlow leave out zero bytes at the end, which an example may well have: use objects.
    return _of_items(array.tolist(), matrix)


def _of_arrow(source: Any) -> SerializedInput:
    from tfrkit.model.arrow.arrow_exchange import import_stream

    names, columns, count, _ = import_stream(source)
    if len(columns) != 1:
        raise ValueError(f"expected one column of serialised examples but got {len(columns)}: {list(names)}")
    values, valid, _ = columns[0]
    if not isinstance(values, BytesColumn):
        raise ValueError(
            f"expected an Arrow array of binary but got {type(values).__name__} of {count} values"
        )
    if valid is not None and not bool(np.all(valid)):
        raise ValueError(f"expected no null among the examples but got one at index {int(np.argmin(valid))}")
    return _of_column(values, matrix=False)


def _refuse_matrix(shape: Iterable[int], matrix: bool) -> Exception:
    if matrix:
        return ValueError("Input serialized must be a scalar")
    return InvalidArgumentError(
        f"Expected serialized to be a scalar or vector, got shape: {show_dims(shape)}"
    )


def _wrong_dtype(array: np.ndarray[Any, Any]) -> ValueError:
    """TensorFlow's words for numbers in the place of bytes."""
    shown = repr(array) if array.ndim else str(array)
    return ValueError(
        f"Tensor conversion requested dtype string for Tensor with dtype {array.dtype.name}: "
        f"<tf.Tensor: shape={array.shape}, dtype={array.dtype.name}, numpy={shown}>"
    )


def _wrong_value(value: Any) -> ValueError:
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    dtype = _NUMBERS.get(type(first))
    if dtype is not None:
        return _wrong_dtype(np.asarray(value, dtype))
    shown = str(first)[:_SHOWN]
    return ValueError(
        f"Attempt to convert a value ({shown}) with an unsupported type ({type(first)}) to a Tensor."
    )
