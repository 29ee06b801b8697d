"""What messages look like by their wire format, whole or from their beginning."""

from __future__ import annotations

import random

import numpy as np
from google.protobuf import descriptor_pb2, struct_pb2, timestamp_pb2

import tfrkit as tfr
from tfrkit.parsing.failure import unlike_example
from tfrkit.parsing.payloads.message_sniffer import sniff_message, together

FRAME = b"\x0a\x04name" + b"\x10\x96\x01" + b"\x1d\0\0\x80\x3f" + b"\x22\x88\x27" + bytes(5000) + b"\x30\x01"


def whole(data):
    return sniff_message(data, len(data))


def test_messages_are_named_or_have_their_fields_listed():
    assert whole(tfr.make_example({"a": 1}).SerializeToString()) == "serialised Example"
    sequence = tfr.make_sequence_example({}, {"a": [[1]]}).SerializeToString()
    assert whole(sequence) == "serialised SequenceExample"
    assert whole(tfr.serialize_tensor(np.arange(9))) == "serialised TensorProto"
    assert whole(FRAME) == "serialised protobuf message with fields 1, 2, 3, 4, 6"
    assert whole(b"\x10\x01" * 4) == "serialised protobuf message with field 2"
    many = b"".join(bytes([number << 3, 1]) for number in range(1, 12))
    assert whole(many) == "serialised protobuf message with fields 1, 2, 3, 4, 5, 6, 7, 8, ..."


def test_the_beginning_of_a_message_shows_its_first_fields():
    assert sniff_message(FRAME[:100], len(FRAME)) == "serialised protobuf message with fields 1, 2, 3, 4"
    assert sniff_message(FRAME[:100], 100) == ""  # of that size it ends early
    for example in (
        tfr.make_example({"a": [1] * 5000, "b": ["x" * 9] * 900}),
        tfr.make_sequence_example({"a": 1}, {"b": [[1]] * 5000}),
    ):
        data = example.SerializeToString()
        for size in (30, 64, 1000, 4096):
            assert sniff_message(data[:size], len(data)) == ""


def test_noise_is_no_message():
    noise = random.Random(3)
    found = [sniff_message(noise.randbytes(size), 5000) for size in range(8, 4096, 9)]
    assert found.count("") > 0.98 * len(found)
    assert whole(b"") == whole(b"\x08\x01") == ""


def test_messages_with_other_fields_are_named_together():
    names = [whole(b"\x10\x01" * 4), whole(b"\x20\x01" * 4)]
    assert together(names) == "serialised protobuf message with fields 2, 4"
    assert together([*names, "UTF-8 text"]) == ""


def test_examples_are_never_called_something_else():
    for message in (
        tfr.Example(),
        tfr.make_example({"": b""}),
        tfr.make_example({"a": None}),
        tfr.make_example({"image": b"\xff\xd8\xff\xe0" * 100, "text": ["a"] * 50}),
        tfr.make_sequence_example({}, {"a": []}),
        tfr.make_sequence_example({"a": 1}, {"b": [[2.0]]}),
    ):
        assert unlike_example(message.SerializeToString()) == "", message


def test_what_is_evidently_no_example_is_named():
    file = descriptor_pb2.FileDescriptorProto()
    struct_pb2.DESCRIPTOR.CopyToProto(file)
    for data, look in (
        (timestamp_pb2.Timestamp(seconds=1 << 40, nanos=1 << 20).SerializeToString(), "fields 1, 2"),
        (file.SerializeToString(), "fields 1, 2, 4, 5, 8, 12"),
    ):
        assert unlike_example(data) == f"a serialised protobuf message with {look}"
    assert unlike_example(b"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f" + bytes(8) + b"\x40" + bytes(7)).startswith(
        "a Riegeli"
    )
    assert unlike_example(b"some words") == "text"


def test_of_very_many_fields_the_first_ones_are_enough():
    assert whole(b"\x10\x01" * 1000 + b"\xff" * 1000) == "serialised protobuf message with field 2"
