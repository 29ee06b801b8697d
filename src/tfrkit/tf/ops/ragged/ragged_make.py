"""Making a Ragged of values and any of the ways to say where rows begin and end, with TensorFlow's checks.

Splits, lengths, starts, limits, row numbers, one length for all rows; of a padded array, of a Sparse.
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

_WRONG: Final = "Arguments to {} do not form a valid RaggedTensor"
_WHOLE: Final = _WRONG.format("_from_row_partition")


def as_values(value: Any) -> Any:
    """Values of rows: a Ragged, BytesColumn or array as it is, else what TensorFlow makes of it.

    >>> as_values(["a", "b"]), as_values([1, 2]).dtype
    (BytesColumn(shape=(2,), [b'a', b'b']), dtype('int32'))
    """
    if isinstance(value, (Ragged, BytesColumn)):
        return value
    array = to_array(value)
    return BytesColumn.from_list(array) if array.dtype == object else array


def from_row_splits(values: Any, row_splits: Any, validate: bool = True) -> Ragged:
    """Cut values into rows: row i goes from the i-th split to the next one.

    Args:
        values: what is cut along its first dimension.
        row_splits: one more than there are rows, from 0 to the number of values.
        validate: check that.

    Raises:
        InvalidArgumentError, ValueError: the splits are wrong; the texts are TensorFlow's.

    >>> from_row_splits([1, 2, 3], [0, 2, 2, 3]).to_list()
    [[1, 2], [], [3]]
    """
    flat = as_values(values)
    splits = _partition(row_splits, "row_splits")
    if not len(splits):
        raise ValueError("row_splits tensor may not be empty.")
    if validate:
        name = _WRONG.format("from_row_splits")
        assert_equal(splits[0], splits.dtype.type(0), f"{name}:zero")
        assert_non_negative(np.diff(splits), f"{name}:monotonic")
        _check_end(splits, flat)
    return _cut(flat, splits)


def from_row_lengths(values: Any, row_lengths: Any, validate: bool = True) -> Ragged:
    """Cut values into rows of these lengths.

    >>> from_row_lengths([1, 2, 3], [2, 0, 1]).to_list()
    [[1, 2], [], [3]]
    """
    flat = as_values(values)
    lengths = _partition(row_lengths, "row_lengths")
    if validate:
        assert_non_negative(lengths, "Arguments to from_row_lengths do not form a valid RowPartition")
    splits = splits_of(lengths, lengths.dtype)
    if validate:
        _check_end(splits, flat)
    return _cut(flat, splits)


def from_row_starts(values: Any, row_starts: Any, validate: bool = True) -> Ragged:
    """Cut values into rows that begin at these places.

    >>> from_row_starts([1, 2, 3], [0, 2]).to_list()
    [[1, 2], [3]]
    """
    flat = as_values(values)
    starts = _partition(row_starts, "row_starts")
    count = starts.dtype.type(len(flat))
    if validate and len(starts):
        name = _WRONG.format("from_row_starts")
        assert_equal(starts[0], starts.dtype.type(0), name)
        assert_non_negative(np.diff(starts), name)
        assert_less_equal(starts[-1], count, name)
    return _cut(flat, np.append(starts, count).astype(starts.dtype))


def from_row_limits(values: Any, row_limits: Any, validate: bool = True) -> Ragged:
    """Cut values into rows that end before these places.

    >>> from_row_limits([1, 2, 3], [2, 3]).to_list()
    [[1, 2], [3]]
    """
    flat = as_values(values)
    limits = _partition(row_limits, "row_limits")
    if validate:
        name = _WRONG.format("from_row_limits")
        assert_non_negative(limits[:1], name)
        assert_non_negative(np.diff(limits), name)
    splits = np.concatenate([np.zeros(1, limits.dtype), limits])
    if validate:
        _check_end(splits, flat)
    return _cut(flat, splits)


def from_value_rowids(values: Any, value_rowids: Any, nrows: Any = None, validate: bool = True) -> Ragged:
    """Put values into rows by the numbers of the rows, which ascend.

    >>> from_value_rowids([1, 2, 3], [0, 0, 2]).to_list()
    [[1, 2], [], [3]]
    """
    flat = as_values(values)
    numbers = _partition(value_rowids, "value_rowids")
    last = int(numbers[-1]) if len(numbers) else -1
    count = last + 1 if nrows is None else int(to_array(nrows))
    if nrows is not None:
        if count < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")
        if count < last + 1:
            raise ValueError(
                f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={last}"
            )
    if len(flat) != len(numbers):
        raise ValueError(f"Shapes ({len(flat)},) and ({len(numbers)},) are incompatible")
    if validate:
        name = "Arguments to from_value_rowids do not form a valid RowPartition"
        assert_non_negative(numbers[:1], name)
        assert_non_negative(np.diff(numbers), name)
    lengths = (
        np.bincount(numbers, minlength=count).astype(numbers.dtype)
        if len(numbers)
        else np.zeros(count, numbers.dtype)
    )
    return _cut(flat, splits_of(lengths, numbers.dtype))


def from_uniform_row_length(
    values: Any,
    uniform_row_length: Any,
    nrows: Any = None,
    validate: bool = True,  # noqa: ARG001
) -> Ragged:
    """Cut values into rows of one length.

    >>> from_uniform_row_length([1, 2, 3, 4], 2).to_list()
    [[1, 2], [3, 4]]
    """
    flat = as_values(values)
    given = to_array(uniform_row_length)
    length = int(given)
    keep = isinstance(uniform_row_length, np.generic) and given.dtype == np.int32
    dtype = np.dtype(np.int32 if keep else np.int64)
    if length < 0:
        raise ValueError("uniform_row_length must be >= 0.")
    count = (len(flat) // length if length else 0) if nrows is None else int(to_array(nrows))
    if count * length != len(flat):
        raise ValueError(f"uniform_row_length={length} times nrows={count} must equal nvals={len(flat)}")
    return Ragged.unchecked(flat, (np.arange(count + 1) * length).astype(dtype))


def from_nested_row_splits(flat_values: Any, nested_row_splits: Sequence[Any], validate: bool = True) -> Any:
    """Cut values into rows of rows: splits from the outermost to the innermost.

    >>> from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]]).to_list()
    [[[1, 2]], [[3]]]
    """
    made = flat_values
    for splits in _parts(nested_row_splits, "nested_row_splits")[::-1]:
        made = from_row_splits(made, splits, validate)
    return made


def from_nested_row_lengths(
    flat_values: Any, nested_row_lengths: Sequence[Any], validate: bool = True
) -> Any:
    """Cut values into rows of rows of these lengths; see `from_nested_row_splits`.

    >>> from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]]).to_list()
    [[[1, 2]], [[3]]]
    """
    made = flat_values
    for lengths in _parts(nested_row_lengths, "nested_row_lengths")[::-1]:
        made = from_row_lengths(made, lengths, validate)
    return made


def from_nested_value_rowids(
    flat_values: Any, nested_value_rowids: Sequence[Any], nested_nrows: Any = None, validate: bool = True
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
    made = flat_values
    for rows, count in zip(numbers[::-1], counts[::-1], strict=True):
        made = from_value_rowids(made, rows, count, validate)
    return made


def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    row_splits_dtype: Any = "int64",
) -> Ragged:
    """Make a Ragged of an array, leaving out what fills its rows up.

    Args:
        tensor: of two or more dimensions.
        lengths: of the rows, those of all ragged dimensions in a tuple.
        padding: the value that fills; its run at the end of each row is left out.
        ragged_rank: how many dimensions become ragged.
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
    array = to_array(tensor)
    if array.ndim < 2:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged dimensions. "
            f"Received argument `tensor` with rank {array.ndim}."
        )
    if lengths is not None and _is_nested(lengths):
        return _of_nested_lengths(array, list(lengths), as_dtype(row_splits_dtype))
    if array.ndim <= ragged_rank:
        raise ValueError(f"Shape {array.shape} must have rank at least {ragged_rank + 1}")
    dtype = as_dtype(row_splits_dtype)
    if ragged_rank > 1:
        outer = array.shape[:ragged_rank]
        merged = array.reshape(-1, *array.shape[ragged_rank:])
        made = from_tensor(merged, lengths, padding, 1, dtype)
        for axis in range(ragged_rank - 1, 0, -1):
            count = int(np.prod(outer[:axis], dtype=np.int64))
            made = Ragged.unchecked(made, (np.arange(count + 1) * outer[axis]).astype(dtype))
        return made
    sizes = _row_sizes(array, lengths, padding)
    mask = np.arange(array.shape[1]) < sizes[:, None]
    return Ragged.unchecked(as_values(array[mask]), splits_of(sizes).astype(dtype))


