"""serialize_tensor and parse_tensor: one array as a serialised TensorProto, and back.

Writes TensorFlow's bytes; reads any TensorProto that TensorFlow reads. How Python values become an array is in
`to_array`.
"""

from __future__ import annotations

import base64
import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.tensor_message import tensor_message
from tfrkit.model.tensor_types import TENSOR_TYPES, TensorType, tensor_type, tensor_type_of
from tfrkit.model.wire import read_varint, wire_bytes, wire_varint
from tfrkit.values.strings import as_bytes
from tfrkit.values.to_array import to_array

__all__ = ["parse_tensor", "serialize_tensor"]

_MAX_DIMENSIONS: Final = 254  # of a tensor; numpy has fewer
_MAX_NUMPY_DIMENSIONS: Final = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
# A message of a few bytes may ask for any number of repeated values. More than this is refused: memory is not endless.
_MAX_FILLED_BYTES: Final = 1 << 30
_MAX_LENGTH_BYTES: Final = 5  # of a varint of 32 bits
_UNSUPPORTED: Final = {"M": "DATETIME", "m": "TIMEDELTA", "g": "LONGDOUBLE", "G": "CLONGDOUBLE"}
_REFUSED: Final = "Cannot parse tensor from proto: "


def serialize_tensor(tensor: Any, name: str | None = None) -> bytes:
    r"""Turn an array into the bytes of a TensorProto.

    Args:
        tensor: an ndarray, numpy scalar or BytesColumn, a tensor that numpy understands, or Python values: numbers,
            strings and nested lists of them. As in TensorFlow, Python's ints become int32 (int64 if one does not
            fit) and its floats float32.
        name: ignored; TensorFlow has it.

    Returns:
        The same bytes as TensorFlow's.

    Raises:
        ValueError: no tensor holds such a value.

    >>> serialize_tensor([1, 2]).hex(" ")
    '08 03 12 04 12 02 08 02 22 08 01 00 00 00 02 00 00 00'
    >>> serialize_tensor("abc")
    b'\x08\x07\x12\x00B\x03abc'
    """
    array = to_array(tensor)
    found = tensor_type_of(array.dtype)
    if found is None:
        reason = f"Unsupported numpy type: NPY_{_UNSUPPORTED.get(array.dtype.char, array.dtype.name)}"
        if array.dtype.kind == "V":
            reason = "Unsupported numpy data type" if array.dtype.names else "Unexpected numpy data type"
        raise ValueError(f"Failed to convert a NumPy array to a Tensor ({reason}).")
    parts: list[bytes | memoryview] = [
        b"\x08" + wire_varint(found.number),
        wire_bytes(2, b"".join(map(_dimension, array.shape))),
    ]
    if found.name == "string":
        parts += [wire_bytes(8, entry) for entry in array.ravel().tolist()]
    elif array.size:
        parts += [b"\x22" + wire_varint(array.nbytes), _little_endian(array)]
    return b"".join(parts)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Any:
    """Read an array from the bytes of a TensorProto.

    Args:
        serialized: the message, as bytes or a string array without dimensions.
        out_type: the type it must have: a name, numpy dtype or TensorFlow dtype; "string" or bytes for strings.
        name: ignored; TensorFlow has it.

    Returns:
        Numbers: an ndarray, or a numpy scalar if there is no dimension. Strings: an ndarray of bytes objects, or bytes.
        The array is its own memory, or a read-only view of a copy of the message's content. Quantised types are
        integers.

    Raises:
        InvalidArgumentError: the bytes are not a TensorProto, its content does not fit its shape, or its type differs.
            A message that repeats a value to more than 1 GiB is refused, too.
        MissingExtraError: for bfloat16, float8 and int4 the package ml_dtypes is needed, and not installed.

    >>> parse_tensor(serialize_tensor(np.arange(6).reshape(2, 3)), "int64").tolist()
    [[0, 1, 2], [3, 4, 5]]
    >>> parse_tensor(serialize_tensor("abc"), bytes)
    b'abc'
    """
    wanted = tensor_type(out_type)
    message = _read(as_bytes(serialized, "serialized"))
    found = TENSOR_TYPES.get(message.dtype)
    if found is None:
        raise InvalidArgumentError(f"{_REFUSED}dtype {message.dtype} is not a type of elements")
    shape = _shape_of(message)
    count = math.prod(shape)
    if found.name in {"resource", "variant"}:
        if message.tensor_content and count:
            raise InvalidArgumentError(f"{_REFUSED}a {found.name} has no content of bytes")
        _check_same(found, wanted)
        raise InvalidArgumentError(f"Cannot convert a Tensor of dtype {found.name} to a NumPy array.")
    values = _strings(message, count) if found.name == "string" else _numbers(message, found, count)
    _check_same(found, wanted)
    return _shaped(values, shape)


def _read(data: bytes | memoryview) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return tensor_message().FromString(bytes(data))
    except DecodeError as error:
        shown = base64.b64encode(data).decode()
        raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto, base64: {shown}") from error


