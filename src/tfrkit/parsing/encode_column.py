"""One column for the encoder: whatever holds a feature of many rows, as the arrays that the kernel takes.

Knows no keys' order and makes no bytes: that is `encode.py` and the kernel. Arrays of the right type are not copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.arrow.arrow_exchange import import_stream
from tfrkit.model.arrow.arrow_import import DecodedColumn
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.features import (
    BYTES,
    FLOAT,
    INT64,
    UNSET,
    feature_values,
    float32_values,
    int64_values,
    is_float,
    shown,
)
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import run_positions, splits_of
from tfrkit.model.sparse import Sparse

__all__ = ["InputColumn", "feature_column", "list_column"]

IntArray: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[Any] | None
_Made = TypeVar("_Made")
_NAMES = {BYTES: "bytes", FLOAT: "float", INT64: "int64"}


@dataclass(frozen=True, slots=True)
class InputColumn:
    """Values of one kind, cut into lists.

    Attributes:
        rows: how many.
        kind: BYTES, FLOAT or INT64; UNSET if no row has values.
        values: int64 or float32 array; for bytes (data, offsets), (data, offsets, indices) or a list of bytes, str
            and None; for UNSET the bytes of each whole Feature, or None if no row has the feature.
        splits: list i has the values from splits[i] to splits[i + 1]; or None: each list has `count` values.
        count: as said.
        present: uint8, 0 for rows without the feature, or None.
        steps: feature lists only: row r has the lists from steps[r] to steps[r + 1].
    """

    rows: int
    kind: int
    values: Any
    splits: IntArray | None = None
    count: int = 1
    present: npt.NDArray[np.uint8] | None = None
    steps: IntArray | None = None

    def native(self, key: str) -> tuple[object, ...]:
        """The tuple that `_core.encode_columns` takes."""
        return key, self.kind, self.values, self.splits, self.count, self.present, self.steps


def feature_column(value: Any, where: str) -> InputColumn:
    """Read the column of a feature. Pure: no I/O.

    Args:
        value: what `encode_examples` takes.
        where: put in front of the text of errors, such as "feature 'age'".

    Raises:
        TypeError, ValueError: as `encode_examples` says.
    """
    return _read(value, where, _from_features)


def list_column(value: Any, where: str) -> InputColumn:
    """Read the column of a feature list: rows of steps. Pure: no I/O.

    Args:
        value: what `encode_sequence_examples` takes.
        where: as in `feature_column`.

    Raises:
        TypeError, ValueError: as `encode_sequence_examples` says.
    """
    return _read(value, where, _from_steps)


def _read(value: Any, where: str, convert: Callable[[Any, str], InputColumn]) -> InputColumn:
    """Unwrap masks and Arrow, and convert what is inside."""
    is_subclass = isinstance(value, np.ndarray) and type(value) is not np.ndarray
    if is_subclass and isinstance(
        value, np.ma.MaskedArray
    ):  # in this order: numpy imports `ma` when it is named
        # Zero, as what is under the mask, or numpy's own filler, need not fit.
        filled = value.data if value.dtype.kind in "OSUT" else value.filled(0)
        column = convert(np.asarray(filled), where)
        return _masked(column, _row_mask(value, where))
    if isinstance(value, Sparse):
        value = _named(where, _ragged_of, value)
    if isinstance(value, (np.ndarray, BytesColumn, Ragged, list, tuple, range)):
        return convert(value, where)
    dtype = getattr(value, "dtype", None)
    plain = hasattr(value, "__array__") and isinstance(dtype, np.dtype) and dtype.kind in "biuf"
    if not plain and (hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")):
        return _from_arrow(value, where, convert)
    if hasattr(value, "__array__"):
        # As objects, arrays of pandas keep their missing values, and large integers.
        return convert(np.asarray(value, object if hasattr(value, "isna") else None), where)
    raise TypeError(
        f"{where}: expected an array, a list, a BytesColumn, Ragged or Sparse, or an Arrow array but got {shown(value)}"
    )


def decoded_column(column: DecodedColumn, where: str, *, steps: bool = False) -> InputColumn:
    """Read a column that `import_stream` has taken apart."""
    values, valid, indices = column
    if valid is not None and not valid.any():
        return InputColumn(len(valid), UNSET, None)
    if indices is not None and isinstance(values, BytesColumn):
        return _masked(InputColumn(len(indices), BYTES, (values.data, values.offsets, indices)), valid)
    if valid is not None and isinstance(values, np.ndarray) and values.dtype == np.uint64:
        values = values.copy()
        values[~valid] = 0  # what a producer left under a null need not fit into int64
    convert = _from_steps if steps else _from_features
    return _masked(_read(values, where, convert), valid)


def _from_arrow(value: Any, where: str, convert: Callable[[Any, str], InputColumn]) -> InputColumn:
    imported = _named(where, partial(import_stream, indexed=convert is _from_features), value)
    if imported.structs:
        raise TypeError(
            f"{where}: expected one column but got a table or structs with {', '.join(map(repr, imported.names))}: "
            "give each of them as a column"
        )
    return decoded_column(imported.columns[0], where, steps=convert is _from_steps)


def _named(where: str, convert: Callable[[Any], _Made], value: Any) -> _Made:
    """Convert, and let errors begin with the name of the column."""
    try:
        return convert(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None


def _row_mask(value: Any, where: str) -> Mask:
    mask = np.ma.getmaskarray(value)
    flat = mask.reshape(len(mask), -1)
    missing = flat.all(axis=1) if flat.shape[1] else np.zeros(len(mask), bool)
    part = flat.any(axis=1) & ~missing
    if part.any():
        row = int(part.argmax())
        raise ValueError(f"{where}, row {row}: expected all values or none but got {shown(value[row])}")
    present: npt.NDArray[Any] = np.logical_not(missing)
    return present


def _masked(column: InputColumn, valid: Mask) -> InputColumn:
    if valid is None or valid.all():
        return column
    present = np.ascontiguousarray(valid).astype(np.uint8)
    if column.present is not None:
        present &= column.present
    return replace(column, present=present)


# -- a feature: one list in each row ---------------------------------------------------------------------------------


def _from_features(value: Any, where: str) -> InputColumn:
    if isinstance(value, np.ndarray):
        return _from_array(value, where)
    if isinstance(value, BytesColumn):
        count = math.prod(value.shape[1:])
        return InputColumn(len(value), BYTES, (value.data, value.offsets), count=count)
    if isinstance(value, Ragged):
        if isinstance(value.values, Ragged):
            raise TypeError(f"{where}: expected lists of values but got lists of lists: {value!r}")
        splits = np.ascontiguousarray(value.row_splits, np.int64)
        try:
            inner = _from_features(value.values, where)
        except _TooLargeError as error:
            raise error.in_row(splits) from None
        if inner.present is not None or inner.splits is not None:
            raise TypeError(f"{where}: expected values but got missing ones inside {value!r}")
        return replace(inner, rows=len(value), splits=splits * inner.count, count=1)
    return _from_list(list(value), where)


def _from_array(array: npt.NDArray[Any], where: str) -> InputColumn:
    if array.ndim == 0:
        raise TypeError(f"{where}: expected one value for each row but got a single one: {shown(array[()])}")
    count = math.prod(array.shape[1:])
    kind = array.dtype.kind
    if kind in "biu":
        return InputColumn(len(array), INT64, _int64_flat(array, where), count=count)
    if is_float(array.dtype):
        return InputColumn(len(array), FLOAT, float32_values(array).reshape(-1), count=count)
    if kind not in "OSUT":
        raise TypeError(
            f"{where}: expected numbers, bytes or str but got an array of type {array.dtype}, such as "
            f"{shown(array.reshape(-1)[0]) if array.size else 'nothing'}. Convert it to one of these first."
        )
    if kind in "SUT" and not array.size:
        return InputColumn(len(array), BYTES, [], count=count)
    if array.ndim == 1:
        return _from_list(array.tolist(), where)
    inner = _from_list(array.reshape(-1).tolist(), where, per_row=count)
    if inner.present is not None or inner.splits is not None or inner.count != 1:
        raise TypeError(f"{where}: expected values but got missing or nested ones inside {shown(array)}")
    return replace(inner, rows=len(array), count=count)


class _TooLargeError(ValueError):
    """A number is beyond int64; `row` counts flat rows until `in_row` translates it to lists and steps."""

    def __init__(self, where: str, row: int, value: int, step: int | None = None) -> None:
        place = f"row {row}" if step is None else f"row {row}, step {step}"
        super().__init__(
            f"{where}, {place}: expected at most 2**63 - 1 but got {value}. Store it as bytes or as two numbers."
        )
        self.row = row
        self._where, self._value, self._step = where, value, step

    def __reduce__(self) -> tuple[object, ...]:
        return _TooLargeError, (self._where, self.row, self._value, self._step)

    def in_row(self, splits: npt.NDArray[Any], *, steps: bool = False) -> _TooLargeError:
        """Return the error with the row, and the step, that has this flat row."""
        row = int(np.searchsorted(splits, self.row, side="right")) - 1
        return _TooLargeError(self._where, row, self._value, self.row - int(splits[row]) if steps else None)


def _int64_flat(array: npt.NDArray[Any], where: str) -> IntArray:
    try:
        return int64_values(array).reshape(-1)
    except ValueError:
        place = int((array.reshape(-1) > np.uint64(2**63 - 1)).argmax())
        row = place // max(1, math.prod(array.shape[1:]))
        raise _TooLargeError(where, row, int(array.reshape(-1)[place])) from None


def _from_list(items: list[Any], where: str, per_row: int = 1) -> InputColumn:
    """Read one item for each row: a number, a string, None, or a list of them."""
    kind, values, present, unusual = _core.gather_items(items)
    if unusual < 0:
        return InputColumn(len(items), kind, items if kind == BYTES else values, present=present)
    return _from_lists(items, lambda place: f"{where}, row {place // per_row}")


def _from_lists(items: list[Any], name: Callable[[int], str]) -> InputColumn:
    """Join items, each a number, a string, None, or a list of them; `name` returns the place of one, for errors."""
    kind, values, splits, present = _core.gather_lists(items)
    if splits is not None and kind == UNSET:
        return _without_kind(len(items), present)
    if splits is not None:
        return InputColumn(len(items), kind, values, splits, 1, present)
    lists = [
        None if _is_missing(item) else feature_values(item, f"{name(place)}: ")
        for place, item in enumerate(items)
    ]
    return _joined(lists, _common_kind(lists, items, name))


def _without_kind(count: int, present: npt.NDArray[np.uint8] | None) -> InputColumn:
    """Make a column of lists without values, whose kind is unknown."""
    nowhere = present is not None and not present.any()
    return InputColumn(
        count, UNSET, None if nowhere else [b""] * count, None, 1, None if nowhere else present
    )


def _is_missing(item: object) -> bool:
    """None, and the scalars by which pandas says the same."""
    return item is None or item is np.ma.masked or type(item).__name__ in ("NAType", "NaTType")


def _common_kind(
    lists: Sequence[tuple[int, Any] | None], items: Sequence[Any], name: Callable[[int], str]
) -> int:
    """Find the kind of all lists that have values; if none has, of the first whose type implies it."""
    kinds = [found[0] for found in lists if found is not None]
    full = next((found[0] for found in lists if found is not None and len(found[1])), None)
    if full is None:
        return next((kind for kind in kinds if kind != UNSET), UNSET)
    for place, found in enumerate(lists):
        if found is not None and len(found[1]) and found[0] != full:
            raise TypeError(
                f"{name(place)}: expected {_NAMES[full]} as before but got {_NAMES[found[0]]}: "
                f"{shown(items[place])}. Convert them to one type."
            )
    return full


def _joined(lists: Sequence[tuple[int, Any] | None], kind: int) -> InputColumn:
    """Join lists of one kind, or empty ones; None is a row without the feature."""
    lengths = np.array([0 if found is None else len(found[1]) for found in lists], np.int64)
    parts = [found[1] for found in lists if found is not None and len(found[1])]
    values: Any = list(chain.from_iterable(parts))
    if kind in (INT64, FLOAT):
        dtype = np.int64 if kind == INT64 else np.float32
        values = np.concatenate([np.zeros(0, dtype), *parts], dtype=dtype)
    missing = any(found is None for found in lists)
    present = np.array([found is not None for found in lists], np.uint8) if missing else None
    if kind == UNSET:
        return _without_kind(len(lists), present)
    return InputColumn(len(lists), kind, values, splits_of(lengths), 1, present)


# -- a feature list: several lists in each row -----------------------------------------------------------------------


def _from_steps(value: Any, where: str) -> InputColumn:
    if isinstance(value, Ragged):
        splits = np.ascontiguousarray(value.row_splits, np.int64)
        return replace(_step_values(value.values, splits, where), rows=len(value), steps=splits)
    if isinstance(value, (np.ndarray, BytesColumn)) and len(value.shape) >= 2:
        rows, steps = value.shape[:2]
        flat = value.reshape((rows * steps, *value.shape[2:]))
        splits = np.arange(rows + 1, dtype=np.int64) * steps
        return replace(_step_values(flat, splits, where), rows=rows, steps=splits)
    if isinstance(value, (BytesColumn, range)) or (isinstance(value, np.ndarray) and value.dtype != object):
        raise TypeError(
            f"{where}: expected steps in each row, so two dimensions or more, but got {shown(value)}"
        )
    return _from_rows(list(value), where)


def _step_values(values: Any, splits: IntArray, where: str) -> InputColumn:
    """Read a list for each step, of rows that have the steps from split to split."""
    try:
        return _from_features(values, where)
    except _TooLargeError as error:
        raise error.in_row(splits, steps=True) from None


def _from_rows(rows: list[Any], where: str) -> InputColumn:
    """Read a list with the steps of each row, or None."""
    missing = np.array([_is_missing(row) for row in rows], bool)
    if missing.all():
        return InputColumn(len(rows), UNSET, None)
    steps = [[] if gone else _steps_of(row, f"{where}, row {number}")
             for number, (row, gone) in enumerate(zip(rows, missing.tolist(), strict=True))]  # fmt: skip
    items = list(chain.from_iterable(steps))
    splits = splits_of(np.array([len(row) for row in steps], np.int64))

    def name(place: int) -> str:
        number = int(np.searchsorted(splits, place, side="right")) - 1
        return f"{where}, row {number}, step {place - int(splits[number])}"

    column = _from_lists(items, name)
    if column.present is not None:
        place = int(column.present.argmin())
        raise TypeError(f"{name(place)}: expected values but got {shown(items[place])}")
    values = [] if column.values is None else column.values
    return _masked(replace(column, rows=len(rows), values=values, steps=splits), ~missing)


def _steps_of(row: Any, where: str) -> Sequence[Any]:
    if isinstance(row, (list, tuple)):
        return row
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise TypeError(f"{where}: expected a list of steps but got {shown(row)}")
    return list(row)


def _ragged_of(value: Sparse) -> Ragged:
    return value.to_ragged() if value.ndim == 2 else _deep_ragged(value)


def _deep_ragged(value: Sparse) -> Ragged:
    """The rows of steps of a Sparse of three dimensions, as VarLen features of SequenceExamples have it."""
    if value.ndim != 3:
        raise TypeError(f"expected two or three dimensions but got {value.ndim}")
    rows, steps = int(value.dense_shape[0]), int(value.dense_shape[1])
    flat = np.stack([value.indices[:, 0] * steps + value.indices[:, 1], value.indices[:, 2]], axis=1)
    inner = Sparse(flat, value.values, [rows * steps, int(value.dense_shape[2])]).to_ragged()
    # Steps at the end of a row that have no values were padding.
    used = np.zeros(rows, np.int64)
    np.maximum.at(used, value.indices[:, 0], value.indices[:, 1] + 1)
    keep = run_positions(np.arange(rows) * steps, used)
    return Ragged.from_lengths(inner.take(keep), used)
