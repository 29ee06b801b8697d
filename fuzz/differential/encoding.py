"""Many ways to write the same message, and ways to write what is no longer the same.

`Writer` with no strangeness writes what protobuf writes; the more of it, the more lists are cut into runs, packed and
unpacked, varints and tags longer than they need be, fields unknown, entries turned round, doubled or incomplete.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from fuzz.differential.content import Item, Row, Values, value_of
from tests.oracle.support import wire
from tests.oracle.support.wire import BYTES, FLOAT, INT64

KINDS = (BYTES, FLOAT, INT64)


class Writer:
    """Writes messages.

    Args:
        rng: source of all choices.
        strangeness: how often, of all the places where something unusual is possible, it is done.
    """

    def __init__(self, rng: random.Random, strangeness: float) -> None:
        self._rng = rng
        self._strangeness = strangeness

    def example(self, items: Sequence[Item]) -> bytes:
        """An Example."""
        entries = [self._entry(key, self._feature(kind, values)) for key, kind, values in items]
        return self._message(1, self._doubled(entries))

    def sequence_example(self, context: Sequence[Item], lists: Sequence[tuple[bytes, list[Row]]]) -> bytes:
        """A SequenceExample."""
        first = [self._entry(key, self._feature(kind, values)) for key, kind, values in context]
        second = [self._entry(key, self._feature_list(steps)) for key, steps in lists]
        parts = [self._message(1, self._doubled(first)), self._message(2, self._doubled(second))]
        if not first and self._rng.random() < 0.5:
            parts[0] = b""
        if self._odd(0.5):
            parts.reverse()
        return b"".join(parts)

    def _odd(self, weight: float = 1.0) -> bool:
        return self._rng.random() < self._strangeness * weight

    def _width(self) -> int:
        return self._rng.choice((2, 3, 5)) if self._odd(0.15) else 0

    def _message(self, number: int, entries: list[bytes]) -> bytes:
        rng = self._rng
        if self._odd(0.3):
            rng.shuffle(entries)
        cut = rng.randrange(len(entries) + 1) if self._odd(0.4) else len(entries)
        parts = [b"".join(entries[:cut])]
        if cut < len(entries):
            parts.append(b"".join(entries[cut:]))
        if self._odd(0.1):
            parts[-1] += self._unknown()
        out = [wire.field(number, part, self._width(), 2 if self._odd(0.03) else 0) for part in parts]
        if self._odd(0.3):
            out.insert(rng.randrange(len(out) + 1), self._unknown())
        return b"".join(out)

    def _doubled(self, entries: list[bytes]) -> list[bytes]:
        """Some entries again, perhaps with no value."""
        out = list(entries)
        if entries and self._odd(0.3):
            again = self._rng.choice(entries)
            out.insert(self._rng.randrange(len(out) + 1), again)
        return out

    def _entry(self, key: bytes, value: bytes) -> bytes:
        rng = self._rng
        if self._odd(0.05):
            value = b""
        parts = [
            wire.field(1, key, self._width()),
            wire.field(2, value, self._width(), 2 if self._odd(0.03) else 0),
        ]
        if self._odd(0.1):
            parts.reverse()
        if self._odd(0.03):
            parts.pop(rng.randrange(2))
        if self._odd(0.03):
            parts.append(rng.choice((parts[-1], wire.field(2, b""), wire.field(1, b"a"), self._unknown())))
        made = wire.field(1, b"".join(parts), self._width(), 2 if self._odd(0.02) else 0)
        if self._odd(0.1):  # an earlier or later twin of another content
            kind = rng.choice((0, *KINDS))
            twin = wire.field(1, wire.field(1, key) + wire.field(2, self._feature(kind, self._some(kind))))
            made = made + twin if rng.random() < 0.5 else twin + made
        return made

    def _some(self, kind: int) -> Values:
        return [value_of(self._rng, kind) for _ in range(self._rng.randrange(3))] if kind else []

    def _feature(self, kind: int, values: Values) -> bytes:
        rng = self._rng
        parts = []
        if kind:
            cut = rng.randrange(len(values) + 1) if self._odd(0.1) else len(values)
            parts = [self._list(kind, values[:cut])]
            if cut < len(values):
                parts.append(self._list(kind, values[cut:]))
        if self._odd(0.1):
            other = rng.choice(KINDS)
            parts.insert(rng.randrange(len(parts) + 1), self._list(other, self._some(other)))
        if self._odd(0.05):
            parts.insert(rng.randrange(len(parts) + 1), self._unknown())
        return b"".join(parts)

    def _feature_list(self, steps: Sequence[Row]) -> bytes:
        parts = [wire.field(1, self._feature(kind, values), self._width()) for kind, values in steps]
        if self._odd(0.05):
            parts.insert(self._rng.randrange(len(parts) + 1), self._unknown())
        return b"".join(parts)

    def _list(self, kind: int, values: Values) -> bytes:
        tag_width = 2 if self._odd(0.02) else 0
        return wire.field(kind, self._runs(kind, values), self._width(), tag_width)

    def _runs(self, kind: int, values: Values) -> bytes:
        rng = self._rng
        if kind == BYTES:
            out = [wire.field(1, value, self._width()) for value in values]
        elif not self._odd(0.5):
            out = [self._run(kind, values, packed=True)] if values or self._odd(0.3) else []
        else:
            out = self._cut_runs(kind, values)
        if self._odd(0.08):
            out.insert(rng.randrange(len(out) + 1), self._unknown())
        return b"".join(out)

    def _cut_runs(self, kind: int, values: Values) -> list[bytes]:
        rng = self._rng
        edges = sorted(rng.randrange(len(values) + 1) for _ in range(rng.choice((0, 0, 1, 2))))
        packed = rng.choice((None, True, False, False))
        out = []
        for start, end in zip([0, *edges], [*edges, len(values)], strict=True):
            out.append(
                self._run(kind, values[start:end], packed=rng.random() < 0.5 if packed is None else packed)
            )
        return out

    def _run(self, kind: int, values: Values, *, packed: bool) -> bytes:
        if kind == FLOAT:
            return wire.packed_floats(values) if packed else wire.unpacked_floats(values)
        width = self._rng.choice((2, 5, 9, 10, 10, 11)) if self._odd(0.15) else 0
        return wire.packed_ints(values, width) if packed else wire.unpacked_ints(values, width)

    def _unknown(self) -> bytes:
        rng = self._rng
        number = rng.choice((1, 2, 3, 4, 7, 15, 16, 100, 2**29 - 1))
        choice = rng.randrange(6)
        if choice == 0:
            return wire.tag(number, wire.VARINT) + wire.varint(rng.choice((0, 5, 300, 2**64 - 1)))
        if choice == 1:
            return wire.tag(number, wire.FIXED32) + rng.randbytes(4)
        if choice == 2:
            return wire.tag(number, wire.FIXED64) + rng.randbytes(8)
        if choice == 3:
            inner: Any = rng.choice(
                (b"", wire.field(1, b"x"), wire.group(2), wire.tag(1, wire.VARINT) + b"\x01")
            )
            return wire.group(number, inner)
        return wire.field(number + 3, rng.randbytes(rng.randrange(4)), self._width())


def mutate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Damage bytes in one to three places."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = _mutate_once(rng, data, other)
    return data


def _mutate_once(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    few = rng.choice((1, 1, 2, 3, 5, 8))
    choice = rng.randrange(8)
    if choice <= 1 and at < len(data):
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if choice == 2 and at < len(data):
        return data[:at] + bytes([rng.choice((0, 1, 2, 8, 10, 13, 18, 26, 127, 128, 255))]) + data[at + 1 :]
    if choice == 3:
        return data[:at]
    if choice == 4:
        return data[:at] + rng.randbytes(few) + data[at:]
    if choice == 5:
        return data[:at] + data[at + few :]
    if choice == 6:
        return data[:at] + data[max(0, at - few) :]
    return data[:at] + other[rng.randrange(len(other) + 1) :]
