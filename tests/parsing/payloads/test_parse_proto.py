"""parse_proto, one behaviour at a time; the values of random messages are compared in test_parse_proto_random.py."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import message_factory

import tfrkit as tfr
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.wire import wire_varint
from tfrkit.parsing.payloads.compile_proto import compile_proto
from tfrkit.parsing.payloads.descriptor_set import message_descriptor

NEW = """
syntax = "proto3";
package pkg;
enum Kind { UNKNOWN = 0; CAR = 1; BIKE = 2; }
message Lens { string name = 1; }
message Camera { Lens lens = 1; repeated float points = 2; repeated Lens spares = 3; }
message Frame {
  int64 id = 1;
  Camera front = 2;
  repeated Camera cameras = 3;
  map<string, int32> counts = 4;
  map<int32, Lens> lenses = 5;
  Kind kind = 6;
  repeated Kind kinds = 7;
  oneof source { string path = 8; bytes image = 9; Lens lens = 10; }
  optional int32 maybe = 11;
  Frame before = 12;
  repeated uint64 packed = 13;
}
"""
OLD = """
syntax = "proto2";
package old;
message Item {
  optional int32 count = 1 [default = 7];
  optional string name = 2 [default = "none"];
  repeated group Part = 3 { optional int32 size = 4 [default = -1]; }
  extensions 100 to 200;
}
extend Item { optional float weight = 101 [default = 0.5]; }
"""


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """The two files, compiled by protoc, by package."""
    folder = tmp_path_factory.mktemp("protos")
    for name, text in (("pkg", NEW), ("old", OLD)):
        (folder / f"{name}.proto").write_text(text)
    return {name: compile_proto(folder / f"{name}.proto") for name in ("pkg", "old")}


@pytest.fixture(scope="module")
def frame(sets):
    """The class of the messages `pkg.Frame`."""
    return message_factory.GetMessageClass(message_descriptor(sets["pkg"], "pkg.Frame"))


@pytest.fixture
def parse(sets):
    """Parse messages of `pkg.Frame`."""

    def call(messages, fields, **options):
        records = [each.SerializeToString() for each in messages]
        return tfr.parse_proto(records, sets["pkg"], "pkg.Frame", fields, **options)

    return call


def test_each_repeated_field_of_a_path_is_a_level_of_rows(parse, frame):
    cameras = [
        {"lens": {"name": "a"}, "points": [1, 2], "spares": [{"name": "s"}]},
        {"points": [], "spares": [{}, {"name": "t"}]},
    ]
    names = ["front.lens.name", "cameras.lens.name", "cameras.points", "cameras.spares.name", "packed"]
    found = parse([frame(cameras=cameras, front=cameras[0], packed=[1, 2**63]), frame()], names)
    assert {name: column.to_list() for name, column in found.items()} == {
        "front.lens.name": [b"a", b""],
        "cameras.lens.name": [[b"a", b""], []],
        "cameras.points": [[[1, 2], []], []],
        "cameras.spares.name": [[[b"s"], [b"", b"t"]], []],
        "packed": [[1, 2**63], []],
    }


def test_columns_have_the_names_that_they_are_given(parse, frame):
    found = parse([frame(id=3)], {"number": "id", "again": "id"})
    assert {name: column.tolist() for name, column in found.items()} == {"number": [3], "again": [3]}


def test_one_record_gives_single_values(sets, frame):
    record = frame(id=3, path="x", packed=[4]).SerializeToString()
    found = tfr.parse_proto(record, sets["pkg"], "pkg.Frame", ["id", "path", "packed"])
    assert (found["id"], found["path"], found["packed"].tolist()) == (3, b"x", [4])


def test_maps_have_keys_and_values(parse, frame):
    message = frame(counts={"a": 1, "b": 2}, lenses={5: {"name": "five"}})
    found = parse([message, frame()], ["counts.key", "counts.value", "lenses.key", "lenses.value.name"])
    counts = dict(zip(found["counts.key"][0], found["counts.value"][0].tolist(), strict=True))
    assert counts == {b"a": 1, b"b": 2}
    assert found["lenses.key"].to_list() == [[5], []]
    assert found["lenses.value.name"].to_list() == [[b"five"], []]


def test_enums_are_numbers_or_names(parse, frame):
    messages = [frame(kind=1, kinds=[2, 0]), frame(kind=9)]
    numbers = parse(messages, ["kind", "kinds"])
    assert (numbers["kind"].tolist(), numbers["kinds"].to_list()) == ([1, 9], [[2, 0], []])
    names = parse(messages, ["kind", "kinds"], enums="name")
    assert names["kind"].to_list() == [b"CAR", b"9"]
    assert names["kinds"].to_list() == [[b"BIKE", b"UNKNOWN"], []]


def test_a_oneof_is_the_name_of_the_field_that_is_set(parse, frame):
    messages = [frame(path="x"), frame(image=b""), frame(), frame(lens={"name": "l"}, id=1)]
    found = parse(messages, ["source", "path", "lens.name"])
    assert found["source"].to_list() == [b"path", b"image", b"", b"lens"]
    assert found["path"].to_list() == [b"x", b"", b"", b""]
    assert found["lens.name"].to_list() == [b"", b"", b"", b"l"]


def test_the_last_member_of_a_oneof_clears_the_others(sets):
    record = b"\x42\x01x" + b"\x52\x03\x0a\x01l" + b"\x4a\x01i"
    found = tfr.parse_proto(record, sets["pkg"], "pkg.Frame", ["source", "path", "image", "lens.name"])
    assert found == {"source": b"image", "path": b"", "image": b"i", "lens.name": b""}


def test_messages_are_their_bytes(parse, frame):
    found = parse([frame(front={"lens": {"name": "a"}}), frame()], ["front", "front.lens.name"])
    assert found["front"].to_list() == [b"\x0a\x03\x0a\x01a", b""]


def test_defaults_groups_and_extensions_of_proto2(sets):
    records = [b"", b"\x08\x02\x12\x01x\x1b\x20\x05\x1c\x1b\x1c\xad\x06\x00\x00\x80\x3f"]
    names = ["count", "name", "part.size", "[old.weight]"]
    found = tfr.parse_proto(records, sets["old"], "old.Item", names)
    assert found["count"].tolist() == [7, 2]
    assert found["name"].to_list() == [b"none", b"x"]
    assert found["part.size"].to_list() == [[], [5, -1]]
    assert found["[old.weight]"].tolist() == [0.5, 1.0]


def test_a_message_may_hold_its_own_type_as_deep_as_protobuf_reads_it(sets, frame):
    deep = message = frame()
    for _ in range(99):
        message = message.before
    message.id = 5
    path = "before." * 99 + "id"
    record = deep.SerializeToString()
    assert tfr.parse_proto(record, sets["pkg"], "pkg.Frame", [path])[path] == 5
    with pytest.raises(InvalidArgumentError, match=r"^expected a path through at most 99 messages"):
        tfr.parse_proto(record, sets["pkg"], "pkg.Frame", ["before." * 100 + "id"])


def test_what_is_not_asked_for_may_be_of_any_depth(sets):
    record = b"\x08\x05"
    for _ in range(5000):
        record = b"\x62" + wire_varint(len(record)) + record
    assert tfr.parse_proto(record, sets["pkg"], "pkg.Frame", ["id"])["id"] == 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("idd", "Unknown field: 'idd' in message type pkg.Frame. Did you mean 'id'?"),
        (
            "front.zzz",
            (
                "Unknown field: 'zzz' in message type pkg.Camera (in the path 'front.zzz'). "
                "There are 'lens', 'points', 'spares'."
            ),
        ),
        ("id.x", "path 'id.x': 'id' of pkg.Frame is of type int64, and has no fields"),
        ("", "expected the path of a field, such as 'frame.camera.name', but got ''"),
        ("front..lens", "expected the path of a field, such as 'frame.camera.name', but got 'front..lens'"),
    ],
)
def test_fields_that_are_not_there_name_those_that_are(sets, path, text):
    with pytest.raises(InvalidArgumentError) as error:
        tfr.parse_proto([b""], sets["pkg"], "pkg.Frame", [path])
    assert str(error.value) == text


def test_a_message_that_is_not_there_names_one_that_is(sets):
    with pytest.raises(
        InvalidArgumentError, match=r"'pkg\.Fram'. Did you mean 'pkg\.Frame' or 'pkg\.Camera'\?$"
    ):
        tfr.parse_proto([b""], sets["pkg"], "pkg.Fram", ["id"])


def test_a_record_that_ends_early_is_an_error_with_its_field(sets):
    with pytest.raises(DataLossError) as error:
        tfr.parse_proto([b"", b"\x12\x04\x0a\x02\x0a\x05"], sets["pkg"], "pkg.Frame", ["front.lens.name"])
    assert str(error.value) == (
        "Unable to parse binary protobuf: as pkg.Frame, no message, or one that ends early, in field "
        "'front.lens.name' at byte 4 of the record"
    )


def test_any_number_of_threads_gives_the_same(parse, frame):
    messages = [frame(id=number, packed=range(number % 5), path="x" * (number % 7)) for number in range(5000)]
    names = ["id", "packed", "path", "source"]
    one, many = parse(messages, names, threads=1), parse(messages, names, threads=4)
    np.testing.assert_array_equal(one["id"], many["id"])
    assert all(one[name].to_list() == many[name].to_list() for name in names[1:])
