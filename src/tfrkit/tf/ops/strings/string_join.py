"""Strings made of several: join, reduce_join, unsorted_segment_join, ngrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError, OutOfRangeError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.tf.ops.strings.string_values import flat_strings, shape_text, strings_of, with_flat
from tfrkit.values.strings import as_strings
from tfrkit.values.to_array import to_array

__all__ = ["join", "ngrams", "reduce_join", "reduce_join_v1", "unsorted_segment_join"]


def join(inputs: Sequence[Any], separator: str = "") -> Any:
    """Join strings of several tensors, entry by entry.

    Args:
        inputs: strings, or tensors of strings of one shape; a single string goes with every entry of the others.
        separator: what stands between them.

    Raises:
        InvalidArgumentError: the shapes differ.

    >>> join(["a", ["b", "c"]], separator="-").to_list()
    [b'a-b', b'a-c']
    """
    if isinstance(inputs, (str, bytes)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    between = _separator(separator)
    parts = [part.encode() if type(part) is str else part for part in inputs]
    if all(type(part) is bytes for part in parts):
        return between.join(parts)
    if any(isinstance(part, Ragged) for part in parts):
        return _join_ragged(parts, separator)
    columns = [strings_of(part) for part in parts]
    shapes = [column.shape for column in columns if column.shape]
    for shape in shapes[1:]:
        if shape != shapes[0]:
            raise InvalidArgumentError(
                f"Input shapes do not match: {shape_text(shapes[0])} vs. {shape_text(shape)}"
            )
    if not shapes:
        return between.join(flat_strings(column)[0] for column in columns)
    count = int(np.prod(shapes[0], dtype=np.int64))
    lists = [flat_strings(column) if column.shape else flat_strings(column) * count for column in columns]
    return BytesColumn.from_list([between.join(entry) for entry in zip(*lists, strict=True)]).reshape(
        shapes[0]
    )


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "") -> Any:
    """Join the strings of a tensor along dimensions, as reduce_sum adds numbers.

    Args:
        inputs: strings.
        axis: one dimension or several, of which the first one is joined first; all by default, the last one first.
        keepdims: keep them with size 1.
        separator: what stands between strings.

    Raises:
        OutOfRangeError: there is no such dimension.
        InvalidArgumentError: one is named twice.

    >>> reduce_join([["a", "b"], ["c", "d"]], axis=0).to_list(), reduce_join([["a", "b"], ["c", "d"]])
    ([b'ac', b'bd'], b'abcd')
    """
    between = _separator(separator)
    if isinstance(inputs, Ragged):
        return _reduce_ragged(inputs, axis, separator)
    column = strings_of(_typed(inputs), "ReduceJoin")
    rank = len(column.shape)
    axes = (
        list(range(rank))[::-1]
        if axis is None
        else [int(one) for one in np.atleast_1d(to_array(axis)).tolist()]
    )
    places: list[int] = []
    for one in axes:
        if not -rank <= one < rank:
            raise OutOfRangeError(f"Invalid reduction dimension {one} for input with {rank} dimension(s)")
        if one % rank in places:
            raise InvalidArgumentError(f"Duplicate reduction dimension {one}")
        places.append(one % rank)
    kept = [place for place in range(rank) if place not in places]
    moved = column.to_numpy().transpose(*kept, *places[::-1])
    rows = moved.reshape(*[column.shape[place] for place in kept], -1) if column.size else moved
    shape = tuple(column.shape[place] for place in kept)
    count = int(np.prod(shape, dtype=np.int64))
    joined = [between.join(row) for row in rows.reshape(count, -1 if column.size else 0).tolist()]
    if keepdims:
        shape = tuple(1 if place in places else size for place, size in enumerate(column.shape))
    return joined[0] if shape == () else BytesColumn.from_list(joined).reshape(shape)


def reduce_join_v1(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str = "",
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Any:
    """`reduce_join` with the names of TensorFlow 1.

    >>> reduce_join_v1([["a", "b"]], reduction_indices=1).to_list()
    [b'ab']
    """
    where = reduction_indices if axis is None else axis
    return reduce_join(inputs, where, bool(keep_dims or keepdims), separator)


def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "") -> Any:
    """Join the strings that have the same segment number.

    Raises:
        InvalidArgumentError: the numbers do not fit the strings.

    >>> unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, separator=":").to_list()
    [b'b', b'a:c']
    """
    between = _separator(separator)
    column = strings_of(inputs)
    numbers = to_array(segment_ids)
    count = int(to_array(num_segments))
    for axis, (size, found) in enumerate(zip(numbers.shape, column.shape, strict=False)):
        if size != found:
            raise InvalidArgumentError(
                f"Segment dimension is {size} while input dimension is {size} in rank {axis}"
            )
    if bool((numbers < 0).any() or (numbers >= count).any()):
        raise InvalidArgumentError(
            "segment_ids are not allowed to exceed num_segments or to have negative values."
        )
    rest = column.shape[numbers.ndim :]
    rows = column.to_numpy().reshape(numbers.size, -1)
    parts: list[list[list[bytes]]] = [[[] for _ in range(rows.shape[1])] for _ in range(count)]
    for number, row in zip(numbers.ravel().tolist(), rows.tolist(), strict=True):
        for place, text in enumerate(row):
            parts[number][place].append(text)
    joined = [between.join(texts) for segment in parts for texts in segment]
    return BytesColumn.from_list(joined).reshape((count, *rest))


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
) -> Any:
    """Give runs of strings that follow each other in the innermost dimension, joined.

    Args:
        data: strings of at least one dimension, also Ragged.
        ngram_width: how many strings, or several such numbers.
        separator: what stands between them.
        pad_values: a string, or one for the left and one for the right, put round each row.
        padding_width: so many of them; by default one less than the width.
        preserve_short_sequences: a row that is too short gives one n-gram of all it has.

    >>> ngrams(["a", "b", "c"], 2).to_list()
    [b'a b', b'b c']
    """
    if isinstance(ngram_width, (int, np.integer)):
        ngram_width = [ngram_width]
    widths = [int(width) for width in ngram_width]
    if not widths or any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Received: ngram_width={ngram_width}")
    if padding_width is not None and padding_width < 1:
        raise ValueError(f"padding_width must be greater than 0. Received: padding_width={padding_width}")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    pads = _pad_values(pad_values)
    between = _separator(separator)

    def grams(row: list[bytes]) -> list[bytes]:
        made: list[bytes] = []
        for width in widths:
            made += _grams(row, width, between, pads, padding_width)
        if preserve_short_sequences and not made and row:
            made = [between.join(_padded(row, max(widths), pads, padding_width))]
        return made

    if isinstance(data, Ragged):
        return _ragged_ngrams(data, grams)
    column = strings_of(data)
    if not column.shape:
        raise InvalidArgumentError("ngrams: data must have a rank of at least 1")
    rows = [grams(row) for row in column.to_numpy().reshape(-1, column.shape[-1]).tolist()]
    width = len(rows[0]) if rows else 0
    joined = [gram for row in rows for gram in row]
    return BytesColumn.from_list(joined).reshape((*column.shape[:-1], width))


def _grams(
    row: list[bytes], width: int, between: bytes, pads: tuple[bytes, bytes] | None, padding: int | None
) -> list[bytes]:
    filled = _padded(row, width, pads, padding)
    return [between.join(filled[at : at + width]) for at in range(len(filled) - width + 1)]


def _padded(
    row: list[bytes], width: int, pads: tuple[bytes, bytes] | None, padding: int | None
) -> list[bytes]:
    if pads is None:
        return row
    count = width - 1 if padding is None else min(width - 1, padding)
    return [pads[0]] * count + row + [pads[1]] * count


def _ragged_ngrams(data: Ragged, grams: Any) -> Ragged:
    if isinstance(data.values, Ragged):
        return Ragged.unchecked(_ragged_ngrams(data.values, grams), data.row_splits)
    rows = [grams(row) for row in data.to_list()]
    splits = splits_of(np.fromiter(map(len, rows), np.int64, len(rows)), data.row_splits.dtype)
    return Ragged.unchecked(BytesColumn.from_list([gram for row in rows for gram in row]), splits)


def _pad_values(value: Any) -> tuple[bytes, bytes] | None:
    if value is None:
        return None
    left, right = (value, value) if isinstance(value, (str, bytes)) else value
    return as_strings([left, right])[0], as_strings([left, right])[1]


def _typed(value: Any) -> Any:
    """Numbers in lists as a tensor, which is refused as one."""
    return value if isinstance(value, (bytes, str, BytesColumn)) else to_array(value)


def _separator(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise TypeError(f"Expected string for argument 'separator' not {value!r}.")


def _join_ragged(parts: list[Any], separator: str) -> Ragged:
    """Join where at least one part is Ragged: all of these have the same rows, the others are one string each."""
    frame = next(part for part in parts if isinstance(part, Ragged))
    flat = []
    for part in parts:
        if isinstance(part, Ragged):
            if [s.tolist() for s in part.nested_row_splits] != [s.tolist() for s in frame.nested_row_splits]:
                raise InvalidArgumentError("Inputs must have identical ragged splits")
            flat.append(part.flat_values)
        else:
            flat.append(part)
    return with_flat(frame, join(flat, separator))


def _reduce_ragged(inputs: Ragged, axis: Any, separator: str) -> Any:
    """Join rows of a Ragged: the innermost dimension, the outermost, or all."""
    rank = inputs.ndim
    if axis is None:
        return _separator(separator).join(flat_strings(inputs.flat_values))
    axes = [int(one) for one in np.atleast_1d(to_array(axis)).tolist()]
    for one in axes:
        if not -rank <= one < rank:
            raise ValueError(f"axis={one} out of bounds: expected -{rank}<=axis<{rank}")
    made: Any = inputs
    for one in sorted((one % rank for one in axes), reverse=True):
        made = (
            _reduce_axis(made, one, separator)
            if isinstance(made, Ragged)
            else reduce_join(made, one, False, separator)
        )
    return made


def _reduce_axis(inputs: Ragged, axis: int, separator: str) -> Any:
    between = _separator(separator)
    values = inputs.values
    if axis > 1:
        inner = (
            _reduce_axis(values, axis - 1, separator)
            if isinstance(values, Ragged)
            else reduce_join(values, axis - 1, False, separator)
        )
        return Ragged.unchecked(inner, inputs.row_splits)
    rows = inputs.to_list()
    if axis == 1:
        if inputs.ndim == 2:
            return BytesColumn.from_list([between.join(row) for row in rows])
        return Ragged.from_list([_join_columns(row, between) for row in rows])
    return _joined_column(_join_columns(rows, between))


def _join_columns(rows: list[Any], between: bytes) -> list[Any]:
    """Join the first entries of all rows that have one, then the second ones, and so on."""
    made: list[Any] = []
    for place in range(max(map(len, rows), default=0)):
        entries = [row[place] for row in rows if len(row) > place]
        made.append(
            between.join(entries) if isinstance(entries[0], bytes) else _join_columns(entries, between)
        )
    return made


def _joined_column(made: list[Any]) -> Any:
    return Ragged.from_list(made) if made and isinstance(made[0], list) else BytesColumn.from_list(made)
