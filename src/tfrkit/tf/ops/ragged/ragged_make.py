"""Making a Ragged of values and any description of its rows, with TensorFlow's checks and texts.

Rows are described by splits, lengths, starts, limits, row numbers or one length for all; or they come from a padded
array or a Sparse. The arguments are those of RaggedTensor's methods of the same names; `name` is ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype, dtype_name
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ops.checks.debugging import assert_equal, assert_less_equal, assert_non_negative
from tfrkit.values.to_array import to_array

__all__ = [
    "as_values", "from_nested_row_lengths", "from_nested_row_splits", "from_nested_value_rowids", "from_row_lengths",
    "from_row_limits", "from_row_splits", "from_row_starts", "from_sparse", "from_tensor", "from_uniform_row_length",
    "from_value_rowids",
]  # fmt: skip

_WRONG: Final = "Arguments to {} do not form a valid {}"


def as_values(value: Any) -> Any:
    """Return the values of rows: a Ragged, BytesColumn or array as it is, else what TensorFlow makes of it.

    >>> as_values(["a", "b"]), as_values([1, 2]).dtype
    (BytesColumn(shape=(2,), [b'a', b'b']), dtype('int32'))
    """
    if isinstance(value, (Ragged, BytesColumn)):
        return value
    array = to_array(value)
    return BytesColumn.from_list(array) if array.dtype == object else array


def from_row_splits(values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> Ragged:
    """Cut values into rows: row i goes from the i-th split to the next one.

    >>> from_row_splits([1, 2, 3], [0, 2, 2, 3]).to_list()
    [[1, 2], [], [3]]
    """
    splits = _partition(row_splits, "row_splits")
    if not len(splits):
        raise ValueError("row_splits tensor may not be empty. Pass [0] for no rows.")
    if validate:
        wrong = _WRONG.format("from_row_splits", "RaggedTensor")
        assert_equal(splits[0], splits.dtype.type(0), f"{wrong}:zero")
        assert_non_negative(np.diff(splits), f"{wrong}:monotonic")
    return _cut(as_values(values), splits, validate)


def from_row_lengths(values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> Ragged:
    """Cut values into rows of these lengths.

    >>> from_row_lengths([1, 2, 3], [2, 0, 1]).to_list()
    [[1, 2], [], [3]]
    """
    lengths = _partition(row_lengths, "row_lengths")
    if validate:
        assert_non_negative(lengths, _WRONG.format("from_row_lengths", "RowPartition"))
    return _cut(as_values(values), splits_of(lengths, lengths.dtype), validate)


def from_row_starts(values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> Ragged:
    """Cut values into rows that begin at these places.

    >>> from_row_starts([1, 2, 3], [0, 2]).to_list()
    [[1, 2], [3]]
    """
    flat = as_values(values)
    starts = _partition(row_starts, "row_starts")
    count = starts.dtype.type(len(flat))
    if validate and len(starts):
        wrong = _WRONG.format("from_row_starts", "RaggedTensor")
        assert_equal(starts[0], starts.dtype.type(0), wrong)
        assert_non_negative(np.diff(starts), wrong)
        assert_less_equal(starts[-1], count, wrong)
    return _cut(flat, np.append(starts, count).astype(starts.dtype), validate=False)


def from_row_limits(values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> Ragged:
    """Cut values into rows that end before these places.

    >>> from_row_limits([1, 2, 3], [2, 3]).to_list()
    [[1, 2], [3]]
    """
    limits = _partition(row_limits, "row_limits")
    if validate:
        wrong = _WRONG.format("from_row_limits", "RaggedTensor")
        assert_non_negative(limits[:1], wrong)
        assert_non_negative(np.diff(limits), wrong)
    return _cut(as_values(values), np.concatenate([np.zeros(1, limits.dtype), limits]), validate)


def from_value_rowids(
    values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
) -> Ragged:
    """Put values into rows by the numbers of the rows, which ascend.

    >>> from_value_rowids([1, 2, 3], [0, 0, 2]).to_list()
    [[1, 2], [], [3]]
    """
    flat = as_values(values)
    numbers = _partition(value_rowids, "value_rowids")
    last = int(numbers[-1]) if len(numbers) else -1
    count = last + 1 if nrows is None else int(to_array(nrows))
    if count < 0 and nrows is not None:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    if count < last + 1:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={last}"
        )
    if len(flat) != len(numbers):
        raise ValueError(f"Shapes ({len(flat)},) and ({len(numbers)},) are incompatible")
    if validate:
        wrong = _WRONG.format("from_value_rowids", "RowPartition")
        assert_non_negative(numbers[:1], wrong)
        assert_non_negative(np.diff(numbers), wrong)
    lengths = np.bincount(numbers, minlength=count) if len(numbers) else np.zeros(count, np.int64)
    return _cut(flat, splits_of(lengths, numbers.dtype), validate=False)


def from_uniform_row_length(
    values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
) -> Ragged:
    """Cut values into rows of one length.

    >>> from_uniform_row_length([1, 2, 3, 4], 2).to_list()
    [[1, 2], [3, 4]]
    """
    flat = as_values(values)
    length = int(to_array(uniform_row_length))
    keep = isinstance(uniform_row_length, np.int32)
    if length < 0:
        raise ValueError(f"uniform_row_length must be >= 0. Got {length}.")
    count = (len(flat) // length if length else 0) if nrows is None else int(to_array(nrows))
    if count * length != len(flat):
        raise ValueError(f"uniform_row_length={length} times nrows={count} must equal nvals={len(flat)}")
    return Ragged.unchecked(flat, (np.arange(count + 1) * length).astype(np.int32 if keep else np.int64))


def from_nested_row_splits(
    flat_values: Any, nested_row_splits: Sequence[Any], name: str | None = None, validate: bool = True
) -> Any:
    """Cut values into rows of rows: splits from the outermost to the innermost.

    >>> from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]]).to_list()
    [[[1, 2]], [[3]]]
    """
    for splits in reversed(_parts(nested_row_splits, "nested_row_splits")):
        flat_values = from_row_splits(flat_values, splits, None, validate)
    return flat_values


def from_nested_row_lengths(
    flat_values: Any, nested_row_lengths: Sequence[Any], name: str | None = None, validate: bool = True
) -> Any:
    """Cut values into rows of rows of these lengths; see `from_nested_row_splits`.

    >>> from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]]).to_list()
    [[[1, 2]], [[3]]]
    """
    for lengths in reversed(_parts(nested_row_lengths, "nested_row_lengths")):
        flat_values = from_row_lengths(flat_values, lengths, None, validate)
    return flat_values


def from_nested_value_rowids(
    flat_values: Any,
    nested_value_rowids: Sequence[Any],
    nested_nrows: Any = None,
    name: str | None = None,
    validate: bool = True,
) -> Any:
    """Put values into rows of rows by their numbers; see `from_nested_row_splits`.

    >>> from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]]).to_list()
    [[[1, 2]], [[3]]]
    """
    numbers = _parts(nested_value_rowids, "nested_value_rowids")
    counts = [None] * len(numbers) if nested_nrows is None else list(nested_nrows)
    if len(counts) != len(numbers):
        raise ValueError(
            f"Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. len(nested_nrows) = "
            f"{len(counts)} vs. len(nested_values_rowids) = {len(numbers)}."
        )
    for rows, count in zip(reversed(numbers), reversed(counts), strict=True):
        flat_values = from_value_rowids(flat_values, rows, count, None, validate)
    return flat_values


def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> Ragged:
    """Make a Ragged of an array, leaving out what pads its rows.

    Args:
        tensor: of two or more dimensions.
        lengths: of the rows, or a tuple with those of every ragged dimension.
        padding: the value that pads; its run at the end of each row is left out.
        ragged_rank: how many dimensions become ragged.
        name: ignored.
        row_splits_dtype: int32 or int64.

    Raises:
        ValueError: the arguments do not fit; the texts are TensorFlow's.

    >>> from_tensor([[1, 2, 0], [3, 0, 0]], padding=0).to_list()
    [[1, 2], [3]]
    """
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    array, dtype = to_array(tensor), as_dtype(row_splits_dtype)
    if array.ndim < 2:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged dimensions. "
            f"Received argument `tensor` with rank {array.ndim}."
        )
    if isinstance(lengths, (list, tuple)) and any(np.ndim(part) for part in lengths):
        outer = from_tensor(array, lengths[0], row_splits_dtype=dtype)
        if len(lengths) == 1:
            return outer
        inner = from_tensor(to_array(outer.values), lengths[1:], row_splits_dtype=dtype)
        return Ragged.unchecked(inner, outer.row_splits)
    if array.ndim <= ragged_rank:
        raise ValueError(f"Shape {array.shape} must have rank at least {ragged_rank + 1}")
    if ragged_rank > 1:
        merged = array.reshape(-1, *array.shape[2:])
        made = from_tensor(merged, lengths, padding, ragged_rank - 1, None, dtype)
        return Ragged.unchecked(made, (np.arange(len(array) + 1) * array.shape[1]).astype(dtype))
    sizes = _row_sizes(array, lengths, padding)
    mask = np.arange(array.shape[1]) < sizes[:, None]
    return Ragged.unchecked(as_values(array[mask]), splits_of(sizes).astype(dtype))


def from_sparse(st_input: Any, name: str | None = None, row_splits_dtype: Any = "int64") -> Ragged:
    """Make a Ragged of a Sparse of two dimensions whose rows have no gaps.

    Raises:
        InvalidArgumentError: a row has one, or the coordinates are not in order.

    >>> from_sparse(Sparse([[0, 0], [0, 1], [2, 0]], np.array([7, 8, 9]), [3, 4])).to_list()
    [[7, 8], [], [9]]
    """
    if not isinstance(st_input, Sparse):
        raise TypeError(
            f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}."
        )
    if st_input.ndim != 2:
        raise ValueError("rank(st_input) must be 2.")
    rows, columns = st_input.indices.T
    starts = np.append(True, rows[1:] != rows[:-1])[: len(rows)]
    right = columns == np.where(starts, 0, np.append(0, columns[:-1] + 1)[: len(rows)])
    if not right.all() or (rows[1:] < rows[:-1]).any():
        shown = st_input.indices.ravel()
        text = ", ".join(map(str, shown[:3])) + (", ..." if shown.size > 3 else "")
        raise InvalidArgumentError(
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
            f"b'SparseTensor is not right-ragged'\nb'SparseTensor.indices ='\n{text}"
        )
    lengths = np.bincount(rows, minlength=len(st_input))
    return Ragged.unchecked(st_input.values, splits_of(lengths).astype(as_dtype(row_splits_dtype)))


def _cut(flat: Any, splits: npt.NDArray[Any], validate: bool) -> Ragged:
    if validate:
        wrong = _WRONG.format("_from_row_partition", "RaggedTensor")
        assert_equal(splits[-1], splits.dtype.type(len(flat)), wrong)
    if splits[-1] != len(flat):  # not validated, or rows end before the values do
        flat = flat[: max(0, int(splits[-1]))]
    return Ragged.unchecked(flat, np.minimum(splits, len(flat)).astype(splits.dtype, copy=False))


def _partition(value: Any, name: str) -> npt.NDArray[Any]:
    """Splits and the like: int32 is kept if it is an array, everything else becomes int64."""
    array = to_array(value)
    if not array.size and array.dtype.kind == "f" and not isinstance(value, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must have dtype int32 or int64")
    if array.ndim != 1:
        raise ValueError(f"Shape {array.shape} must have rank 1")
    keep = isinstance(value, np.ndarray) and array.dtype == np.int32
    return array if keep else array.astype(np.int64)


def _parts(value: Any, name: str) -> list[Any]:
    if isinstance(value, np.ndarray):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {dtype_name(value.dtype)}.")
    return list(value)


def _row_sizes(array: npt.NDArray[Any], lengths: Any, padding: Any) -> npt.NDArray[Any]:
    rows, columns = array.shape[:2]
    if lengths is not None:
        sizes = to_array(lengths).astype(np.int64)
        if sizes.shape != (rows,):
            raise ValueError(
                f"Shapes {array.shape[:2]} and ({len(np.atleast_1d(sizes))}, {columns}) are incompatible"
            )
        return np.clip(sizes, 0, columns)
    if padding is None:
        return np.full(rows, columns, np.int64)
    filler = to_array(padding)
    if filler.dtype.kind != array.dtype.kind and not (filler.dtype.kind == "i" and array.dtype.kind in "uf"):
        raise TypeError(f"Cannot convert {padding!r} to EagerTensor of dtype {dtype_name(array.dtype)}")
    same = np.asarray(array == (filler if array.dtype == object else filler.astype(array.dtype)))
    filled: npt.NDArray[np.bool_] = np.all(same.reshape(rows, columns, -1), axis=2)
    ended = np.append(filled[:, ::-1], np.zeros((rows, 1), bool), axis=1)  # a row may be nothing but padding
    return np.asarray(columns - np.argmin(ended, axis=1))
