"""MessageType: records as messages of one type, a feature for each of their fields, as commands and the viewer show it.

Which fields a record has says protobuf's own class; their values come as columns from the kernel of `parse_proto`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
from google.protobuf import message_factory
from google.protobuf.message import DecodeError

from tfrkit.cached_property import cached_property
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.parsing.payloads.descriptor_set import message_descriptor, read_descriptors
from tfrkit.parsing.payloads.parse_proto import ProtoSpec, fields_of, parse_messages
from tfrkit.parsing.payloads.proto_fields import is_repeated, shown_name
from tfrkit.parsing.serialized_input import as_records
from tfrkit.parsing.wire_spans import WireField
from tfrkit.records.read.decoded_record import DecodedRecord, place_in

__all__ = ["MessageType"]

_DEEPEST: Final = 99  # messages in one another, as a path may have
# By FieldDescriptorProto.Type: how the bytes of a value are shown; the others are of fixed size, or messages.
_WIRE_KINDS: Final = {
    1: "double", 2: "float", 9: "text", 12: "value", 17: "zigzag", 18: "zigzag",
    **dict.fromkeys((3, 4, 5, 8, 13, 14), "int64"),
}  # fmt: skip
_MOST_PATHS: Final = (
    2000  # of a record; a record has further ones only if messages are in messages of their own type
)
_MOST_MESSAGES: Final = 20_000  # in a record; fields that only later ones have are not shown
_MOST_REPEATED: Final = 1000  # messages of one field; the same


class MessageType:
    """A type of messages. Thread-safe.

    Attributes:
        name: its full name.
        source: the file that it was read from, or "".
    """

    def __init__(self, descriptors: bytes, name: str, source: str = "") -> None:
        """Find the type.

        Args:
            descriptors: a serialised FileDescriptorSet.
            name: the full name of the type.
            source: the file of the descriptors.

        Raises:
            InvalidArgumentError: there is no such type in the set, or the set is not whole.
        """
        self.name = name.removeprefix(".")
        self.source = source
        self._descriptors = descriptors
        self._class = message_factory.GetMessageClass(message_descriptor(descriptors, self.name))

    @classmethod
    def of(cls, text: str) -> MessageType:
        """Read a file, as the command line names it: `FILE:Message`.

        Raises:
            InvalidArgumentError: the text does not name a file and a message, or the file has no such message.
            MissingExtraError: the file is a `.proto` file, and there is nothing to compile it with.
            OSError: the file cannot be read.
        """
        path, _, name = text.rpartition(":")
        if not (path and name):
            raise InvalidArgumentError(
                f"expected a file of descriptors or .proto file and the full name of a message, such as "
                f"'frame.proto:pkg.Frame', but got {text!r:.200}"
            )
        return cls(read_descriptors(path), name, path)

    @cached_property
    def wire_fields(self) -> Mapping[str, Mapping[int, WireField]]:
        """The fields of the message and of all in it, for `wire_spans`."""
        pending, found = [self._class.DESCRIPTOR], {}
        while pending:
            message = pending.pop()
            if message.full_name not in found:
                found[message.full_name] = {each.number: _wire_field(each) for each in message.fields}
                pending += [each.message_type for each in message.fields if each.message_type is not None]
        return found

    def decode(self, block: Block, keys: Collection[str] | None) -> Iterator[DecodedRecord]:
        """Yield the records of a block; with `keys` only these fields.

        What is repeated once on its path is a feature with all values; what is repeated more often is a feature list,
        with a step for each of the outer messages. A record that is no such message, or has none of its fields, is
        returned as it is.
        """
        records = [block[row] for row in range(len(block))]
        paths = [self._paths_of(record) for record in records]
        chosen = [
            dict.fromkeys(islice((path for path in each if keys is None or path in keys), _MOST_PATHS))
            for each in paths
        ]
        for begin, end, wanted in _runs(chosen):
            good = [records[index] for index in range(begin, end) if paths[index]]
            columns = self._columns(good, wanted) if wanted else {}
            row = 0
            for index in range(begin, end):
                place = place_in(block, index)
                if paths[index] or not records[index]:
                    found = {path: columns[path][row] for path in chosen[index]}
                    row += bool(paths[index])
                    yield _decoded(place, found, self.name)
                else:
                    yield DecodedRecord(*place, {}, data=records[index], message=self.name)

    def _paths_of(self, record: bytes) -> dict[str, None]:
        """Return the paths of the fields that are set; none for what is no such message."""
        try:
            message = self._class.FromString(record)
        except DecodeError:
            return {}
        paths: dict[str, None] = {}
        _walk(message, "", paths, [_MOST_MESSAGES], 0)
        return paths

    def _columns(self, records: list[bytes], paths: Collection[str]) -> dict[str, Any]:
        spec = ProtoSpec(self._descriptors, self.name, tuple((path, path) for path in paths), "name")
        return parse_messages(fields_of(spec), as_records(records), 1)[0]


def _runs(chosen: Sequence[Mapping[str, None]]) -> Iterator[tuple[int, int, Mapping[str, None]]]:
    """Yield runs of records that have not too many paths together: where each begins and ends, and the paths."""
    begin, together = 0, dict[str, None]()
    for index, each in enumerate(chosen):
        if together and len(together.keys() | each.keys()) > _MOST_PATHS:
            yield begin, index, together
            begin, together = index, {}
        together = {**together, **each} if each.keys() - together.keys() else together
    yield begin, len(chosen), together


def _wire_field(field: Any) -> WireField:
    inner = "" if field.message_type is None else field.message_type.full_name
    return WireField(field.name, inner, _WIRE_KINDS.get(field.type, "data"))


def _walk(message: Any, prefix: str, paths: dict[str, None], left: list[int], depth: int) -> bool:
    """Note the paths of all fields that are set; of messages without any, their own. Returns whether there are any."""
    fields = message.ListFields()
    for field, value in fields:
        path = prefix + shown_name(field)
        is_inner = field.message_type is not None and depth < _DEEPEST
        if is_inner and field.message_type.GetOptions().map_entry:
            paths[f"{path}.key"] = None
            path += ".value"
            is_inner = field.message_type.fields_by_name["value"].message_type is not None
            value = value.values()  # noqa: PLW2901  # the messages in it, if they are some
        elif not is_repeated(field):
            value = [value]  # noqa: PLW2901
        has_fields = False
        for each in islice(value, _MOST_REPEATED) if is_inner else ():
            left[0] -= 1
            if left[0] < 0:
                break
            has_fields |= _walk(each, f"{path}.", paths, left, depth + 1)
        if not has_fields:
            paths[path] = None
    return bool(fields)


def _decoded(place: tuple[str, int, int], found: dict[str, Any], message: str) -> DecodedRecord:
    features = {path: _values(value) for path, value in found.items() if not isinstance(value, Ragged)}
    lists = {path: list(map(_values, value)) for path, value in found.items() if isinstance(value, Ragged)}
    return DecodedRecord(*place, features, lists or None, message=message)


def _values(value: Any) -> Any:
    """Return values as those of a feature are: an array, or a list of bytes."""
    if isinstance(value, Ragged):
        value = value.flat_values
    if isinstance(value, BytesColumn):
        return value.to_list()
    return [value] if isinstance(value, bytes) else np.atleast_1d(value)
