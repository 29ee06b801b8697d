"""WireSpan: which bytes of a record mean what: tags, lengths, names, values, as far as they are those of an Example.

A tree is walked only where it touches the bytes that are asked for, so that a record of any size costs what is shown.
Bytes are hostile: every length is compared with what is left, and nothing is deeper than the messages that are known.
Pure: no I/O.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.model.wire import read_varint

__all__ = ["WireSpan", "wire_spans"]

_MOST_STEPS: Final = 200_000  # fields that are walked over before the bytes that are asked for
_TEXT: Final = 60  # characters of a label
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED: Final = {_FIXED64: 8, _FIXED32: 4}


@dataclass(frozen=True, slots=True)
class _Field:
    """A field that a message may have: its name, and the message in it, or what kind of value it is."""

    name: str
    message: str = ""
    kind: str = "data"


_FEATURE: Final = {
    1: _Field("bytes_list", "BytesList"),
    2: _Field("float_list", "FloatList"),
    3: _Field("int64_list", "Int64List"),
}
_MESSAGES: Final[dict[str, dict[int, _Field]]] = {
    "Example": {1: _Field("features", "Features")},
    "SequenceExample": {1: _Field("context", "Features"), 2: _Field("feature_lists", "FeatureLists")},
    "Features": {1: _Field("feature", "FeatureEntry")},
    "FeatureEntry": {1: _Field("key", kind="text"), 2: _Field("value", "Feature")},
    "FeatureLists": {1: _Field("feature_list", "ListEntry")},
    "ListEntry": {1: _Field("key", kind="text"), 2: _Field("value", "FeatureList")},
    "FeatureList": {1: _Field("feature", "Feature")},
    "Feature": _FEATURE,
    "BytesList": {1: _Field("value", kind="value")},
    "FloatList": {1: _Field("value", kind="float")},
    "Int64List": {1: _Field("value", kind="int64")},
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


def wire_spans(data: bytes, message: str, start: int, end: int, most: int) -> list[WireSpan]:
    r"""Return what the bytes from `start` to `end` are; at most so many spans.

    Args:
        data: the record.
        message: "Example" or "SequenceExample"; "" for a message that is not known.
        start: the first byte.
        end: after the last.
        most: how many spans.

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
    walk = _Walk(data, start, min(end, len(data)))
    found: list[WireSpan] = []
    for span in walk.message(0, len(data), message, message or "message"):
        if span.end > start:
            found.append(span)
        if len(found) >= most or span.start >= end:
            break
    return [span for span in found if span.start < end]


class _Walk:
    """Yields the spans of a message in the order of their bytes, leaving out what is before those asked for."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._data, self._start, self._end = data, start, end
        self._steps = 0

    def message(self, at: int, stop: int, name: str, path: str) -> Iterator[WireSpan]:
        fields = _MESSAGES.get(name, {})
        while at < stop and at < self._end:
            self._steps += 1
            tag = read_varint(self._data, at)
            if tag is None or tag[1] > stop or tag[0] >> 3 == 0 or self._steps > _MOST_STEPS:
                yield WireSpan(at, stop, path, "not a field", "data")
                return
            number, wire = tag[0] >> 3, tag[0] & 7
            field = fields.get(number, _Field(f"field {number}"))
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

    def _value(self, at: int, end: int, wire: int, field: _Field, path: str) -> Iterator[WireSpan]:
        if wire != _BYTES:
            yield WireSpan(at, end, path, _number(self._data[at:end], wire, field.kind), "number")
            return
        size, begin = read_varint(self._data, at) or (0, end)
        yield WireSpan(at, begin, path, f"{size:,} byte{'' if size == 1 else 's'}", "length")
        if field.message:
            yield from self._inner(begin, end, field, path)
        elif field.kind in ("float", "int64"):
            yield from self._packed(begin, end, field.kind, path)
        elif begin < end:
            text = _text(self._data[begin : min(end, begin + 4 * _TEXT)], end - begin)
            yield WireSpan(begin, end, path, text, "text" if field.kind == "text" else "value")

    def _inner(self, begin: int, end: int, field: _Field, path: str) -> Iterator[WireSpan]:
        if field.message.endswith("Entry"):
            path = f"{path}[{self._key(begin, end)}]"
        yield from self.message(begin, end, field.message, path)

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
        return "" if value is None else str(_signed(value[0]))
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