def from_sparse(st_input: Any, row_splits_dtype: Any = "int64") -> Ragged:
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
    dtype = as_dtype(row_splits_dtype)
    rows, columns = st_input.indices[:, 0], st_input.indices[:, 1]
    if not len(rows):
        return Ragged.unchecked(st_input.values, np.zeros(len(st_input) + 1, dtype))
    begins = np.append(True, rows[1:] != rows[:-1])
    right = np.where(begins, columns == 0, columns == np.append(-1, columns[:-1]) + 1)
    if not bool(right.all()) or bool((rows[1:] < rows[:-1]).any()):
        shown = st_input.indices.ravel()
        text = ", ".join(map(str, shown[:3])) + (", ..." if shown.size > 3 else "")
        raise InvalidArgumentError(
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
            f"b'SparseTensor is not right-ragged'\nb'SparseTensor.indices ='\n{text}"
        )
    lengths = np.bincount(rows, minlength=len(st_input))
    return Ragged.unchecked(st_input.values, splits_of(lengths).astype(dtype))


def _cut(flat: Any, splits: npt.NDArray[Any]) -> Ragged:
    if splits[-1] != len(flat):  # not validated, or rows end before the values do
        flat = flat[: max(0, int(splits[-1]))]
    return Ragged.unchecked(flat, np.minimum(splits, len(flat)).astype(splits.dtype, copy=False))


def _check_end(splits: npt.NDArray[Any], flat: Any) -> None:
    assert_equal(splits[-1], splits.dtype.type(len(flat)), _WHOLE)


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


def _is_nested(lengths: Any) -> bool:
    return isinstance(lengths, (list, tuple)) and any(
        isinstance(part, (list, tuple)) or np.ndim(part) for part in lengths
    )


def _of_nested_lengths(array: npt.NDArray[Any], lengths: list[Any], dtype: np.dtype[Any]) -> Ragged:
    outer = from_tensor(array, lengths[0], None, 1, dtype)
    if len(lengths) == 1:
        return outer
    inner = outer.flat_values
    inner = inner.to_numpy() if isinstance(inner, BytesColumn) else inner
    return Ragged.unchecked(_of_nested_lengths(inner, lengths[1:], dtype), outer.row_splits)


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
    ended = np.append(filled[:, ::-1], np.zeros((rows, 1), bool), axis=1)  # a row may be nothing but filling
    sizes = columns - np.argmin(ended, axis=1)
    return np.asarray(sizes)
