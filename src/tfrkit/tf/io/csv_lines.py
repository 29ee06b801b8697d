"""decode_csv: lines of comma-separated values as one column for each field, by TensorFlow's rules (RFC 4180)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.tf.ops.strings.string_numbers import parse_number, parse_numbers
from tfrkit.tf.ops.strings.string_values import flat_strings, strings_of
from tfrkit.values.to_array import to_array

__all__ = ["decode_csv", "decode_csv_v1"]

_SHOWN: Final = 40  # bytes of a line in an error
_STRING: Final = np.dtype(object)
_LITERALS: Final = frozenset({int, float, str, bytes})
_ALLOWED: Final = ("float", "double", "int32", "int64", "string")


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Any]:
    """Read lines of CSV into columns.

    Args:
        records: one line, or several of any shape.
        record_defaults: for each column that is wanted, a list with the value of empty fields, or an empty array of
            the column's type if fields must not be empty. float32, float64, int32, int64 or string.
        field_delim: the one character between fields.
        use_quote_delim: double quotes protect delimiters and line breaks, and a doubled one is a quote.
        na_value: another text that counts as empty.
        select_cols: numbers of the columns that are wanted, ascending; all by default.

    Returns:
        A value for each column, of the shape of `records`.

    Raises:
        InvalidArgumentError: a line is invalid, or has another number of fields.
        ValueError: `select_cols` is invalid.

    >>> decode_csv(["1,a", "2,"], [[0], ["-"]])
    [array([1, 2], dtype=int32), BytesColumn(shape=(2,), [b'a', b'-'])]
    """
    defaults = [
        _plain_default(value[0])
        if type(value) is list and len(value) == 1 and type(value[0]) in _LITERALS
        else _default(value, number)
        for number, value in enumerate(record_defaults)
    ]
    chosen = None if select_cols is None else [int(column) for column in select_cols]
    _check(defaults, chosen, field_delim)
    column = strings_of(records)
    lines = flat_strings(column)
    reader = _Reader(field_delim.encode(), use_quote_delim, chosen, defaults, (b"", na_value.encode()))
    try:
        return reader.columns(lines, column.shape)
    except InvalidArgumentError:
        reader.check(lines)  # for the error of the first record that has one
        raise


def decode_csv_v1(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Any]:
    """`decode_csv` with the arguments of TensorFlow 1.

    >>> decode_csv_v1("1,2", [[0], [0]])
    [np.int32(1), np.int32(2)]
    """
    return decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols)


@functools.lru_cache(maxsize=256, typed=True)
def _plain_default(value: Any) -> Any:
    return _default([value], 0)


def _default(value: Any, number: int) -> Any:
    default = to_array(value)
    if default.ndim > 1:
        raise InvalidArgumentError(
            f"Each record default should be at most rank 1. Field {number} has {default.ndim}."
        )
    name = op_name(dtype_name(default.dtype))
    if name not in _ALLOWED:
        raise InvalidArgumentError(
            f"Value for attr 'OUT_TYPE' of {name} is not in the list of allowed values: {', '.join(_ALLOWED)}"
        )
    if default.size > 1:
        raise InvalidArgumentError(
            f"There should only be 1 default per field but field {number} has {default.size}"
        )
    return default


def _check(defaults: list[Any], chosen: list[int] | None, delimiter: str) -> None:
    if not defaults:
        raise InvalidArgumentError("Length for attr 'OUT_TYPE' of 0 must be at least minimum 1")
    if chosen is not None:
        if any(one >= other for one, other in pairwise(chosen)):
            raise ValueError(f"select_cols is not strictly increasing. Got {chosen}.")
        if chosen and chosen[0] < 0:
            raise ValueError(f"select_cols contains negative values. Got {chosen}.")
        if len(chosen) != len(defaults):
            lengths = f"{len(chosen)} and {len(defaults)}"
            raise ValueError(f"Length of select_cols and record_defaults do not match. Got {lengths}.")
    if len(delimiter.encode()) != 1:
        raise InvalidArgumentError(f"field_delim should be only 1 char, got {delimiter!r}")


@dataclass(frozen=True, slots=True)
class _Reader:
    """How lines are read.

    Attributes:
        delimiter: between fields.
        quotes: whether quotes protect.
        chosen: numbers of the columns that are wanted, all if None.
        defaults: an array of no or one value for each.
        missing: texts that mean no value.
    """

    delimiter: bytes
    quotes: bool
    chosen: list[int] | None
    defaults: list[Any]
    missing: tuple[bytes, bytes]

    def columns(self, lines: list[bytes], shape: tuple[int, ...]) -> list[Any]:
        """All columns, each in one step."""
        rows = self._rows(lines)
        for number, row in enumerate(rows):
            self._check_count(row, number)
        fields = list(zip(*rows, strict=True)) if rows else [()] * len(self.defaults)
        return [
            _column(fields[place], default, place, self.missing, shape)
            for place, default in enumerate(self.defaults)
        ]

    def check(self, lines: list[bytes]) -> None:
        """Go through the lines one by one, and raise at the first invalid one."""
        for number, line in enumerate(lines):
            row = self._fields(line, number)
            self._check_count(row, number)
            for place, (field, default) in enumerate(zip(row, self.defaults, strict=True)):
                _value(field, default, place, number, self.missing)

    def _check_count(self, row: list[bytes], number: int) -> None:
        if len(row) != len(self.defaults):
            raise InvalidArgumentError(
                f"Expect {len(self.defaults)} fields but have {len(row)} in record {number}"
            )

    def _rows(self, lines: list[bytes]) -> list[list[bytes]]:
        """The fields of all lines; where nothing is quoted or broken, by plain splitting."""
        every = b"".join(lines)
        marks = (b'"', b"\n", b"\r") if self.quotes else (b"\n", b"\r")
        if self.chosen is None and not any(mark in every for mark in marks):
            return [line.split(self.delimiter) if line else [] for line in lines]
        return [self._fields(line, number) for number, line in enumerate(lines)]

    def _fields(self, line: bytes, number: int) -> list[bytes]:
        """The fields of a line that are wanted; nothing after the last of them is read."""
        fields: list[bytes] = []
        most = len(line) + 1 if self.chosen is None else self.chosen[-1] + 1
        at = 0
        while at < len(line) and len(fields) < most:
            if line[at : at + 1] in (b"\n", b"\r"):  # passed over where a field begins
                at += 1
                continue
            try:
                if self.quotes and line.startswith(b'"', at):
                    field, at = _quoted(line, at + 1, self.delimiter)
                else:
                    field, at = _plain(line, at, self.delimiter, self.quotes)
            except InvalidArgumentError as error:
                where = f"field {len(fields)} of record {number}, {line[at : at + _SHOWN]!r}"
                raise InvalidArgumentError(f"{error.message}: {where}") from None
            fields.append(field)
        if line.endswith(self.delimiter) and len(fields) < most:
            fields.append(b"")
        return fields if self.chosen is None else [fields[at] for at in self.chosen if at < len(fields)]


def _plain(line: bytes, at: int, delimiter: bytes, quotes: bool) -> tuple[bytes, int]:
    end = line.find(delimiter, at)
    end = len(line) if end < 0 else end
    field = line[at:end]
    if b"\n" in field or b"\r" in field or (quotes and b'"' in field):
        raise InvalidArgumentError("Unquoted fields cannot have quotes/CRLFs inside")
    return field, end + 1


def _quoted(line: bytes, at: int, delimiter: bytes) -> tuple[bytes, int]:
    parts = []
    while True:
        end = line.find(b'"', at)
        if end < 0:
            raise InvalidArgumentError("Quoted field has to end with quote followed by delim or end")
        parts.append(line[at:end])
        follows = line[end + 1 : end + 2]
        if follows == b'"':
            parts.append(b'"')
            at = end + 2
        elif not follows or follows == delimiter:
            return b"".join(parts), end + 2
        else:
            raise InvalidArgumentError("Quote inside a string has to be escaped by another quote")


def _value(field: bytes, default: Any, place: int, number: int, missing: tuple[bytes, bytes]) -> Any:
    if field in missing:
        if not default.size:
            raise InvalidArgumentError(f"Field {place} is required but missing in record {number}!")
        return default.ravel()[0]
    if default.dtype == _STRING:
        return field
    made = parse_number(field, default.dtype)
    if made is None:
        name = op_name(dtype_name(default.dtype))
        shown = field.decode("utf-8", "backslashreplace")
        raise InvalidArgumentError(f"Field {place} in record {number} is not a valid {name}: {shown}")
    return made


def _column(
    fields: Sequence[bytes], default: Any, place: int, missing: tuple[bytes, bytes], shape: tuple[int, ...]
) -> Any:
    """The values of one column."""
    whole = missing[0] not in fields and missing[1] not in fields
    quick = parse_numbers(fields, default.dtype) if whole and default.dtype != _STRING else None
    if quick is not None:
        return quick[0] if shape == () else quick.reshape(shape)
    values = (
        list(fields)
        if whole and default.dtype == _STRING
        else [_value(field, default, place, number, missing) for number, field in enumerate(fields)]
    )
    if shape == ():
        return values[0]
    if default.dtype == _STRING:
        return BytesColumn.from_list(values).reshape(shape)
    return np.array(values, default.dtype).reshape(shape)
