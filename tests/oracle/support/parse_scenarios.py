"""Bytes of Examples that are not as protobuf would write them, and what protobuf's messages make of them."""

from __future__ import annotations

from typing import Any

from tests.oracle.support import wire
from tests.oracle.support.message_scenarios import scenario
from tests.oracle.support.oracle import attempt

INTS = wire.packed_ints([1, 2])
PARSED: dict[str, bytes] = {
    "runs": wire.example(
        wire.entry(b"a", wire.feature(wire.INT64, INTS + wire.unpacked_ints([3]) + INTS)),
        wire.entry(b"f", wire.feature(wire.FLOAT, wire.unpacked_floats([0.5]) + wire.packed_floats([1.5, 2]))),
    ),
    "same kind twice": wire.example(wire.entry(b"a", wire.ints(1) + wire.ints(2))),
    "last kind": wire.example(wire.entry(b"a", wire.ints(1) + wire.floats(2.0) + wire.strings(b"x"))),
    "kind comes again": wire.example(wire.entry(b"a", wire.ints(1) + wire.floats(2.0) + wire.ints(3))),
    "duplicate key": wire.example(wire.entry(b"a", wire.ints(1)), wire.entry(b"a", wire.floats(2))),
    "duplicate key, unset": wire.example(wire.entry(b"a", wire.ints(1)), wire.entry(b"a", b"")),
    "concatenated": wire.example(wire.entry(b"a", wire.ints(1)), wire.entry(b"b", wire.ints(2)))
    + wire.example(wire.entry(b"a", wire.ints(3)), wire.entry(b"c", b"")),
    "value twice": wire.example(
        wire.field(1, wire.field(1, b"a") + wire.field(2, wire.ints(1)) + wire.field(2, wire.ints(2)))
    ),
    "key twice": wire.example(wire.field(1, wire.field(1, b"x") + wire.field(1, b"a") + wire.field(2, wire.ints(1)))),
    "value first": wire.example(wire.field(1, wire.field(2, wire.ints(1)) + wire.field(1, b"a"))),
    "unknown fields": wire.field(9, b"zz")
    + wire.example(
        wire.entry(b"a", wire.ints(1) + wire.tag(7, wire.VARINT) + b"\x05"),
        wire.field(5, b"y"),
        wire.group(6, wire.field(1, b"q")),
    )
    + wire.tag(3, wire.FIXED32) + b"1234" + wire.tag(4, wire.FIXED64) + b"12345678" + wire.group(11, wire.group(12)),
    "no key": wire.example(wire.field(1, wire.field(2, wire.ints(5)))),
    "no value": wire.example(wire.field(1, wire.field(1, b"a"))),
    "empty entry": wire.example(wire.field(1, b"")),
    "overlong": wire.field(
        1,
        wire.field(
            1,
            wire.field(1, b"a", 3, 2) + wire.field(2, wire.feature(wire.INT64, wire.packed_ints([-1, 300], 10)), 4),
            5,
        ),
        2,
        5,
    ),
    "bits beyond 64": wire.example(wire.entry(b"a", wire.feature(wire.INT64, wire.field(1, b"\xff" * 9 + b"\x7f")))),
    "packed bytes": wire.example(wire.entry(b"a", wire.strings(b"", b"x", bytes(300)))),
}  # fmt: skip
DAMAGED: dict[str, bytes] = {
    "cut": wire.example(wire.entry(b"a", wire.ints(1)))[:-1],
    "eleven bytes": wire.example(
        wire.entry(b"a", wire.feature(wire.INT64, wire.field(1, b"\x80" * 10 + b"\x01")))
    ),
    "incomplete float": wire.example(wire.entry(b"a", wire.feature(wire.FLOAT, wire.field(1, b"12345")))),
    "field 0": wire.tag(0, wire.VARINT) + b"\x00",
    "wire type 7": b"\x0f\x00",
    "end of no group": wire.tag(3, wire.END_GROUP),
    "unended group": wire.tag(3, wire.GROUP),
    "garbage": b"\xff" * 9,
}
BAD_KEY = wire.example(wire.entry(b"\xff", wire.ints(1)))
ENTRY_WITH_UNKNOWN = wire.example(
    wire.field(1, wire.field(1, b"a") + wire.field(2, wire.ints(1)) + wire.field(7, b"?")),
    wire.entry(b"b", wire.ints(2)),
)


@scenario
def standard_parsing(train: Any) -> list[Any]:
    seen: list[Any] = []
    for data in PARSED.values():
        message = train.Example.FromString(data)
        seen += [str(message), message.SerializeToString(deterministic=True)]
    return seen


@scenario
def damaged_parsing(train: Any) -> list[Any]:
    return [
        attempt(lambda data=data: str(train.Example.FromString(data)))
        for data in (*DAMAGED.values(), BAD_KEY)
    ]


@scenario
def entry_with_unknown_field(train: Any) -> list[Any]:
    return [sorted(train.Example.FromString(ENTRY_WITH_UNKNOWN).features.feature)]
