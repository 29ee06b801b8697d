"""Any message on the wire: find the values of chosen fields, in one pass, without building the message.

Knows field numbers and the types that a schema gives them, not descriptors; `decode_proto` makes the `WireField`s and
the results. What is damaged, and what it is called, is as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import DataLossError

__all__ = ["WireField", "collect"]

Raw = npt.NDArray[np.uint64]

# Types of fields are the numbers of FieldDescriptorProto.Type; here with the wire type that each is written in.
(_DOUBLE, _FLOAT, _INT64, _UINT64, _INT32, _FIXED64, _FIXED32, _BOOL, _STRING, _GROUP, _MESSAGE, _BYTES, _UINT32,
 _ENUM, _SFIXED32, _SFIXED64, _SINT32, _SINT64) = range(1, 19)  # fmt: skip
_VARINT, _I64, _LEN, _START, _END, _I32 = range(6)
_WIRE: Final = {
    _DOUBLE: _I64, _FIXED64: _I64, _SFIXED64: _I64, _FLOAT: _I32, _FIXED32: _I32, _SFIXED32: _I32, _STRING: _LEN,
    _MESSAGE: _LEN, _BYTES: _LEN, _GROUP: _START,
}  # fmt: skip
_FIXED_BYTES: Final = {_I64: 8, _I32: 4}
_MAX_DEPTH: Final = 100  # of groups in groups
_MAX_VARINT_BYTES: Final = 10
_MAX_LENGTH: Final = 2**31 - 1
_UNFINISHED: Final = "CountFields: Failed to consume entire buffer"


class _DamagedError(Exception):
    """What stands here cannot be read; the caller knows what it was to be."""


@dataclass(slots=True)
class WireField:
    """One field to look for, and its values so far, over all messages.

    Attributes:
        number: on the wire.
        kind: its type, a number of FieldDescriptorProto.Type.
        repeated: all values count, not only the last one.
        sizes: how many values each message has.
        stored: how many of them are there to be shown: 0 for a single value that was written as a packed run.
        strings: the values of a field of strings, messages or groups.
    """

    number: int
    kind: int
    repeated: bool
    sizes: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    strings: list[bytes] = field(default_factory=list)
    _ints: list[int] = field(default_factory=list)
    _runs: list[Raw] = field(default_factory=list)

    @property
    def is_string(self) -> bool:
        return self.kind in (_STRING, _GROUP, _MESSAGE, _BYTES)

    @property
    def wire(self) -> int:
        return _WIRE.get(self.kind, _VARINT)

    def begin(self) -> None:
        """A new message begins."""
        self.sizes.append(0)
        self.stored.append(0)

    def add(self, value: Any) -> None:
        values: list[Any] = self.strings if self.is_string else self._ints
        if not self.repeated and self.stored[-1]:
            values[-1] = value
            return
        values.append(value)
        self.stored[-1] += 1
        self.sizes[-1] = self.stored[-1]

    def add_run(self, run: Raw) -> None:
        if self.repeated:
            self._flush()
            self._runs.append(run)
            self.stored[-1] += len(run)
            self.sizes[-1] = self.stored[-1]
        elif len(run):
            self.sizes[-1] = 1

    def numbers(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The values of a field of numbers."""
        self._flush()
        raw = np.concatenate([*self._runs, np.zeros(0, np.uint64)])
        return _converted(raw, self.kind).astype(dtype, copy=False)

    def _flush(self) -> None:
        if self._ints:
            self._runs.append(np.array(self._ints, np.uint64))
            self._ints.clear()


def collect(messages: Sequence[bytes], fields: Sequence[WireField]) -> None:
    r"""Read the values of all fields in all messages.

    Raises:
        DataLossError: a message is damaged, with TensorFlow's text and the message's index as `record`.

    >>> wanted = WireField(1, kind=3, repeated=True)
    >>> collect([b"\x08\x05\x0a\x02\x06\x07", b""], [wanted])
    >>> wanted.sizes, wanted.numbers(np.dtype("int64")).tolist()
    ([3, 0], [5, 6, 7])
    """
    wanted: dict[int, list[WireField]] = {}
    for one in fields:
        wanted.setdefault(one.number, []).append(one)
    late: DataLossError | None = None  # what TensorFlow finds when it has seen all messages
    for index, message in enumerate(messages):
        for one in fields:
            one.begin()
        try:
            clash = _walk(message, wanted)
        except _DamagedError as error:
            raise DataLossError(f"{error}; in message {index}", record=index) from None
        if clash is not None and late is None:
            late = DataLossError(f"{clash}; in message {index}", record=index)
    if late is not None:
        raise late


def _walk(data: bytes, wanted: Mapping[int, list[WireField]]) -> str | None:
    """Go through one message; give what is wrong with a packed run that is no damage but has no place."""
    at = 0
    clash = None
    while at < len(data):
        tag, at = _named(_UNFINISHED, _varint, data, at)
        tag &= 0xFFFF_FFFF
        if tag == 0 or tag & 7 == _END:
            raise _DamagedError(_UNFINISHED)
        fields = wanted.get(tag >> 3)
        if fields is None:
            at = _named("Failed skipping unrequested field", _skip, data, at, tag)
        elif tag & 7 == _LEN and fields[0].wire != _LEN:
            run, at = _packed(data, at, fields[0])
            clash = clash or _misplaced(fields[0])
            for one in fields:
                one.add_run(run)
        elif tag & 7 != fields[0].wire:
            at = _named("CollectField: Failed skipping malformed field", _skip, data, at, tag)
        else:
            value, at = _named("ReadValue: Failed skipping field when counting", _value, data, at, tag)
            for one in fields:
                one.add(value)
    return clash


