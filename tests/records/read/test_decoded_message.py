"""Records as messages of a type: their fields by path, as features and feature lists."""

from __future__ import annotations

import random

import numpy as np
import pytest
from google.protobuf import any_pb2, descriptor_pb2, message_factory, struct_pb2, timestamp_pb2

from tests.parsing.support.random_protos import load, random_file, random_message
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.parsing.payloads.descriptor_set import read_descriptors
from tfrkit.records.read.decoded_message import MessageType

STRUCT = MessageType(read_descriptors(struct_pb2), "google.protobuf.Struct")
LIST = MessageType(read_descriptors(struct_pb2), "google.protobuf.ListValue")


def decoded(message_type, *records, keys=None):
    data = [each if isinstance(each, bytes) else each.SerializeToString() for each in records]
    return list(message_type.decode(Block.from_records(data), keys))


def plain(values):
    return {name: value if isinstance(value, list) else value.tolist() for name, value in values.items()}


def test_fields_that_are_set_are_features_by_their_paths():
    message = timestamp_pb2.Timestamp(seconds=5)
    (found,) = decoded(MessageType(read_descriptors(timestamp_pb2), ".google.protobuf.Timestamp"), message)
    assert (found.message, found.data, found.lists) == ("google.protobuf.Timestamp", None, None)
    assert plain(found.features) == {"seconds": [5]}
    assert found.features["seconds"].dtype == np.int64


def test_maps_and_repeated_messages_have_all_values_or_steps():
    message = struct_pb2.Struct()
    message.update({"a": 1.5})
    message["a"] = [True, "x"]
    (found,) = decoded(STRUCT, message)
    assert plain(found.features) == {"fields.key": [b"a"]}
    assert {name: [plain({0: step})[0] for step in steps] for name, steps in found.lists.items()} == {
        "fields.value.list_value.values.bool_value": [[True, False]],
        "fields.value.list_value.values.string_value": [[b"", b"x"]],
    }


def test_each_record_has_its_own_fields():
    first, second = struct_pb2.ListValue(), struct_pb2.ListValue()
    first.extend([1, 2])
    second.extend(["x"])
    found = decoded(LIST, first, b"", second)
    assert [plain(each.features) for each in found] == [
        {"values.number_value": [1, 2]},
        {},
        {"values.string_value": [b"x"]},
    ]
    assert [each.data for each in found] == [None] * 3
    only = decoded(LIST, first, second, keys=["values.string_value"])
    assert [plain(each.features) for each in only] == [{}, {"values.string_value": [b"x"]}]


def test_messages_without_fields_are_there_as_bytes():
    message = struct_pb2.ListValue()
    message.values.add()
    message.values.add().struct_value.SetInParent()
    (found,) = decoded(LIST, message)
    assert plain(found.features) == {"values.struct_value": [b"", b""]}


def test_what_is_no_such_message_is_returned_as_it_is():
    other = timestamp_pb2.Timestamp(nanos=5).SerializeToString()
    for record in (b"\xff", other, any_pb2.Any(value=b"\xff").SerializeToString()):
        (found,) = decoded(STRUCT, record)
        assert (found.data, found.features, found.message) == (record, {}, "google.protobuf.Struct")


def test_enums_have_names_and_extensions_full_names():
    file = descriptor_pb2.FileDescriptorProto(name="a.proto", package="p", syntax="proto2")
    message = file.message_type.add(name="M")
    message.extension_range.add(start=10, end=20)
    message.field.add(name="kind", number=1, type=14, label=1, type_name=".p.E")
    file.enum_type.add(name="E").value.add(name="ZERO", number=0)
    file.extension.add(name="more", number=11, type=5, label=1, extendee=".p.M")
    descriptors = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    (found,) = decoded(MessageType(descriptors, "p.M"), b"\x08\x00\x58\x07")
    assert plain(found.features) == {"kind": [b"ZERO"], "[p.more]": [7]}


def test_recursion_is_as_deep_as_a_path_may_be():
    value = inner = struct_pb2.ListValue()
    for _ in range(48):
        inner = inner.values.add().list_value
    inner.values.add().number_value = 3
    (found,) = decoded(LIST, value)
    ((name, steps),) = found.lists.items()
    assert name.count("list_value") == 48
    assert [step.tolist() for step in steps] == [[3.0]]
    for _ in range(30):
        inner = inner.values.add().list_value
    assert decoded(LIST, value)[0].data is not None  # deeper than protobuf reads


def test_a_record_with_very_many_messages_is_not_walked_to_its_end():
    message = struct_pb2.ListValue()
    for _ in range(30_000):
        message.values.add().bool_value = True
    message.values.add().string_value = "late"
    (found,) = decoded(LIST, message)
    assert {name: len(value) for name, value in found.features.items()} == {"values.bool_value": 30_001}


def test_any_message_of_any_type_is_decoded():
    for seed in range(60):
        noise = random.Random(seed)
        descriptors, classes = load(random_file(noise))
        made = classes[noise.choice("ABC")].DESCRIPTOR
        records = [random_message(noise, made) for _ in range(6)] + [noise.randbytes(20)]
        message = message_factory.GetMessageClass(made)
        everything = decoded(MessageType(descriptors, made.full_name), *records)
        for record, found in zip(records, everything, strict=True):
            if found.data is None:
                names = {field.name for field, _ in message.FromString(record).ListFields()}
                assert {name.partition(".")[0] for name in found.names} == names, seed
            else:
                assert found.data == record


@pytest.mark.parametrize("text", ["", "a.proto", ":M", "a.pb:"])
def test_a_text_without_file_or_message_is_refused(text):
    with pytest.raises(InvalidArgumentError, match=r"such as 'frame\.proto:pkg\.Frame', but got '"):
        MessageType.of(text)


def test_a_file_and_a_message_are_found(tmp_path):
    path = tmp_path / "a:b.pb"
    path.write_bytes(read_descriptors(struct_pb2))
    assert MessageType.of(f"{path}:google.protobuf.Value").name == "google.protobuf.Value"
    with pytest.raises(InvalidArgumentError, match="No descriptor found for message type 'Vaule'"):
        MessageType.of(f"{path}:Vaule")


def test_fields_after_very_many_messages_are_shown():
    message = descriptor_pb2.FileDescriptorProto()
    for number in range(30_000):
        message.message_type.add(name=f"M{number}")
    message.options.java_package = "after"
    kind = MessageType(read_descriptors(descriptor_pb2), "google.protobuf.FileDescriptorProto")
    for keys in (None, ["options.java_package"]):
        (found,) = decoded(kind, message, keys=keys)
        assert plain(found.features)["options.java_package"] == [b"after"]
    assert len(decoded(kind, message)[0].features["message_type.name"]) == 30_000


def branches(depth):
    """A value with a list and a struct in each list and struct: as many paths as it has values."""
    if not depth:
        return struct_pb2.Value(number_value=1)
    found = struct_pb2.Value()
    found.list_value.values.extend([branches(depth - 1)])
    both = struct_pb2.Value()
    both.struct_value.fields["x"].CopyFrom(branches(depth - 1))
    found.list_value.values.extend([both])
    return found


def test_a_record_of_many_fields_takes_none_of_the_next_ones():
    kind = MessageType(read_descriptors(struct_pb2), "google.protobuf.Value")
    wide, narrow = branches(12), struct_pb2.Value(string_value="x")
    found = decoded(kind, narrow, wide, narrow, wide)
    assert [plain(found[index].features) for index in (0, 2)] == [{"string_value": [b"x"]}] * 2
    assert [len(found[index].features) + len(found[index].lists or ()) for index in (1, 3)] == [2000, 2000]
