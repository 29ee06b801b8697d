"""parse, parse_sequence and the verbs on features against the same done with functions in tf.data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.data_scenarios import fresh, ours, outcomes, same, shown, theirs, unfused
from tests.oracle.support.oracle import Failure, tensorflow

RECORDS = [
    tfr.make_example(
        {
            "a": number,
            "b": [0.5 * number, 1.5],
            "s": [b"x", b"yz"],
            "n": list(range(number % 3 + 1)),
            "at": [5, 2],
            "v": [1.5, 2.5],
            "w": [0.25, 0.5, 0.75],
            "lens": [number % 4, 3 - number % 4],
            "raw": bytes([number, 1, 2, 3]),
        }
    ).SerializeToString()
    for number in range(7)
]
DAMAGED = b"damaged"
SHORT = tfr.make_example({"a": 1}).SerializeToString()
POLICIES = [tfr.TFRKIT, tfr.TENSORFLOW]


def fixed(io: Any, dtypes: Any) -> dict[str, Any]:
    return {
        "a": io.FixedLenFeature([], dtypes["int64"]),
        "b": io.FixedLenFeature([2], dtypes["float32"]),
        "s": io.FixedLenFeature([2], dtypes["string"]),
    }


def every(io: Any, dtypes: Any) -> dict[str, Any]:
    return {
        **fixed(io, dtypes),
        "n": io.FixedLenSequenceFeature([], dtypes["int64"], allow_missing=True, default_value=7),
        "r": io.RaggedFeature(dtypes["int64"], value_key="q"),
        "sparse": io.SparseFeature("at", "v", dtypes["float32"], 9),
        "cut": io.RaggedFeature(
            dtypes["float32"], value_key="w", partitions=[io.RaggedFeature.RowLengths("lens")]
        ),
    }


def spec_pair(make: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    tf = tensorflow()
    names = {"int64": "int64", "float32": "float32", "string": "bytes"}
    return make(tfr, names), make(tf.io, {name: tf.as_dtype(name) for name in names})


def write(path: Any, records: list[bytes]) -> str:
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(records)
    return str(path)


def bare(outcome: Any) -> Any:
    """TensorFlow's own error, without the words round that of a function."""
    if not isinstance(outcome, Failure):
        return outcome
    inner = re.sub(r"^Error in user-defined function passed to .*? with iterator: \S+ ", "", outcome.message)
    return Failure(outcome.name, re.sub(r"^\{\{.*?\}\} ", "", inner.split("\n\t [[")[0]))


def compare(mine: Any, reference: Any) -> None:
    with fresh(ours()):
        found = outcomes(mine)
    with fresh(theirs()):
        expected = [bare(each) for each in outcomes(unfused(theirs(), reference))]
    assert len(found) == len(expected), (shown(found), shown(expected))
    for one, other in zip(found, expected, strict=True):
        assert same(one, other), (shown(one), shown(other))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("size", [1, 3, 7])
def test_batches_of_parsed_records_are_parse_example_of_batches(tmp_path, size, policy):
    path = write(tmp_path / "a", RECORDS)
    mine, other = spec_pair(every)
    tf = tensorflow()
    reference = tf.data.TFRecordDataset(path).batch(size).map(lambda x: tf.io.parse_example(x, other))
    ds = tfr.TFRecordDataset(path)
    compare(ds.parse(mine, policy=policy).batch(size), reference)
    compare(ds.batch(size).parse(mine, policy=policy), reference)
    compare(ds.batch(size).map(lambda x: tfr.parse_example(x, mine, policy=policy)), reference)


@pytest.mark.parametrize("policy", POLICIES)
def test_records_are_parse_single_example(tmp_path, policy):
    path = write(tmp_path / "a", [*RECORDS, SHORT, DAMAGED, RECORDS[0]])
    mine, other = spec_pair(every)
    tf = tensorflow()
    reference = tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, other))
    compare(tfr.TFRecordDataset(path).parse(mine, policy=policy), reference)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("ahead", [False, True])
def test_errors_in_their_places_lose_the_batch(tmp_path, size, ahead):
    records = [*RECORDS[:3], DAMAGED, *RECORDS[3:5], SHORT, DAMAGED, *RECORDS]
    path = write(tmp_path / "a", records)
    mine, other = spec_pair(fixed)
    tf = tensorflow()
    reference = tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, other)).batch(size)
    ds = tfr.TFRecordDataset(path).parse(mine).batch(size)
    compare(ds.prefetch(2) if ahead else ds, reference)


