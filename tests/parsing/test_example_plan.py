from __future__ import annotations

import os
import struct
import threading
import time
from functools import cache
from typing import Any

import numpy as np
import pytest

from tfrkit import Block, _core

PROTOBUF, BATCH, SINGLE = _core.PROTOBUF, _core.TENSORFLOW_BATCH, _core.TENSORFLOW_SINGLE
DIALECTS = [PROTOBUF, BATCH, SINGLE]
BYTES, FLOAT, INT64 = _core.BYTES, _core.FLOAT, _core.INT64


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(tag: int, body: bytes) -> bytes:
    return bytes([tag]) + varint(len(body)) + body


def ints(*values: int) -> bytes:
    run = b"".join(varint(value % 2**64) for value in values)
    return field(0x1A, field(0x0A, run) if values else b"")


def floats(*values: float) -> bytes:
    return field(0x12, field(0x0A, struct.pack(f"<{len(values)}f", *values)))


def texts(*values: bytes) -> bytes:
    return field(0x0A, b"".join(field(0x0A, value) for value in values))


def example(features: dict[str, bytes]) -> bytes:
    entries = (field(0x0A, field(0x0A, key.encode()) + field(0x12, value)) for key, value in features.items())
    return field(0x0A, b"".join(entries))


@cache
def record(number: int) -> bytes:
    return example({
        "bytes": texts(b"x%d" % number),
        "float": floats(number / 2),
        "int": ints(-number),
        "pair": ints(number, 2 * number),
        "ragged": ints(*range(number % 5)),
        "texts": texts(*[b"t" * length for length in range(number % 3)]),
        "weights": floats(*range(number % 4)),
    })  # fmt: skip


SLOTS: list[tuple[str, int, int, int, object]] = [
    ("bytes", BYTES, 1, 0, None),
    ("float", FLOAT, 1, 0, None),
    ("int", INT64, 1, 0, None),
    ("pair", INT64, 2, 0, None),
    ("ragged", INT64, -1, 0, None),
    ("texts", BYTES, -1, 0, None),
    ("weights", FLOAT, -1, 0, None),
]


def as_piece(block: Block) -> tuple[Any, ...]:
    return block.data, block.offsets, block.lengths