def _shape_of(message: Any) -> tuple[int, ...]:
    sizes = [dim.size for dim in message.tensor_shape.dim]
    if len(sizes) > _MAX_DIMENSIONS:
        raise InvalidArgumentError(
            f"{_REFUSED}expected at most {_MAX_DIMENSIONS} dimensions but got {len(sizes)}"
        )
    count = 1
    for size in sizes:
        count *= size
        if size < 0 or count >= 2**63:
            raise InvalidArgumentError(f"{_REFUSED}its shape {sizes[:8]} is not that of a tensor")
    return tuple(sizes)


def _check_same(found: TensorType, wanted: TensorType) -> None:
    if found != wanted:
        raise InvalidArgumentError(
            f"Type mismatch between parsed tensor ({found.op_name}) and dtype ({wanted.op_name})"
        )


def _shaped(values: npt.NDArray[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    if len(shape) > _MAX_NUMPY_DIMENSIONS:
        raise InvalidArgumentError(
            f"Cannot convert tensor with {len(shape)} dimensions to NumPy array. NumPy arrays can have at most "
            f"{_MAX_NUMPY_DIMENSIONS} dimensions"
        )
    try:
        return values.reshape(shape)
    except ValueError as error:  # dimensions whose product is too large for numpy beside one of size 0
        raise InvalidArgumentError(
            f"Failed to create numpy array from tensor of shape {list(shape)}. Numpy error: ValueError: {error}"
        ) from error


def _numbers(message: Any, found: TensorType, count: int) -> npt.NDArray[Any]:
    """The values in row-major order: from the content if there is one, else from the field of the type."""
    dtype = found.numpy()
    if not count:
        return np.zeros(0, dtype)
    content = message.tensor_content
    if not content:
        return _filled_up(_listed(message, found, dtype), count, dtype)
    if len(content) != count * dtype.itemsize:
        raise InvalidArgumentError(
            f"{_REFUSED}expected {count * dtype.itemsize} bytes of content for {count} values of {found.op_name} "
            f"but got {len(content)}"
        )
    raw = np.frombuffer(content, np.uint8)
    if found.name == "bool":
        if int(raw.max()) > 1:
            raise InvalidArgumentError(f"{_REFUSED}a bool in its content is {int(raw.max())}")
        return raw.view(np.bool_)
    return raw.view(dtype) if np.little_endian else raw.view(dtype).byteswap()


def _listed(message: Any, found: TensorType, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The values that are listed one by one; a value too large for the type is cut to its low bits."""
    if found.field == "float8_val":
        return np.frombuffer(message.float8_val, np.uint8).view(dtype)
    listed = getattr(message, found.field)
    if found.field == "half_val":
        return np.array(listed, np.int32).astype(np.uint16).view(dtype)
    if found.field == "int_val":
        numbers = np.array(listed, np.int32)
        return numbers.astype(np.uint8).view(dtype) if found.is_foreign else numbers.astype(dtype)
    if found.field in {"scomplex_val", "dcomplex_val"}:
        part = np.float32 if found.field == "scomplex_val" else np.float64
        pairs = np.array(listed, part)
        return pairs[: len(pairs) // 2 * 2].view(dtype)
    return np.array(listed, dtype)


def _filled_up(listed: npt.NDArray[Any], count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Exactly `count` values: surplus ones are dropped, and the last one is repeated, or zero if the list is empty."""
    if len(listed) >= count:
        return listed[:count]
    _check_memory(count * dtype.itemsize)
    values = np.zeros(count, dtype)
    if len(listed):
        values[: len(listed)] = listed
        values[len(listed) :] = listed[-1]
    return values


def _strings(message: Any, count: int) -> npt.NDArray[Any]:
    content = message.tensor_content
    listed = _cut_strings(content, count) if content and count else list(message.string_val)[:count]
    if len(listed) < count:
        _check_memory(count * np.dtype(object).itemsize)
    values = np.empty(count, object)
    values[: len(listed)] = listed
    values[len(listed) :] = listed[-1] if listed else b""
    return values


def _cut_strings(content: bytes, count: int) -> list[bytes]:
    """Strings from the content: all lengths as varints, then all bytes, and nothing after them."""
    lengths: list[int] = []
    at = 0
    while len(lengths) < count:
        found = read_varint(content, at, _MAX_LENGTH_BYTES)
        if found is None:
            raise InvalidArgumentError(
                f"{_REFUSED}the length of string {len(lengths)} is cut off or not a number"
            )
        lengths.append(found[0] & 0xFFFF_FFFF)
        at = found[1]
    if sum(lengths) != len(content) - at:
        raise InvalidArgumentError(
            f"{_REFUSED}expected {sum(lengths)} bytes of strings in its content but got {len(content) - at}"
        )
    entries: list[bytes] = []
    for length in lengths:
        entries.append(content[at : at + length])
        at += length
    return entries


def _check_memory(size: int) -> None:
    if size > _MAX_FILLED_BYTES:
        raise InvalidArgumentError(
            f"{_REFUSED}it repeats values to {size} bytes, and at most {_MAX_FILLED_BYTES} are made of so few"
        )


def _little_endian(array: npt.NDArray[Any]) -> memoryview:
    if array.dtype.kind != "V" and array.dtype.byteorder == (">" if np.little_endian else "="):
        array = array.astype(array.dtype.newbyteorder("<"))
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _dimension(size: int) -> bytes:
    return wire_bytes(2, b"\x08" + wire_varint(size) if size else b"")
