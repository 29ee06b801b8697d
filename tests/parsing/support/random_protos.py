"""Random message types, random bytes of such messages, and what protobuf finds in them along a path.

The bytes are written field by field in any order: values that occur twice, packed and not, members of one oneof after
each other, fields of other wire types, unknown ones. All of it is made by a random generator with a seed.
"""

from __future__ import annotations

import math
import struct
from random import Random
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TYPES = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7, "bool": 8, "string": 9,
    "bytes": 12, "uint32": 13, "sfixed32": 15, "sfixed64": 16, "sint32": 17, "sint64": 18,
}  # fmt: skip
GROUP, MESSAGE, ENUM = 10, 11, 14
KEYS = ("int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "uint32", "sfixed32", "sint64")
WIRES = {1: 1, 6: 1, 16: 1, 2: 5, 7: 5, 15: 5, 9: 2, 11: 2, 12: 2, 10: 3}  # by type; the others are varints
OPTIONAL, REPEATED = 1, 3
DEFAULTS = {
    "double": "1.5", "float": "-inf", "int64": "-3", "uint64": "18446744073709551615", "int32": "-5", "fixed64": "600",
    "fixed32": "70000", "bool": "true", "string": "d\u00e9f", "bytes": "by\\000\\377t", "uint32": "1300",
    "sfixed32": "-15", "sfixed64": "-16", "sint32": "-17", "sint64": "-18",
}  # fmt: skip


def random_file(random: Random) -> Any:
    """Make a file with three messages that hold one another, and an enum."""
    new = random.random() < 0.5
    file = descriptor_pb2.FileDescriptorProto(
        name="r.proto", package="r", syntax="proto3" if new else "proto2"
    )
    enum = file.enum_type.add(name="E")
    for name, number in (("ZERO", 0), ("ONE", 1), ("LESS", -1), ("MORE", 1 << 30)):
        enum.value.add(name=name, number=number)
    for letter in "ABC":
        message = file.message_type.add(name=letter)
        for number in random.sample([*range(1, 40), 300, 2047, 70000, (1 << 29) - 1], random.randint(1, 9)):
            _add_field(random, message, number, new)
    return file


def _add_field(random: Random, message: Any, number: int, new: bool) -> None:
    name = f"f{number}"
    label = random.choice([OPTIONAL, OPTIONAL, REPEATED])
    choice = random.random()
    field = message.field.add(name=name, number=number, label=label)
    if choice < 0.25:
        field.type, field.type_name = MESSAGE, f".r.{random.choice('ABC')}"
    elif choice < 0.32:
        field.type, field.type_name = ENUM, ".r.E"
    elif choice < 0.38 and not new:
        field.type, field.type_name = GROUP, f".r.{message.name}.G{number}"
        message.nested_type.add(name=f"G{number}").field.add(name="a", number=1, type=5, label=OPTIONAL)
    elif choice < 0.48:
        entry = message.nested_type.add(name=f"F{number}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=OPTIONAL, type=TYPES[random.choice(KEYS)])
        value = entry.field.add(name="value", number=2, label=OPTIONAL, type=TYPES[random.choice([*TYPES])])
        if random.random() < 0.3:
            value.type, value.type_name = MESSAGE, f".r.{random.choice('ABC')}"
        field.type, field.type_name, field.label = MESSAGE, f".r.{message.name}.F{number}Entry", REPEATED
        return
    else:
        kind = random.choice([*TYPES])
        field.type = TYPES[kind]
        if not new and label == OPTIONAL and random.random() < 0.5:
            field.default_value = DEFAULTS[kind]
    if field.label == REPEATED:
        if field.type not in (GROUP, MESSAGE, 9, 12) and random.random() < 0.5:
            field.options.packed = random.random() < 0.5
    elif random.random() < 0.4:
        if not message.oneof_decl:
            message.oneof_decl.add(name="choice")
        field.oneof_index = 0
    # In proto3 `optional` is a oneof of its own, which must come after the others.


def load(file: Any) -> tuple[bytes, dict[str, Any]]:
    """Return the file as a set, and the messages' classes by their letters."""
    for message in file.message_type:  # a oneof without fields is refused
        if message.oneof_decl and not any(field.HasField("oneof_index") for field in message.field):
            del message.oneof_decl[:]
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    classes = {
        letter: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"r.{letter}")) for letter in "ABC"
    }
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString(), classes


def is_repeated(field: Any) -> bool:
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == REPEATED


def is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


# -- bytes -------------------------------------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def tag(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def random_message(random: Random, message: Any, depth: int = 0, *, strict: bool = False) -> bytes:
    """Write a message; one that is strict has no other values than its fields allow."""
    parts = []
    for _ in range(random.choice([0, 1, 3, 8]) if depth else random.randint(0, 25)):
        field = random.choice(message.fields)
        parts.append(_random_field(random, field, depth, strict))
        if not strict and random.random() < 0.08:
            unused = next(number for number in range(900, 999) if number not in message.fields_by_number)
            parts.append(_unknown(random, unused))
    return b"".join(parts)