def check_columns(columns: list[Any], count: int) -> None:
    data, offsets = columns[0]
    assert data.tobytes() == b"".join(b"x%d" % number for number in range(count))
    assert len(offsets) == count + 1
    assert columns[1].tolist() == [number / 2 for number in range(count)]
    assert columns[2].tolist() == [-number for number in range(count)]
    assert columns[3].tolist() == [factor * number for number in range(count) for factor in (1, 2)]
    values, splits = columns[4]
    assert values.tolist() == [value for number in range(count) for value in range(number % 5)]
    assert np.diff(splits).tolist() == [number % 5 for number in range(count)]
    data, offsets, splits = columns[5]
    lengths = [length for number in range(count) for length in range(number % 3)]
    assert np.diff(offsets).tolist() == lengths
    assert data.tobytes() == b"t" * sum(lengths)
    assert np.diff(splits).tolist() == [number % 3 for number in range(count)]
    values, splits = columns[6]
    assert values.tolist() == [value for number in range(count) for value in range(number % 4)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_columns_have_the_values_of_all_records(dialect):
    columns, states, failure = _core.ExamplePlan(SLOTS).parse([[record(n) for n in range(50)]], dialect)
    assert failure is None
    assert states is None
    check_columns(columns, 50)


def test_dtypes_are_the_plain_ones():
    columns, _, _ = _core.ExamplePlan(SLOTS).parse([[record(3)]], PROTOBUF)
    assert columns[1].dtype == np.dtype("float32")
    assert columns[2].dtype == np.dtype("int64")
    assert isinstance(columns[2][0], np.int64)
    assert [array.dtype.name for array in columns[5]] == ["uint8", "int64", "int64"]


def test_records_run_on_over_pieces_of_every_sort():
    records = [record(number) for number in range(40)]
    pieces = [
        records[:7],
        as_piece(Block.from_records(records[7:20])),
        tuple(records[20:33]),
        [],
        records[33:],
    ]
    columns, _, failure = _core.ExamplePlan(SLOTS).parse(pieces, PROTOBUF)
    assert failure is None
    check_columns(columns, 40)


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_large_batches_are_the_same_on_any_number_of_threads(threads):
    block = Block.from_records([record(number) for number in range(20_000)])
    columns, _, failure = _core.ExamplePlan(SLOTS).parse([as_piece(block)], BATCH, threads)
    assert failure is None
    check_columns(columns, 20_000)


# Room for lists is made by those of the first 256 kB: it may be too little, too much, or none.
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(
    "lengths",
    [[1] * 400 + [3000] * 100, [3000] * 100 + [1] * 400, [1, 4000, 0, 7] * 100, [0] * 300 + [2000] * 200],
    ids=["short first", "long first", "mixed", "none first"],
)
def test_lists_may_be_of_other_lengths_than_the_first(lengths, threads):
    records = [
        example({
            "bytes": texts(bytes(1000)),
            "ragged": ints(*range(length)),
            "texts": texts(*[b"%d" % place for place in range(length % 50)]),
            "weights": floats(*range(length)),
        })
        for length in lengths
    ]  # fmt: skip
    slots = [
        ("bytes", BYTES, 1, 1, None),
        ("ragged", INT64, -1, 1, None),
        ("texts", BYTES, -1, 1, None),
        ("weights", FLOAT, -1, 1, None),
    ]
    columns, _, failure = _core.ExamplePlan(slots).parse([records], PROTOBUF, threads)
    assert failure is None
    splits = np.cumsum([0, *lengths])
    wanted = np.concatenate([np.arange(length) for length in lengths])
    assert columns[0][1].tolist() == [1000 * row for row in range(len(lengths) + 1)]
    assert columns[1][1].tolist() == columns[3][1].tolist() == splits.tolist()
    assert columns[1][0].tolist() == wanted.tolist()
    assert columns[3][0].tolist() == wanted.astype(np.float32).tolist()
    names = [b"%d" % place for length in lengths for place in range(length % 50)]
    assert columns[2][0].tobytes() == b"".join(names)
    assert columns[2][1].tolist() == np.cumsum([0, *map(len, names)]).tolist()
    assert columns[2][2].tolist() == np.cumsum([0, *(length % 50 for length in lengths)]).tolist()


def test_no_records_give_empty_columns():
    columns, states, failure = _core.ExamplePlan(SLOTS).parse([], PROTOBUF, states=True)
    assert failure is None
    assert [len(column) if isinstance(column, np.ndarray) else [len(a) for a in column] for column in columns] == [
        [0, 1], 0, 0, 0, [0, 1], [0, 1, 1], [0, 1],
    ]  # fmt: skip
    assert states is not None
    assert states == [None] * 7  # no record is without one of them


def test_no_slots_check_the_records_only():
    plan = _core.ExamplePlan([])
    assert plan.parse([[record(1)]], BATCH) == ([], None, None)
    failure = plan.parse([[record(1), b"\xff"]], BATCH)[2]
    assert failure is not None
    assert (failure.row, failure.slot, failure.code) == (1, -1, _core.MALFORMED_EXAMPLE)


def test_states_tell_absent_from_unset():
    plan = _core.ExamplePlan([("a", INT64, 1, 0, np.array([7])), ("v", FLOAT, -1, 0, None)])
    records = [example({"a": ints(1), "v": floats(1)}), example({"a": b""}), example({"v": b""}), b""]
    columns, states, failure = plan.parse([records], PROTOBUF, 1, True)
    assert failure is None
    assert columns[0].tolist() == [1, 7, 7, 7]
    assert states is not None
    assert [state.tolist() for state in states] == [[2, 1, 0, 0], [2, 0, 1, 0]]


def test_defaults_fill_missing_features():
    plan = _core.ExamplePlan(
        [
            ("b", BYTES, 2, 0, [b"x", b"yz"]),
            ("f", FLOAT, 2, 0, np.array([1, 2], np.float32)),
            ("i", INT64, 1, 0, np.array([-3])),
        ]
    )
    columns, _, failure = plan.parse([[b"", b""]], SINGLE)
    assert failure is None
    assert (columns[0][0].tobytes(), columns[0][1].tolist()) == (b"xyzxyz", [0, 1, 3, 4, 6])
    assert columns[1].tolist() == [1, 2, 1, 2]
    assert columns[2].tolist() == [-3, -3]


def test_a_default_without_values_is_none():
    plan = _core.ExamplePlan([("e", INT64, 0, 0, np.zeros(0, np.int64))])
    failure = plan.parse([[b""]], BATCH)[2]
    assert failure is not None
    assert failure.code == _core.MISSING


@pytest.mark.parametrize(
    ("slot", "feature", "code", "kind", "count"),
    [
        (("a", INT64, 1, 0, None), None, _core.MISSING, 0, 0),
        (("a", INT64, 1, 0, None), floats(1), _core.WRONG_KIND, FLOAT, 0),
        (("a", INT64, 2, 0, None), ints(1, 2, 3), _core.WRONG_COUNT, INT64, 3),
        (("a", INT64, -1, 0, None), b"\x1a\x03\x0a\x01\x80", _core.MALFORMED_LIST, INT64, 0),
        (("a", INT64, -1, 0, None), b"\x22\x00", _core.UNSUPPORTED_KIND, 0, 0),
        (("a", INT64, -1, 2, None), ints(1, 2, 3), _core.WRONG_STRIDE, INT64, 3),
    ],
)
def test_failures_say_what_was_found(slot, feature, code, kind, count):
    good = example({"a": ints(*range(slot[2] if slot[2] > 0 else 2))})
    bad = example({} if feature is None else {"a": feature})
    plan = _core.ExamplePlan([("other", INT64, -1, 0, None), slot])
    columns, states, failure = plan.parse([[good, bad, bad]], SINGLE, states=True)
    assert (columns, states) == ([], None)
    assert (failure.row, failure.slot, failure.code) == (1, 1, code)
    assert (failure.kind, failure.count) == (kind, count)
    assert plan.parse_one(bad, SINGLE).code == code


def test_of_many_faulty_records_the_first_is_reported_on_any_number_of_threads():
    records = [record(number) for number in range(20_000)]
    for number in (12_345, 12_346, 19_999):
        records[number] = b"\xff"
    for threads in (1, 2, 4):
        failure = _core.ExamplePlan(SLOTS).parse([records], BATCH, threads)[2]
        assert failure is not None
        assert failure.row == 12_345


def test_parse_one_gives_scalars_arrays_and_bytes():
    one = _core.ExamplePlan(SLOTS).parse_one(record(8), SINGLE)
    assert isinstance(one, dict)
    assert list(one) == [slot[0] for slot in SLOTS]
    assert one["bytes"] == b"x8"
    assert (one["float"], type(one["float"])) == (4.0, np.float32)
    assert (one["int"], type(one["int"])) == (-8, np.int64)
    assert one["pair"].tolist() == [8, 16]
    assert one["ragged"].tolist() == [0, 1, 2]
    assert (one["texts"][0].tobytes(), one["texts"][1].tolist()) == (b"t", [0, 0, 1])
    assert one["weights"].tolist() == []


def test_parse_one_results_are_independent():
    plan = _core.ExamplePlan(SLOTS)
    first = plan.parse_one(record(8), SINGLE)
    second = plan.parse_one(memoryview(record(9)), SINGLE)
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert (first["int"], second["int"]) == (-8, -9)
    assert (first["pair"].tolist(), second["pair"].tolist()) == ([8, 16], [9, 18])


def test_parse_one_gives_a_list_for_several_bytes():
    plan = _core.ExamplePlan([("b", BYTES, 2, 0, None)])
    assert plan.parse_one(example({"b": texts(b"", b"z")}), PROTOBUF) == {"b": [b"", b"z"]}


def test_arrays_outlive_the_plan_and_the_records():
    records = [record(number) for number in range(2000)]
    plan = _core.ExamplePlan(SLOTS)
    columns = plan.parse([records], PROTOBUF)[0]
    del plan, records
    check_columns(columns, 2000)


@pytest.mark.parametrize(
    ("offset", "length"), [(-1, 1), (0, -1), (0, 10**6), (10**6, 0), (2**63 - 1, 2**63 - 1)]
)
def test_offsets_outside_the_data_are_an_index_error(offset, length):
    piece = (record(1), np.array([0, offset]), np.array([1, length]))
    with pytest.raises(IndexError, match="entry 1 of offsets and lengths lies outside"):
        _core.ExamplePlan(SLOTS).parse([piece], PROTOBUF)


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([[b"", 5]], "expected bytes but got int at index 1"),
        ([5], r"expected \(data, offsets, lengths\) or a list of bytes but got int at index 0"),
        ([(5, np.zeros(0, np.int64), np.zeros(0, np.int64))], "expected contiguous memory but got int"),
    ],
)
def test_what_is_no_piece_is_a_type_error(pieces, message):
    with pytest.raises(TypeError, match=message):
        _core.ExamplePlan([]).parse(pieces, PROTOBUF)


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ([("a", 4, 1, 0, None)], "expected a kind from 1 to 3 for 'a'"),
        ([("a", INT64, -2, 0, None)], "expected a count of at least -1 for 'a'"),
        ([("a", INT64, 1, 0, np.zeros(2, np.int64))], "expected `count` values as default of 'a'"),
        ([("a", INT64, 1, 0, np.zeros(1, np.float32))], "expected a contiguous array of the slot's type"),
        ([("a", BYTES, 1, 0, b"x")], "expected a list of bytes as default of 'a'"),
        ([("a", INT64, -1, 0, np.zeros(1, np.int64))], "expected None as default of 'a'"),
        ([("a", INT64, 1, 0, None), ("a", FLOAT, 1, 0, None)], "expected every key once"),
    ],
)
def test_wrong_slots_are_refused(slots, message):
    with pytest.raises(ValueError, match=message):
        _core.ExamplePlan(slots)


