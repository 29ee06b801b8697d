"""decode_proto in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import descriptor_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core
from tests.parsing.support.proto_types import NUMBER, OUTPUT, SOURCE
from tests.support.rules import tf_rule

ALL = ([f"f_{kind}" for kind in OUTPUT], list(OUTPUT.values()))
SOME = (["f_int32", "f_string", "g", "f_double"], ["int32", "string", "string", "float64"])
INT = (["f_int32"], ["int32"])
MINUS_ONE = b"\xff" * 9 + b"\x01"


def attempt(function, *arguments, **options):
    """Sizes and values with their types and shapes, or the failure."""
    try:
        sizes, values = function(*arguments, **options)
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))
    return [_plain(sizes), *map(_plain, values)]


def _plain(value):
    array = value.to_numpy() if isinstance(value, tfr.BytesColumn) else np.asarray(value)
    shown = array.tolist() if array.dtype == object or array.dtype.kind != "f" else array.tobytes()
    return str(array.dtype), array.shape, shown


def both(data, message, fields, **options):
    """What TensorFlow gives, after seeing that tfrkit gives the same, or an error that begins so.

    Of damage only the class of the error is the same: TensorFlow has a text for each step of its own reader.
    """
    options = {"descriptor_source": SOURCE, **options}
    reference = attempt(tensorflow().io.decode_proto, data, message, *fields, **options)
    found = attempt(tfr.decode_proto, data, message, *fields, **options)
    if isinstance(reference, Failure) and isinstance(found, Failure):
        assert found.name == reference.name
        start = "Unable to parse " if found.name == "DataLossError" else reference.message
        assert found.message.startswith(start)
    else:
        assert found == reference
    return reference


def ours(data, message, fields):
    sizes, values = tfr.decode_proto(data, message, *fields, descriptor_source=SOURCE)
    return sizes.tolist(), [getattr(value, "to_list", getattr(value, "tolist", None))() for value in values]


def theirs(data, message, fields):
    sizes, values = tensorflow().io.decode_proto(data, message, *fields, descriptor_source=SOURCE)
    return sizes.numpy().tolist(), [value.numpy().tolist() for value in values]


@tf_rule("3 decode_proto results")
@pytest.mark.parametrize(
    "given_", [b"\x28\x01", [b"", b"\x28\x01\x28\x02"], [[b"\x2a\x03\x01\x02\x03"], [b""]]]
)
def test_sizes_and_values(given_):
    sizes, values = both(given_, "t2.Repeated", INT)
    assert sizes[0] == "int32"
    assert sizes[1] == (*np.shape(given_), 1)
    assert values[1][:-1] == np.shape(given_)


@tf_rule("3 decode_proto defaults")
@pytest.mark.parametrize("message", ["t2.Single", "t2.Repeated", "t2.Preset", "t3.Single"])
def test_defaults_stand_where_there_is_no_value(message):
    sizes = both([b"", b""], message, ALL)[0]
    assert not np.any(sizes[2])


@tf_rule("3 decode_proto types")
@pytest.mark.parametrize("kind", OUTPUT)
def test_every_type_of_field_in_every_array(kind):
    for dtype in (*set(OUTPUT.values()), "int8", "half", "complex64"):
        both(b"", "t2.Repeated", ([f"f_{kind}"], [dtype]))


@tf_rule("3 decode_proto wire")
@pytest.mark.parametrize("kind", OUTPUT)
@pytest.mark.parametrize("message", ["t2.Repeated", "t2.Single", "t3.Single"])
def test_every_wire_type_for_every_type_of_field(kind, message):
    texts = ("string", "bytes", "message")
    for wire in (
        (0, 1, 2, 3, 4, 5, 6, 7) if message == "t2.Repeated" or kind in texts else (0, 1, 3, 4, 5, 6, 7)
    ):
        number = NUMBER[kind] << 3 | wire
        tag = bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80, number >> 7])
        for value in (
            b"\x08" + b"\xff" * 7 + b"\x01",
            MINUS_ONE + b"\x28\x01",
            b"\x03\x01\x00\x02",
            b"\x04" + b"\xff" * 4,
        ):
            both(tag + value, message, ([f"f_{kind}"], [OUTPUT[kind]]))


@tf_rule("3 decode_proto damage")
@pytest.mark.parametrize(
    "data",
    [
        b"\0", b"\x28\x01\0", b"\x0c", b"\x28", b"\x80", b"\x4a\x05a", b"\x4a\xff\xff\xff\xff\x0f", b"\x22\x05a",
        b"\x2e", b"\x26", b"\x02\x00", b"\x2a\x05\x01", b"\x2a\x01\x80", b"\x2a\x0b" + b"\x80" * 10 + b"\x01",
        b"\x2a\xff\xff\xff\xff\xff\x01", b"\x0a\x07aaaaaaa", b"\x28" + b"\x80" * 10 + b"\1", b"\x0b\x08\x01",
        b"\x0b\x14", b"\xf3\x01\x08", b"\x0b" * 101 + b"\x0c" * 101,
        b"\xf3\x01" * 101 + b"\xf4\x01" * 101, b"\xa8" + b"\x80" * 9 + b"\0\1",
    ],
)  # fmt: skip
def test_damage(data):
    assert isinstance(both(data, "t2.Repeated", SOME), Failure)
    both([b"\x28\x01", data], "t2.Repeated", SOME)


@tf_rule("3 decode_proto damage")
@pytest.mark.parametrize("depth", [1, 50, 100])
def test_nested_groups_are_no_damage(depth):
    for start, end in ((b"\x0b", b"\x0c"), (b"\xf3\x01", b"\xf4\x01")):
        assert not isinstance(both(start * depth + end * depth, "t2.Repeated", SOME), Failure)


@tf_rule("3 decode_proto wide numbers")
@pytest.mark.parametrize(
    "data",
    [
        b"\xa8" + b"\x80" * 8 + b"\x00\x01", b"\xa8\x80\x80\x80\x70\x01", b"\x4a\x81\x80\x80\x80\x10a",
        b"\x22\x81\x80\x80\x80\x10a",
    ],
)  # fmt: skip
def test_wide_tags_and_lengths_are_damage_in_tfrkit_only(data):
    theirs(data, "t2.Repeated", SOME)
    with pytest.raises(
        tfr.errors.DataLossError, match=r"^Unable to parse binary protobuf: .*; in message 0$"
    ):
        ours(data, "t2.Repeated", SOME)


@tf_rule("3 decode_proto messages")
def test_messages_and_groups_are_their_bytes():
    both(b"\x8a\x01\x02\x28\x01\x8a\x01\x00", "t2.Repeated", (["f_message"], ["string"]))
    both(b"\x8a\x01\x02\x28\x01\x8a\x01\x02\x28\x02", "t2.Single", (["f_message"], ["string"]))
    both(b"\xf3\x01\x08\x05\x12\x01x\xf4\x01", "t2.Repeated", (["g"], ["string"]))
    long = b"\xf3\x01\x08\x85\x00\x12\x81\x00x\xf4\x01", "t2.Repeated", (["g"], ["string"])
    assert theirs(*long) == ([1], [[b"\xf3\x01\x08\x05\x12\x01x\xf4\x01"]])
    assert ours(*long) == ([1], [[long[0]]])


@tf_rule("3 decode_proto single fields")
def test_of_a_single_field_the_last_value_counts():
    both(b"\x28\x01\x28\x02", "t2.Single", INT)
    both([b"\x28\x01\x28\x02", b"\x28\x07"], "t2.Preset", INT)


@tf_rule("3 decode_proto single packed")
def test_a_packed_run_of_a_single_field_is_skipped_in_tfrkit_only():
    assert theirs(b"\x2a\x02\x05\x06", "t2.Single", INT) == ([1], [[0]])
    assert ours(b"\x2a\x02\x05\x06", "t2.Single", INT) == ([0], [[0]])
    with pytest.raises(tensorflow().errors.DataLossError, match="more entries than allowed"):
        theirs(b"\x28\x01\x2a\x01\x05", "t2.Single", INT)
    assert ours(b"\x28\x01\x2a\x01\x05", "t2.Single", INT) == ([1], [[1]])


@tf_rule("3 decode_proto extensions")
def test_an_extension_is_asked_for_by_its_full_name():
    both(b"\xa0\x06\x05", "t2.Single", (["t2.extra", "f_int32"], ["int32", "int32"]))
    both(b"\xa0\x06\x05", "t2.Single", (["extra"], ["int32"]))


@tf_rule("3 decode_proto order")
def test_fields_in_any_order():
    both(b"\x28\x01\x18\x02", "t2.Repeated", (["f_int32", "f_int64"], ["int32", "int64"]))
    both(b"\x18\x0a\x28\x01\x18\x0b\x28\x02", "t2.Repeated", (["f_int64", "f_int32"], ["int64", "int32"]))
    both(b"\x28\x01", "t2.Repeated", ([], []))


@tf_rule("3 decode_proto sanitize")
@pytest.mark.parametrize(
    ("data", "message", "field"),
    [
        (b"\x28", "t2.Single", "int32"),
        (b"\x28\x00", "t3.Single", "int32"),
        (b"\x60\x63\x60\x07", "t2.Repeated", "enum"),
        (b"\x60\x63", "t3.Single", "enum"),
        (b"\x4a\x02\xff\xfe", "t3.Single", "string"),
        (b"\x4a\x02\xff\xfe", "t2.Single", "string"),
        (b"\x8a\x01\x02\x28\x01\x8a\x01\x02\x30\x02", "t3.Single", "message"),
    ],
)
def test_sanitize_parses_and_serialises_with_protobuf(data, message, field):
    for sanitize in (True, False, None):
        both(data, message, ([f"f_{field}"], [OUTPUT[field]]), sanitize=sanitize)


@tf_rule("3 decode_proto required")
def test_required_fields_are_missed_by_protobuf_only():
    both(b"", "t2.Needed", (["a"], ["int32"]))
    assert both(b"", "t2.Needed", (["a"], ["int32"]), sanitize=True).name == "DataLossError"
    assert both(b"", "t2.Needed", (["a"], ["int32"]), message_format="text").name == "DataLossError"


@tf_rule("3 decode_proto text")
@pytest.mark.parametrize(
    "text",
    [
        "", 'f_int32: 5 f_int32: [6,7] f_bytes: "\\377"', "nope: 5", "f_int32: 5 }", b"\xff", "f_enum: 9",
        "f_enum: B f_enum: 7 g { a: 1 } f_message { f_int32: 1 }", "5: 2", "# c\nf_int32: 0x1F; f_double: 1.5f",
        "f_string: 'a' \"b\"", "f_int32: 3000000000", "f_double: -inf f_double: nan",
    ],
)  # fmt: skip
def test_text(text):
    fields = ([*SOME[0], "f_enum", "f_message", "f_bytes"], [*SOME[1], "int32", "string", "string"])
    both([text, ""], "t2.Repeated", fields, message_format="text")
    both("f_int32: 1 f_int32: 2", "t3.Single", INT, message_format="text")


@tf_rule("3 decode_proto text utf-8")
def test_text_with_strings_that_are_no_utf_8():
    text = ('f_string: "\\377"', "t2.Single", (["f_string"], ["string"]))
    found = attempt(tensorflow().io.decode_proto, text[0], *_flat(text), message_format="text")
    assert found[1][2] == [b"\xff"]
    refused = attempt(tfr.decode_proto, text[0], *_flat(text), message_format="text")
    assert refused.message.startswith("Unable to parse text protobuf: ")


def _flat(call):
    return call[1], *call[2], SOURCE


@tf_rule("3 decode_proto sources")
def test_sources(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(SOURCE.removeprefix(b"bytes://"))
    bad.write_bytes(b"\xff")
    for source in (good, f"file://{good}"):
        assert not isinstance(both(b"\x28\x01", "t2.Single", INT, descriptor_source=str(source)), Failure)
    for source in (bad, tmp_path, tmp_path / "none"):
        both(b"", "t2.Single", INT, descriptor_source=str(source))
    unresolved = descriptor_pb2.FileDescriptorSet()
    unresolved.file.add(name="x.proto", dependency=["y.proto"])
    bad.write_bytes(unresolved.SerializeToString())
    both(b"", "t2.Single", INT, descriptor_source=str(bad))
    both(b"", "t2.Single", INT, descriptor_source=b"bytes://")
    refused = attempt(
        tfr.decode_proto, b"", "t2.Single", *INT, descriptor_source=b"bytes://" + bad.read_bytes()
    )
    assert refused.message.startswith("Failed to load FileDescriptorProto: ")


@tf_rule("3 decode_proto local")
@pytest.mark.parametrize("source", ["local://", "", None])
def test_local_messages(source):
    example = tfr.make_example({"a": [1, 2]}).SerializeToString()
    both(example, "tensorflow.Example", (["features"], ["string"]), descriptor_source=source)
    both(b"\x08\x05", "google.protobuf.Timestamp", (["seconds"], ["int64"]), descriptor_source=source)
    features = tfr.make_example({"a": [1], "b": [b"x"]}).features.SerializeToString()
    both(features, "tensorflow.Features", (["feature"], ["string"]), descriptor_source=source)
    both(b"", ".tensorflow.Features", (["feature"], ["string"]), descriptor_source=source)


@tf_rule("3 decode_proto errors")
@pytest.mark.parametrize(
    ("data", "message", "fields", "options"),
    [
        (b"", "t2.Nope", INT, {}),
        (b"", "tensorflow.Nope", INT, {"descriptor_source": "local://"}),
        (b"", "t2.Single", (["x", "f_int32"], ["int8", "int8"]), {}),
        (b"", "t2.Single", (["x"], []), {}),
        (b"", "t2.Single", ([], ["int32"]), {}),
        (b"", "t2.Single", (["x"], []), {"descriptor_source": "/none"}),
        (b"", "t2.Single", INT, {"message_format": "json"}),
        (b"", "t2.Single", (["x"], ["int32"]), {"message_format": "json"}),
        (np.array([], object), "t2.Single", INT, {}),
        ([], "t2.Nope", INT, {}),
    ],
)
def test_errors(data, message, fields, options):
    assert both(data, message, fields, **options).name == "InvalidArgumentError"


@tf_rule("3 decode_proto arguments")
@pytest.mark.parametrize(
    ("data", "message", "fields", "options"),
    [
        (5, "t2.Nope", INT, {}),
        (None, "t2.Single", INT, {}),
        (b"", 5, INT, {}),
        (b"", "t2.Single", (5, ["int32"]), {}),
        (b"", "t2.Single", ("f_int32", ["int32"]), {}),
        (b"", "t2.Single", ([5], ["int32"]), {}),
        (b"", "t2.Single", (["f_int32"], "int32"), {}),
        (b"", "t2.Single", (["f_int32"], ["nope"]), {}),
        (b"", "t2.Single", INT, {"sanitize": 5}),
        (b"", "t2.Single", INT, {"message_format": 5}),
        (b"", "t2.Single", INT, {"descriptor_source": 5}),
    ],
)
def test_wrong_arguments(data, message, fields, options):
    assert both(data, message, fields, **options).name in ("TypeError", "ValueError")


@tf_rule("3 decode_proto arguments")
def test_arguments_in_other_forms():
    assert not isinstance(both(b"", b"t2.Single", ((b"f_int32",), (np.int32,)), message_format=None), Failure)


@tf_rule("3 decode_proto packed negative")
def test_negative_packed_int32_as_int64_are_right_in_tfrkit_only():
    both(b"\x28" + MINUS_ONE, "t2.Repeated", (["f_int32"], ["int64"]))
    packed = (b"\x2a\x0a" + MINUS_ONE, "t2.Repeated", (["f_int32"], ["int64"]))
    assert theirs(*packed) == ([1], [[2**32 - 1]])
    assert ours(*packed) == ([1], [[-1]])


@tf_rule("3 decode_proto empty run")
def test_an_empty_run_after_the_last_value_is_fine_in_tfrkit_only():
    with pytest.raises(tensorflow().errors.DataLossError, match="more entries than allowed"):
        theirs(b"\x28\x01\x2a\x00", "t2.Repeated", INT)
    assert ours(b"\x28\x01\x2a\x00", "t2.Repeated", INT) == ([1], [[1]])


@tf_rule("3 decode_proto same field twice")
def test_a_field_asked_for_twice_is_given_twice_in_tfrkit_only():
    twice = (b"\x28\x01", "t2.Repeated", (["f_int32", "f_int32"], ["int32", "int64"]))
    assert theirs(*twice) == ([1, 0], [[1], [0]])
    assert ours(*twice) == ([1, 1], [[1], [1]])


PIECES = st.sampled_from(
    [b"\x28\x05", b"\x2a\x02\x01\x02", b"\x4a\x01a", b"\x4a\x00", b"\xf3\x01\x08\x01\xf4\x01", b"\xf3\x01",
     b"\xf4\x01", b"\x09aaaaaaaa", b"\x0a\x10aaaaaaaabbbbbbbb", b"\x18\x01", b"\xff", b"\x80\x01", b"\x0b\x0c"]
)  # fmt: skip


@tf_rule("3 decode_proto wire")
@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=5), min_size=1, max_size=3), st.integers(0, 3))
def test_any_messages(parts, cut):
    messages = [b"".join(pieces) for pieces in parts]
    messages[-1] = messages[-1][: len(messages[-1]) - cut]
    both(messages, "t2.Repeated", (SOME[0], SOME[1]))
