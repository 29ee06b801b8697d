"""Everything that holds serialised examples can be parsed, and errors know where an example came from."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import tfrkit as tfr
from tests.parsing.support.made import example
from tfrkit.errors import InvalidArgumentError
from tfrkit.parsing.serialized_input import as_records

RECORDS = [example(a=[number]) for number in range(5)]
SPEC = {"a": tfr.FixedLenFeature([], "int64")}


def _cut_block():
    """The records in three Blocks, one of them empty."""
    block = tfr.Block.from_records(RECORDS)
    return [block[:2], block[2:2], block[2:]]


def _foreign(record):
    """The same message, of a class from another pool."""
    pool = descriptor_pool.DescriptorPool()
    for descriptor in (tfr.Feature.DESCRIPTOR.file, tfr.Example.DESCRIPTOR.file):
        if descriptor.name not in {"", None}:
            proto = descriptor_pb2.FileDescriptorProto()
            descriptor.CopyToProto(proto)
            pool.Add(proto)
    cls = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.Example"))
    return cls.FromString(record)


@pytest.mark.parametrize(
    "batch",
    [
        RECORDS,
        tuple(RECORDS),
        tfr.BytesColumn.from_list(RECORDS),
        tfr.BytesColumn.from_list([b"before", *RECORDS])[1:],
        np.array(RECORDS, object),
        np.array(
            [record + b"\x12\x01a" for record in RECORDS]
        ),  # an unknown field, so that no zero byte is last
        [tfr.Example.FromString(record) for record in RECORDS],
        [bytearray(RECORDS[0]), memoryview(RECORDS[1]), *RECORDS[2:]],
        [np.array(record, object) for record in RECORDS],
        iter(RECORDS),
        pa.array(RECORDS, pa.binary()),
        pa.array(RECORDS, pa.large_binary()),
        pa.chunked_array([RECORDS[:2], RECORDS[2:]], pa.binary()),
        pl.Series(RECORDS, dtype=pl.Binary),
    ],
    ids=[
        "list",
        "tuple",
        "BytesColumn",
        "slice of a BytesColumn",
        "array of objects",
        "array of S",
        "list of messages",
        "list of buffers",
        "list of arrays without dimensions",
        "iterator",
        "Arrow binary",
        "Arrow large binary",
        "Arrow chunked",
        "polars",
    ],
)
def test_a_batch(batch):
    assert tfr.parse_example(batch, SPEC)["a"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "one",
    [
        RECORDS[3],
        bytearray(RECORDS[3]),
        memoryview(RECORDS[3]),
        tfr.Example.FromString(RECORDS[3]),
        np.array(RECORDS[3], object),
        np.array(RECORDS[3]),
        np.bytes_(RECORDS[3]),
        tfr.BytesColumn.from_list([RECORDS[3]]).reshape(()),
        RECORDS[3].decode(),
    ],
    ids=["bytes", "bytearray", "memoryview", "message", "object", "S", "np.bytes_", "BytesColumn", "str"],
)
def test_one_example(one):
    for parse in (tfr.parse_example, tfr.parse_single_example):
        result = parse(one, SPEC)["a"]
        assert result == 3
        assert np.ndim(result) == 0


def test_blocks():
    block = tfr.Block.from_records(RECORDS)
    for batch in (block, _cut_block(), tuple(_cut_block()), iter(_cut_block())):
        assert tfr.parse_example(batch, SPEC)["a"].tolist() == [0, 1, 2, 3, 4]
    assert tfr.parse_example(block.take([3, 1]), SPEC)["a"].tolist() == [3, 1]
    with pytest.raises(ValueError, match=r"^Input serialized must be a scalar$"):
        tfr.parse_single_example(block[:1], SPEC)
    with pytest.raises(
        ValueError, match=r"^Can't convert Python sequence with mixed types to Tensor\."
    ) as caught:
        tfr.parse_example([RECORDS[0], block], SPEC)
    assert caught.value.__notes__ == ["Expected bytes but got Block at index 1."]


def test_messages_of_another_pool():
    foreign = _foreign(RECORDS[2])
    assert type(foreign) is not tfr.Example
    assert tfr.parse_single_example(foreign, SPEC)["a"] == 2
    assert tfr.parse_example([foreign, foreign], SPEC)["a"].tolist() == [2, 2]


@pytest.mark.parametrize(
    "empty",
    [
        [],
        (),
        tfr.Block.from_records([]),
        tfr.BytesColumn.from_list([]),
        np.zeros(0, object),
        np.zeros(0, "S"),
        iter([]),
        pa.array([], pa.binary()),
    ],
    ids=["list", "tuple", "Block", "BytesColumn", "objects", "S", "iterator", "Arrow"],
)
def test_no_examples(empty):
    spec = {
        "a": tfr.FixedLenFeature([2, 3], "int64"),
        "b": tfr.FixedLenFeature([], "bytes"),
        "c": tfr.VarLenFeature("int64"),
        "d": tfr.FixedLenSequenceFeature([2], "int64", True),
        "e": tfr.RaggedFeature("bytes", partitions=[tfr.RaggedFeature.RowSplits("s")]),
        "g": tfr.SparseFeature(["i", "j"], "v", "int64", [5, 6]),
    }
    batch = tfr.parse_example(empty, spec)
    assert [batch[key].shape for key in "abcd"] == [(0, 2, 3), (0,), (0, None), (0, 0, 2)]
    assert batch["e"].to_list() == []
    assert batch["g"].dense_shape.tolist() == [0, 5, 6]
    assert batch["g"].indices.shape == (0, 3)


def test_tensorflow_takes_an_empty_list_for_floats():
    text = (
        "Tensor conversion requested dtype string for Tensor with dtype float32: "
        "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        tfr.parse_example([], SPEC, policy=tfr.TENSORFLOW)
    assert tfr.parse_example(np.zeros(0, object), SPEC, policy=tfr.TENSORFLOW)["a"].shape == (0,)


@pytest.mark.parametrize(
    ("matrix", "shape"),
    [
        ([[RECORDS[0]]], "[1,1]"),
        (np.array([RECORDS[:2]], object), "[1,2]"),
        (np.zeros((0, 3), object), "[0,3]"),
        (tfr.BytesColumn.from_list(RECORDS[:4]).reshape(2, 2), "[2,2]"),
    ],
    ids=["list", "array", "empty", "column"],
)
def test_matrix_is_refused(matrix, shape):
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_example(matrix, SPEC)
    assert caught.value.message == f"Expected serialized to be a scalar or vector, got shape: {shape}"


@pytest.mark.parametrize(
    "batch",
    [RECORDS, np.array(RECORDS, object), [5], np.array([1.0]), []],
    ids=["list", "array", "list of int", "array of floats", "empty"],
)
def test_single_takes_no_batch(batch):
    for parse in (tfr.parse_single_example, tfr.parse_single_sequence_example):
        with pytest.raises(ValueError, match=r"^Input serialized must be a scalar$"):
            parse(batch, SPEC)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (5, "Tensor conversion requested dtype string for Tensor with dtype int32"),
        ([5, 6], "Tensor conversion requested dtype string for Tensor with dtype int32"),
        (np.array([1.0]), "Tensor conversion requested dtype string for Tensor with dtype float64"),
        (
            None,
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
        ),
        (
            [None],
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
        ),
        (
            {"a": 1},
            "Attempt to convert a value ({'a': 1}) with an unsupported type (<class 'dict'>) to a Tensor.",
        ),
        ([RECORDS[0], 5], "Can't convert Python sequence with mixed types to Tensor."),
        (pa.array([1, 2]), "expected an Arrow array of binary but got ndarray of 2 values"),
        (pa.array([b"", None]), "expected no null among the examples but got one at index 1"),
        (
            pa.table({"a": [b""], "b": [b""]}),
            "expected one column of serialised examples but got 2: ['a', 'b']",
        ),
    ],
    ids=str,
)
def test_what_holds_no_examples_is_refused(wrong, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        tfr.parse_example(wrong, SPEC)


def test_errors_tell_file_record_and_offset(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    records = [*RECORDS, example(b=[1]), example(a=[1, 2])]
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(records)
    frame = sum(len(record) + 16 for record in records[:5])
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_example(tfr.read_blocks(path), SPEC)
    assert caught.value.message == (
        "Name: <unknown>, Feature: a (data type: int64) is required but could not be found.; "
        f"in record 5 (frame at byte {frame}) of {path!r}"
    )
    assert (caught.value.path, caught.value.record, caught.value.offset) == (path, 5, frame)
    assert caught.value.__notes__ == [
        "It is example 5 of 7, counted from 0.",
        "There are 'b'. Give 'a' a default_value, or read it with a VarLenFeature.",
    ]


def test_errors_tell_the_number_of_a_record_that_was_taken(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([*RECORDS, example(a=[1, 2])])
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_example(tfr.RecordFile(path).take([0, 5, 1]), SPEC)
    assert caught.value.message == (
        "Name: <unknown>, Key: a, Index: 1.  Number of int64 values != expected.  "
        f"Values size: 2 but output shape: []; in record 5 of {path!r}"
    )
    assert (caught.value.record, caught.value.offset) == (5, None)


def test_records_in_several_pieces_are_found():
    records = as_records(_cut_block())
    assert [records[row] for row in range(5)] == RECORDS
    with pytest.raises(IndexError):
        records[5]


def test_a_missing_feature_that_is_misspelt_is_answered_with_the_nearest():
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_single_example(example(label=[1], name=[2]), {"lable": tfr.FixedLenFeature([], "int64")})
    assert caught.value.__notes__ == [
        "Did you mean 'label'? Give 'lable' a default_value, or read it with a VarLenFeature."
    ]