def test_an_unknown_dialect_is_refused():
    with pytest.raises(ValueError, match="expected a dialect from 0 to 2 but got 3"):
        _core.ExamplePlan([]).parse([], 3)


def test_threads_may_share_a_plan():
    plan = _core.ExamplePlan(SLOTS)
    records = [record(number) for number in range(5000)]
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(5):
                check_columns(plan.parse([records], PROTOBUF)[0], 5000)
                one = plan.parse_one(records[7], PROTOBUF)
                assert isinstance(one, dict)
                assert one["int"] == -7
        except BaseException as error:  # handed to the test
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors


def test_the_interpreter_runs_on_while_a_batch_is_parsed():
    block = Block.from_records([record(number) for number in range(100_000)])
    plan = _core.ExamplePlan(SLOTS)
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0)

    ticker = threading.Thread(target=tick)
    ticker.start()
    piece = as_piece(block)
    seen = []
    for _ in range(5):
        before = ticks
        plan.parse([piece] * 3, PROTOBUF, 1)
        seen.append(ticks - before)
    stop.set()
    ticker.join()
    assert max(seen) > 10  # a call that keeps the lock lets one or two through


def test_a_forked_child_parses_on_threads_of_its_own():
    block = Block.from_records([record(number) for number in range(20_000)])
    plan = _core.ExamplePlan(SLOTS)
    check_columns(plan.parse([as_piece(block)], PROTOBUF, 2)[0], 20_000)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            check_columns(plan.parse([as_piece(block)], PROTOBUF, 2)[0], 20_000)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
