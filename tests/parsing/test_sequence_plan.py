"""SequencePlan: columns, defaults, pieces, threads, arguments; the kernel's rules are tested beside this file."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.parsing.support.sequence_bytes import (
    BYTES,
    FLOAT,
    INT64,
    Wanted,
    feature,
    plan_of,
    random_sequence,
    rows_of,
    sequence,
    steps,
)
from tfrkit import _core

PROTOBUF, BATCH, SINGLE = range(3)
CONTEXT = [Wanted("n", INT64, 1), Wanted("s", BYTES), Wanted("w", FLOAT, 2, (0.5, 1.5))]
LISTS = [Wanted("t", INT64, 1), Wanted("v", BYTES), Wanted("x", FLOAT, 4, allow_missing=True)]


def _record(number: int) -> bytes:
    return sequence(
        {b"n": feature(INT64, [number]), b"s": feature(BYTES, [b"a", b"bc"])},
        {
            b"t": steps(*(feature(INT64, [value]) for value in range(number))),
            b"v": steps(feature(BYTES, [b"x"]), b"", feature(BYTES, [])),
        },
    )


@pytest.mark.parametrize("dialect", [PROTOBUF, BATCH, SINGLE])
def test_columns_have_the_promised_arrays(dialect: int) -> None:
    context, lists, failure = plan_of(CONTEXT, LISTS).parse([[_record(2), _record(0)]], dialect)
    assert failure is None
    assert context[0].tolist() == [2, 0]
    assert [array.tolist() for array in context[1]] == [list(b"abcabc"), [0, 1, 3, 4, 6], [0, 2, 4]]
    assert context[2].tolist() == [0.5, 1.5, 0.5, 1.5]
    assert [array.tolist() for array in lists[0]] == [[0, 1], [0, 2, 2]]
    assert [array.tolist() for array in lists[1]] == [
        list(b"xx"),
        [0, 1, 2],
        [0, 1, 1, 1, 2, 2, 2],
        [0, 3, 6],
    ]
    assert [array.tolist() for array in lists[2]] == [[], [0, 0, 0]]


def test_columns_have_the_promised_types() -> None:
    context, lists, _ = plan_of(CONTEXT, LISTS).parse([[_record(1)]], PROTOBUF)
    assert context[0].dtype == np.int64
    assert [array.dtype for array in context[1]] == [np.uint8, np.int64, np.int64]
    assert context[2].dtype == np.float32
    assert [array.dtype for array in lists[2]] == [np.float32, np.int64]


def test_fixed_bytes_and_variable_numbers() -> None:
    plan = plan_of([Wanted("s", BYTES, 2)], [Wanted("t", INT64), Wanted("v", BYTES, 1)])
    record = sequence(
        {b"s": feature(BYTES, [b"a", b"bc"])},
        {b"t": steps(feature(INT64, [1, -2]), b""), b"v": steps(feature(BYTES, [b"yz"]))},
    )
    context, lists, failure = plan.parse([[record]], BATCH)
    assert failure is None
    assert [array.tolist() for array in context[0]] == [list(b"abc"), [0, 1, 3]]
    assert [array.tolist() for array in lists[0]] == [[1, -2], [0, 2, 2], [0, 2]]
    assert [array.tolist() for array in lists[1]] == [list(b"yz"), [0, 2], [0, 1]]


def test_no_records_give_empty_columns() -> None:
    context, lists, failure = plan_of(CONTEXT, LISTS).parse([], PROTOBUF)
    assert failure is None
    assert [array.tolist() for array in context[1]] == [[], [0], [0]]
    assert [array.tolist() for array in lists[0]] == [[], [0]]
    assert context[0].tolist() == []


def test_pieces_are_read_one_after_the_other() -> None:
    records = [_record(number) for number in range(5)]
    data = b"".join(records[:3])
    lengths = np.array([len(record) for record in records[:3]], np.int64)
    block = (data, np.cumsum(lengths) - lengths, lengths)
    context, _, _ = plan_of(CONTEXT, LISTS).parse([block, records[3:4], (records[4],)], PROTOBUF)
    assert context[0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_threads_do_not_change_the_result(threads: int) -> None:
    rng = random.Random("threads")
    records = [random_sequence(rng, CONTEXT, LISTS, 0) for _ in range(2000)]
    plan = plan_of(CONTEXT, LISTS)
    parsed: list[Any] = []
    for count in (1, threads):
        context, lists, failure = plan.parse([records], PROTOBUF, count)
        assert failure is None
        parsed.append([rows_of(w, c) for w, c in zip(CONTEXT + LISTS, context + lists, strict=True)])
    assert parsed[0] == parsed[1]
    assert len(parsed[0][0]) == 2000


def test_unusual_records_among_usual_ones() -> None:
    """Every dialect gives the same of a key that comes twice, wherever the record stands."""
    twice = _record(9) + sequence({b"n": feature(INT64, [7], packed=False)})
    records = [_record(1), twice, _record(2)] * 300
    for dialect in (PROTOBUF, BATCH):
        context, lists, failure = plan_of(CONTEXT, LISTS).parse([records], dialect)
        assert failure is None
        assert context[0].tolist() == [1, 7, 2] * 300
        assert np.diff(lists[0][1]).tolist() == [1, 9, 2] * 300


def test_arrays_outlive_the_plan_and_the_records() -> None:
    plan = plan_of(CONTEXT, LISTS)
    records = [_record(3)]
    (numbers, *_), _, _ = plan.parse([records], PROTOBUF)
    del plan, records
    assert numbers.tolist() == [3]


@pytest.mark.parametrize("dialect", [PROTOBUF, BATCH])
def test_failure_names_the_record(dialect: int) -> None:
    records = [_record(1)] * 700 + [b"\x0b"] + [_record(1)] * 700
    context, lists, failure = plan_of(CONTEXT, LISTS).parse([records], dialect)
    assert (context, lists) == ([], [])
    assert failure is not None
    assert (failure.code, failure.row, failure.slot) == (_core.MALFORMED_SEQUENCE, 700, -1)


def test_failure_has_step_count_and_kind() -> None:
    plan = plan_of([], [Wanted("t", INT64, 1)])
    record = sequence({}, {b"t": steps(feature(INT64, [1]), feature(INT64, [1, 2, 3]))})
    failure = plan.parse([[record]], PROTOBUF)[2]
    assert failure is not None
    assert (failure.code, failure.slot, failure.index) == (_core.STEP_COUNT, 0, 1)
    assert (failure.count, failure.kind) == (3, INT64)


@pytest.mark.parametrize(
    ("context", "lists", "message"),
    [
        ([("a", 4, 1, 1, None)], [], "expected a kind from 1 to 3 but got 4"),
        ([("a", 3, -2, 1, None)], [], "expected a count of at least -1 but got -2"),
        ([("a", 3, 1, 2, None)], [], "expected a stride of 1 in a context"),
        ([("a", 3, 1, 1)], [], "expected (key, kind, count, stride, default)"),
        ([], [("a", 3, 1)], "expected (key, kind, count, allow_missing)"),
        ([("a", 3, 1, 1, None)] * 2, [], "expected every key once but got 'a' twice"),
        ([("a", 3, 2, 1, np.array([1]))], [], "expected a default of 2 values but got 1"),
    ],
)
def test_bad_slots_are_value_errors(context: list[Any], lists: list[Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the whole message is compared
        _core.SequencePlan(context, lists)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "slot", [(b"a", 3, 1, 1, None), ("a", "3", 1, 1, None), ("a", 3, 1, 1, [1]), ("a", 1, 1, 1, ["x"]), 5]
)
def test_slots_of_other_types_are_type_errors(slot: Any) -> None:
    with pytest.raises(
        TypeError, match="expected tuples of a key, numbers, and a default of the slot's kind"
    ):
        _core.SequencePlan([slot], [])


def test_unknown_dialect_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="expected a dialect from 0 to 2 but got 3"):
        plan_of(CONTEXT, LISTS).parse([], 3)


def test_offsets_outside_the_data_are_an_index_error() -> None:
    with pytest.raises(IndexError):
        plan_of(CONTEXT, LISTS).parse([(b"abc", np.array([2]), np.array([2]))], PROTOBUF)


def test_what_protobuf_writes_is_parsed() -> None:
    example = tfr.SequenceExample()
    example.context.feature["n"].int64_list.value.append(-3)
    for number in range(40):
        example.feature_lists.feature_list["t"].feature.add().int64_list.value.append(1 << number)
    plan = plan_of([Wanted("n", INT64, 1)], [Wanted("t", INT64, 1)])
    context, lists, failure = plan.parse([[example.SerializeToString()]], BATCH)
    assert failure is None
    assert context[0].tolist() == [-3]
    assert lists[0][0].tolist() == [1 << number for number in range(40)]
