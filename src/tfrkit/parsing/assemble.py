"""Results from the kernels' columns: shapes, padding, sparse and ragged features.

A kernel returns for each key that it read an array, or data and offsets, followed by the row splits for lists of any
length. This module makes the values of the spec's features from them. Pure: no I/O.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.shapes import as_dims
from tfrkit.model.sparse import Sparse
from tfrkit.model.specs import FeatureSpec, RaggedFeature, SparseFeature
from tfrkit.parsing.expected_features import ExpectedFeature
from tfrkit.parsing.partitions import partition_batch, partition_one

__all__ = [
    "Make",
    "batch_maker",
    "count_steps",
    "make_dense",
    "make_ragged",
    "narrow_splits",
    "pad_rows",
    "single_maker",
]

Make = Callable[
    [Any, int], Any
]  # columns (a list by slot, or a dict by key) and number of examples -> a result


def batch_maker(key: str, feature: FeatureSpec, slots: dict[str, tuple[int, ExpectedFeature]]) -> Make | None:
    """Return the function that makes a feature's column of a batch; None if the kernel's column is the result.

    Args:
        key: the feature's name.
        feature: what the spec says.
        slots: by key, the number of its column, and what is expected under the key.
    """
    if isinstance(feature, SparseFeature):
        return _sparse_maker(feature, lambda columns, name: make_ragged(columns[slots[name][0]]))
    if isinstance(feature, RaggedFeature):
        return _ragged_maker(key, feature, slots)
    index, slot = slots[key]
    if slot.form == "sparse":
        return lambda columns, _: make_ragged(columns[index])
    if slot.form == "sequence":
        return lambda columns, _: pad_rows(make_ragged(columns[index]), slot)
    if slot.type != "string" and not slot.shape:
        return None
    return lambda columns, count: make_dense(columns[index], (count, *slot.shape))


def single_maker(
    key: str, feature: FeatureSpec, slots: dict[str, tuple[int, ExpectedFeature]]
) -> Make | None:
    """Return the function that makes a feature of one example from a dict by key; None if the value is the result."""
    if isinstance(feature, SparseFeature):
        return _sparse_maker(feature, _one_row)
    if isinstance(feature, RaggedFeature):
        value_key = feature.value_key or key
        return lambda row, _: partition_one(_one_list(row[value_key]), feature, row)
    slot = slots[key][1]
    if slot.form == "sparse":
        return None if slot.type != "string" else lambda row, _: _one_list(row[key])
    if slot.form == "sequence":
        return lambda row, _: _one_sequence(row[key], slot)
    shape = slot.shape
    if not shape or (slot.type != "string" and len(shape) == 1 and shape != (1,)):
        return None
    if slot.type == "string":
        return lambda row, _: _objects(row[key], shape)
    return lambda row, _: row[key].reshape(shape)


def make_dense(column: Any, shape: tuple[int, ...]) -> Any:
    """Return values of fixed number in their shape: an array, or a BytesColumn of data and offsets."""
    if isinstance(column, tuple):
        return BytesColumn.unchecked(column[0], column[1], shape)
    return column.reshape(shape)


def make_ragged(column: tuple[Any, ...]) -> Ragged:
    """Make a Ragged of (values, row splits) or (data, offsets, row splits)."""
    if len(column) == 3:
        return Ragged.unchecked(BytesColumn.unchecked(column[0], column[1]), column[2])
    return Ragged.unchecked(column[0], column[1])


def pad_rows(rows: Ragged, slot: ExpectedFeature) -> Any:
    """Pad a run of values in each row to the longest, as a dense column of one dimension more than a value."""
    longest = int(rows.row_lengths().max(initial=0))
    steps = count_steps(longest, slot)
    default = slot.default[0] if slot.default is not None else (b"" if slot.type == "string" else 0)
    shape = (len(rows), steps, *slot.shape)
    if len(rows.values) == prod(shape):  # all are equally long
        return rows.values.reshape(shape)
    return rows.to_padded(default, longest).reshape(shape)


def count_steps(values: int, slot: ExpectedFeature) -> int:
    """How many values of the slot's shape there are; of a shape without values there can be none.

    Raises:
        InvalidArgumentError: there are values all the same; TensorFlow ends the process then.
    """
    if slot.size:
        return values // slot.size
    if values:
        raise InvalidArgumentError(
            f"Key: {slot.key}.  Number of values is not a multiple of stride length. "
            f"Saw {values} values but output shape is: {slot.shown_shape}"
        )
    return 0


def _one_list(value: Any) -> Any:
    return BytesColumn.unchecked(*value) if isinstance(value, tuple) else value


def _one_row(row: Any, name: str) -> Ragged:
    values = _one_list(row[name])
    return Ragged.unchecked(values, np.array([0, len(values)]))


def _one_sequence(value: Any, slot: ExpectedFeature) -> Any:
    values = _one_list(value)
    shape = (count_steps(len(values), slot), *slot.shape)
    return values.to_numpy().reshape(shape) if isinstance(values, BytesColumn) else values.reshape(shape)


def _objects(value: bytes | list[bytes], shape: tuple[int, ...]) -> npt.NDArray[np.object_]:
    """An array of bytes objects; numpy would make its own kind of string of them."""
    items = [value] if isinstance(value, bytes) else value
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def _ragged_maker(key: str, feature: RaggedFeature, slots: dict[str, tuple[int, ExpectedFeature]]) -> Make:
    index = slots[feature.value_key or key][0]
    dtype = feature.row_splits_dtype
    parts = {part.key: slots[part.key][0] for part in feature.partitions if hasattr(part, "key")}
    if not feature.partitions:
        return lambda columns, _: narrow_splits(make_ragged(columns[index]), dtype)

    def make(columns: Any, _: int) -> Ragged:
        borders = {name: make_ragged(columns[place]) for name, place in parts.items()}
        return partition_batch(narrow_splits(make_ragged(columns[index]), dtype), feature, borders)

    return make


def narrow_splits(rows: Ragged, dtype: str) -> Ragged:
    """Return the rows with splits of the type that the feature asks for.

    Raises:
        InvalidArgumentError: there are more values than the type can count.
    """
    if dtype == "int64":
        return rows
    if rows.row_splits[-1] > np.iinfo(np.int32).max:
        raise InvalidArgumentError(
            f"expected at most {np.iinfo(np.int32).max} values for row splits of int32 but got {rows.row_splits[-1]}; "
            'pass row_splits_dtype="int64", or parse fewer examples at a time'
        )
    return Ragged.unchecked(rows.values, rows.row_splits.astype(np.int32))


def _sparse_maker(feature: SparseFeature, rows_of: Callable[[Any, str], Ragged]) -> Make:
    names = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
    sizes = _sparse_sizes(feature, names)
    one = rows_of is _one_row

    def make(columns: Any, count: int) -> Sparse:
        indices = [rows_of(columns, name) for name in names]
        lengths = np.diff(indices[0].row_splits)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        _check_equal_lengths([index.values for index in indices], 0 if one else 1)
        values = rows_of(columns, feature.value_key).values
        if len(values) != len(rows):
            raise ValueError(f"Dimensions {len(rows)} and {len(values)} are not compatible")
        leading = [] if one else [rows]
        places = np.stack([*leading, *(index.values for index in indices)], axis=1)
        shape = np.array(sizes if one else [count, *sizes], np.int64)
        return _sorted_sparse(places, values, shape, feature.already_sorted)

    return make


def _sparse_sizes(feature: SparseFeature, names: list[str]) -> list[int]:
    size = feature.size
    if isinstance(feature.index_key, str):
        if not isinstance(size, (int, np.integer)):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(size)}")
        sizes = [size]
    else:
        if not isinstance(size, (list, tuple, np.ndarray)):
            raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(size)}")
        for item in size:
            if not isinstance(item, (int, np.integer)):
                raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(item)}")
        if len(size) != len(names):
            raise ValueError("sp_ids and vocab_size have to have equal lengths.")
        sizes = list(size)
    return [int(dim) for dim in as_dims(sizes) or () if dim is not None]


def _check_equal_lengths(columns: list[Any], leading: int) -> None:
    for place, column in enumerate(columns):
        if len(column) != len(columns[0]):
            raise InvalidArgumentError(
                f"ConcatOp : Dimension 0 in both shapes must be equal: shape[0] = [{len(columns[0])},{leading}] "
                f"vs. shape[{place + 1}] = [{len(column)},1]"
            )


def _sorted_sparse(
    places: npt.NDArray[Any], values: Any, shape: npt.NDArray[Any], already_sorted: bool
) -> Sparse:
    if not already_sorted and len(places) > 1:
        order = np.lexsort(places.T[::-1])  # stable, so that equal coordinates keep their order
        places = places[order]
        values = values.take(order) if isinstance(values, BytesColumn) else values[order]
    return Sparse.unchecked(places, values, shape)
