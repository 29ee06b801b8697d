"""Stored values to numbers of the type and shape that a feature has: casts, and byte strings of raw numbers.

Whole columns at a time; byte strings whose shapes differ become rows of their own.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.data.elements.columns import Column, RowList
from tfrkit.errors import DataLossError
from tfrkit.folders.decode.nest import shaped_rows
from tfrkit.folders.decode.stored_keys import BadValue
from tfrkit.folders.feature_tree import Dims, show_shape
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import IntArray, splits_of
from tfrkit.parsing.payloads.decode_compressed import inflate_zlib

__all__ = ["cast_stored", "decode_encoded", "inflate_each", "lowest_value", "stored_type"]


def stored_type(dtype: np.dtype[Any]) -> str:
    """Return the type of the list of values that numbers of a type are stored in.

    >>> stored_type(np.dtype(bool)), stored_type(np.dtype("float64")), stored_type(np.dtype(object))
    ('int64', 'float32', 'bytes')
    """
    return {"O": "bytes", "b": "int64", "i": "int64", "u": "int64"}.get(dtype.kind, "float32")


def lowest_value(dtype: np.dtype[Any]) -> Any:
    """Return what stands for an absent optional value, as it is parsed: the lowest number of the type, as float32.

    >>> lowest_value(np.dtype("int8")), lowest_value(np.dtype("float64")), lowest_value(np.dtype(object))
    (-128, -inf, b'')
    """
    if dtype.kind == "O":
        return b""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min)
    if dtype.kind == "b":
        return 0
    with np.errstate(over="ignore"):
        return float(np.float32(np.finfo(dtype).min))


def cast_stored(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return values with their type: unsigned numbers of 64 bits are stored with the same bits, booleans as 0 and 1."""
    if dtype.kind == "O":
        return values
    if dtype == np.uint64:
        return values.view(np.uint64)
    if dtype.kind == "b":
        return values != 0
    return values.astype(dtype, copy=False)


def inflate_each(column: BytesColumn, dtype: np.dtype[Any], shape: Dims) -> BytesColumn:
    """Decompress byte strings of raw numbers.

    Args:
        column: the byte strings.
        dtype: of the numbers.
        shape: of each array; if it is known no more than that is decompressed.

    Raises:
        BadValue: one is damaged, or is longer than its shape.
    """
    most = 0 if None in shape else prod(_known(shape)) * dtype.itemsize
    limit = 0 if None in shape else most + 1
    strings = []
    for row, data in enumerate(column.to_list()):
        try:
            strings.append(inflate_zlib(data, limit))
        except DataLossError as error:
            raise BadValue(row, f"its value cannot be decompressed: {error}") from None
        if limit and len(strings[-1]) > most:
            raise BadValue(row, f"its value has more than the {most} bytes of the shape {show_shape(shape)}")
    return BytesColumn.from_list(strings)


def decode_encoded(column: BytesColumn, dtype: np.dtype[Any], shape: Dims, sizes: IntArray | None) -> Column:
    """Return byte strings of raw numbers as arrays, one for each.

    Args:
        column: the byte strings, decompressed.
        dtype: of the numbers.
        shape: of each array.
        sizes: the shape of each, a row of a matrix, where more than one size of `shape` is None.

    Raises:
        BadValue: a byte string has not the length that its shape says.
    """
    values = _raw_numbers(column, dtype)
    lengths = column.lengths
    if sizes is None and None not in shape:
        _check_lengths(lengths, np.full(len(lengths), prod(_known(shape)) * dtype.itemsize), shape)
        return values.reshape((len(lengths), *_known(shape)))
    if sizes is None:
        each = prod(_known(shape)) * dtype.itemsize
        whole = lengths // max(1, each) * each
        _check_lengths(lengths, whole, shape)
        rows = splits_of(lengths // max(1, each))
        return shaped_rows(Ragged.unchecked(values.reshape((-1, *_known(shape))), rows), shape)
    known = np.array([-1 if size is None else size for size in shape], np.int64)
    wanted = np.where(known < 0, sizes, known)
    if len(wanted) and int(wanted.min()) < 0:
        row = int(np.flatnonzero((wanted < 0).any(axis=1))[0])
        raise BadValue(row, f"a size of its shape is negative: {tuple(wanted[row].tolist())}")
    counts = [prod(each) for each in wanted.tolist()]  # of any size
    for row, (count, length) in enumerate(zip(counts, lengths.tolist(), strict=True)):
        if count * dtype.itemsize != length:
            raise BadValue(row, _wrong_length(length, tuple(wanted[row].tolist()), dtype.itemsize * count))
    bounds = splits_of(lengths // dtype.itemsize).tolist()
    return RowList(
        [
            values[begin:end].reshape(each).copy()
            for begin, end, each in zip(bounds, bounds[1:], wanted.tolist(), strict=False)
        ]
    )


def _known(shape: Dims) -> tuple[int, ...]:
    return tuple(size for size in shape if size is not None)


def _check_lengths(lengths: IntArray, wanted: IntArray, shape: Dims) -> None:
    wrong = np.flatnonzero(lengths != wanted)
    if len(wrong):
        row = int(wrong[0])
        raise BadValue(row, _wrong_length(int(lengths[row]), shape, int(wanted[row])))


def _wrong_length(found: int, shape: Dims, expected: int) -> str:
    return f"its value has {found} bytes, expected {expected} for the shape {show_shape(shape)}"


def _raw_numbers(column: BytesColumn, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the bytes of all strings, one after another, as numbers; what is left over at the end is not looked at."""
    data = np.array(column.used())  # memory of its own
    data = data[: len(data) // dtype.itemsize * dtype.itemsize]
    if dtype.kind == "b":
        found: npt.NDArray[Any] = data != 0
        return found
    if dtype.kind == "V" or dtype.kind not in "iufc":  # such as bfloat16, which knows no order of bytes
        return data.view(np.dtype(f"<u{dtype.itemsize}")).astype(f"u{dtype.itemsize}", copy=False).view(dtype)
    return data.view(dtype.newbyteorder("<")).astype(dtype, copy=False)
