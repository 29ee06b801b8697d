"""SequenceExamples as bytes: what TensorFlow's parser makes of them, `SequencePlan` makes of them.

The adapters here are thin: they bring both parsers' results and faults into one form. What users call is tested
elsewhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.oracle.support.oracle import signal_of, tensorflow
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

TENSORFLOW = 1  # the dialect of a batch
NAMES = {BYTES: "string", FLOAT: "float", INT64: "int64"}
DECORATED = re.compile(r"\{\{function_node [^}]*\}\} (.*) \[Op:\w+\](?: name: )?", re.DOTALL)
# A length of 2^31 or more makes TensorFlow copy a negative number of bytes.
HUGE = re.compile(rb"[\x80-\xff]{4}[\x08-\x0f\x18-\x1f\x28-\x2f\x38-\x3f\x48-\x4f\x58-\x5f\x68-\x6f\x78-\x7f\x88-\x8f"
                  rb"\x98-\x9f\xa8-\xaf\xb8-\xbf\xc8-\xcf\xd8-\xdf\xe8-\xef\xf8-\xff]")  # fmt: skip


def text_of(fault: Any, context: Sequence[Wanted], lists: Sequence[Wanted]) -> str:
    """TensorFlow's words for a fault."""
    code, slot = fault.code, fault.slot
    in_lists = code in {
        _core.MALFORMED_FEATURE_LIST, _core.LIST_KIND, _core.LIST_TOTAL, _core.LIST_MISSING, _core.STEP_COUNT,
        _core.LIST_ELEMENTS,
    }  # fmt: skip
    wanted = (lists if in_lists else context)[slot] if slot >= 0 else Wanted("", INT64)
    key, name = wanted.key, NAMES[wanted.kind]
    shape = "[]" if wanted.count == 1 else f"[{wanted.count}]"
    rows = "[?]" if wanted.count == 1 else f"[?,{wanted.count}]"
    example = f"n{fault.row}"
    return {
        _core.MALFORMED_SEQUENCE: f"Invalid protocol message input, example id: {example}",
        _core.CONTEXT_KIND: f"Name: {example}, Context feature: {key}.  Data types don't match. Expected type: {name}",
        _core.MALFORMED_FEATURE_LIST: f"Error in sequence feature {key} in example {example}",
        _core.LIST_KIND: f"Name: {example}, Feature list: {key}, Index: {fault.index}.  Data types don't match. "
        f"Expected type: {name}",
        _core.CONTEXT_MAXIMUM: f"Inconsistent max number of elements for feature {key}: expected {wanted.count}, "
        f"but found {fault.count}",
        _core.CONTEXT_MISSING: f"Feature: {key} (data type: {name}) is required but could not be found.",
        _core.CONTEXT_COUNT: f"Unexpected number of elements in example {example}",
        _core.CONTEXT_TOTAL: f"Unexpected total number of elements in feature {key}",
        _core.LIST_TOTAL: f"Feature list '{key}' has an unexpected number of values.  Total values size: "
        f"{fault.count} is not consistent with output shape: {rows}",
        _core.LIST_MISSING: f"Name: {example}, Feature list '{key}' is required but could not be found.  Did you mean "
        "to include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
        _core.STEP_COUNT: f"Name: {example}, Key: {key}, Index: {fault.index}.  Number of values != expected.  values "
        f"size: {fault.count} but output shape: {shape}",
        _core.LIST_ELEMENTS: f"Unexpected number of elements for feature {key}",
    }[code]  # fmt: skip


def our_result(records: Sequence[bytes], context: Sequence[Wanted], lists: Sequence[Wanted]) -> Any:
    """The rows of every feature, or the text of the fault."""
    columns, list_columns, fault = plan_of(context, lists).parse([list(records)], TENSORFLOW)
    if fault is not None:
        return text_of(fault, context, lists)
    found: dict[Any, Any] = {}
    for wanted, column in zip(context, columns, strict=True):
        rows = found["context", wanted.key] = rows_of(wanted, column, len(records))
        if wanted.count < 0 and not wanted.ragged:
            found["context shape", wanted.key] = [len(rows), max(map(len, rows), default=0)]
    for wanted, column in zip(lists, list_columns, strict=True):
        rows = found["list", wanted.key] = rows_of(wanted, column)
        if wanted.count < 0 and not wanted.ragged:
            widths = [len(step) for row in rows for step in row]
            found["list shape", wanted.key] = [
                len(rows),
                max(map(len, rows), default=0),
                max(widths, default=0),
            ]
            found["list", wanted.key] = [_without_empty_tail(row) for row in rows]
    return found


def _their_feature(wanted: Wanted, is_list: bool) -> Any:
    tf = tensorflow()
    dtype = {BYTES: tf.string, FLOAT: tf.float32, INT64: tf.int64}[wanted.kind]
    if wanted.count < 0:
        return tf.io.RaggedFeature(dtype) if wanted.ragged else tf.io.VarLenFeature(dtype)
    shape = [] if wanted.count == 1 else [wanted.count]
    if is_list:
        return tf.io.FixedLenSequenceFeature(shape, dtype, allow_missing=wanted.allow_missing)
    default = wanted.default
    if default is not None:
        default = default[0] if wanted.count == 1 else list(default)
    return tf.io.FixedLenFeature(shape, dtype, default)


