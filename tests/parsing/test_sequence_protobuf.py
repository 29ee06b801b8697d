"""SequencePlan in protobuf's dialect against protobuf itself, on random, unusual and damaged bytes.

Protobuf reads the bytes through classes of the same wire format that leave out what tfrkit leaves out: values of
maps are opaque until their key is asked for, and keys are bytes.
"""

from __future__ import annotations

import functools
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

import tfrkit as tfr
from tests.parsing.support.sequence_bytes import (
    BYTES,
    FLOAT,
    INT64,
    Wanted,
    damage,
    entry,
    feature,
    field,
    plan_of,
    random_sequence,
    random_wanted,
    rows_of,
    sequence,
    steps,
)
from tfrkit import _core

PROTOBUF = 0
LISTS = {BYTES: "bytes_list", FLOAT: "float_list", INT64: "int64_list"}

# message: (field, number, repeated, type); a type that is not a scalar is a message
MESSAGES: dict[str, list[tuple[str, int, bool, str]]] = {
    "Sequence": [("context", 1, False, "Map"), ("lists", 2, False, "Map")],
    "Map": [("entry", 1, True, "Entry")],
    "Entry": [("key", 1, False, "BYTES"), ("value", 2, True, "BYTES")],
    "Steps": [("feature", 1, True, "BYTES")],
    "Feature": [(name, kind, False, name.title().replace("_", "")) for kind, name in LISTS.items()],
    "BytesList": [("value", 1, True, "BYTES")],
    "FloatList": [("value", 1, True, "FLOAT")],
    "Int64List": [("value", 1, True, "INT64")],
}


@functools.cache
def message(name: str) -> Any:
    """The class of a message."""
    file = descriptor_pb2.FileDescriptorProto(name="opaque.proto", package="opaque", syntax="proto3")
    for message_name, fields in MESSAGES.items():
        made = file.message_type.add(name=message_name)
        for field_name, number, repeated, kind in fields:
            added = made.field.add(name=field_name, number=number, label=3 if repeated else 1)
            if kind in MESSAGES:
                added.type, added.type_name = added.TYPE_MESSAGE, f".opaque.{kind}"
            else:
                added.type = getattr(added, f"TYPE_{kind}")
            if message_name == "Feature":
                added.oneof_index = 0
        if message_name == "Feature":
            made.oneof_decl.add(name="kind")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"opaque.{name}"))


def read_feature(data: bytes) -> tuple[int, list[Any]]:
    """The kind of a Feature (0 if unset) and its values; floats as their bits, NaNs quiet."""
    read = message("Feature").FromString(data)
    name = read.WhichOneof("kind")
    if name is None:
        return 0, []
    kind = next(kind for kind, known in LISTS.items() if known == name)
    values = list(getattr(read, name).value)
    if kind == FLOAT:
        values = [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]
    return kind, values


def context_row(wanted: Wanted, parts: list[bytes] | None) -> Any:
    """The values in one record, or the code of the fault."""
    try:
        kind, values = read_feature(b"".join(parts or []))
    except DecodeError:
        return _core.MALFORMED_CONTEXT
    if kind == 0:
        if wanted.default is not None:
            return read_feature(feature(wanted.kind, wanted.default))[1]
        return _core.CONTEXT_MISSING if wanted.count >= 0 else []
    if kind != wanted.kind:
        return _core.CONTEXT_KIND
    return values if wanted.count in {-1, len(values)} else _core.CONTEXT_COUNT


def list_row(wanted: Wanted, parts: list[bytes] | None) -> Any:
    """The steps in one record, or the code of the fault and its step; without step if the list is damaged as such."""
    if parts is None:
        return _core.LIST_MISSING if wanted.count >= 0 and not wanted.allow_missing else []
    try:
        features = message("Steps").FromString(b"".join(parts)).feature
    except DecodeError:
        return (_core.MALFORMED_FEATURE_LIST, None)
    rows = []
    for index, data in enumerate(features):
        try:
            kind, values = read_feature(data)
        except DecodeError:
            return (_core.MALFORMED_FEATURE_LIST, index)
        if kind not in {0, wanted.kind}:
            return (_core.LIST_KIND, index)
        if wanted.count not in {-1, len(values)}:
            return (_core.STEP_COUNT, index)
        rows.append(values)
    return rows


def expected(record: bytes, context: Sequence[Wanted], lists: Sequence[Wanted]) -> list[Any]:
    """What protobuf reads: a row for each feature, or a fault."""
    try:
        read = message("Sequence").FromString(record)
    except DecodeError:
        return [_core.MALFORMED_SEQUENCE]
    maps = [{item.key: list(item.value) for item in part.entry} for part in (read.context, read.lists)]
    rows = [context_row(wanted, maps[0].get(wanted.key.encode())) for wanted in context]
    return rows + [list_row(wanted, maps[1].get(wanted.key.encode())) for wanted in lists]


def quiet(wanted: Wanted, row: list[Any]) -> list[Any]:
    """A row with its signalling NaNs quieted, as they come out of a Python float; row may have steps."""
    if wanted.kind != FLOAT:
        return row
    if row and isinstance(row[0], list):
        return [quiet(wanted, step) for step in row]
    return [bits | 1 << 22 if bits & 0x7FFFFFFF > 0x7F800000 else bits for bits in row]