@pytest.mark.parametrize("size", [2, 3])
def test_a_failing_batch_is_one_error(tmp_path, size):
    path = write(tmp_path / "a", [*RECORDS[:3], DAMAGED, *RECORDS])
    mine, other = spec_pair(fixed)
    tf = tensorflow()
    reference = tf.data.TFRecordDataset(path).batch(size).map(lambda x: tf.io.parse_example(x, other))
    compare(tfr.TFRecordDataset(path).batch(size).parse(mine), reference)


def test_shuffled_records_are_parsed_in_the_same_order(tmp_path):
    path = write(tmp_path / "a", RECORDS * 5)
    mine, other = spec_pair(fixed)
    tf = tensorflow()
    reference = (
        tf.data.TFRecordDataset(path)
        .shuffle(9, seed=3)
        .map(lambda x: tf.io.parse_single_example(x, other))
        .batch(4, drop_remainder=True)
    )
    compare(tfr.TFRecordDataset(path).shuffle(9, seed=3).parse(mine).batch(4, drop_remainder=True), reference)


def test_padded_batches(tmp_path):
    path = write(tmp_path / "a", RECORDS)
    tf = tensorflow()
    spec = {"n": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    reference = tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, spec))
    mine = {"n": tfr.VarLenFeature("int64")}
    compare(tfr.TFRecordDataset(path).parse(mine).padded_batch(3), reference.padded_batch(3))


def test_decode_raw_and_cast(tmp_path):
    odd = tfr.make_example({"a": 1, "b": [2.5], "raw": b"abc"}).SerializeToString()
    good = [
        tfr.make_example({"a": number, "b": [value], "raw": bytes([7, 1, 2, 3])}).SerializeToString()
        for number, value in ((1, -2.75), (300, 2.75), (-(2**33) - 1, 0.0))
    ]
    path = write(tmp_path / "a", [*good, odd, *good])
    tf = tensorflow()
    spec = {
        "a": tf.io.FixedLenFeature([], tf.int64),
        "b": tf.io.FixedLenFeature([1], tf.float32),
        "raw": tf.io.FixedLenFeature([], tf.string),
    }

    def function(record: Any) -> dict[str, Any]:
        made = tf.io.parse_single_example(record, spec)
        return {
            "a": tf.cast(made["a"] - 200, tf.uint8),
            "b": tf.cast(made["b"], tf.int32),
            "raw": tf.io.decode_raw(made["raw"], tf.uint16),
        }

    mine = {
        "a": tfr.FixedLenFeature([], "int64"),
        "b": tfr.FixedLenFeature([1], "float32"),
        "raw": tfr.FixedLenFeature([], "bytes"),
    }
    ds = tfr.TFRecordDataset(path).parse(mine).with_column("a", lambda e: e["a"] - 200)
    ds = ds.cast(a="uint8", b="int32").decode_raw("raw", "uint16")
    reference = tf.data.TFRecordDataset(path).map(function)
    compare(ds, reference)
    compare(ds.batch(2), reference.batch(2))


@pytest.mark.parametrize(
    ("source", "target"), [("float32", "bool"), ("int64", "int8"), ("int64", "float32"), ("bool", "int32")]
)
def test_cast_of_numbers(source, target):
    tf = tensorflow()
    values = {"float32": [0.0, -0.5, 3.9, -3.9, 1e9], "int64": [0, -1, 300, 2**40 + 5], "bool": [True, False]}
    array = np.array(values[source], source)
    mine = tfr.Dataset.from_tensor_slices({"x": array}).cast(x=target)
    reference = tf.data.Dataset.from_tensor_slices({"x": array}).map(lambda e: {"x": tf.cast(e["x"], target)})
    compare(mine, reference)


def test_parse_sequence(tmp_path):
    records = [
        tfr.make_sequence_example(
            {"n": number}, {"t": [[step] for step in range(number + 1)]}
        ).SerializeToString()
        for number in range(4)
    ]
    path = write(tmp_path / "a", [*records, DAMAGED, records[1]])
    tf = tensorflow()
    context, lists = (
        {"n": tf.io.FixedLenFeature([], tf.int64)},
        {"t": tf.io.FixedLenSequenceFeature([], tf.int64)},
    )
    reference = tf.data.TFRecordDataset(path).map(
        lambda x: tf.io.parse_single_sequence_example(x, context, lists)
    )
    mine = {"n": tfr.FixedLenFeature([], "int64")}, {"t": tfr.FixedLenSequenceFeature([], "int64")}
    compare(tfr.TFRecordDataset(path).parse_sequence(*mine), reference)
    good = write(tmp_path / "b", records)
    batches = tf.data.TFRecordDataset(good).batch(3)
    compare(
        tfr.TFRecordDataset(good).batch(3).parse_sequence(*mine),
        batches.map(lambda x: tf.io.parse_sequence_example(x, context, lists)),
    )
