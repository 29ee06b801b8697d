"""Message types made for tests of decode_proto: every type of field, single, repeated and with defaults."""

from __future__ import annotations

from google.protobuf import descriptor_pb2

TYPES = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7, "bool": 8, "string": 9,
    "bytes": 12, "uint32": 13, "enum": 14, "sfixed32": 15, "sfixed64": 16, "sint32": 17, "sint64": 18, "message": 11,
}  # fmt: skip
OUTPUT = {
    "double": "float64", "float": "float32", "int64": "int64", "uint64": "uint64", "int32": "int32",
    "fixed64": "uint64", "fixed32": "uint32", "bool": "bool", "string": "string", "bytes": "string",
    "uint32": "uint32", "enum": "int32", "sfixed32": "int32", "sfixed64": "int64", "sint32": "int32",
    "sint64": "int64", "message": "string",
}  # fmt: skip
NUMBER = {name: number for number, name in enumerate(TYPES, 1)}  # of the field f_<type>
DEFAULTS = {
    "double": "1.5", "float": "2.5", "int64": "-3", "uint64": "300", "int32": "-5", "fixed64": "600",
    "fixed32": "70000", "bool": "true", "string": "dé\0f", "bytes": "by\\000\\377t", "uint32": "1300", "enum": "B",
    "sfixed32": "-15", "sfixed64": "-16", "sint32": "-17", "sint64": "-18",
}  # fmt: skip


def file_set() -> bytes:
    """A serialised FileDescriptorSet with t2 (proto2: Repeated, Single, Preset, Needed) and t3 (proto3: Single)."""
    files = descriptor_pb2.FileDescriptorSet()
    old = files.file.add(name="t2.proto", package="t2", syntax="proto2")
    _enum(old, [("A", 7), ("B", -1)])
    for name, label, defaults in (("Repeated", 3, {}), ("Single", 1, {}), ("Preset", 1, DEFAULTS)):
        message = _message(old, name, label, defaults)
        message.extension_range.add(start=100, end=200)
        group = message.nested_type.add(name="G")
        group.field.add(name="a", number=1, type=5, label=1)
        message.field.add(name="g", number=30, type=10, label=label, type_name=f".t2.{name}.G")
    old.extension.add(name="extra", number=100, type=5, label=1, extendee=".t2.Single")
    old.message_type.add(name="Needed").field.add(name="a", number=1, type=5, label=2)
    new = files.file.add(name="t3.proto", package="t3", syntax="proto3")
    _enum(new, [("Z", 0), ("B", 2)])
    _message(new, "Single", 1, {})
    return files.SerializeToString()


def _enum(file, values):
    enum = file.enum_type.add(name="E")
    for name, number in values:
        enum.value.add(name=name, number=number)


def _message(file, name, label, defaults):
    message = file.message_type.add(name=name)
    for kind, number in NUMBER.items():
        field = message.field.add(name=f"f_{kind}", number=number, type=TYPES[kind], label=label)
        if kind in ("enum", "message"):
            field.type_name = f".{file.package}.{'E' if kind == 'enum' else name}"
        if kind in defaults:
            field.default_value = defaults[kind]
    return message


SOURCE = b"bytes://" + file_set()
