"""Partitions of a RaggedFeature: values and the features that cut them into rows become one Ragged.

Works as TensorFlow does, also where borders do not fit the values: unless `validate` is set, a row takes what a slice
of the values from border to border holds, which may be less, or overlap with another. The result is always a sound
Ragged. All arithmetic on borders is done in the type of the row splits, which may wrap round.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.specs import RaggedFeature

__all__ = ["cut_rows", "partition_batch", "partition_one"]

Splits = npt.NDArray[Any]
_FIRST: Final = 3  # values that TensorFlow's checks print
# A row id in the data decides how many rows there are; more empty rows than this are taken for damage.
_MAX_EMPTY_ROWS: Final = 1 << 24
_INVALID: Final = "do not form a valid RaggedTensor"


def partition_one(values: Any, feature: RaggedFeature, features: dict[str, Any]) -> Any:
    """Cut the values of one example.

    Args:
        values: an array or a BytesColumn.
        feature: how to cut them.
        features: the partition features' values, by key.

    Raises:
        InvalidArgumentError: the borders do not fit, and the feature is to be validated.
        ValueError: a border feature is impossible for its kind.
    """
    result = values
    for partition in reversed(feature.partitions):
        if isinstance(partition, RaggedFeature.UniformRowLength):
            result = _uniform(result, partition.length, feature.validate)
        else:
            borders = features[partition.key].astype(feature.row_splits_dtype, copy=False)
            result = _CUTS[type(partition)](result, borders, feature.validate)
    return result


def partition_batch(
    batch: Ragged,
    feature: RaggedFeature,
    features: dict[str, Ragged],
    outer: Splits | None = None,
    key: str = "",
) -> Ragged:
    """Cut the values of each example of a batch; the result has one dimension more for each partition.

    Args:
        batch: each example's values.
        feature: how to cut them.
        features: the partition features, by key.
        outer: where the examples begin, if `batch` and the features are of all their steps.
        key: name of the feature, for errors.

    Raises:
        InvalidArgumentError: the borders do not fit, and the feature is to be validated; or lengths do not divide.
        ValueError: a border feature is impossible for its kind.
    """
    result = batch
    for partition in reversed(feature.partitions):
        if isinstance(partition, RaggedFeature.UniformRowLength):
            result = _uniform_batch(result, partition.length, feature.validate)
        else:
            borders = features[partition.key]
            if outer is not None:
                if feature.validate:
                    _check_aligned(outer, borders.row_splits, key)
                borders = borders.values
            result = _cut_batch(result, partition, borders, feature.validate)
    return result


def _cut_batch(batch: Ragged, partition: Any, borders: Ragged, validate: bool) -> Ragged:
    dtype = batch.row_splits.dtype
    counts = np.diff(borders.row_splits).astype(dtype, copy=False)
    flat = borders.values.astype(dtype, copy=False)
    if isinstance(partition, RaggedFeature.RowSplits):
        # The first border of every example is taken for 0; what remains are limits.
        keep = np.ones(len(flat), bool)
        keep[borders.row_splits[:-1][counts > 0]] = False
        flat, counts = flat[keep], np.maximum(counts - 1, 0)
    splits = _splits_of(counts)
    shift = np.repeat(batch.row_splits[:-1], counts)
    if len(shift) != len(flat) and not isinstance(partition, RaggedFeature.RowLengths):
        # One example has borders, and several have values; lengths alone say where rows end.
        raise InvalidArgumentError(f"Incompatible shapes: [{len(flat)}] vs. [{len(shift)}]")
    if isinstance(partition, RaggedFeature.RowLengths):
        return _sound(_from_lengths(batch.values, flat, validate), splits)
    if not isinstance(partition, RaggedFeature.ValueRowIds):
        cut = _from_starts if isinstance(partition, RaggedFeature.RowStarts) else _from_limits
        return _sound(cut(batch.values, flat + shift, validate), splits)
    rows = _rows_by_ids(flat, borders.row_splits)
    first = _splits_of(rows)
    inner = _from_row_ids(batch.values, flat + np.repeat(first[:-1], counts), validate)
    return _from_lengths(inner, rows, validate)


def _rows_by_ids(ids: Splits, splits: Splits) -> Splits:
    """How many rows each example has: its largest id and one more, 0 without ids."""
    rows = np.zeros(len(splits) - 1, ids.dtype)
    some = np.flatnonzero(np.diff(splits))
    if len(some):
        rows[some] = np.maximum(np.maximum.reduceat(ids, splits[:-1][some]) + ids.dtype.type(1), 0)
    return rows


def _uniform(values: Any, length: Any, validate: bool) -> Any:
    """Rows of one length: another dimension of an array, or a Ragged of a Ragged."""
    if not isinstance(length, (int, np.integer)):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    size = int(length)
    if not isinstance(values, Ragged):
        return _reshape(values, size)
    if validate and size < 0:
        raise ValueError("uniform_row_length must be >= 0.")
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    rows = len(values) // size if size else 0
    if validate and rows * size != len(values):
        raise ValueError(f"uniform_row_length={size} times nrows={rows} must equal nvals={len(values)}")
    return _sound(
        values, np.arange(rows + 1, dtype=values.row_splits.dtype) * values.row_splits.dtype.type(size)
    )


def _uniform_batch(batch: Ragged, length: Any, validate: bool) -> Ragged:
    cut = _uniform(batch.values, length, validate)
    if not length:
        raise InvalidArgumentError("Integer division by zero")
    return cut_rows(cut, batch.row_splits // batch.row_splits.dtype.type(length), validate)


def _reshape(values: Any, size: int) -> Any:
    if size == -1:
        raise InvalidArgumentError("Only one input size may be -1, not both 0 and 1")
    if size < 0:
        raise InvalidArgumentError(f"Size 1 must be non-negative, not {size}")
    inner = values.shape[1:]
    count = prod(values.shape)
    each = size * prod(inner)
    if count and not each:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {count} values, but the requested shape has 0"
        )
    if each and count % each:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of {each}"
        )
    if each:
        return values.reshape((count // each, size, *inner))
    # Beside a dimension of 0 TensorFlow finds the unknown one from the dimensions that are not 0.
    rows = prod(dim for dim in values.shape if dim) // prod(dim for dim in (size, *inner) if dim)
    return values.reshape((rows, size, *inner))


def _from_splits(values: Any, splits: Splits, validate: bool) -> Ragged:
    if not len(splits):
        if validate:
            raise InvalidArgumentError("slice index 0 of dimension 0 out of bounds.")
        raise ValueError("Dimension -1 must be >= 0")
    if validate:
        _check_equal(splits[0], 0, f"Arguments to from_row_splits {_INVALID}:zero")
        _check_not_negative(np.diff(splits), f"Arguments to from_row_splits {_INVALID}:monotonic.  ")
    return cut_rows(values, splits, validate)


def _from_lengths(values: Any, lengths: Splits, validate: bool) -> Ragged:
    splits = _splits_of(lengths)
    if validate:
        text = "Arguments to from_row_lengths do not form a valid RowPartition.  "
        _check_not_negative(lengths, text)
        _check_not_negative(splits, text)  # sums that wrapped round, as no values have such lengths
    return cut_rows(values, splits, validate)


def _from_starts(values: Any, starts: Splits, validate: bool) -> Ragged:
    if validate and len(starts):
        text = f"Arguments to from_row_starts {_INVALID}"
        _check_equal(starts[0], 0, text)
        _check_not_negative(np.diff(starts), f"{text}.  ")
        if starts[-1] > len(values):
            raise _condition(text, "x <= y", starts[-1], len(values))
    ends = np.append(starts, starts.dtype.type(len(values)))
    return cut_rows(values, ends, validate)


def _from_limits(values: Any, limits: Splits, validate: bool) -> Ragged:
    if validate and len(limits):
        text = f"Arguments to from_row_limits {_INVALID}.  "
        _check_not_negative(limits[:1], text)
        _check_not_negative(np.diff(limits), text)
    return cut_rows(values, np.concatenate([np.zeros(1, limits.dtype), limits]), validate)


def _from_row_ids(values: Any, ids: Splits, validate: bool) -> Ragged:
    if validate and len(ids):
        text = "Arguments to from_value_rowids do not form a valid RowPartition.  "
        _check_not_negative(ids[:1], text)
        _check_not_negative(np.diff(ids), text)
    rows = int((ids[-1:] + ids.dtype.type(1))[0]) if len(ids) else 0
    # TensorFlow counts in 32 bits, whatever the type of the splits.
    counted = ids.astype(np.int32)
    size = int(np.int64(rows).astype(np.int32))
    if size < 0:
        raise InvalidArgumentError(f"size ({size}) must be non-negative")
    if len(ids) and int(counted.min()) < 0:
        raise InvalidArgumentError("Input arr must be non-negative!")
    if size != rows:
        raise ValueError(f"Tensor's shape ({size},) is not compatible with supplied shape ({rows},).")
    if len(ids) != len(values):
        raise ValueError(f"Shapes ({len(values)},) and ({len(ids)},) are incompatible")
    if rows - len(ids) > _MAX_EMPTY_ROWS:
        raise InvalidArgumentError(
            f"size ({rows}) is too large: expected the last row id to be below {len(ids) + _MAX_EMPTY_ROWS}, "
            f"as there are {len(ids)} row ids. Are the row ids damaged?"
        )
    lengths = np.bincount(counted[counted < rows], minlength=rows).astype(ids.dtype)
    return cut_rows(values, _splits_of(lengths), validate)


_CUTS: Final[dict[type[Any], Callable[[Any, Splits, bool], Ragged]]] = {
    RaggedFeature.RowSplits: _from_splits,
    RaggedFeature.RowLengths: _from_lengths,
    RaggedFeature.RowStarts: _from_starts,
    RaggedFeature.RowLimits: _from_limits,
    RaggedFeature.ValueRowIds: _from_row_ids,
}


def _splits_of(lengths: Splits) -> Splits:
    splits = np.zeros(len(lengths) + 1, lengths.dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def cut_rows(values: Any, splits: Splits, validate: bool) -> Ragged:
    """Cut values at borders that ascend from 0; they must reach to the last value if `validate` is set."""
    if validate:
        _check_equal(splits[-1], len(values), f"Arguments to _from_row_partition {_INVALID}")
    return _sound(values, splits)


def _sound(values: Any, splits: Splits) -> Ragged:
    """Return the slices of the values from border to border as the rows of a Ragged whose splits fit its values."""
    count = len(values)
    if splits[0] == 0 and splits[-1] <= count and not bool((splits[1:] < splits[:-1]).any()):
        return Ragged.unchecked(values if splits[-1] == count else values[: int(splits[-1])], splits)
    borders = splits.astype(np.int64)
    borders = np.clip(np.where(borders < 0, borders + count, borders), 0, count)
    lengths = np.maximum(np.diff(borders), 0)
    whole = _splits_of(lengths)
    positions = np.arange(whole[-1]) - np.repeat(whole[:-1] - borders[:-1], lengths)
    taken = values.take(positions) if isinstance(values, (BytesColumn, Ragged)) else values[positions]
    return Ragged.unchecked(taken, whole.astype(splits.dtype))


def _check_equal(x: Any, y: Any, text: str) -> None:
    if x != y:
        raise _condition(text, "x == y", x, y)


def _condition(text: str, condition: str, x: Any, y: Any) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{text}\nCondition {condition} did not hold.\nFirst 1 elements of x:\n[{x}]\nFirst 1 elements of y:\n[{y}]"
    )


def _check_not_negative(x: Splits, text: str) -> None:
    if not bool((x < 0).any()):
        return
    shown = [str(value) for value in x[:_FIRST].tolist()] + (["..."] if len(x) > _FIRST else [])
    raise InvalidArgumentError(
        f"{text}\nCondition x >= 0 did not hold element-wise:\nx (shape={x.shape} dtype={x.dtype.name}) = \n{shown}"
    )


def _check_aligned(x: Splits, y: Splits, key: str) -> None:
    """Values and borders must have the same steps in every example."""
    if np.array_equal(x, y):
        return
    text = f"Feature {key}: values and partitions are not aligned\nCondition x == y did not hold.\n"
    if x.shape == y.shape:
        places = np.flatnonzero(x != y)[:_FIRST]
        lines = "\n ".join(f"[{place}]" for place in places)
        text += (
            f"Indices of first {len(places)} different values:\n[{lines}]\n"
            f"Corresponding x values:\n{x[places]}\nCorresponding y values:\n{y[places]}\n"
        )
    raise InvalidArgumentError(
        f"{text}First {len(x[:_FIRST])} elements of x:\n{x[:_FIRST]}\n"
        f"First {len(y[:_FIRST])} elements of y:\n{y[:_FIRST]}"
    )
