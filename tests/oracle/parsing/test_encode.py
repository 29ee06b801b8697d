"""What TensorFlow parses from our bytes is what went in, and its messages are taken as ours are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.oracle.support.oracle import tensorflow

EXAMPLES = settings(max_examples=40)
INTS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(width=32, allow_nan=False)
DTYPES = {"int64": INTS, "float32": FLOATS, "string": st.binary(max_size=30)}


def records(block: tfr.Block) -> Any:
    return tensorflow().constant(block.to_list(), tensorflow().string)


def column_of(values: list[Any], dtype: str) -> Any:
    """Values as the column that encode_examples takes."""
    if dtype == "string":
        return tfr.BytesColumn.from_list(values)
    return np.array(values, dtype)


@EXAMPLES
@given(st.data())
def test_fixed_lists(data):
    tf = tensorflow()
    rows, count = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    keys = data.draw(
        st.lists(st.text(st.characters(codec="ascii"), max_size=60), min_size=1, max_size=4, unique=True)
    )
    columns, spec = {}, {}
    for key in keys:
        dtype = data.draw(st.sampled_from(sorted(DTYPES)))
        values = data.draw(st.lists(DTYPES[dtype], min_size=rows * count, max_size=rows * count))
        columns[key] = column_of(values, dtype).reshape((rows, count))
        spec[key] = tf.io.FixedLenFeature([count], dtype)
    parsed = tf.io.parse_example(records(tfr.encode_examples(columns)), spec)
    for key, column in columns.items():
        expected = column.to_numpy() if isinstance(column, tfr.BytesColumn) else column
        assert parsed[key].numpy().tolist() == expected.tolist()


@EXAMPLES
@given(st.data())
def test_lists_of_any_length_and_missing_ones(data):
    tf = tensorflow()
    rows = data.draw(st.integers(1, 5))
    for dtype, values in DTYPES.items():
        lists = data.draw(st.lists(st.none() | st.lists(values, max_size=4), min_size=rows, max_size=rows))
        if not any(lists):
            continue
        parsed = tf.io.parse_example(
            records(tfr.encode_examples({"a": lists, "row": range(rows)})), {"a": tf.io.RaggedFeature(dtype)}
        )
        assert parsed["a"].to_list() == [row or [] for row in lists]


@EXAMPLES
@given(st.data())
def test_steps_of_sequence_examples(data):
    tf = tensorflow()
    rows = data.draw(st.integers(1, 4))
    dtype = data.draw(st.sampled_from(sorted(DTYPES)))
    steps = st.lists(st.lists(DTYPES[dtype], min_size=1, max_size=3), max_size=3)
    lists = data.draw(st.lists(steps, min_size=rows, max_size=rows).filter(any))
    users = data.draw(st.lists(INTS, min_size=rows, max_size=rows))
    block = tfr.encode_sequence_examples({"user": users}, {"a": lists})
    context, sequences, _ = tf.io.parse_sequence_example(
        records(block), {"user": tf.io.FixedLenFeature([], "int64")}, {"a": tf.io.RaggedFeature(dtype)}
    )
    assert context["user"].numpy().tolist() == users
    assert sequences["a"].to_list() == lists


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "uint32", "float16", "float64", "bfloat16"]
)
def test_tensors_of_tensorflow_are_columns_and_values(dtype):
    tf = tensorflow()
    tensor = tf.cast(tf.constant([[0, 1], [1, 1]]), dtype)
    kind = "float32" if "float" in dtype else "int64"
    block = tfr.encode_examples({"a": tensor})
    parsed = tf.io.parse_example(records(block), {"a": tf.io.FixedLenFeature([2], kind)})
    assert parsed["a"].numpy().tolist() == [[0, 1], [1, 1]]
    assert tfr.make_example({"a": tensor[0]}) == tfr.Example.FromString(block[0])


def test_messages_of_tensorflow_are_taken(tmp_path):
    tf = tensorflow()
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    example = tf.train.Example(features=tf.train.Features(feature={"a": feature}))
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example(example)
        writer.write_example({"a": feature})
        writer.write_example({"a": [1, 2]})
    read = [
        tf.train.Example.FromString(record.numpy())
        for record in tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord"))
    ]
    assert read == [example] * 3


def test_the_movie_example_prints_as_tensorflow_prints_it():
    tf = tensorflow()
    ours = tfr.make_example(
        {
            "Age": 29,
            "Movie": ["The Shawshank Redemption", "Fight Club"],
            "Movie Ratings": [9.0, 9.7],
            "Suggestion": "Inception",
            "Suggestion Purchased": 1.0,
            "Purchase Price": 9.99,
        }
    )
    theirs = tf.train.Example.FromString(ours.SerializeToString())
    assert str(ours) == str(theirs)
    spec = {"Age": tf.io.FixedLenFeature([], "int64"), "Purchase Price": tf.io.FixedLenFeature([], "float32")}
    parsed = tf.io.parse_single_example(ours.SerializeToString(), spec)
    assert parsed["Age"].numpy() == 29
    assert parsed["Purchase Price"].numpy() == np.float32(9.99)


def test_files_of_write_batch_are_read_by_tensorflow(tmp_path):
    tf = tensorflow()
    path = tmp_path / "a.tfrecord.gz"
    labels = np.arange(5000) * 7919
    with tfr.TFRecordWriter(path) as writer:
        writer.write_batch({"label": labels, "name": [f"n{label}" for label in labels]})
    dataset = tf.data.TFRecordDataset(str(path), "GZIP").batch(1000)
    spec = {"label": tf.io.FixedLenFeature([], "int64"), "name": tf.io.FixedLenFeature([], "string")}
    found = [tf.io.parse_example(batch, spec) for batch in dataset]
    assert np.concatenate([batch["label"].numpy() for batch in found]).tolist() == labels.tolist()
    assert found[-1]["name"].numpy()[-1] == f"n{labels[-1]}".encode()
