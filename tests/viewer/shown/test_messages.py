"""Records that are messages of another type, shown with their fields."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import descriptor_pb2

import tfrkit
from tests.viewer.server import Client, client_of
from tfrkit.records.read.decoded_message import MessageType

PNG = bytes(tfrkit.image.encode_png(np.zeros((8, 12, 3), np.uint8)))


def frames() -> bytes:
    """The type `pkg.Frame` as a descriptor set."""
    file = descriptor_pb2.FileDescriptorProto(name="frame.proto", package="pkg", syntax="proto3")
    lens = file.message_type.add(name="Lens")
    lens.field.add(name="name", number=1, type=9, label=1)
    lens.field.add(name="points", number=2, type=1, label=3)
    frame = file.message_type.add(name="Frame")
    frame.field.add(name="id", number=1, type=4, label=1)
    frame.field.add(name="lenses", number=2, type=11, label=3, type_name=".pkg.Lens")
    frame.field.add(name="image", number=3, type=12, label=1)
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


LENS = b"\x0a\x04wide\x12\x10" + np.array([0.5, 1e300]).tobytes()
FRAME = b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + 2 * (b"\x12" + bytes([len(LENS)]) + LENS)
FRAME += b"\x1a" + bytes([len(PNG)]) + PNG


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A viewer of a frame, a text and an empty record."""
    (tmp_path / "frame.pb").write_bytes(frames())
    with tfrkit.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many([FRAME, b"some words", b""])
    message = MessageType.of(f"{tmp_path / 'frame.pb'}:pkg.Frame")
    with contextlib.ExitStack() as stack:
        yield stack.enter_context(client_of([tmp_path / "a.tfrecord"], message=message))


def test_rows_and_the_outline_have_the_fields(client: Client) -> None:
    found = client.json("/api/session")["sets"]["a"]
    assert found["title"].endswith("a.tfrecord as pkg.Frame")
    features = {each["name"]: (each["list"], each["kind"], each["role"]) for each in found["features"]}
    assert features == {
        "id": ("context", "int64", "number"),
        "image": ("context", "bytes", "image"),
        "lenses.name": ("context", "bytes", "text"),
        "lenses.points": ("steps", "float", "numbers"),
    }
    rows = client.json("/api/rows")["rows"]
    assert [row["kind"] for row in rows] == ["sequence", "bytes", "example"]
    texts = {name: cell["t"] for name, cell in rows[0]["cells"].items()}
    assert texts["id"] == str(2**64 - 1)
    assert texts["lenses.name"] == "wide, wide"
    assert texts["lenses.points"] == "2 steps: 0.5, 1e+300"
    assert rows[1]["cells"]["record"]["t"] == "some words"


def test_a_record_has_its_values_and_a_program_that_reads_it(client: Client, tmp_path: Path) -> None:
    found = client.json("/api/record", n=0)
    assert (found["kind"], found["message"]) == ("message", "pkg.Frame")
    values = {each["name"]: each["values"] for each in found["features"]}
    assert values["lenses.points"] == [[0.5, 1e300], [0.5, 1e300]]
    assert values["id"] == [str(2**64 - 1)]
    scope: dict[str, object] = {}
    exec(found["python"], scope)
    fields = scope["fields"]
    assert isinstance(fields, dict)
    assert fields["lenses.name"].to_list() == [b"wide", b"wide"]
    labels = {span["path"]: span["label"] for span in found["wire"]}
    assert labels["pkg.Frame.id"] == "-1"
    assert labels["pkg.Frame.lenses.name"] == "'wide'"
    assert labels["pkg.Frame.image"] == f"{len(PNG)} bytes"
    assert client.json("/api/wire", n=0)["spans"] == found["wire"]
    assert client.json("/api/record", n=1)["content"] == "some words"
    assert client.json("/api/record", n=2)["features"] == []


def test_pictures_and_values_are_those_of_the_fields(client: Client) -> None:
    assert client.get("/api/value", n=0, feature="image").body == PNG
    assert client.get("/api/thumb", n=0, feature="image").headers["Content-Type"] == "image/jpeg"
    assert client.get("/api/value", n=0, feature="lenses.name", index=1).body == b"wide"
    assert client.get("/api/value", n=0, feature="none").status == 404


def test_conditions_are_refused_with_the_reason(client: Client) -> None:
    found = client.json("/api/where", text="id == 3")
    assert (found["ok"], found["error"]) == (
        False,
        "conditions, orders and statistics are for the features of Examples, not for fields of messages",
    )
    headers = {"Cookie": client.cookie, "Origin": f"http://{client.host}", "Content-Type": "application/json"}
    reply = client.send("POST", "/api/jobs", headers, '{"kind": "search", "where": "id == 3"}')
    assert reply.status == 400
    assert reply.json["error"] == found["error"]
