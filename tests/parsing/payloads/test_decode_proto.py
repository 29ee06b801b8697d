"""decode_proto against protobuf's own classes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tests.parsing.support.proto_types import OUTPUT, SOURCE
from tfrkit.errors import DataLossError, InvalidArgumentError

POOL = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(SOURCE.removeprefix(b"bytes://")).file:
    POOL.AddSerializedFile(_file.SerializeToString())
REPEATED, SINGLE, PRESET = (
    message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"t2.{name}"))
    for name in ("Repeated", "Single", "Preset")
)
INT = (["f_int32"], ["int32"])
VALUES = {
    "double": st.floats(), "float": st.floats(width=32), "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1), "int32": st.integers(-(2**31), 2**31 - 1),
    "fixed64": st.integers(0, 2**64 - 1), "fixed32": st.integers(0, 2**32 - 1), "bool": st.booleans(),
    "string": st.text(st.characters(exclude_categories=["Cs"]), max_size=5), "bytes": st.binary(max_size=5),
    "uint32": st.integers(0, 2**32 - 1), "enum": st.sampled_from([7, -1]),
    "sfixed32": st.integers(-(2**31), 2**31 - 1), "sfixed64": st.integers(-(2**63), 2**63 - 1),
    "sint32": st.integers(-(2**31), 2**31 - 1), "sint64": st.integers(-(2**63), 2**63 - 1),
}  # fmt: skip


def decode(data, message="t2.Repeated", fields=INT, **options):
    return tfr.decode_proto(data, message, *fields, descriptor_source=SOURCE, **options)


@pytest.mark.parametrize("kind", VALUES)
@given(st.data())
def test_values_are_those_of_protobuf(kind, data):
    rows = data.draw(st.lists(st.lists(VALUES[kind], max_size=4), min_size=1, max_size=3))
    messages = [REPEATED(**{f"f_{kind}": row}).SerializeToString() for row in rows]
    sizes, (values,) = decode(messages, fields=([f"f_{kind}"], [OUTPUT[kind]]))
    assert sizes.tolist() == [[len(row)] for row in rows]
    shown = values.to_numpy() if isinstance(values, tfr.BytesColumn) else values
    for row, found in zip(rows, shown, strict=True):
        expected = [item.encode() if isinstance(item, str) else item for item in row]
        np.testing.assert_array_equal(found[: len(row)], np.array(expected, found.dtype))


@pytest.mark.parametrize(("made", "name"), [(SINGLE, "t2.Single"), (PRESET, "t2.Preset")])
@pytest.mark.parametrize("kind", VALUES)
def test_missing_values_are_the_defaults_of_protobuf(kind, made, name):
    sizes, (values,) = decode(b"", name, ([f"f_{kind}"], [OUTPUT[kind]]))
    default = getattr(made(), f"f_{kind}")
    assert sizes.tolist() == [0]
    assert values[0] == (default.encode() if isinstance(default, str) else default)


def test_result_has_names():
    found = decode([[b"\x28\x01"]])
    assert (found.sizes.shape, found.values[0].shape) == ((1, 1, 1), (1, 1, 1))
    assert (found.sizes.dtype, found.values[0].dtype) == (np.int32, np.int32)


def test_packed_runs_and_single_values_mix():
    sizes, (values,) = decode([b"\x28\x01\x2a\x03\x02\xac\x02\x28\x04\x2a\x00", b""])
    assert sizes.tolist() == [[4], [0]]
    assert values.tolist() == [[1, 2, 300, 4], [0, 0, 0, 0]]


def test_messages_are_decoded_step_by_step():
    example = tfr.make_example({"a": [1, 2, 3]}).SerializeToString()
    for message, field in (
        ("Example", "features"), ("Features", "feature"), ("Features.FeatureEntry", "value"),
        ("Feature", "int64_list"),
    ):  # fmt: skip
        _, (inner,) = tfr.decode_proto(example, f"tensorflow.{message}", [field], ["string"])
        example = inner[0]
    _, (values,) = tfr.decode_proto(example, "tensorflow.Int64List", ["value"], ["int64"])
    assert values.tolist() == [1, 2, 3]


def test_local_types_are_those_of_the_process():
    assert decode(b"", fields=([], [])).sizes.shape == (0,)
    sizes, _ = tfr.decode_proto(b"\n\1a", "google.protobuf.FileDescriptorProto", ["name"], ["string"])
    assert sizes.tolist() == [1]


def test_a_file_is_a_source(tmp_path):
    path = tmp_path / "types"
    path.write_bytes(SOURCE.removeprefix(b"bytes://"))
    for source in (str(path), f"file://{path}"):
        sizes, _ = tfr.decode_proto(b"\x28\1", "t2.Single", *INT, descriptor_source=source)
        assert sizes.tolist() == [1]


@pytest.mark.parametrize("source", ["/none", "a\0b", b"bytes://\xff"])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(
        InvalidArgumentError, match=r"^Source does not represent serialized file descriptor set"
    ):
        tfr.decode_proto(b"", "t2.Single", *INT, descriptor_source=source)


def test_unresolved_types_are_refused():
    files = descriptor_pb2.FileDescriptorSet()
    files.file.add(name="x.proto", dependency=["y.proto"])
    with pytest.raises(InvalidArgumentError, match=r"^Failed to load FileDescriptorProto: "):
        tfr.decode_proto(b"", "a", *INT, descriptor_source=b"bytes://" + files.SerializeToString())


def test_text_and_sanitize_go_through_protobuf():
    assert decode(["f_int32: [1, 2]"], message_format="text").values[0].tolist() == [[1, 2]]
    with pytest.raises(DataLossError, match=r"^Unable to parse text protobuf: ") as caught:
        decode(["", "nope: 1"], message_format="text")
    assert caught.value.record == 1
    with pytest.raises(DataLossError, match=r"^Unable to parse binary protobuf: ") as caught:
        decode(["", b"\xff"], sanitize=True)
    assert caught.value.record == 1
    with pytest.raises(DataLossError, match=r"^Unable to parse binary protobuf: required a missing"):
        decode(b"", "t2.Needed", (["a"], ["int32"]), sanitize=True)
    deep = "f_message {" * 5000
    with pytest.raises(DataLossError, match=r"^Unable to parse text protobuf: "):
        decode(deep, message_format="text")


@pytest.mark.parametrize("data", [b"\0", b"\x28", b"\x22\x05a", b"\x2e", b"\x2a\x05\x01", b"\x2a\x01\x80"])
def test_damage_names_the_message(data):
    with pytest.raises(DataLossError, match=r"^Unable to parse binary protobuf: .*; in message 1$") as caught:
        decode([b"\x28\x01", data])
    assert caught.value.record == 1


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=3))
def test_any_bytes_are_decoded_or_refused(messages):
    names = [f"f_{kind}" for kind in OUTPUT]
    try:
        found = decode(messages, fields=([*names, "g"], [*OUTPUT.values(), "string"]))
    except DataLossError:
        return
    assert found.sizes.shape == (len(messages), len(names) + 1)


@pytest.mark.parametrize(
    ("message", "fields", "options", "text"),
    [
        ("t2.Nope", INT, {}, "No descriptor found for message type t2.Nope"),
        ("t2.Single", (["x"], ["int32"]), {}, "Unknown field: x in message type t2.Single"),
        ("t2.Single", (["x"], []), {}, "field_names and output_types attributes must have the same length"),
        (
            "t2.Single",
            (["f_enum"], ["int64"]),
            {},
            "Unexpected output type for t2.Single.f_enum: enum to DT_INT64",
        ),
        ("t2.Single", INT, {"message_format": "json"}, "format must be one of binary or text; got 'json'"),
    ],
)
def test_wrong_questions(message, fields, options, text):
    with pytest.raises(InvalidArgumentError, match=f"^{text}$"):
        decode(b"", message, fields, **options)


def test_at_least_one_message_is_needed():
    with pytest.raises(InvalidArgumentError, match=r"^Bufs argument must contain at least one value$"):
        decode([])