def _unknown(random: Random, number: int) -> bytes:
    wire = random.choice([0, 1, 2, 3, 5])
    if wire == 3:
        return tag(number, 3) + tag(7, 0) + varint(9) + _unknown(random, 8) + tag(number, 4)
    content = {0: varint(random.getrandbits(64)), 1: b"a" * 8, 2: b"\3abc", 5: b"abcd"}[wire]
    return tag(number, wire) + content


def _random_field(random: Random, field: Any, depth: int, strict: bool) -> bytes:
    wire = WIRES.get(field.type, 0)
    packable = is_repeated(field) and wire not in (2, 3)
    if not strict and random.random() < 0.04:
        wrong = next(other for other in (5, 0, 1) if other != wire)
        return tag(field.number, wrong) + {5: b"abcd", 0: b"\7", 1: b"a" * 8}[wrong]
    if packable and random.random() < 0.6:
        run = b"".join(_random_value(random, field, strict) for _ in range(random.choice([0, 1, 2, 30])))
        return tag(field.number, 2) + varint(len(run)) + run
    if field.type == GROUP:
        inner = random_message(random, field.message_type, depth + 1) if depth < 4 else b""
        return tag(field.number, 3) + inner + tag(field.number, 4)
    if field.type == MESSAGE:
        inner = b""
        if is_map(field):
            inner = random_message(random, field.message_type, 4, strict=True)
        elif depth < 4:
            inner = random_message(random, field.message_type, depth + 1, strict=strict)
        return tag(field.number, 2) + varint(len(inner)) + inner
    return tag(field.number, wire) + _random_value(random, field, strict)


def _random_value(random: Random, field: Any, strict: bool) -> bytes:
    wire = WIRES.get(field.type, 0)
    if wire in (1, 5):
        number = random.choice([0.0, -1.5, math.inf, math.nan, 1e30, 1e-40])
        exact = struct.pack("<d" if wire == 1 else "<f", number)
        return exact if random.random() < 0.5 else random.randbytes(len(exact))
    if wire == 2:
        text = random.choice(["", "a", "d\u00e9f", "longer than eight", "\U0001f600"]).encode()
        if field.type == 12:
            text = random.randbytes(random.randint(0, 9))
        return varint(len(text)) + text
    if field.type == ENUM:
        known = [0, 1, (1 << 64) - 1, 1 << 30]
        return varint(random.choice(known if strict else [*known, 5, (1 << 64) - 7]))
    return varint(random.getrandbits(random.choice([1, 7, 8, 31, 32, 33, 63, 64])))


# -- what protobuf finds -----------------------------------------------------------------------------------------------


def paths_of(random: Random, message: Any, depth: int = 0) -> list[list[Any]]:
    """Choose paths: lists of fields. A map ends one, or goes on to a field of its values."""
    paths = []
    for field in message.fields:
        if random.random() < 0.3 * depth:
            continue
        if field.message_type is None or (not is_map(field) and random.random() < 0.3):
            paths.append([field])
        if is_map(field):
            value = field.message_type.fields_by_name["value"]
            inner = [] if value.message_type is None else value.message_type.fields
            ends = [one for one in inner if one.message_type is None]
            paths += (
                [[field, value]] if value.message_type is None else [[field, value, one] for one in ends[:1]]
            )
        elif field.message_type is not None and depth < 3:
            paths += [[field, *rest] for rest in paths_of(random, field.message_type, depth + 1)]
    return paths


def dotted(path: list[Any]) -> str:
    return ".".join(field.name for field in path)


def found_at(message: Any, path: list[Any], enums: str) -> Any:
    """Return what protobuf has at a path: nested lists, and a dict for a map."""
    field, *rest = path
    if is_map(field):
        return {
            plain(key): _of_value(value, rest, enums) for key, value in getattr(message, field.name).items()
        }
    value = getattr(message, field.name)
    if not rest:
        if field.message_type is not None and not is_repeated(field):
            return plain(value) if message.HasField(field.name) else b""
        return [_end(one, field, enums) for one in value] if is_repeated(field) else _end(value, field, enums)
    if is_repeated(field):
        return [found_at(one, rest, enums) for one in value]
    return found_at(value, rest, enums)


def _of_value(value: Any, rest: list[Any], enums: str) -> Any:
    return _end(value, rest[0], enums) if len(rest) == 1 else found_at(value, rest[1:], enums)


def _end(value: Any, field: Any, enums: str) -> Any:
    if field.type == ENUM and enums == "name":
        known = field.enum_type.values_by_number.get(value)
        return (str(value) if known is None else known.name).encode()
    return plain(value)


def plain(value: Any) -> Any:
    """Return a value so that equal ones are equal: NaN, text, messages and numpy's numbers too."""
    if hasattr(value, "SerializeToString"):
        return value.SerializeToString(deterministic=True)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    return value
