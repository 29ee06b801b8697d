"""What serialised messages look like: an Example, a SequenceExample, a tensor, or which fields there are. Pure: no I/O.

A guess, never used to decide how data is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from tfrkit import _core
from tfrkit.model.wire import read_varint

__all__ = ["EXAMPLES", "sniff_message", "together"]

EXAMPLES: Final = ("serialised Example", "serialised SequenceExample")
_MESSAGE: Final = "serialised protobuf message with field"
_MIN_BYTES: Final = 8
_MAX_FIELD: Final = (
    64  # bytes that are no message rarely happen to be one with small field numbers all through
)
_MAX_START_BYTES: Final = 20  # of a field: two varints
_MOST_FIELDS: Final = 1000  # that are looked at: so many are no accident
_FIELDS_SHOWN: Final = 8
_NUMBER: Final = re.compile(r"[0-9]+")


def sniff_message(head: bytes, size: int) -> str:
    r"""Say which message some bytes look like, or "" if they look like none.

    Args:
        head: the message, or its beginning.
        size: of all of it.

    >>> sniff_message(b"\x08\x96\xff\xff\x01\x12\x05hello", 12)
    'serialised protobuf message with fields 1, 2'
    """
    is_whole = len(head) == size
    if size < _MIN_BYTES:
        return ""
    if is_whole and (known := _known_message(head)):
        return known
    fields = _fields(head, size)
    if not fields or max(number for number, _, _ in fields) >= _MAX_FIELD:
        return ""
    if _is_tensor(fields):
        return "serialised TensorProto"
    numbers = {number for number, _, _ in fields}
    if not is_whole:  # less is proved: an Example may go on with 1 and 2, and any bytes for a while
        wires = {(number, wire) for number, wire, _ in fields}
        if numbers <= {1, 2} or not len(numbers) == len(wires) > 1:
            return ""
    return _with_fields(numbers)


def together(names: Sequence[str]) -> str:
    """Make one name of those of messages with different fields; "" if something else is among them."""
    if not all(name.startswith(_MESSAGE) for name in names):
        return ""
    return _with_fields({int(number) for name in names for number in _NUMBER.findall(name)})


def _known_message(data: bytes) -> str:
    scan = _core.Statistics(None, outline_only=True)
    scan.add([[data]], 1)
    known = scan.outline()
    examples, sequences, _ = (count for count, _ in known["records"])
    if sequences:
        return "serialised SequenceExample"
    return "serialised Example" if examples and known["features"] else ""


def _with_fields(numbers: Collection[int]) -> str:
    listed = sorted(numbers)
    more = ", ..." if len(listed) > _FIELDS_SHOWN else ""
    return f"{_MESSAGE}{'s' if len(listed) > 1 else ''} {', '.join(map(str, listed[:_FIELDS_SHOWN]))}{more}"


def _fields(head: bytes, size: int) -> list[tuple[int, int, int]] | None:
    """Walk the fields of a message, as far as the head goes: (number, wire type, value or length).

    Returns None if it is not a message.
    """
    fields: list[tuple[int, int, int]] = []
    is_whole = len(head) == size
    at, end = 0, len(head) if is_whole else len(head) - _MAX_START_BYTES
    while at < end and len(fields) < _MOST_FIELDS:
        tag, at = read_varint(head, at) or (0, at)
        number, wire = tag >> 3, tag & 7
        value = 0
        if wire in (0, 2):
            value, at = read_varint(head, at) or (0, size + 1)
        at += value if wire == 2 else {0: 0, 1: 8, 5: 4}.get(wire, size + 1)
        if number < 1 or at > size:
            return None
        fields.append((number, wire, value))
    return fields


def _is_tensor(fields: list[tuple[int, int, int]]) -> bool:
    """Whether it has a dtype (1) and a shape (2), and values: tensor_content (4) or one of the lists (5 to 17)."""
    wires = {number: wire for number, wire, _ in fields}
    dtype = next((value for number, wire, value in fields if (number, wire) == (1, 0)), 0)
    return 0 < dtype < 64 and wires.get(2) == 2 and max(wires) <= 17 and len(wires) > 2
