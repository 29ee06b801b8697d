"""SequenceExamples written byte by byte, usual and unusual ones, and damage done to them.

Slow and plain, from the definition of the wire format, and independent of the code under test. Also `Wanted`, a
feature to parse in a form from which every parser's own description is made.
"""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit import _core

BYTES, FLOAT, INT64 = 1, 2, 3
KEYS = (b"a", b"bb", b"c\xc3\xa9", b"")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A feature of the context or a feature list; `count` values (a step), or any number."""

    key: str
    kind: int
    count: int = -1
    default: tuple[Any, ...] | None = None
    allow_missing: bool = False
    ragged: bool = False  # of two names that TensorFlow has for a variable number, the second


def varint(number: int, spare: int = 0) -> bytes:
    """A varint, with `spare` bytes more than it needs."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    for _ in range(spare):
        out[-1] |= 128
        out.append(0)
    return bytes(out)


def field(number: int, data: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(kind: int, values: Sequence[Any], packed: bool = True) -> bytes:
    """The value of a Feature with one list."""
    if kind == BYTES:
        return field(1, b"".join(field(1, value) for value in values))
    single = [struct.pack("<f", value) if kind == FLOAT else varint(value) for value in values]
    if not packed:
        tag = b"\x0d" if kind == FLOAT else b"\x08"
        return field(kind, b"".join(tag + value for value in single))
    return field(kind, field(1, b"".join(single)) if single else b"")


def entry(key: bytes, value: bytes) -> bytes:
    """A map entry with its tag."""
    return field(1, field(1, key) + field(2, value))


def steps(*features: bytes) -> bytes:
    """The value of a FeatureList."""
    return b"".join(field(1, value) for value in features)


def sequence(context: dict[bytes, bytes], lists: dict[bytes, bytes] | None = None) -> bytes:
    """A SequenceExample of values that were written before."""
    parts = [field(1, b"".join(entry(key, value) for key, value in context.items()))]
    if lists is not None:
        parts.append(field(2, b"".join(entry(key, value) for key, value in lists.items())))
    return b"".join(parts)


def plan_of(context: Sequence[Wanted], lists: Sequence[Wanted]) -> _core.SequencePlan:
    """The native plan."""
    return _core.SequencePlan(
        [(wanted.key, wanted.kind, wanted.count, 1, native_default(wanted)) for wanted in context],
        [(wanted.key, wanted.kind, wanted.count, wanted.allow_missing) for wanted in lists],
    )


def native_default(wanted: Wanted) -> Any:
    """The default as the native plan takes it."""
    if wanted.default is None or wanted.kind == BYTES:
        return None if wanted.default is None else list(wanted.default)
    return np.array(wanted.default, np.int64 if wanted.kind == INT64 else np.float32)


def rows_of(wanted: Wanted, column: Any, count: int | None = None) -> list[Any]:
    """A column of the plan as one list for each record: of values, or of steps which are lists of values.

    Floats are given as their bits. With no values a step or record, `count` says how many of them there are.
    """
    arrays = list(column) if isinstance(column, tuple) else [column]
    if wanted.kind == BYTES:
        data, offsets = arrays[0].tobytes(), arrays[1].tolist()
        values: list[Any] = [data[start:end] for start, end in itertools.pairwise(offsets)]
        splits = arrays[2:]
    else:
        values = arrays[0].tolist() if wanted.kind == INT64 else arrays[0].view(np.uint32).tolist()
        splits = arrays[1:]
    if wanted.count >= 0:
        runs = len(values) // wanted.count if wanted.count else count or 0
        values = [values[wanted.count * i : wanted.count * (i + 1)] for i in range(runs)]
    for split in splits:
        values = [values[start:end] for start, end in itertools.pairwise(split)]
    return values


def random_values(rng: random.Random, kind: int, count: int) -> list[Any]:
    """Values of one kind: varints of every length, strings on both sides of a one-byte length."""
    if kind == INT64:
        return [
            rng.randrange(-(1 << rng.choice((1, 7, 40, 63))), 1 << rng.choice((3, 7, 14, 28, 63)))
            for _ in range(count)
        ]
    if kind == FLOAT:
        return [struct.unpack("<f", rng.randbytes(3) + b"\x40")[0] for _ in range(count)]
    return [rng.randbytes(rng.choice((0, 1, 5, 130))) for _ in range(count)]


def random_feature(rng: random.Random, kind: int, count: int, odd: float) -> bytes:
    """The value of a Feature, with a chance of `odd` for every liberty that the wire format leaves."""
    if rng.random() < odd / 3:
        kind = rng.choice((BYTES, FLOAT, INT64))
    if rng.random() < odd / 3:
        count = rng.randrange(4)
    if rng.random() < odd / 2:
        return b""
    value = feature(kind, random_values(rng, kind, count), packed=rng.random() >= odd)
    if rng.random() < odd:
        value += rng.choice(
            (b"", feature(kind, random_values(rng, kind, 1)), random_feature(rng, kind, 1, 0))
        )
    if rng.random() < odd / 2:
        value = odd_field(rng) + value
    return value


def odd_field(rng: random.Random) -> bytes:
    """Fields that no reader knows, some of them not even well-formed, and long ways to write a tag."""
    return rng.choice((
        b"\x20\x05", b"\x21" + bytes(8), b"\x22\x02ab", b"\x25abcd", b"\x23\x20\x01\x24", b"\x24", b"\x8a\x00\x00",
        b"\x22\x7f", b"\x22\xff\xff\xff\xff\x0f", b"\x00\x01", b"\x0a\x00", b"\x12\x00", b"\x08\x03",
        b"\xf8\xff\xff\xff\x0f\x01", b"\xa0\x80\x80\x80\x80\x00\x01", b"\x23" * 50 + b"\x24" * 50,
        b"\x23" * 101 + b"\x24" * 101,
    ))  # fmt: skip


def random_entry(rng: random.Random, key: bytes, value: bytes, odd: float) -> bytes:
    """A map entry, perhaps in another form."""
    if rng.random() >= odd / 2:
        return entry(key, value)
    parts = [field(1, key), field(2, value)]
    change = rng.randrange(6)
    if change == 0:
        parts.reverse()
    elif change == 1:
        parts.pop(rng.randrange(2))
    elif change == 2:
        parts.append(odd_field(rng))
    elif change == 3:
        parts.append(field(2, value))
    elif change == 4:
        parts[1] = b"\x12" + varint(len(value), spare=rng.randrange(1, 8)) + value
    body = b"".join(parts)
    return b"\x0a" + varint(len(body), spare=1 if change == 5 else 0) + body


def random_sequence(
    rng: random.Random, context: Sequence[Wanted], lists: Sequence[Wanted], odd: float = 0.1
) -> bytes:
    """A SequenceExample with what is wanted, give and take; with odd=0 a usual one that has it all."""
    maps: list[tuple[int, list[bytes]]] = [(1, []), (2, [])]
    for wanted in (*context, *lists):
        is_list = wanted in lists
        for _ in range(rng.choice((0, 1, 2)) if rng.random() < odd else 1):
            made = []
            for _ in range(rng.randrange(6) if is_list else 1):
                count = wanted.count if wanted.count >= 0 else rng.randrange(4)
                made.append(random_feature(rng, wanted.kind, count, odd))
            value = steps(*made) if is_list else made[0]
            if is_list and rng.random() < odd / 4:
                value += odd_field(rng)
            maps[is_list][1].append(random_entry(rng, wanted.key.encode(), value, odd / 2))
    for _, entries in maps:
        rng.shuffle(entries)
        if rng.random() < 0.5:
            entries.append(entry(b"other", rng.choice((b"", b"\xff", feature(INT64, [1])))))
    if rng.random() < odd:
        rng.shuffle(maps)
    parts = [field(number, b"".join(entries)) for number, entries in maps]
    if rng.random() < odd:
        parts.insert(rng.randrange(3), odd_field(rng))
    return b"".join(parts)


def damage(rng: random.Random, data: bytes) -> bytes:
    """Change, cut, repeat or take out some bytes."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(out) + 1)
        few = rng.choice((1, 1, 2, 5))
        change = rng.randrange(7)
        if change <= 2 and at < len(out):
            out[at] = (out[at] + rng.choice((1, -1, 2, -2, 8, 128, rng.randrange(256)))) % 256
        elif change == 3:
            out[at : at + few] = b""
        elif change == 4:
            out[at:at] = rng.choice((rng.randbytes(few), b"\x0a", b"\x00", b"\x80", b"\xff" * few))
        elif change == 5:
            out[at:at] = out[at : at + rng.randrange(20)]
        elif rng.random() < 0.3:
            del out[at:]
    return bytes(out)


def random_wanted(rng: random.Random, is_list: bool) -> list[Wanted]:
    """Some features to parse."""
    chosen = rng.sample(KEYS, rng.randrange(0 if is_list else 1, 3))
    wanted = []
    for key in sorted(chosen):
        kind, count = rng.choice((BYTES, FLOAT, INT64)), rng.choice((-1, -1, 1, 1, 2, 4))
        default = None
        if not is_list and count > 0 and rng.random() < 0.3:
            default = tuple(random_values(rng, kind, count))
        missing, ragged = rng.random() < 0.5, count < 0 and rng.random() < 0.5
        wanted.append(Wanted(key.decode(), kind, count, default, is_list and count >= 0 and missing, ragged))
    return sorted(wanted, key=lambda item: (item.ragged, item.key))
