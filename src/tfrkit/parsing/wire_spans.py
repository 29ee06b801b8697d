"""WireSpan: which bytes of a record mean what: tags, lengths, names, values, as far as its messages are known.

A tree is walked only where it touches the bytes that are asked for, so that a record of any size costs what is shown.
Bytes are hostile: every length is compared with what is left, and messages are followed to a depth that protobuf has.
Pure: no I/O.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.model.wire import read_varint

__all__ = ["WireField", "WireSpan", "wire_spans"]

_MOST_STEPS: Final = 200_000  # fields that are walked over before the bytes that are asked for
_DEEPEST: Final = 100  # messages in one another
_TEXT: Final = 60  # characters of a label
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED: Final = {_FIXED64: 8, _FIXED32: 4}


@dataclass(frozen=True, slots=True)
class WireField:
    """A field that a message may have.

    Attributes:
        name: as it is shown.
        message: the message in it; "" if it is none that is known.
        kind: of a value: "text", "value" (bytes), "float", "double", "int64" (any number of variable length), "zigzag";
            else "data".
    """

    name: str
    message: str = ""
    kind: str = "data"


_FEATURE: Final = {
    1: WireField("bytes_list", "BytesList"),
    2: WireField("float_list", "FloatList"),
    3: WireField("int64_list", "Int64List"),
}
_EXAMPLES: Final[dict[str, dict[int, WireField]]] = {
    "Example": {1: WireField("features", "Features")},
    "SequenceExample": {1: WireField("context", "Features"), 2: WireField("feature_lists", "FeatureLists")},
    "Features": {1: WireField("feature", "FeatureEntry")},
    "FeatureEntry": {1: WireField("key", kind="text"), 2: WireField("value", "Feature")},
    "FeatureLists": {1: WireField("feature_list", "ListEntry")},
    "ListEntry": {1: WireField("key", kind="text"), 2: WireField("value", "FeatureList")},
    "FeatureList": {1: WireField("feature", "Feature")},
    "Feature": _FEATURE,
    "BytesList": {1: WireField("value", kind="value")},
    "FloatList": {1: WireField("value", kind="float")},
    "Int64List": {1: WireField("value", kind="int64")},
}


@dataclass(frozen=True, slots=True)
class WireSpan:
    """Some bytes and what they are.

    Attributes:
        start: the first, counted in the record.
        end: after the last.
        path: of fields from the outside in.
        label: what they say.
        kind: "tag", "length", "text", "number", "value" or "data".
    """

    start: int
    end: int
    path: str
    label: str
    kind: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "start": self.start,
            "end": self.end,
            "path": self.path,
            "label": self.label,
            "kind": self.kind,
        }


def wire_spans(
    data: bytes,
    message: str,
    start: int,
    end: int,
    most: int,
    messages: Mapping[str, Mapping[int, WireField]] = _EXAMPLES,
) -> list[WireSpan]:
    r"""Return what the bytes from `start` to `end` are; at most so many spans.

    Args:
        data: the record.
        message: "Example" or "SequenceExample", or one of `messages`; "" for a message that is not known.
        start: the first byte.
        end: after the last.
        most: how many spans.
        messages: fields by number, of each message that is known; names of entries of maps end in "Entry".

    >>> for span in wire_spans(b"\n\x07\n\x05\n\x01a\x12\0", "Example", 0, 9, 10):
    ...     print(span.start, span.end, span.kind, span.label)
    0 1 tag features
    1 2 length 7 bytes
    2 3 tag feature
    3 4 length 5 bytes
    4 5 tag key
    5 6 length 1 byte
    6 7 text 'a'
    7 8 tag value
    8 9 length 0 bytes
    """
    walk = _Walk(data, start, min(end, len(data)), messages)
    found: list[WireSpan] = []
    for span in walk.message(0, len(data), message, message or "message"):
        if span.end > start:
            found.append(span)
        if len(found) >= most or span.start >= end:
            break
    return [span for span in found if span.start < end]


class _Walk:
    """Yields the spans of a message in the order of their bytes, leaving out what is before those asked for."""

    def __init__(
        self, data: bytes, start: int, end: int, messages: Mapping[str, Mapping[int, WireField]]
    ) -> None:
        self._data, self._start, self._end = data, start, end
        self._messages = messages
        self._depth = 0
        self._steps = 0

    def message(self, at: int, stop: int, name: str, path: str) -> Iterator[WireSpan]:
        fields = self._messages.get(name, {})
        while at < stop and at < self._end:
            self._steps += 1
            tag = read_varint(self._data, at)
            if tag is None or tag[1] > stop or tag[0] >> 3 == 0 or self._steps > _MOST_STEPS:
                yield WireSpan(at, stop, path, "not a field", "data")
                return
            number, wire = tag[0] >> 3, tag[0] & 7
            field = fields.get(number, WireField(f"field {number}"))
            end = self._end_of(tag[1], wire, stop)
            if end is None:
                yield WireSpan(at, stop, path, "not a field", "data")
                return
            if end > self._start:
                yield WireSpan(at, tag[1], f"{path}.{field.name}", field.name, "tag")
                yield from self._value(tag[1], end, wire, field, f"{path}.{field.name}")
            at = end

    def _end_of(self, at: int, wire: int, stop: int) -> int | None:
        """Return where a field ends; None if it has no sound end."""
        if wire in (_VARINT, _BYTES):
            value = read_varint(self._data, at)
            if value is None:
                return None
            end = value[1] + (value[0] if wire == _BYTES else 0)
        elif wire in _FIXED:
            end = at + _FIXED[wire]
        else:
            return None
        return end if end <= stop else None

    def _value(self, at: int, end: int, wire: int, field: WireField, path: str) -> Iterator[WireSpan]:
        if wire != _BYTES:
            yield WireSpan(at, end, path, _number(self._data[at:end], wire, field.kind), "number")
            return
        size, begin = read_varint(self._data, at) or (0, end)
        yield WireSpan(at, begin, path, f"{size:,} byte{'' if size == 1 else 's'}", "length")
        if field.message and self._depth < _DEEPEST:
            yield from self._inner(begin, end, field, path)
        elif field.kind in ("float", "int64"):
            yield from self._packed(begin, end, field.kind, path)
        elif begin < end:
            text = _text(self._data[begin : min(end, begin + 4 * _TEXT)], end - begin)
            yield WireSpan(begin, end, path, text, "text" if field.kind == "text" else "value")

    def _inner(self, begin: int, end: int, field: WireField, path: str) -> Iterator[WireSpan]:
        if field.message.endswith("Entry"):
            path = f"{path}[{self._key(begin, end)}]"
        self._depth += 1
        yield from self.message(begin, end, field.message, path)
        self._depth -= 1

    def _key(self, at: int, stop: int) -> str:
        """Return the key of an entry of a map, which usually comes first."""
        if self._data[at : at + 1] != b"\x0a":
            return ""
        size, begin = read_varint(self._data, at + 1) or (0, stop)
        return _text(self._data[begin : min(stop, begin + size, begin + 4 * _TEXT)], size)

    def _packed(self, at: int, end: int, kind: str, path: str) -> Iterator[WireSpan]:
        index = 0
        if kind == "float" and self._start > at:  # all of one size: those before are not looked at
            index = (min(self._start, end) - at) // 4
            at += 4 * index
        while at < end and at < self._end:
            if kind == "float":
                stop = min(at + 4, end)
                label = _number(self._data[at:stop], _FIXED32, kind) if stop - at == 4 else "cut"
            else:
                value = read_varint(self._data, at)
                stop = end if value is None else min(value[1], end)
                label = "not a number" if value is None else str(_signed(value[0]))
            yield WireSpan(at, stop, f"{path}[{index}]", label, "number")
            at, index = stop, index + 1


def _number(data: bytes, wire: int, kind: str) -> str:
    if wire == _VARINT:
        value = read_varint(data, 0)
        if value is not None and kind == "zigzag":
            return str(value[0] >> 1 ^ -(value[0] & 1))
        return "" if value is None else str(_signed(value[0]))
    if kind == "double" and wire == _FIXED64:
        return str(struct.unpack("<d", data)[0])
    if wire == _FIXED32:
        if kind == "float":
            return f"{struct.unpack('<f', data)[0]:.9g}"
        return str(int.from_bytes(data, "little"))
    return str(int.from_bytes(data, "little", signed=True))


def _signed(value: int) -> int:
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def _text(data: bytes, size: int) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3:
            return f"{size:,} bytes"
        text = data[: error.start].decode()
    if not text.isprintable():
        return f"{size:,} bytes"
    return repr(text) if len(text) <= _TEXT and len(data) >= size else repr(text[:_TEXT]) + "…"
