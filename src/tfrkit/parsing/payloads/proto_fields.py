"""ProtoFields: paths to fields of a message, compiled into a plan of the kernel and what makes columns of its results.

Reads no records. Names, numbers, types and defaults come from protobuf's descriptors; what a path goes through that is
repeated is a level of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.near_names import near_names
from tfrkit.model.ragged import Ragged

__all__ = [
    "Enums",
    "ProtoColumn",
    "ProtoFields",
    "compile_fields",
    "is_repeated",
    "shown_name",
    "wire_form",
]

Enums = Literal["number", "name"]

_BOOL, _VARINT32, _VARINT64, _ZIGZAG32, _ZIGZAG64, _FIXED32, _FIXED64, _BYTES, _GROUP = range(9)
_DOUBLE, _FLOAT, _GROUP_TYPE, _MESSAGE_TYPE, _STRING_TYPE, _ENUM_TYPE = 1, 2, 10, 11, 9, 14
# By FieldDescriptorProto.Type: how values stand on the wire, and what they are in memory.
_TYPES: Final[dict[int, tuple[int, str]]] = {
    1: (_FIXED64, "float64"), 2: (_FIXED32, "float32"), 3: (_VARINT64, "int64"), 4: (_VARINT64, "uint64"),
    5: (_VARINT32, "int32"), 6: (_FIXED64, "uint64"), 7: (_FIXED32, "uint32"), 8: (_BOOL, "bool"),
    9: (_BYTES, "string"), 10: (_GROUP, "string"), 11: (_BYTES, "string"), 12: (_BYTES, "string"),
    13: (_VARINT32, "uint32"), 14: (_VARINT32, "int32"), 15: (_FIXED32, "int32"), 16: (_FIXED64, "int64"),
    17: (_ZIGZAG32, "int32"), 18: (_ZIGZAG64, "int64"),
}  # fmt: skip
_NAMES: Final = (
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group", "message", "bytes",
    "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64",
)  # fmt: skip
_LABEL_REPEATED: Final = 3
_UTF8_VERIFY: Final = 2
_PART: Final = re.compile(r"\[([^\]]+)\]|([^.\[\]]+)")
_DEEPEST: Final = 99  # messages in one another, as protobuf has it
_NONE: Final = -1


class ProtoColumn(NamedTuple):
    """What becomes of a path.

    Attributes:
        slot: where the kernel puts its values.
        dtype: of the values: a numpy name, or "string".
        scopes: the scopes that are levels of the rows, from the outside.
        repeated: the field itself is repeated: one level more.
        names: of the numbers that values have, if they are shown by name.
    """

    slot: int
    dtype: str
    scopes: tuple[int, ...]
    repeated: bool
    names: Mapping[int, str] | None

    @property
    def levels(self) -> int:
        """How many levels of rows there are in a record."""
        return len(self.scopes) + self.repeated

    def make(self, columns: Sequence[Any], scopes: Sequence[Any]) -> Any:
        """Make the column of the kernel's results."""
        parts = columns[self.slot]
        values: Any = (
            BytesColumn.unchecked(parts[0], parts[1])
            if self.dtype == "string" and self.names is None
            else parts[0]
        )
        if self.names is not None:
            values = _named(values, self.names)
        if self.repeated:
            values = Ragged.unchecked(values, parts[-1])
        for scope in reversed(self.scopes):
            values = Ragged.unchecked(values, scopes[scope])
        return values


@dataclass(frozen=True, eq=False)
class ProtoFields:
    """Paths of a message, compiled.

    Attributes:
        message: the full name of the message.
        native: the plan of the kernel.
        columns: by the name of the result.
        labels: the path of each field of the plan, for errors.
        kinds: its type in words.
        is_example: the message has the structure of an Example.
    """

    message: str
    native: Any
    columns: Mapping[str, ProtoColumn]
    labels: Sequence[str]
    kinds: Sequence[str]
    is_example: bool


@dataclass(eq=False)
class _Field:
    """A field that is asked for, on the way to one, or of the same oneof as one."""

    found: Any
    wanted: bool = False
    child: _Message | None = None


@dataclass(eq=False)
class _Message:
    """A message on the way to what is asked for."""

    found: Any
    path: str
    index: int = 0
    scopes: tuple[int, ...] = ()
    fields: dict[int, _Field] = field(default_factory=dict)
    oneofs: dict[str, int] = field(default_factory=dict)  # name -> slot, once there is one
    wanted_oneofs: set[str] = field(default_factory=set)


