"""parse_proto as a stage: rows are what each record alone gives, batches what parse_proto gives, by number too."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from google.protobuf import struct_pb2, timestamp_pb2

import tfrkit as tfr
from tests.data.features.test_parse import as_batch, as_records
from tests.data.support.runs_node import RunsNode, pull_all
from tests.data.support.same import same
from tests.data.support.suite import StageSuite
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.features.parse_proto import ParseProtoNode
from tfrkit.errors import DataLossError, DataLossWarning, InvalidArgumentError
from tfrkit.model.element_spec import RaggedTensorSpec, TensorSpec
from tfrkit.parsing.payloads.parse_proto import ProtoSpec

LIST = struct_pb2.ListValue
TIME = (timestamp_pb2, "google.protobuf.Timestamp", ["seconds", "nanos"])
PATHS = {
    "kind": "values.kind",
    "number": "values.number_value",
    "inner": "values.list_value.values.string_value",
    "bytes": "values",
}
SPEC = ProtoSpec.of(struct_pb2, "google.protobuf.ListValue", PATHS, "number")


def record(*values):
    message = LIST()
    message.extend(values)
    return message.SerializeToString()


def times(count):
    return [
        timestamp_pb2.Timestamp(seconds=each, nanos=each % 3).SerializeToString() for each in range(count)
    ]


RECORDS = [record(1, "a", ["x", "y"]), record(), record(None, [["z"]], 2.5), record(["q"])]


class TestParseProto(StageSuite):
    def make(self):
        return tfr.Dataset.from_tensor_slices(RECORDS * 4).parse_proto(
            struct_pb2, "google.protobuf.ListValue", PATHS
        )


class TestBatchesOfIt(StageSuite):
    def make(self):
        dataset = tfr.Dataset.from_tensor_slices(RECORDS * 4)
        return dataset.parse_proto(struct_pb2, "google.protobuf.ListValue", PATHS).batch(3)


class TestOfBatches(StageSuite):
    def make(self):
        records = [*RECORDS, b"\xff", *RECORDS]
        dataset = tfr.Dataset.from_tensor_slices(records).batch(2)
        return dataset.parse_proto(struct_pb2, "google.protobuf.ListValue", PATHS)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_rows_and_batches_are_those_of_parse_proto(n):
    node = ParseProtoNode(RunsNode((as_records(RECORDS),)), SPEC)
    call = (struct_pb2, "google.protobuf.ListValue", PATHS)
    assert same(pull_all(node, n), [tfr.parse_proto(each, *call) for each in RECORDS])
    assert same(as_batch(node, n), tfr.parse_proto(RECORDS, *call))


def test_elements_are_had_by_number_and_in_any_order():
    dataset = tfr.Dataset.from_tensor_slices(times(20)).parse_proto(*TIME)
    assert len(dataset) == 20
    assert dataset[7] == {"seconds": np.int64(7), "nanos": np.int32(1)}
    assert dataset.at([5, 3])["seconds"].tolist() == [5, 3]
    shuffled = dataset.global_shuffle(seed=1).batch(20)
    assert sorted(shuffled[0]["seconds"].tolist()) == list(range(20))


def test_a_failing_record_is_an_error_in_its_place(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([*times(2), b"\x08", *times(1)])
    first, second, error, last = pull_all(tfr.TFRecordDataset(path).parse_proto(*TIME).node)
    assert [each["seconds"] for each in (first, second, last)] == [0, 1, 0]
    assert type(error) is DataLossError
    assert str(error) == (
        "Unable to parse binary protobuf: as google.protobuf.Timestamp, no message, or one that ends early, in field "
        f"'seconds' at byte 0 of the record; in record 2 (frame at byte 36) of {path!r}"
    )
    assert (error.path, error.record, error.offset) == (path, 2, 36)


def test_other_elements_are_refused():
    for error in pull_all(ParseProtoNode(RunsNode((ObjectChunk([{"a": 1}]),)), SPEC)):
        assert type(error) is TypeError
        assert str(error).startswith("expected records (bytes) or batches of them to parse but got dict")


def test_a_pipeline_warns_once_of_examples_and_once_of_wrong_wire_types():
    example = tfr.make_example({"a": 1}).SerializeToString()
    with pytest.warns(UserWarning, match="is an Example") as warned:
        list(tfr.Dataset.from_tensor_slices([example] * 9).batch(2).parse_proto(*TIME))
    (text,) = [str(each.message) for each in warned]
    assert text == (
        "record 0 is an Example, but is parsed as google.protobuf.Timestamp, whose fields do not fit one. "
        "Parse Examples with parse_example, or parse() of a dataset."
    )
    with pytest.warns(DataLossWarning) as warned:
        list(tfr.Dataset.from_tensor_slices([*times(3), b"\x0d1234"]).batch(2).parse_proto(*TIME))
    (text,) = [str(each.message) for each in warned]
    assert text == (
        "1 value was left out, as protobuf does, for a wire type that is not that of the field: first of 'seconds' "
        "(int64) in record 1. Are the records of the type google.protobuf.Timestamp?"
    )


def test_examples_may_be_parsed_as_what_they_are():
    records = [tfr.make_example({"a": [1, 2], "b": b"x"}).SerializeToString()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = tfr.Dataset.from_tensor_slices(records).parse_proto(
            tfr.Example,
            "tensorflow.Example",
            {"key": "features.feature.key", "kind": "features.feature.value.kind"},
        )
        (found,) = list(dataset)
    assert dict(zip(found["key"], found["kind"], strict=True)) == {b"a": b"int64_list", b"b": b"bytes_list"}


def test_element_spec_of_records_and_of_batches():
    one = ParseProtoNode(RunsNode(()), SPEC).element_spec()
    assert one == {
        "kind": RaggedTensorSpec([None], "string", 0),
        "number": RaggedTensorSpec([None], "float64", 0),
        "inner": RaggedTensorSpec([None, None], "string", 1),
        "bytes": RaggedTensorSpec([None], "string", 0),
    }
    many = ParseProtoNode(RunsNode((), TensorSpec([8], "string")), SPEC).element_spec()
    assert many == {key: each.batched(8) for key, each in one.items()}


def test_it_is_shown_with_its_message_and_the_number_of_fields():
    node = tfr.Dataset.from_tensors(b"").parse_proto(*TIME).node
    assert node.label == "parse_proto(google.protobuf.Timestamp, 2 fields)"


def test_wrong_arguments_are_refused_at_once():
    dataset = tfr.Dataset.from_tensors(b"")
    with pytest.raises(InvalidArgumentError, match=r"^Unknown field: 'second' .* Did you mean 'seconds'\?$"):
        dataset.parse_proto(timestamp_pb2, "google.protobuf.Timestamp", ["second"])
    with pytest.raises(
        ValueError, match=r"^expected enums to be 'number' or 'name' but got 'names'. Did you mean"
    ):
        dataset.parse_proto(*TIME, enums="names")
