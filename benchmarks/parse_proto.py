"""Claim: batches of a message of 20 fields, parsed into columns, at 3 x protobuf's Python messages (upb).

Protobuf's way is the quickest that its users have: a message for each record, its 20 fields read into lists, which
become arrays. All fields are singular and at the top, which is its best case; the second group has a nested message and
lists. Both contenders use one core.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import numpy as np

from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS = "tfrkit, parse_proto"
RIVAL = "protobuf's messages, upb"
RECORDS = 40_000
BATCH = 1_000
TYPES = {
    "double": 1,
    "float": 2,
    "int64": 3,
    "uint64": 4,
    "int32": 5,
    "bool": 8,
    "string": 9,
    "bytes": 12,
    "sint64": 18,
}
FLAT = [(f"{kind}_{number}", kind) for number in range(3) for kind in TYPES][:20]
NESTED = {
    "id": "id", "camera": "camera.name", "width": "camera.width", "points": "points", "label": "boxes.label",
    "x": "boxes.x", "y": "boxes.y",
}  # fmt: skip


def descriptors() -> Any:
    """A file with the messages Flat and Nested."""
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="bench.proto", package="bench", syntax="proto3")
    flat = file.message_type.add(name="Flat")
    for number, (name, kind) in enumerate(FLAT, 1):
        flat.field.add(name=name, number=number, type=TYPES[kind], label=1)
    camera = file.message_type.add(name="Camera")
    camera.field.add(name="name", number=1, type=9, label=1)
    camera.field.add(name="width", number=2, type=5, label=1)
    box = file.message_type.add(name="Box")
    box.field.add(name="label", number=1, type=9, label=1)
    box.field.add(name="x", number=2, type=2, label=1)
    box.field.add(name="y", number=3, type=2, label=1)
    nested = file.message_type.add(name="Nested")
    nested.field.add(name="id", number=1, type=3, label=1)
    nested.field.add(name="camera", number=2, type=11, label=1, type_name=".bench.Camera")
    nested.field.add(name="points", number=3, type=2, label=3)
    nested.field.add(name="boxes", number=4, type=11, label=3, type_name=".bench.Box")
    return files


def classes() -> dict[str, Any]:
    """Protobuf's classes of both."""
    from google.protobuf import descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(descriptors().file[0].SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"bench.{name}"))
        for name in ("Flat", "Nested")
    }


def flat_records(count: int) -> list[bytes]:
    """Records with all 20 fields set."""
    random, made = Random(1), classes()["Flat"]
    values = {
        "double": random.random, "float": random.random, "int64": lambda: random.getrandbits(40),
        "uint64": lambda: random.getrandbits(20), "int32": lambda: random.getrandbits(10), "bool": lambda: True,
        "string": lambda: "text of a few words", "bytes": lambda: random.randbytes(24),
        "sint64": lambda: -random.getrandbits(12),
    }  # fmt: skip
    return [made(**{name: values[kind]() for name, kind in FLAT}).SerializeToString() for _ in range(count)]


def nested_records(count: int) -> list[bytes]:
    """Records with a message, a list of 32 numbers and up to 7 messages."""
    random, made = Random(2), classes()["Nested"]
    return [
        made(
            id=number,
            camera={"name": "front", "width": 1920},
            points=[random.random() for _ in range(32)],
            boxes=[{"label": "car", "x": random.random(), "y": 0.5} for _ in range(number % 8)],
        ).SerializeToString()
        for number in range(count)
    ]


def _ours(records: list[bytes], message: str, fields: Any, source: bytes) -> int:
    import tfrkit as tfr

    done = 0
    for begin in range(0, len(records), BATCH):
        columns = tfr.parse_proto(records[begin : begin + BATCH], source, message, fields, threads=1)
        done += len(next(iter(columns.values())))
    return done


def _flat_theirs(records: list[bytes], made: Any) -> int:
    done = 0
    for begin in range(0, len(records), BATCH):
        messages = [made.FromString(record) for record in records[begin : begin + BATCH]]
        columns: dict[str, Any] = {}
        for name, kind in FLAT:
            values = [getattr(message, name) for message in messages]
            columns[name] = values if kind in ("string", "bytes") else np.array(values)
        done += len(columns[FLAT[0][0]])
    return done


def _nested_theirs(records: list[bytes], made: Any) -> int:
    done = 0
    for begin in range(0, len(records), BATCH):
        messages = [made.FromString(record) for record in records[begin : begin + BATCH]]
        ids = np.array([message.id for message in messages])
        cameras = [message.camera for message in messages]
        _ = [camera.name for camera in cameras], np.array([camera.width for camera in cameras])
        _ = np.array([value for message in messages for value in message.points], np.float32)
        boxes = [box for message in messages for box in message.boxes]
        _ = (
            [box.label for box in boxes],
            np.array([box.x for box in boxes]),
            np.array([box.y for box in boxes]),
        )
        _ = np.cumsum([len(message.boxes) for message in messages])
        done += len(ids)
    return done


def contenders(settings: Settings, shape: str) -> list[Contender]:
    """Ours and protobuf's on records of one shape."""
    from google.protobuf.internal import api_implementation

    if api_implementation.Type() != "upb":
        raise RuntimeError(f"expected protobuf with upb but got {api_implementation.Type()}")
    made = classes()[shape]
    count = max(BATCH, round(RECORDS * settings.scale))
    records = (flat_records if shape == "Flat" else nested_records)(count)
    fields: Any = [name for name, _ in FLAT] if shape == "Flat" else NESTED
    source = descriptors().SerializeToString()
    theirs = _flat_theirs if shape == "Flat" else _nested_theirs
    amount: dict[str, Any] = {"records": count, "bytes": sum(map(len, records))}
    return [
        Contender(OURS, partial(_ours, records, f"bench.{shape}", fields, source), "records", **amount),
        Contender(RIVAL, partial(theirs, records, made), "records", **amount),
    ]


def run(settings: Settings) -> Report:
    """Measure both shapes, each contender on one core."""
    report = Report("parse_proto")
    for shape, title in (("Flat", "20 fields"), ("Nested", "7 fields in messages and lists")):
        results = in_child("parse_proto", "contenders", settings, cores=1, shape=shape)
        report.add_results(f"Records to columns: {title}, batches of {BATCH:,}, 1 core", results)
        named = by_name(results)
        report.ratio(title, named[OURS], [named[RIVAL]], 3.0)
    return report