def compile_fields(message: Any, paths: Mapping[str, str], enums: Enums) -> ProtoFields:
    """Compile paths.

    Args:
        message: protobuf's descriptor of the message.
        paths: by the name of the result, the path of a field: its name, after those of the messages round it and
            dots; an extension by its full name in brackets; a oneof by its name.
        enums: whether values of enums are numbers or names.

    Raises:
        InvalidArgumentError: there is no such field, or a message that is none is asked for fields.
    """
    root = _Message(message, "")
    ends = {name: _follow(root, path) for name, path in paths.items()}
    plan = _PlanMaker()
    plan.add_messages(root)
    columns = {name: plan.column(*end, enums) for name, end in ends.items()}
    native = _core.ProtoPlan(plan.fields, plan.slots, plan.nodes)
    return ProtoFields(message.full_name, native, columns, plan.labels, plan.kinds, _is_example(message))


# -- paths -------------------------------------------------------------------------------------------------------------


def _follow(root: _Message, path: str) -> tuple[_Message, _Field | str]:
    """Go along a path, and note what is on it. Returns the last message, and its field or the name of its oneof."""
    at = root
    parts = _parts_of(path)
    for place, (name, extension) in enumerate(parts):
        last = place == len(parts) - 1
        found = _extension(at.found, name) if extension else at.found.fields_by_name.get(name)
        if found is None and last and not extension and name in _real_oneofs(at.found):
            at.wanted_oneofs.add(name)
            return at, name
        if found is None:
            raise _no_field(at, name, path)
        entry = at.fields.setdefault(found.number, _Field(found))
        if last:
            entry.wanted = True
            return at, entry
        if found.message_type is None:
            raise InvalidArgumentError(
                f"path {path!r:.200}: {name!r} of {at.found.full_name} is of type {_NAMES[found.type - 1]}, and has no "
                "fields"
            )
        if entry.child is None:
            entry.child = _Message(found.message_type, f"{at.path}{shown_name(found)}.")
        at = entry.child
    raise InvalidArgumentError(f"expected the path of a field, such as 'frame.camera.name', but got {path!r}")


def _parts_of(path: str) -> list[tuple[str, bool]]:
    parts, at = [], 0
    while at < len(path):
        match = _PART.match(path, at)
        if match is None or (match.end() < len(path) and path[match.end()] != "."):
            break
        parts.append((match[1] or match[2], match[1] is not None))
        at = match.end() + 1
    if not parts or at != len(path) + 1:
        raise InvalidArgumentError(
            f"expected the path of a field, such as 'frame.camera.name', but got {path!r:.200}"
        )
    if len(parts) - 1 > _DEEPEST:
        raise InvalidArgumentError(
            f"expected a path through at most {_DEEPEST} messages, the limit of protobuf, but got {len(parts) - 1}"
        )
    return parts


def _extension(message: Any, name: str) -> Any:
    return next((one for one in message.file.pool.FindAllExtensions(message) if one.full_name == name), None)


def _no_field(at: _Message, name: str, path: str) -> InvalidArgumentError:
    known = [*at.found.fields_by_name, *_real_oneofs(at.found)]
    known += [f"[{one.full_name}]" for one in at.found.file.pool.FindAllExtensions(at.found)]
    where = f" (in the path {path!r:.200})" if path != name else ""
    return InvalidArgumentError(
        f"Unknown field: {name!r:.200} in message type {at.found.full_name}{where}. {near_names(name, known)}"
    )


def _real_oneofs(message: Any) -> dict[str, Any]:
    """The oneofs that were written as such, not those that stand for `optional` in proto3."""
    return {
        one.name: one for one in message.oneofs if len(one.fields) > 1 or one.name != f"_{one.fields[0].name}"
    }


def shown_name(found: Any) -> str:
    """Return the name of a field as it stands in a path."""
    return f"[{found.full_name}]" if found.is_extension else str(found.name)


# -- the plan of the kernel --------------------------------------------------------------------------------------------


