"""Random content of messages: a schema of keys, kinds and counts, and messages that mostly keep to it.

A message is a list of (key, kind, values); kind 0 is unset. Nothing here knows bytes on the wire.
"""

from __future__ import annotations

import itertools
import random
import struct
from dataclasses import dataclass
from typing import Any

from tests.oracle.support.wire import BYTES, FLOAT, INT64

KEYS = ("a", "b", "label", "image/encoded", "é", "特征", "", "k" * 130, "a/b c", "value")
INTS = (0, 1, 2, 5, 127, 128, 300, 2**21, 2**31, 2**32, 2**56, 2**63 - 1, -1, -2, -(2**31), -(2**63))
FLOATS = (0.0, -0.0, 1.0, 0.5, -2.25, 3.4028235e38, 1e-45, float("inf"), float("-inf"))
COUNTS = (0, 1, 1, 1, 2, 2, 3, 4, 6, 12)

Values = list[Any]
Item = tuple[bytes, int, Values]  # key, kind, values
Row = tuple[int, Values]  # kind, values


@dataclass(frozen=True)
class Column:
    """What most records have under one key."""

    key: str
    kind: int
    count: int
    role: str = ""  # of its group: "index", "splits" and so on; "" for a plain feature
    group: str = ""  # the key of the values that it describes


def value_of(rng: random.Random, kind: int) -> Any:
    """One random value."""
    if kind == INT64:
        return rng.choice(INTS) if rng.random() < 0.6 else rng.getrandbits(64) - 2**63
    if kind == FLOAT:
        if rng.random() < 0.5:
            return rng.choice(FLOATS)
        return struct.unpack("<f", rng.randbytes(4))[0]
    return rng.choice((b"", b"x", b"\xff\x00", "中".encode(), rng.randbytes(rng.randrange(20)), b"y" * 200))


def values_of(rng: random.Random, kind: int, count: int) -> Values:
    """So many random values."""
    if count > 1 and rng.random() < 0.3:
        return [value_of(rng, kind)] * count
    return [value_of(rng, kind) for _ in range(count)]


def make_schema(rng: random.Random, *, groups: bool = True) -> list[Column]:
    """Choose keys with kinds and counts; now and then a group of keys for SparseFeature or RaggedFeature."""
    keys = rng.sample(KEYS, rng.choice((1, 1, 2, 3, 4, 5)))
    columns = [Column(key, rng.choice((BYTES, FLOAT, INT64)), rng.choice(COUNTS)) for key in keys]
    if groups and rng.random() < 0.15:
        name = rng.choice(("group", "组"))
        columns.append(
            Column(name, rng.choice((BYTES, FLOAT, INT64)), rng.choice((1, 2, 3, 6)), "values", name)
        )
        roles = rng.choice(
            (("index",), ("index", "index"), ("splits",), ("lengths",), ("lengths", "lengths"), ("rowids",))
        )
        roles = roles if rng.random() < 0.8 else (rng.choice(("starts", "limits")),)
        columns += [Column(f"{name}/{n}", INT64, 0, role, name) for n, role in enumerate(roles)]
    return columns


def make_items(rng: random.Random, schema: list[Column], *, strictly: bool) -> list[Item]:
    """A message that follows the schema; unless strictly, some of its features do not."""
    items: list[Item] = []
    sizes = {column.group: rng.choice((0, 1, 2, 3, 6)) for column in schema if column.role == "values"}
    for column in schema:
        item = _follow(rng, column, sizes)
        if not strictly and rng.random() < 0.2:
            item = _deviate(rng, item)
        if strictly or rng.random() < 0.9:
            items.append(item)
    if rng.random() < 0.3:
        kind = rng.choice((0, BYTES, FLOAT, INT64))
        items.append(
            (rng.choice((b"extra", b"zz")), kind, values_of(rng, kind, rng.randrange(3)) if kind else [])
        )
    if rng.random() < 0.5:
        rng.shuffle(items)
    return items


def _follow(rng: random.Random, column: Column, sizes: dict[str, int]) -> Item:
    key = column.key.encode()
    if not column.role:
        return key, column.kind, values_of(rng, column.kind, column.count)
    size = sizes[column.group]
    if column.role == "values":
        return key, column.kind, values_of(rng, column.kind, size)
    return key, INT64, partition(rng, column.role, size)


def partition(rng: random.Random, role: str, size: int) -> list[int]:
    """Numbers that cut so many values into rows, or place them."""
    if role == "index":
        return [rng.choice((0, 1, 5, 9, 100, -3)) for _ in range(size)]
    cuts = sorted(rng.randrange(size + 1) for _ in range(rng.randrange(3)))
    splits = [0, *cuts, size]
    if role == "splits":
        return splits
    if role == "starts":
        return splits[:-1]
    if role == "limits":
        return splits[1:]
    lengths = [end - start for start, end in itertools.pairwise(splits)]
    if role == "lengths":
        return lengths
    return [row for row, length in enumerate(lengths) for _ in range(length)]


def _deviate(rng: random.Random, item: Item) -> Item:
    key, kind, values = item
    choice = rng.randrange(6)
    if choice == 0:
        return key, 0, []
    if choice == 1:
        return key, kind, []
    if choice == 2:
        return key, kind, [*values, value_of(rng, kind)]
    if choice == 3:
        return key, kind, values[:-1]
    if choice == 4:
        other = rng.choice((BYTES, FLOAT, INT64))
        return key, other, values_of(rng, other, len(values))
    return key, kind, values_of(rng, kind, rng.choice((1, 2, 50, 200)))


def make_steps(rng: random.Random, column: Column, *, strictly: bool) -> list[Row]:
    """The features of one FeatureList."""
    steps: list[Row] = []
    for _ in range(rng.choice((0, 1, 2, 3, 5))):
        _, kind, values = (b"", column.kind, values_of(rng, column.kind, column.count))
        if not strictly and rng.random() < 0.2:
            _, kind, values = _deviate(rng, (b"", kind, values))
        steps.append((kind, values))
    return steps