def check(record: bytes, context: Sequence[Wanted], lists: Sequence[Wanted]) -> bool:
    """Compare one record; returns whether it was parsed."""
    theirs = expected(record, context, lists)
    columns, list_columns, fault = plan_of(context, lists).parse([[record]], PROTOBUF)
    what = f"{record.hex()}, {context}, {lists}"
    faults = [row for row in theirs if not isinstance(row, list)]
    if not faults:
        assert fault is None, what
        ours = [rows_of(wanted, column, 1)[0] for wanted, column in zip(context, columns, strict=True)]
        ours += [rows_of(wanted, column)[0] for wanted, column in zip(lists, list_columns, strict=True)]
        ours = [quiet(wanted, row) for wanted, row in zip([*context, *lists], ours, strict=True)]
        assert ours == theirs, what
        return True
    assert fault is not None, what
    assert fault.row == 0
    if isinstance(faults[0], int):
        assert fault.code == faults[0], what
    elif faults[0][1] is not None:
        assert (fault.code, fault.index) == faults[0], what
    return False


@pytest.mark.parametrize("seed", range(8))
def test_random_records(seed: int) -> None:
    rng = random.Random(f"sequence protobuf {seed}")
    parsed = 0
    for _ in range(1000):
        context, lists = random_wanted(rng, False), random_wanted(rng, True)
        record = random_sequence(rng, context, lists, rng.choice((0, 0.02, 0.1, 0.3)))
        if rng.random() < 0.4:
            record = damage(rng, record)
        parsed += check(record, context, lists)
    assert parsed > 300


ONE, TWO = feature(INT64, [1]), feature(INT64, [2])
VARIABLE = [Wanted("a", INT64)]


@pytest.mark.parametrize(
    ("record", "context", "values"),
    [
        (sequence({b"a": ONE + TWO}), VARIABLE, [1, 2]),
        (sequence({b"a": ONE + feature(FLOAT, [1.0]) + TWO}), VARIABLE, [2]),
        (sequence({b"a": feature(FLOAT, [1.0]) + ONE}), VARIABLE, [1]),
        (
            sequence({b"a": field(3, b"\x08\x01" + field(1, b"\x02\x03") + b"\x08\x04")}),
            VARIABLE,
            [1, 2, 3, 4],
        ),
        (sequence({b"a": ONE}) + sequence({b"a": TWO}), VARIABLE, [2]),
        (sequence({b"a": ONE}) + sequence({b"a": b""}), VARIABLE, []),
        (sequence({b"a": b""}), [Wanted("a", INT64, 1, (7,))], [7]),
        (field(1, field(1, field(2, ONE) + field(1, b"a"))), VARIABLE, [1]),
        (field(1, field(1, field(1, b"a") + field(2, ONE) + field(2, TWO))), VARIABLE, [1, 2]),
        (field(1, field(1, field(1, b"a"))), VARIABLE, []),
        (field(1, field(1, field(2, ONE))), [Wanted("", INT64)], [1]),
        (field(1, entry(b"a", ONE) + b"\x23\x20\x01\x24"), VARIABLE, [1]),
        (field(1, field(1, field(1, b"a") + field(2, ONE) + field(4, b"?"))), VARIABLE, [1]),
        (sequence({b"a": ONE, b"damaged": b"\xff\xff"}), VARIABLE, [1]),
    ],
)
def test_protobuf_merges(record: bytes, context: list[Wanted], values: list[int]) -> None:
    assert check(record, context, [])
    assert expected(record, context, []) == [values]


def test_protobuf_merges_parts_of_a_list() -> None:
    parts = [field(2, steps(ONE, b"")), field(2, steps(TWO))]
    record = field(2, field(1, field(1, b"t") + b"".join(parts)))
    assert check(record, [], [Wanted("t", INT64)])
    assert expected(record, [], [Wanted("t", INT64)]) == [[[1], [], [2]]]


def _groups(depth: int) -> bytes:
    return b"\x23" * depth + b"\x24" * depth


@pytest.mark.parametrize(
    "place",
    [
        lambda groups: groups,
        lambda groups: field(1, groups),
        lambda groups: field(1, field(1, field(1, b"a") + groups)),
        lambda groups: sequence({b"a": groups}),
        lambda groups: sequence({b"a": field(3, groups)}),
        lambda groups: sequence({}, {b"t": groups}),
        lambda groups: sequence({}, {b"t": steps(groups)}),
        lambda groups: sequence({}, {b"t": steps(field(3, groups))}),
    ],
    ids=["top", "map", "entry", "feature", "list", "feature list", "step", "list of step"],
)
def test_groups_nest_as_deep_as_in_protobuf(place: Callable[[bytes], bytes]) -> None:
    plan = plan_of(VARIABLE, [Wanted("t", INT64)])
    for depth in range(90, 105):
        record = place(_groups(depth))
        try:
            tfr.SequenceExample.FromString(record)
            good = True
        except DecodeError:
            good = False
        assert (plan.parse([[record]], PROTOBUF)[2] is None) == good, depth


def test_bits_of_floats_are_kept() -> None:
    """Also those of a signalling NaN, which a Python float would quiet."""
    record = sequence({b"a": field(2, field(1, b"\xd2\xd0\xbf\xff\x00\x00\x00\x80"))})
    context, _, _ = plan_of([Wanted("a", FLOAT, 2)], []).parse([[record]], PROTOBUF)
    assert context[0].tobytes() == b"\xd2\xd0\xbf\xff\x00\x00\x00\x80"