def _misplaced(one: WireField) -> str | None:
    if not one.repeated and one.stored[-1]:
        return (
            "ReadPackedValues: Tried to write more entries than allowed.  Field tag: "
            f"{one.number}, Max entries allowed: 1"
        )
    return "Non-primitive type encountered as packed" if one.wire == _START else None


def _named(text: str, read: Any, *args: Any) -> Any:
    try:
        return read(*args)
    except _DamagedError:
        raise _DamagedError(text) from None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(min(_MAX_VARINT_BYTES, len(data) - at)):
        byte = data[at + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at + count + 1
    raise _DamagedError


def _length(data: bytes, at: int) -> tuple[int, int]:
    length, at = _varint(data, at)
    length &= 0xFFFF_FFFF
    if length > min(_MAX_LENGTH, len(data) - at):
        raise _DamagedError
    return length, at


def _value(data: bytes, at: int, tag: int) -> tuple[Any, int]:
    wire = tag & 7
    if wire == _VARINT:
        return _varint(data, at)
    if wire == _LEN:
        length, at = _length(data, at)
        return data[at : at + length], at + length
    if wire == _START:
        copied = bytearray()
        at = _skip(data, at, tag, copied)
        return bytes(copied), at
    size = _FIXED_BYTES[wire]
    if len(data) - at < size:
        raise _DamagedError
    return int.from_bytes(data[at : at + size], "little"), at + size


def _skip(data: bytes, at: int, tag: int, copy: bytearray | None = None, depth: int = 1) -> int:
    """Go past one field whose tag has been read; write it to `copy` as protobuf writes it."""
    wire = tag & 7
    if tag >> 3 == 0 or wire > _I32 or wire == _END:
        raise _DamagedError
    if copy is not None:
        copy += _encoded(tag)
    if wire == _START:
        if depth > _MAX_DEPTH:
            raise _DamagedError
        return _skip_group(data, at, tag, copy, depth)
    value, end = _value(data, at, tag)
    if copy is not None:
        if wire == _VARINT:
            copy += _encoded(value)
        elif wire == _LEN:
            copy += _encoded(len(value)) + value
        else:
            copy += data[at:end]
    return end


def _skip_group(data: bytes, at: int, start: int, copy: bytearray | None, depth: int) -> int:
    while True:
        tag, at = _varint(data, at)
        tag &= 0xFFFF_FFFF
        if tag & 7 == _END:
            if tag != start + 1:
                raise _DamagedError
            if copy is not None:
                copy += _encoded(tag)
            return at
        at = _skip(data, at, tag, copy, depth + 1)


def _encoded(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _packed(data: bytes, at: int, one: WireField) -> tuple[Raw, int]:
    """Read a packed run; give its values as they stand on the wire."""
    length, at = _named("CollectField: Failed reading packed size", _varint, data, at)
    if length > _MAX_LENGTH:
        raise _DamagedError("CollectField: Failed reading packed size")
    if length > len(data) - at:
        raise _DamagedError("ReadPackedValues: Skipping packed field failed")
    run = np.frombuffer(data, np.uint8, length, at)
    if not length:
        return np.zeros(0, np.uint64), at
    if one.wire == _START:
        raise _DamagedError("TYPE_GROUP encountered as packed")
    if one.wire == _VARINT:
        return _varints(run), at + length
    if length % _FIXED_BYTES[one.wire]:
        raise _DamagedError(f"Illegal data length for packed fixed-size type: {length}")
    return run.view(f"<u{_FIXED_BYTES[one.wire]}").astype(np.uint64), at + length


def _varints(run: npt.NDArray[np.uint8]) -> Raw:
    """All varints of a run that is not empty, byte position by byte position."""
    ends = np.flatnonzero(run < 0x80) + 1
    if run[-1] >= 0x80:
        raise _DamagedError("Corrupt packed varint")
    starts = np.concatenate([[0], ends[:-1]])
    lengths = ends - starts
    longest = int(lengths.max())
    if longest > _MAX_VARINT_BYTES:
        raise _DamagedError("Corrupt packed varint")
    values: Raw = (run[starts] & 0x7F).astype(np.uint64)
    for place in range(1, longest):
        longer = np.flatnonzero(lengths > place)
        part = (run[starts[longer] + place] & 0x7F).astype(np.uint64)
        values[longer] |= part << np.uint64(7 * place)
    return values


def _converted(raw: Raw, kind: int) -> npt.NDArray[Any]:
    """Values as they stand on the wire as what they mean; those of 32 bits are the low half."""
    low = raw.astype(np.uint32)
    if kind in (_INT32, _ENUM, _SFIXED32):
        return low.view(np.int32)
    if kind in (_UINT32, _FIXED32):
        return low
    if kind == _FLOAT:
        return low.view(np.float32)
    if kind == _DOUBLE:
        return raw.view(np.float64)
    if kind == _BOOL:
        return np.not_equal(raw, 0)
    if kind == _SINT32:
        low = (low >> np.uint32(1)) ^ (np.uint32(0) - (low & np.uint32(1)))
        return low.view(np.int32)
    if kind == _SINT64:
        raw = (raw >> np.uint64(1)) ^ (np.uint64(0) - (raw & np.uint64(1)))
    return raw if kind in (_UINT64, _FIXED64) else raw.view(np.int64)
