"""decode_proto: chosen fields of serialised messages of any type, as arrays.

The kernel of `parse_proto` reads the bytes, by a plan of its own: every field is a list, strings and submessages are
bytes and enums are numbers, so that values come as they are on the wire, unchecked and unmerged, as TensorFlow returns
them. Text and `sanitize` go through the message's own type of protobuf first.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError

from tfrkit import _core
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model import messages
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.tensor_types import TensorType, tensor_type
from tfrkit.model.wire import wire_varint
from tfrkit.parsing.payloads.proto_fields import is_repeated, wire_form
from tfrkit.parsing.serialized_input import as_records
from tfrkit.values.attributes import bool_attribute, str_attribute
from tfrkit.values.strings import as_strings

__all__ = ["DecodedProto", "decode_proto"]

# The name in C++ of each type of field, by the number of FieldDescriptorProto.Type less 1.
_KINDS: Final = (
    "double", "float", "int64", "uint64", "int32", "uint64", "uint32", "bool", "string", "message", "message", "string",
    "uint32", "enum", "int32", "int64", "int32", "int64",
)  # fmt: skip
# The arrays that can hold it, where they are not those of its name alone.
_OUTPUTS: Final = {
    "double": ("float64",), "float": ("float32", "float64"), "int32": ("int32", "int64"), "enum": ("int32",),
    "uint32": ("uint32", "uint64"), "message": ("string",),
}  # fmt: skip
_GROUP: Final = 10
_BYTES_SOURCE: Final = b"bytes://"


class DecodedProto(NamedTuple):
    """The result of `decode_proto`.

    Attributes:
        sizes: how many values each message has of each field, int32 of the shape of the input and one dimension more.
        values: for each field an array, of strings a BytesColumn, of the shape of the input and one dimension more:
            the most values that a message has of it, but at least 1.
    """

    sizes: npt.NDArray[np.int32]
    values: list[npt.NDArray[Any] | BytesColumn]


def decode_proto(
    bytes: Any,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[Any],
    descriptor_source: str | bytes | None = "local://",
    message_format: str | None = "binary",
    sanitize: bool | None = False,
    name: str | None = None,
) -> DecodedProto:
    r"""Take fields out of serialised messages.

    Args:
        bytes: one message, or nested lists, an array, a BytesColumn or a Block of them; at least one.
        message_type: full name of their type, such as "tensorflow.Example".
        field_names: which fields; an extension by its full name.
        output_types: the type of each result: of float also float64, of 32-bit integers also the 64-bit type of the
            same sign, of enums int32, of messages and groups string (their bytes); else the field's own.
        descriptor_source: where the type is defined: "local://" or "" for tfrkit's own messages and all that the
            process has imported, a path of a file with a serialised FileDescriptorSet, or `b"bytes://"` with it.
        message_format: "binary" or "text".
        sanitize: first parse and serialise each message with protobuf, which merges submessages and checks UTF-8.
        name: ignored; TensorFlow has it.

    Returns:
        sizes and values, see `DecodedProto`. Places without a value have the field's default.

    Raises:
        DataLossError: a message is damaged; its index is the attribute `record`.
        InvalidArgumentError: type, field or source is not known, a field does not fit its output type, or there is no
            message.

    >>> found = decode_proto([b"\n\2\1\2", b"\n\1\3"], "tensorflow.Int64List", ["value"], ["int64"])
    >>> found.sizes.tolist(), found.values[0].tolist()
    ([[2], [1]], [[1, 2], [3, 0]])
    """
    rewrite = bool_attribute(sanitize, "sanitize", False)
    text_type = str_attribute(message_type, "message_type", "")
    names = [str_attribute(item, "field_names", "") for item in _listed(field_names, "field_names")]
    types = [tensor_type(item, "output_types") for item in _listed(output_types, "output_types")]
    source = _source(descriptor_source)
    layout = str_attribute(message_format, "message_format", "binary")
    column = as_strings(bytes)
    pool, message = _find_message(source, text_type)
    if len(names) != len(types):
        raise InvalidArgumentError("field_names and output_types attributes must have the same length")
    found = [_find_field(pool, message, *pair) for pair in zip(names, types, strict=True)]
    if layout not in ("binary", "text"):
        raise InvalidArgumentError(f"format must be one of binary or text; got {layout!r:.40}")
    flat = column.reshape((-1,))
    if not len(flat):
        raise InvalidArgumentError("Bufs argument must contain at least one value")
    if rewrite or layout == "text":
        rewritten = [_rewritten(one, message, layout, index) for index, one in enumerate(flat.to_list())]
        flat = BytesColumn.from_list(rewritten)
    rows = _read(flat, found)
    arrays = [
        _dense(row, _default(one), wanted, column.shape)
        for row, one, wanted in zip(rows, found, types, strict=True)
    ]
    sizes = np.empty((len(flat), len(rows)), np.int32)
    for place, row in enumerate(rows):
        sizes[:, place] = row.row_lengths()
    return DecodedProto(sizes.reshape(*column.shape, len(rows)), arrays)


def _source(value: Any) -> bytes:
    text = str_attribute(value, "descriptor_source", "local://")
    return text.encode("utf-8", "surrogateescape")  # bytes as they were


def _listed(value: Any, argument: str) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(
            f"Expected list for '{argument}' argument to 'decode_proto_v2' Op, not {value!r:.100}."
        )
    return value


def _find_message(source: bytes, name: str) -> tuple[Any, Any]:
    """Find a type: the pool that has it, and its descriptor."""
    if source in (b"", b"local://"):
        pools = [messages.Example.DESCRIPTOR.file.pool, descriptor_pool.Default()]
    elif source.startswith(_BYTES_SOURCE):
        pools = [_pool_of(source[len(_BYTES_SOURCE) :])]
    else:
        pools = [_pool_of_file(source)]
    for pool in pools:
        try:
            return pool, pool.FindMessageTypeByName(name)
        except KeyError:
            continue
    raise InvalidArgumentError(f"No descriptor found for message type {name}")


def _pool_of_file(source: bytes) -> Any:
    path = source.removeprefix(b"file://").decode("utf-8", "surrogateescape")
    try:
        return _pool_of(Path(path).read_bytes())
    except (
        OSError,
        ValueError,
    ) as error:  # a ValueError: no file can have the name, or it holds no descriptors
        raise _no_source(repr(path)[1:-1]) from error


@functools.lru_cache(maxsize=16)
def _pool_of(serialized: bytes) -> Any:
    """Build a pool of a serialised FileDescriptorSet."""
    files = descriptor_pb2.FileDescriptorSet()
    try:
        files.ParseFromString(serialized)
    except DecodeError as error:
        raise _no_source("bytes://...") from error
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        try:
            pool.AddSerializedFile(file.SerializeToString())
            pool.FindFileByName(file.name)
        except (TypeError, KeyError) as error:
            raise InvalidArgumentError(
                f"Failed to load FileDescriptorProto: {text_format.MessageToString(file):.1000}"
            ) from error
    return pool


def _no_source(shown: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        "Source does not represent serialized file descriptor set proto. This may be due to a missing dependency on "
        f'the file containing REGISTER_DESCRIPTOR_POOL("{shown}", ...);'
    )


def _find_field(pool: Any, message: Any, name: str, wanted: TensorType) -> Any:
    found = message.fields_by_name.get(name)
    if found is None:
        found = next((one for one in pool.FindAllExtensions(message) if one.full_name == name), None)
    if found is None:
        raise InvalidArgumentError(f"Unknown field: {name} in message type {message.full_name}")
    kind = _KINDS[found.type - 1]
    if wanted.name not in _OUTPUTS.get(kind, (kind,)):
        raise InvalidArgumentError(
            f"Unexpected output type for {found.full_name}: {kind} to DT_{wanted.op_name.upper()}"
        )
    return found


def _default(found: Any) -> Any:
    """Return the value of places without one; for lists, that of one item."""
    kind = _KINDS[found.type - 1]
    if kind == "message":
        return b""
    if not is_repeated(found):
        value = found.default_value
        return value.encode() if isinstance(value, str) else value
    if kind == "enum":
        return found.enum_type.values[0].number
    return b"" if kind == "string" else 0


def _rewritten(data: bytes, message: Any, layout: str, index: int) -> bytes:
    """Let protobuf parse one message and serialise it again."""
    made = message_factory.GetMessageClass(message)()
    try:
        if layout == "text":
            text_format.Parse(data, made)
        else:
            made.ParseFromString(data)
    except (text_format.ParseError, DecodeError, ValueError, RecursionError) as error:
        raise DataLossError(f"Unable to parse {layout} protobuf: {error!s:.200}", record=index) from error
    if not made.IsInitialized():
        missing = ", ".join(made.FindInitializationErrors())
        raise DataLossError(
            f"Unable to parse {layout} protobuf: required {missing:.200} missing", record=index
        )
    serialized: bytes = made.SerializeToString()
    return serialized


@functools.lru_cache(maxsize=64)
def _plan(fields: tuple[tuple[int, int, str, bool], ...]) -> Any:
    """Compile (number, kind, dtype, repeated) of fields: each a list, also of those of which one value counts."""
    asked, slots = [], []
    for slot, (number, kind, dtype, repeated) in enumerate(fields):
        is_bytes = dtype == "string"
        asked.append(
            (0, number, kind, True, repeated and not is_bytes, False, False, slot, -1, -1, None)
        )  # fmt: skip
        slots.append((0, kind, True, b"" if is_bytes else 0, "string" if is_bytes else np.dtype(dtype)))
    return _core.ProtoPlan(asked, slots, 1)


def _read(data: BytesColumn, found: Sequence[Any]) -> list[Ragged]:
    """Return for each field the values of each message."""
    asked = {one.number: (one.number, *wire_form(one), is_repeated(one)) for one in found}
    records = as_records(data)
    columns, _, _, failure = _plan(tuple(asked.values())).parse(records.pieces, 1)
    if failure is not None:
        raise DataLossError(
            "Unable to parse binary protobuf: no message, or one that ends early, at byte "
            f"{failure.offset}; in message {failure.row}",
            record=failure.row,
        )
    rows = dict(zip(asked, map(_rows, columns), strict=True))
    return [_values(rows[one.number], one) for one in found]


def _rows(parts: tuple[Any, ...]) -> Ragged:
    values = BytesColumn.unchecked(parts[0], parts[1]) if len(parts) == 3 else parts[0]
    return Ragged.unchecked(values, parts[-1])


def _values(rows: Ragged, found: Any) -> Ragged:
    """Return the values of a field: of one that is not repeated the last; groups with their tags."""
    is_group = found.type == _GROUP
    if not is_repeated(found) and len(rows.values) > len(rows) - int((rows.row_lengths() == 0).sum()):
        rows = _joined(rows) if is_group else _last(rows)
    if not is_group:
        return rows
    start, end = (wire_varint(found.number << 3 | wire) for wire in (3, 4))
    tagged = BytesColumn.from_list([start + value + end for value in rows.values.to_list()])
    return Ragged.unchecked(tagged, rows.row_splits)


def _last(rows: Ragged) -> Ragged:
    there = rows.row_lengths() > 0
    places = rows.row_splits[1:][there] - 1
    values = rows.values.take(places) if isinstance(rows.values, BytesColumn) else rows.values[places]
    return Ragged.from_lengths(values, there.astype(np.int64))


def _joined(rows: Ragged) -> Ragged:
    """A group that occurs more than once is one, of all of their fields."""
    found = [b"".join(row.to_list()) if len(row) else None for row in rows]
    values = BytesColumn.from_list([value for value in found if value is not None])
    return Ragged.from_lengths(values, [int(value is not None) for value in found])


def _dense(
    rows: Ragged, default: Any, wanted: TensorType, shape: tuple[int, ...]
) -> npt.NDArray[Any] | BytesColumn:
    """Put the values of one field into an array that is as wide as the longest message, at least 1."""
    width = max(1, int(rows.row_lengths().max(initial=0)))
    if wanted.name == "string":
        filled: BytesColumn = rows.to_padded(default, width)
        return filled.reshape((*shape, width))
    numbers = Ragged.unchecked(rows.values.astype(wanted.numpy(), copy=False), rows.row_splits)
    padded: npt.NDArray[Any] = numbers.to_padded(wanted.numpy().type(default), width)
    return padded.reshape(*shape, width)
