"""decode_proto: chosen fields of serialised messages of any type, as arrays.

Protobuf parses the bytes, but not into the message's own type: into a view of it, made here, with the chosen fields
alone. There, strings and submessages are bytes and enums are numbers, so that values come as they are on the wire,
unchecked and unmerged, as TensorFlow returns them. Text and `sanitize` go through the message's own type first.
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

from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model import messages
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.tensor_types import TensorType, tensor_type
from tfrkit.model.wire import wire_varint
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
_VIEWED_AS: Final = {9: 12, 11: 12, 14: 5}  # strings and messages are bytes, enums int32
_BYTES_SOURCE: Final = b"bytes://"
_LABEL_OPTIONAL, _LABEL_REPEATED = 1, 3


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
    data = column.reshape((-1,)).to_list()
    if not data:
        raise InvalidArgumentError("Bufs argument must contain at least one value")
    if rewrite or layout == "text":
        data = [_rewritten(one, message, layout, index) for index, one in enumerate(data)]
    rows = _read(data, [_Field(one.number, one.type, _is_repeated(one)) for one in found])
    arrays = [
        _dense(row, _default(one), wanted, column.shape)
        for row, one, wanted in zip(rows, found, types, strict=True)
    ]
    sizes = np.array([[len(values) for values in row] for row in rows], np.int32).reshape(
        len(rows), len(data)
    )
    return DecodedProto(np.ascontiguousarray(sizes.T).reshape(*column.shape, len(rows)), arrays)


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


def _is_repeated(found: Any) -> bool:
    # protobuf has the property since version 6, and warns of the label since 7.
    repeated = getattr(found, "is_repeated", None)
    return bool(found.label == _LABEL_REPEATED if repeated is None else repeated)


def _default(found: Any) -> Any:
    """Return the value of places without one; for lists, that of one item."""
    kind = _KINDS[found.type - 1]
    if kind == "message":
        return b""
    if not _is_repeated(found):
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


class _Field(NamedTuple):
    """A field of a view: its number, its FieldDescriptorProto.Type in the message, and whether it is repeated."""

    number: int
    kind: int
    repeated: bool


@functools.lru_cache(maxsize=64)
def _view(fields: frozenset[_Field]) -> Any:
    """Make a message class with these fields alone, called f1 and so on by their numbers."""
    file = descriptor_pb2.FileDescriptorProto(name="view.proto", syntax="proto2")
    message = file.message_type.add(name="View")
    for number, kind, repeated in fields:
        label = _LABEL_REPEATED if repeated else _LABEL_OPTIONAL
        made = message.field.add(
            name=f"f{number}", number=number, label=label, type=_VIEWED_AS.get(kind, kind)
        )
        if kind == _GROUP:  # without fields of its own: all of its content is kept as unknown
            made.type_name = f".View.{message.nested_type.add(name=f'F{number}').name}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("View"))


def _read(data: Sequence[bytes], fields: Sequence[_Field]) -> list[list[list[Any]]]:
    """Return for each field the values of each message."""
    view = _view(frozenset(fields))
    rows: list[list[list[Any]]] = [[] for _ in fields]
    for index, one in enumerate(data):
        try:
            message = view.FromString(one)
        except DecodeError as error:
            raise DataLossError(
                f"Unable to parse binary protobuf: {error!s:.200}; in message {index}", record=index
            ) from error
        for row, field in zip(rows, fields, strict=True):
            row.append(_values(message, field))
    return rows


def _values(message: Any, field: _Field) -> list[Any]:
    name = f"f{field.number}"
    if not field.repeated and not message.HasField(name):
        return []
    found = getattr(message, name)
    values = list(found) if field.repeated else [found]
    if field.kind == _GROUP:
        start, end = (wire_varint(field.number << 3 | wire) for wire in (3, 4))
        return [start + value.SerializeToString() + end for value in values]
    return values


def _dense(
    row: list[list[Any]], default: Any, wanted: TensorType, shape: tuple[int, ...]
) -> npt.NDArray[Any] | BytesColumn:
    """Put the values of one field into an array that is as wide as the longest message, at least 1."""
    width = max(1, *map(len, row))
    filled = [values + [default] * (width - len(values)) for values in row]
    if wanted.name == "string":
        return BytesColumn.from_list([value for values in filled for value in values]).reshape(
            (*shape, width)
        )
    return np.array(filled, wanted.numpy()).reshape(*shape, width)
