"""The native outline against one made with protobuf's own parser."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from tfrkit import _core
from tfrkit.model.messages import Example, SequenceExample

KINDS = (None, "bytes_list", "float_list", "int64_list")

int_lists = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4)
float_lists = st.lists(st.floats(width=32), max_size=4)
bytes_lists = st.lists(st.binary(max_size=6), max_size=3)
keys = st.sampled_from(["a", "b", "label", "ü", ""])


@st.composite
def features(draw: Any) -> bytes:
    """A serialised Feature, sometimes in two parts that protobuf merges."""
    message = Example().features.feature["x"]
    parts = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
        kind = draw(st.sampled_from(KINDS))
        message.Clear()
        if kind is not None:
            lists = {"bytes_list": bytes_lists, "float_list": float_lists, "int64_list": int_lists}
            getattr(message, kind).value.extend(draw(lists[kind]))
            getattr(message, kind).SetInParent()
        parts.append(message.SerializeToString())
    return b"".join(parts)


def field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def a_map(entries: list[tuple[str, bytes]]) -> bytes:
    return b"".join(field(1, field(1, key.encode()) + field(2, value)) for key, value in entries)


context = st.lists(st.tuples(keys, features()), max_size=4).map(a_map)
lists = st.lists(
    st.tuples(keys, st.lists(features(), max_size=3).map(lambda steps: b"".join(field(1, s) for s in steps))),
    max_size=3,
).map(a_map)
examples = st.lists(context, min_size=1, max_size=2).map(lambda maps: b"".join(field(1, m) for m in maps))
sequences = st.tuples(context, lists).map(lambda pair: field(1, pair[0]) + field(2, pair[1]))
records = st.lists(
    st.one_of(examples, sequences, st.just(b""), st.binary(max_size=12)), min_size=1, max_size=5
)


@st.composite
def mutated(draw: Any) -> bytes:
    record = bytearray(draw(st.one_of(examples, sequences)))
    for _ in range(draw(st.integers(1, 3))):
        if record:
            record[draw(st.integers(0, len(record) - 1))] = draw(st.integers(0, 255))
    return bytes(record[: draw(st.integers(0, len(record)))])


class Reference:
    """What the outline should say, from messages that protobuf has parsed."""

    def __init__(self) -> None:
        self.features: dict[str, list[Any]] = {}
        self.lists: dict[str, list[list[Any]]] = {}
        self.kinds: list[str] = []

    def add(self, record: bytes) -> None:
        message = SequenceExample.FromString(record)
        for name, feature in message.context.feature.items():
            self.features.setdefault(name, []).append(feature)
        for name, steps in message.feature_lists.feature_list.items():
            self.lists.setdefault(name, []).append(list(steps.feature))
        self.kinds.append("SequenceExample" if message.feature_lists.feature_list else "Example")


def values_of(feature: Any) -> list[Any]:
    kind = feature.WhichOneof("kind")
    return list(getattr(feature, kind).value) if kind else []


def check_values(stats: dict[str, Any], found: list[Any]) -> None:
    by_kind = {
        kind: [v for f in found if f.WhichOneof("kind") == kind for v in values_of(f)] for kind in KINDS[1:]
    }
    assert [values for _, _, values in stats["kinds"]] == [0, *(len(v) for v in by_kind.values())]
    assert stats["unset"] == sum(f.WhichOneof("kind") is None for f in found)
    sizes_of = [len(values_of(f)) for f in found if f.WhichOneof("kind")]
    assert stats["empty"] == sizes_of.count(0)
    assert stats["counts"] == counts_of(sizes_of)
    if by_kind["int64_list"]:
        assert stats["ints"] == (min(by_kind["int64_list"]), max(by_kind["int64_list"]))
    finite = [value for value in by_kind["float_list"] if math.isfinite(value)]
    low, high, nans, infinities, negative = stats["floats"]
    if finite:
        assert (low, high) == (min(finite), max(finite))
    assert nans == sum(map(math.isnan, by_kind["float_list"]))
    assert (infinities, negative) == tuple(by_kind["float_list"].count(x) for x in (math.inf, -math.inf))
    if by_kind["bytes_list"]:
        sizes = [len(value) for value in by_kind["bytes_list"]]
        assert stats["lengths"] == (min(sizes), max(sizes), sum(sizes))


def counts_of(numbers: list[int]) -> tuple[int, ...]:
    if not numbers:
        return 0, 0, 0, 0, 0
    usual, times = min(Counter(numbers).items(), key=lambda item: (-item[1], item[0]))
    return min(numbers), max(numbers), usual, times, len(numbers)


def outline(*batches: list[bytes]) -> dict[str, Any]:
    scan = _core.Statistics(None, outline_only=True)
    for items in batches:
        scan.add([items], 1)
    return scan.outline()


def check_against_protobuf(items: list[bytes]) -> None:
    result = outline(items)
    reference = Reference()
    readable = []
    for item in items:
        (example, _), (sequence, _), _ = outline([item])["records"]
        if example or sequence:
            readable.append((item, "Example" if example else "SequenceExample"))
    for item, _ in readable:
        reference.add(item)
    assert [kind for _, kind in readable] == reference.kinds
    assert set(result["features"]) == set(reference.features)
    assert set(result["lists"]) == set(reference.lists)
    for name, found in reference.features.items():
        assert result["features"][name]["records"] == len(found)
        check_values(result["features"][name], found)
    for name, steps in reference.lists.items():
        stats = result["lists"][name]
        assert stats["records"] == len(steps)
        assert stats["steps"] == counts_of([len(found) for found in steps])
        check_values(stats, [step for found in steps for step in found])


@given(records)
def test_outline_is_that_of_protobuf(items):
    check_against_protobuf(items)


@given(mutated())
def test_damaged_records_are_accepted_as_protobuf_does(record):
    (example, _), (sequence, _), (other, _) = outline([record])["records"]
    assert example + sequence + other == 1
    try:
        message = SequenceExample.FromString(record)
    except DecodeError:
        assert not sequence
        if example:  # a field 2 that is no feature lists is just an unknown one
            Example.FromString(record)
        return
    # Without any feature, unknown fields make it a message of another type.
    if other:
        assert not message.feature_lists.feature_list
        assert not message.context.feature


@given(records, st.integers(0, 5))
def test_records_may_be_added_in_parts(items, split):
    assert outline(items[:split], items[split:]) == outline(items)


def test_first_records_of_kinds_count_on_over_batches():
    items = [field(1, a_map([("a", b"\x1a\x03\x0a\x01\x05")])), field(1, a_map([("a", b"")])), b"\xff"]
    result = outline([field(1, a_map([]))] * 100, items)
    assert result["records"] == [(102, 0), (0, -1), (1, 102)]
    assert result["features"]["a"]["kinds"] == [(1, 101, 0), (0, -1, 0), (0, -1, 0), (1, 100, 1)]
    assert result["others"] == [(102, b"\xff", 1)]


def test_pieces_run_on():
    item = field(1, a_map([("a", b"\x1a\x03\x0a\x01\x05")]))
    data = np.frombuffer(b"--" + item, np.uint8)
    scan = _core.Statistics(None, outline_only=True)
    scan.add([(data, np.array([2]), np.array([len(item)])), [item, item]], 1)
    assert scan.outline()["features"]["a"]["records"] == 3


def test_wrong_arguments_are_refused():
    scan = _core.Statistics(None, outline_only=True)
    values = _core.Statistics(None)
    with pytest.raises(IndexError):
        scan.add([(b"abc", np.array([2]), np.array([2]))], 1)
    with pytest.raises(ValueError, match="expected statistics made with outline_only"):
        values.outline()
    with pytest.raises(ValueError, match="expected statistics made without outline_only"):
        values.merge(scan)
    with pytest.raises(ValueError, match="expected other statistics but got the same"):
        values.merge(values)
