"""tf.train's messages: Example, SequenceExample and what they are made of, as protobuf's own classes.

Converts nothing: Python values become features in `features.py`, messages become columns in the kernels, which do not
use these classes. They are built when the first is used, in a descriptor pool of their own, so that they meet neither
TensorFlow's classes of the same names nor generated code of another protobuf version. Messages of another pool are
taken wherever messages are, by way of their bytes.
"""

# ruff: noqa: D101, N802  (the classes below are seen by type checkers only, and the names are protobuf's)
from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, MutableMapping, MutableSequence
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeGuard

__all__ = [
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
]


class Message(Protocol):
    """What is used of a message, whichever pool it comes from."""

    DESCRIPTOR: Any

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...


def is_message(value: object) -> TypeGuard[Message]:
    """Tell whether `value` is a protobuf message, of any pool."""
    return hasattr(value, "SerializeToString") and hasattr(value, "DESCRIPTOR")


def message_name(message: Message) -> str:
    """Return the full name of the type, such as "tensorflow.Example".

    >>> message_name(Int64List(value=[1]))
    'tensorflow.Int64List'
    """
    return str(message.DESCRIPTOR.full_name)


def message_bytes(message: Message) -> bytes:
    r"""Serialise a message of any pool, with the entries of maps in a fixed order.

    >>> message_bytes(Int64List(value=[1, 2]))
    b'\n\x02\x01\x02'
    """
    return bytes(message.SerializeToString(deterministic=True))


_PACKAGE: Final = "tensorflow"
_TYPES: Final = {
    "float": 2,
    "int64": 3,
    "string": 9,
    "message": 11,
    "bytes": 12,
}  # of fields, in descriptor.proto
_OPTIONAL, _REPEATED = 1, 3  # the labels of fields there
_BUILDING: Final = threading.Lock()
# name: fields as (name, type, repeated); the number of a field is its place, counted from 1.
_FIELDS: Final[dict[str, list[tuple[str, str, bool]]]] = {
    "BytesList": [("value", "bytes", True)],
    "FloatList": [("value", "float", True)],
    "Int64List": [("value", "int64", True)],
    "Feature": [
        ("bytes_list", "BytesList", False),
        ("float_list", "FloatList", False),
        ("int64_list", "Int64List", False),
    ],
    "Features": [("feature", "map Feature", True)],
    "FeatureList": [("feature", "Feature", True)],
    "FeatureLists": [("feature_list", "map FeatureList", True)],
    "Example": [("features", "Features", False)],
    "SequenceExample": [("context", "Features", False), ("feature_lists", "FeatureLists", False)],
}


def _file() -> Any:
    """Describe the messages. Lists of numbers are packed, as in every proto3 file. Pure: no I/O."""
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(
        name="tfrkit/model/messages.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for number, (field, kind, repeated) in enumerate(fields, 1):
            target = kind.removeprefix("map ")
            if target != kind:
                target = f"{name}.{_add_entry(message, field, target)}"
            _add_field(message, field, number, target, repeated)
        if name == "Feature":
            message.oneof_decl.add(name="kind")
            for oneof_field in message.field:
                oneof_field.oneof_index = 0
    return file


def _add_entry(message: Any, field: str, value: str) -> str:
    """Add the message of one entry of a map from str to `value`; returns its name."""
    entry = message.nested_type.add(name="".join(part.title() for part in field.split("_")) + "Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=_TYPES["string"], label=_OPTIONAL)
    _add_field(entry, "value", 2, value, False)
    return str(entry.name)


def _add_field(message: Any, name: str, number: int, kind: str, repeated: bool) -> None:
    label = _REPEATED if repeated else _OPTIONAL
    field = message.field.add(name=name, number=number, label=label, type=_TYPES.get(kind, _TYPES["message"]))
    if kind not in _TYPES:
        field.type_name = f".{_PACKAGE}.{kind}"


_DOCS: Final = {
    "BytesList": "The values of a feature of bytes: `value`.",
    "FloatList": "The values of a feature of float32: `value`.",
    "Int64List": "The values of a feature of int64: `value`.",
    "Feature": "One list of values: `bytes_list`, `float_list` or `int64_list`, or none of them.",
    "Features": "Features by name: `feature`.",
    "FeatureList": "One feature for each step: `feature`.",
    "FeatureLists": "Lists of features by name: `feature_list`.",
    "Example": "One example: `features`.",
    "SequenceExample": "One example with `context` features and, for each step, `feature_lists`.",
}


def _classes() -> dict[str, Any]:
    from google.protobuf import descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_file().SerializeToString())
    made = {}
    for name in _FIELDS:
        cls = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        cls.__module__ = __name__  # where pickle looks for it
        cls.__doc__ = _DOCS[name] + " A message of protobuf, equal to tf.train's."
        made[name] = cls
    return made


if TYPE_CHECKING:

    class _Typed:
        """What protobuf gives to every message."""

        DESCRIPTOR: Any

        @classmethod
        def FromString(cls, data: bytes) -> Self: ...
        def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...
        def ParseFromString(self, data: bytes) -> int: ...
        def MergeFromString(self, data: bytes) -> int: ...
        def MergeFrom(self, other: Self) -> None: ...
        def CopyFrom(self, other: Self) -> None: ...
        def Clear(self) -> None: ...
        def ClearField(self, name: str) -> None: ...
        def ByteSize(self) -> int: ...
        def HasField(self, name: str) -> bool: ...
        def WhichOneof(self, name: str) -> str | None: ...
        def ListFields(self) -> list[tuple[Any, Any]]: ...
        def IsInitialized(self) -> bool: ...
        def SetInParent(self) -> None: ...

    class BytesList(_Typed):
        value: MutableSequence[bytes]

        def __init__(self, *, value: Iterable[bytes] | None = None) -> None: ...

    class FloatList(_Typed):
        value: MutableSequence[float]

        def __init__(self, *, value: Iterable[float] | None = None) -> None: ...

    class Int64List(_Typed):
        value: MutableSequence[int]

        def __init__(self, *, value: Iterable[int] | None = None) -> None: ...

    class Feature(_Typed):
        bytes_list: BytesList
        float_list: FloatList
        int64_list: Int64List

        def __init__(
            self,
            *,
            bytes_list: BytesList | None = None,
            float_list: FloatList | None = None,
            int64_list: Int64List | None = None,
        ) -> None: ...

    class Features(_Typed):
        feature: MutableMapping[str, Feature]

        def __init__(self, *, feature: Mapping[str, Feature] | None = None) -> None: ...

    class FeatureList(_Typed):
        feature: Any  # a sequence of Feature with add(), which makes one and gives it

        def __init__(self, *, feature: Iterable[Feature] | None = None) -> None: ...

    class FeatureLists(_Typed):
        feature_list: MutableMapping[str, FeatureList]

        def __init__(self, *, feature_list: Mapping[str, FeatureList] | None = None) -> None: ...

    class Example(_Typed):
        features: Features

        def __init__(self, *, features: Features | None = None) -> None: ...

    class SequenceExample(_Typed):
        context: Features
        feature_lists: FeatureLists

        def __init__(
            self, *, context: Features | None = None, feature_lists: FeatureLists | None = None
        ) -> None: ...

else:

    def __getattr__(name: str) -> Any:
        """Build the classes when the first is used: protobuf takes 12 ms to import, which most programs do not need."""
        if name not in _FIELDS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with _BUILDING:
            if name not in globals():
                globals().update(_classes())
        return globals()[name]