class _PlanMaker:
    """Gives numbers to messages and slots, in the order that the kernel asks for."""

    def __init__(self) -> None:
        self.fields: list[tuple[Any, ...]] = []
        self.slots: list[tuple[Any, ...]] = []
        self.labels: list[str] = []
        self.kinds: list[str] = []
        self.nodes = 1
        self._scopes = 1
        self._slot_of: dict[int, int] = {}

    def add_messages(self, root: _Message) -> None:
        pending = [root]
        for message in pending:  # which grows: breadth first
            self._add_oneofs(message)
            for each in message.fields.values():
                self._add_field(message, each)
                if each.child is not None:
                    pending.append(each.child)

    def _add_oneofs(self, message: _Message) -> None:
        """Every member of a oneof counts as soon as one does: it clears the others."""
        for name, oneof in _real_oneofs(message.found).items():
            numbers = [each.number for each in oneof.fields]
            if name not in message.wanted_oneofs and (
                len(numbers) < 2 or not message.fields.keys() & set(numbers)
            ):
                continue
            dtype = np.dtype(np.uint32) if name in message.wanted_oneofs else None
            message.oneofs[name] = self._add_slot(message, _VARINT32, False, 0, dtype)
            for each in oneof.fields:
                message.fields.setdefault(each.number, _Field(each))

    def _add_field(self, message: _Message, each: _Field) -> None:
        found, slot, child = each.found, _NONE, _NONE
        kind, dtype = _TYPES[found.type]
        repeated = is_repeated(found)
        if each.wanted:
            numbers = None if dtype == "string" else np.dtype(dtype)
            slot = self._add_slot(message, kind, repeated, _default_bits(found), numbers or "string")
            self._slot_of[id(each)] = slot
        if each.child is not None:
            child = each.child.index = self.nodes
            self.nodes += 1
            each.child.scopes = (*message.scopes, self._scopes) if repeated else message.scopes
            self._scopes += repeated
        oneof = found.containing_oneof
        self.fields.append((
            message.index, found.number, kind, repeated, repeated and kind < _BYTES,
            found.type == _STRING_TYPE and each.wanted and _is_checked(found),
            not repeated and found.type in (_MESSAGE_TYPE, _GROUP_TYPE), slot, child,
            _NONE if oneof is None else message.oneofs.get(oneof.name, _NONE), _closed_numbers(found),
        ))  # fmt: skip
        self.labels.append(message.path + shown_name(found))
        self.kinds.append(_NAMES[found.type - 1])

    def _add_slot(self, message: _Message, kind: int, repeated: bool, default: Any, dtype: Any) -> int:
        self.slots.append((message.index, kind, repeated, default, dtype))
        return len(self.slots) - 1

    def column(self, message: _Message, end: _Field | str, enums: Enums) -> ProtoColumn:
        """Say what becomes of the end of a path."""
        if isinstance(end, str):
            members = {each.number: each.name for each in message.found.oneofs_by_name[end].fields}
            return ProtoColumn(message.oneofs[end], "string", message.scopes, False, {0: "", **members})
        found = end.found
        named = found.type == _ENUM_TYPE and enums == "name"
        names = (
            {number: each.name for number, each in found.enum_type.values_by_number.items()}
            if named
            else None
        )
        dtype = "string" if named else _TYPES[found.type][1]
        return ProtoColumn(self._slot_of[id(end)], dtype, message.scopes, is_repeated(found), names)


def wire_form(found: Any) -> tuple[int, str]:
    """Return how the values of a field stand on the wire, as the kernel numbers it, and their type in memory."""
    return _TYPES[found.type]


def is_repeated(found: Any) -> bool:
    """Tell whether a field is repeated, as a map is."""
    # protobuf has the property since version 6, and warns of the label since 7.
    repeated = getattr(found, "is_repeated", None)
    return bool(found.label == _LABEL_REPEATED if repeated is None else repeated)


def _default_bits(found: Any) -> int | bytes:
    """Return the default of a field as the kernel takes it: bytes, or the bits of a number."""
    kind, dtype = _TYPES[found.type]
    if kind >= _BYTES:
        if found.type in (_MESSAGE_TYPE, _GROUP_TYPE) or is_repeated(found):
            return b""
        value = found.default_value
        return value.encode() if isinstance(value, str) else bytes(value)
    if is_repeated(found):
        return 0
    numbers = np.array([found.default_value], dtype)
    return int(numbers.view(f"u{numbers.itemsize}")[0])


def _closed_numbers(found: Any) -> list[int] | None:
    """Return the numbers of an enum that has no others; None if it may have any."""
    if found.type != _ENUM_TYPE:
        return None
    closed = getattr(found.enum_type, "is_closed", None)
    if closed is None:  # protobuf before 4.22
        closed = found.enum_type.file.syntax == "proto2"
    return sorted(found.enum_type.values_by_number) if closed else None


def _is_checked(found: Any) -> bool:
    """Whether a string must be UTF-8: in proto3, and in editions unless they say otherwise."""
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto.FromString(found.file.serialized_pb)
    if file.syntax != "editions":
        return bool(file.syntax == "proto3")
    owners, outer = [found], found.extension_scope if found.is_extension else found.containing_type
    while outer is not None:
        owners.append(outer)
        outer = outer.containing_type
    for owner in (*owners, found.file):
        features = owner.GetOptions().features
        if features.HasField("utf8_validation"):
            return bool(features.utf8_validation == _UTF8_VERIFY)
    return True


def _is_example(message: Any) -> bool:
    """Whether an Example can be read as the message: features in 1, whose entries in 1 have a key and a message."""
    features = _message_at(message, 1)
    entry = None if features is None else _message_at(features, 1)
    return entry is not None and 1 in entry.fields_by_number and _message_at(entry, 2) is not None


def _message_at(message: Any, number: int) -> Any:
    found = message.fields_by_number.get(number)
    return None if found is None else found.message_type


def _named(values: Any, names: Mapping[int, str]) -> BytesColumn:
    """Replace numbers by names; one without a name stays a number, in decimal."""
    numbers, places = np.unique(values, return_inverse=True)
    texts = BytesColumn.from_list([names.get(number, str(number)).encode() for number in numbers.tolist()])
    return texts.take(places.reshape(-1))
