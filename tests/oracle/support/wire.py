"""Messages written byte by byte: any bytes that a parser of Examples may meet, the unusual ones too.

Nothing here knows tfrkit, protobuf or TensorFlow; every function gives bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

BYTES, FLOAT, INT64 = 1, 2, 3
VARINT, FIXED64, LENGTH, GROUP, END_GROUP, FIXED32 = range(6)


def varint(value: int, width: int = 0) -> bytes:
    """Seven bits a byte, lowest first; negative ones as 64 bits. A larger width pads with zero groups."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    while len(out) < width:
        out[-1] |= 128
        out.append(0)
    return bytes(out)


def tag(number: int, wire_type: int, width: int = 0) -> bytes:
    """The key of a field."""
    return varint(number << 3 | wire_type, width)


def field(number: int, content: bytes, width: int = 0, tag_width: int = 0) -> bytes:
    """A length-delimited field; width is that of the length."""
    return tag(number, LENGTH, tag_width) + varint(len(content), width) + content


def group(number: int, content: bytes = b"") -> bytes:
    """A group, as proto2 has them."""
    return tag(number, GROUP) + content + tag(number, END_GROUP)


def packed_ints(values: Iterable[int], width: int = 0) -> bytes:
    """One packed run of an Int64List."""
    return field(1, b"".join(varint(value, width) for value in values))


def unpacked_ints(values: Iterable[int], width: int = 0) -> bytes:
    """Values of an Int64List with a tag each."""
    return b"".join(tag(1, VARINT) + varint(value, width) for value in values)


def packed_floats(values: Iterable[float]) -> bytes:
    """One packed run of a FloatList."""
    return field(1, b"".join(struct.pack("<f", value) for value in values))


def unpacked_floats(values: Iterable[float]) -> bytes:
    """Values of a FloatList with a tag each."""
    return b"".join(tag(1, FIXED32) + struct.pack("<f", value) for value in values)


def byte_strings(values: Iterable[bytes]) -> bytes:
    """Values of a BytesList."""
    return b"".join(field(1, value) for value in values)


def feature(kind: int, content: bytes) -> bytes:
    """The body of a Feature with one list."""
    return field(kind, content)


def ints(*values: int) -> bytes:
    """The body of a Feature with an Int64List, as protobuf writes it."""
    return feature(INT64, packed_ints(values) if values else b"")


def floats(*values: float) -> bytes:
    """The body of a Feature with a FloatList, as protobuf writes it."""
    return feature(FLOAT, packed_floats(values) if values else b"")


def strings(*values: bytes) -> bytes:
    """The body of a Feature with a BytesList, as protobuf writes it."""
    return feature(BYTES, byte_strings(values))


def entry(key: bytes, value: bytes) -> bytes:
    """One map entry, as a field of Features or FeatureLists."""
    return field(1, field(1, key) + field(2, value))


def example(*entries: bytes) -> bytes:
    """An Example of such entries."""
    return field(1, b"".join(entries))


def feature_list(*features: bytes) -> bytes:
    """The body of a FeatureList."""
    return b"".join(field(1, one) for one in features)


def sequence_example(context: Iterable[bytes] = (), lists: Iterable[bytes] = ()) -> bytes:
    """A SequenceExample of such entries."""
    return field(1, b"".join(context)) + field(2, b"".join(lists))
