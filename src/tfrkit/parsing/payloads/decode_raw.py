"""decode_raw: byte strings as arrays of numbers, all strings of a batch in one step.

The bytes are reinterpreted, not converted: adjacent strings become an array without copying.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.tensor_types import TensorType, tensor_type
from tfrkit.values.attributes import bool_attribute
from tfrkit.values.strings import as_strings

__all__ = ["decode_raw"]

Bytes = npt.NDArray[np.uint8]

_PADDED: Final = (
    "half", "float", "double", "int32", "uint16", "uint8", "int16", "int8", "int64", "bfloat16",
)  # fmt: skip
_ALLOWED: Final = (*_PADDED[:-1], "complex64", "complex128", "bool", "bfloat16")
_MAX_LENGTH: Final = 2**31 - 1  # TensorFlow's fixed_length is an int32


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool | None = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> npt.NDArray[Any]:
    r"""Read byte strings as arrays of numbers.

    Args:
        input_bytes: one string (bytes, or str as UTF-8), nested lists or an array of them, a BytesColumn or a Block.
            Without `fixed_length` all must have the same length.
        out_type: float16, float32, float64, int8, int16, int32, int64, uint8, uint16, bool, complex64, complex128 or
            bfloat16 (which needs the extra `bfloat16`), as a name, numpy dtype or TensorFlow dtype.
        little_endian: order of the bytes in the strings; the array has the machine's.
        fixed_length: bytes to take of each string: longer ones are cut, shorter ones filled up with zero bytes at
            their end. Not for bool and complex.
        name: ignored; TensorFlow has it.

    Returns:
        An array of the shape of the input and one more dimension. It may be a read-only view of the input's memory.
        Bytes other than 0 are True as bool.

    Raises:
        InvalidArgumentError: lengths differ or do not fit the type, or the type is not among those above.

    >>> decode_raw([b"\1\0\2\0", b"\3\0\4\0"], "int16").tolist()
    [[1, 2], [3, 4]]
    >>> decode_raw(b"\1\2\3", "int16", little_endian=False, fixed_length=4).tolist()
    [258, 768]
    """
    wanted = tensor_type(out_type)
    swap = not bool_attribute(little_endian, "little_endian", True)
    if fixed_length is None:
        shape, rows = _equal_rows(input_bytes, wanted)
    else:
        shape, rows = _padded_rows(input_bytes, wanted, fixed_length)
    return _reinterpret(rows, wanted, swap).reshape(
        *shape, -1 if rows.size else rows.shape[1] // _size(wanted)
    )


def _equal_rows(input_bytes: Any, wanted: TensorType) -> tuple[tuple[int, ...], Bytes]:
    """The shape of the input, and its strings as the rows of a matrix of bytes."""
    _check_type(wanted, _ALLOWED)
    if isinstance(input_bytes, Block):
        _check_lengths(input_bytes.lengths, wanted)
        return (len(input_bytes),), _rows_of_block(input_bytes)
    column = as_strings(input_bytes)
    lengths = np.diff(column.offsets)
    _check_lengths(lengths, wanted)
    width = int(lengths[0]) if len(lengths) else 0
    return column.shape, column.data[column.offsets[0] : column.offsets[-1]].reshape(len(lengths), width)


def _rows_of_block(block: Block) -> Bytes:
    """Records of one length; evenly spaced ones are taken as a strided view."""
    if not len(block):
        return np.zeros((0, 0), np.uint8)
    width = int(block.lengths[0])
    steps = np.diff(block.offsets)
    step = int(steps[0]) if len(steps) else width
    if step >= width and bool((steps == step).all()):
        run = block.data[block.offsets[0] : int(block.offsets[-1]) + width]
        return np.lib.stride_tricks.as_strided(run, (len(block), width), (step, 1), writeable=False)
    return np.frombuffer(b"".join(block.to_list()), np.uint8).reshape(len(block), width)


def _padded_rows(input_bytes: Any, wanted: TensorType, fixed_length: Any) -> tuple[tuple[int, ...], Bytes]:
    """The same with strings cut or filled up to one length."""
    _check_type(wanted, _PADDED)
    width = _length(fixed_length, wanted)
    column = as_strings(input_bytes)
    lengths = np.diff(column.offsets)
    if len(lengths) and bool((lengths == lengths[0]).all()):
        used = column.data[column.offsets[0] : column.offsets[-1]].reshape(
            len(lengths), -1 if lengths[0] else 0
        )
        if int(lengths[0]) >= width:
            return column.shape, used[:, :width]
        rows = np.zeros((len(lengths), width), np.uint8)
        rows[:, : used.shape[1]] = used
        return column.shape, rows
    flat: BytesColumn = column.reshape((len(lengths),))
    joined = b"".join(entry[:width].ljust(width, b"\0") for entry in flat)
    return column.shape, np.frombuffer(joined, np.uint8).reshape(len(lengths), width)


def _length(fixed_length: Any, wanted: TensorType) -> int:
    if (isinstance(fixed_length, np.ndarray) and fixed_length.ndim) or isinstance(
        fixed_length, (list, tuple)
    ):
        shape = ",".join(map(str, np.shape(fixed_length)))
        raise InvalidArgumentError(f"k must be scalar, got shape [{shape}]")
    try:
        length = fixed_length.__index__()
    except AttributeError:
        raise TypeError(f"Cannot convert {fixed_length!r} to EagerTensor of dtype int32") from None
    if length > _MAX_LENGTH:
        raise InvalidArgumentError(f"fixed_length ({length}) must be at most {_MAX_LENGTH}.")
    if length % _size(wanted):
        size = _size(wanted)
        raise InvalidArgumentError(
            f"fixed_length ({length}) must be a multiple of the size of out_type ({size})"
        )
    if length <= 0:
        raise InvalidArgumentError(f"fixed_length ({length}) must be greater than zero.")
    return int(length)


def _check_type(wanted: TensorType, allowed: tuple[str, ...]) -> None:
    if wanted.op_name not in allowed:
        raise InvalidArgumentError(
            f"Value for attr 'out_type' of {wanted.op_name} is not in the list of allowed values: {', '.join(allowed)}"
        )


def _check_lengths(lengths: npt.NDArray[np.int64], wanted: TensorType) -> None:
    if not len(lengths):
        return
    first = int(lengths[0])
    differing = np.flatnonzero(lengths != first)
    if len(differing):
        entry = int(differing[0])
        raise InvalidArgumentError(
            f"DecodeRaw requires input strings to all be the same size, but element {entry} has size {first} != "
            f"{int(lengths[entry])}"
        )
    if first % _size(wanted):
        raise InvalidArgumentError(
            f"Input to DecodeRaw has length {first} that is not a multiple of {_size(wanted)}, the size of "
            f"{wanted.op_name}"
        )


def _size(wanted: TensorType) -> int:
    return 2 if wanted.is_foreign else wanted.numpy().itemsize


def _reinterpret(rows: Bytes, wanted: TensorType, swap: bool) -> npt.NDArray[Any]:
    if wanted.name == "bool":
        return np.not_equal(rows, 0)
    dtype = wanted.numpy()
    if not rows.size:
        return np.zeros(0, dtype)
    flat = np.ascontiguousarray(rows).reshape(-1)
    little = np.dtype("u2") if wanted.is_foreign else dtype  # ml_dtypes know no order of bytes
    values: npt.NDArray[Any] = flat.view(little)
    if swap != (np.little_endian is False):
        values = values.byteswap()
    return np.require(values.view(dtype), requirements="A")