def _plain(wanted: Wanted, value: Any) -> Any:
    """A tensor as lists; floats as their bits."""
    tf = tensorflow()
    if wanted.kind == FLOAT:
        value = tf.bitcast(value, tf.uint32)
    if wanted.count == 1:
        value = value[..., None]
    return value.numpy().tolist()


def _their_rows(wanted: Wanted, value: Any, lengths: Any, is_list: bool) -> list[Any]:
    tf = tensorflow()
    if wanted.count >= 0:
        rows = _plain(wanted, value)
        return [row[:length] for row, length in zip(rows, lengths.numpy(), strict=True)] if is_list else rows
    if wanted.ragged:
        return value.with_flat_values(
            tf.bitcast(value.flat_values, tf.uint32) if wanted.kind == FLOAT else value.flat_values
        ).to_list()
    flat = value.values.numpy() if wanted.kind != FLOAT else value.values.numpy().view("uint32")
    shape = value.dense_shape.numpy().tolist()
    rows = [[] for _ in range(shape[0])]
    for index, entry_value in zip(value.indices.numpy().tolist(), flat.tolist(), strict=True):
        row = rows[index[0]]
        if is_list:
            row.extend([] for _ in range(index[1] + 1 - len(row)))
            row = row[index[1]]
        assert len(row) == index[-1]
        row.append(entry_value)
    return rows


def their_result(records: Sequence[bytes], context: Sequence[Wanted], lists: Sequence[Wanted]) -> Any:
    """The same from TensorFlow."""
    tf = tensorflow()
    try:
        found, sequences, lengths = tf.io.parse_sequence_example(
            tf.constant(list(records), tf.string),
            {wanted.key: _their_feature(wanted, False) for wanted in context} or None,
            {wanted.key: _their_feature(wanted, True) for wanted in lists} or None,
            example_names=tf.constant([f"n{row}" for row in range(len(records))], tf.string),
        )
    except tf.errors.InvalidArgumentError as error:
        decorated = DECORATED.fullmatch(error.message)
        return decorated[1] if decorated else error.message
    results: dict[Any, Any] = {}
    for place, part, values in (("context", context, found), ("list", lists, sequences)):
        for wanted in part:
            value = values[wanted.key]
            results[place, wanted.key] = _their_rows(wanted, value, lengths.get(wanted.key), place == "list")
            if isinstance(value, tf.SparseTensor):
                results[f"{place} shape", wanted.key] = value.dense_shape.numpy().tolist()
    return results


def _without_empty_tail(row: list[Any]) -> list[Any]:
    """A SparseTensor does not say how many empty steps stand at the end of a row."""
    kept = list(row)
    while kept and not kept[-1]:
        kept.pop()
    return kept


def kills_tensorflow(ours: Any, records: Sequence[bytes], wanted: Sequence[Wanted]) -> bool:
    """Whether TensorFlow would write outside its memory: a cut string in a VarLenFeature, or a huge length."""
    if isinstance(ours, str) and ours.startswith(("Unexpected total", "Unexpected number of elements for")):
        return True
    return any(item.kind == BYTES for item in wanted) and any(map(HUGE.search, records))


def check(records: Sequence[bytes], context: Sequence[Wanted], lists: Sequence[Wanted]) -> bool:
    """Compare; where several features are faulty TensorFlow's hash table chooses, so any of them will do.

    Returns whether the records were parsed.
    """
    ours = our_result(records, context, lists)
    if kills_tensorflow(ours, records, [*context, *lists]):
        return False
    theirs = their_result(records, context, lists)
    what = f"{[record.hex() for record in records]}, {context}, {lists}"
    if isinstance(ours, str) and isinstance(theirs, str) and ours != theirs:
        alone = [our_result(records, [wanted], []) for wanted in context]
        alone += [our_result(records, [], [wanted]) for wanted in lists]
        assert "Data types" in ours or "Error in" in ours, what
        assert theirs in alone, what
        return False
    assert ours == theirs, what
    return not isinstance(ours, str)


@pytest.mark.parametrize("seed", range(8))
def test_random_records(seed: int) -> None:
    """Usual and unusual records, damaged or not, in batches of one to three."""
    rng = random.Random(f"sequence wire {seed}")
    parsed = 0
    for _ in range(250):
        context, lists = random_wanted(rng, False), random_wanted(rng, True)
        odd = rng.choice((0, 0, 0.02, 0.05, 0.2))
        records = [random_sequence(rng, context, lists, odd) for _ in range(rng.choice((1, 1, 2, 3)))]
        if rng.random() < 0.25:
            place = rng.randrange(len(records))
            records[place] = damage(rng, records[place])
        parsed += check(records, context, lists)
    assert parsed > 60


A_INT = [Wanted("a", INT64, 1)]
T_INT = [Wanted("t", INT64, 1)]
ONE = feature(INT64, [1])


@pytest.mark.parametrize(
    ("records", "context", "lists"),
    [
        ([], A_INT, []),
        ([], [Wanted("a", INT64, 1, (3,))], T_INT),
        ([b""], A_INT, []),
        ([b""], [Wanted("a", INT64)], [Wanted("t", BYTES, ragged=True)]),
        ([sequence({b"a": ONE}), b"\x0b"], [Wanted("b", INT64, 1)], []),
        ([sequence({b"a": ONE}), sequence({})], A_INT, []),
        ([sequence({b"a": ONE}), sequence({b"a": b""})], [Wanted("a", INT64, 1, (3,))], []),
        ([field(1, entry(b"a", ONE) + entry(b"a", feature(INT64, [2])))], A_INT, []),
        ([field(1, entry(b"a", ONE) + entry(b"a", b""))], [Wanted("a", INT64)], []),
        ([field(1, field(1, field(2, ONE) + field(1, b"a")))], A_INT, []),
        ([field(1, entry(b"a", feature(INT64, [1, 2], packed=False)))], [Wanted("a", INT64, 2)], []),
        ([sequence({}, {b"t": steps(ONE, b"", feature(INT64, []), ONE)})], [], [Wanted("t", INT64, ragged=True)]),
        ([sequence({}, {b"t": steps(ONE, b"")})], [], T_INT),
        ([sequence({}, {b"t": steps(ONE, feature(INT64, []))})], [], T_INT),
        ([sequence({}, {b"t": steps(ONE, feature(FLOAT, []))})], [], [Wanted("t", INT64)]),
        ([sequence({}, {b"t": steps(ONE, feature(FLOAT, [1.0]))})], [], T_INT),
        ([sequence({}, {b"t": steps(feature(INT64, [1, 2]), ONE)})], [], [Wanted("t", INT64, 2)]),
        ([sequence({}, {b"t": steps(feature(INT64, [1, 2]), ONE, ONE)})], [], [Wanted("t", INT64, 2)]),
        ([sequence({}), sequence({}, {b"t": b""})], [], T_INT),
        ([sequence({}), sequence({}, {b"t": b""})], [], [Wanted("t", INT64, 1, allow_missing=True)]),
        ([sequence({}, {b"t": steps(ONE + field(1, ONE))})], [], [Wanted("t", INT64, ragged=True)]),
        ([sequence({}, {b"t": b"\x0a\x02\x1a\x80\x00"})], [], [Wanted("t", INT64, ragged=True)]),
        ([sequence({}, {b"t": b"\x0a\x01\x1a"})], [], [Wanted("t", INT64)]),
        ([b"\x0a\x7f" + entry(b"a", ONE)], A_INT, []),
        ([b"\x22\xff\xff\xff\xff\x0f" + sequence({b"a": ONE})], A_INT, []),
        ([b"\x22\x7f" + sequence({b"a": ONE})], [Wanted("a", INT64)], []),
        ([sequence({b"a": b"\x1a\x0c\x0a\x0a" + b"\xff" * 9 + b"\x7f"})], A_INT, []),
        ([sequence({b"a": b"\x1a\x0d\x0a\x0b" + b"\xff" * 10 + b"\x01"})], A_INT, []),
        ([sequence({b"a": b"\x12\x07\x0a\x05abcde"})], [Wanted("a", FLOAT)], []),
        ([sequence({b"a": b"\x0a\x04\x0a\x05ab"})], [Wanted("a", BYTES, 1)], []),
        ([sequence({}, {b"t": steps(b"\x0a\x04\x0a\x05ab")})], [], [Wanted("t", BYTES, 1)]),
        ([sequence({b"a": feature(INT64, [])})], [Wanted("a", INT64, 0)], []),
        ([sequence({b"a": b""})], [Wanted("a", INT64, 0)], []),
        ([sequence({})], [Wanted("a", INT64, 0)], []),
    ],
)  # fmt: skip
def test_chosen_records(records: list[bytes], context: list[Wanted], lists: list[Wanted]) -> None:
    check(records, context, lists)


CUT = b"\x0a\x04\x0a\x05ab"  # a string of five bytes, of which two are there


@pytest.mark.parametrize(
    ("record", "context", "lists"),
    [
        (sequence({b"a": CUT}), [Wanted("a", BYTES, ragged=True)], []),
        (sequence({}, {b"a": steps(CUT)}), [], [Wanted("a", BYTES, ragged=True)]),
    ],
)
def test_cut_string_is_a_fault(record: bytes, context: list[Wanted], lists: list[Wanted]) -> None:
    """A ragged feature has a text for it; of any other, TensorFlow dies, and tfrkit gives that text."""
    theirs = their_result([record], context, lists)
    assert theirs.startswith("Unexpected ")
    assert our_result([record], context, lists) == theirs
    context = [Wanted(wanted.key, BYTES) for wanted in context]
    lists = [Wanted(wanted.key, BYTES) for wanted in lists]
    assert our_result([record], context, lists) == theirs
    assert signal_of(lambda: their_result([record], context, lists)) != 0
