"""Which bytes of records mean what."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit
from tfrkit.model.wire import wire_varint
from tfrkit.parsing.wire_spans import WireField, WireSpan, wire_spans


def cover(spans: list[WireSpan], begin: int, end: int) -> None:
    """Spans follow each other without gaps."""
    at = begin
    for span in spans:
        assert span.start <= at < span.end or span.start == at, span
        at = span.end
    assert at >= end


def test_every_byte_of_an_example_has_its_meaning() -> None:
    data = tfrkit.make_example({"label": -3, "name": b"cat", "x": [0.5, 2.0]}).SerializeToString(
        deterministic=True
    )
    spans = wire_spans(data, "Example", 0, len(data), 1000)
    cover(spans, 0, len(data))
    values = {
        (span.path.rpartition("feature")[2], span.label) for span in spans if span.kind in ("number", "value")
    }
    assert ("['label'].value.int64_list.value[0]", "-3") in values
    assert ("['name'].value.bytes_list.value", "'cat'") in values
    assert ("['x'].value.float_list.value[1]", "2") in values


def test_messages_that_are_given_have_names_and_values_of_their_kinds() -> None:
    messages = {
        "Frame": {
            1: WireField("id", kind="zigzag"),
            2: WireField("at", kind="double"),
            3: WireField("in", "Frame"),
        },
    }
    data = b"\x08\x03" + b"\x11" + struct.pack("<d", 0.1) + b"\x1a\x02\x08\x04" + b"\x20\x01"
    spans = wire_spans(data, "Frame", 0, len(data), 100, messages)
    cover(spans, 0, len(data))
    assert {span.path: span.label for span in spans} == {
        "Frame.id": "-2", "Frame.at": "0.1", "Frame.in": "2 bytes", "Frame.in.id": "2",
        "Frame.field 4": "1",
    }  # fmt: skip


def test_a_message_that_holds_itself_is_followed_to_a_limit() -> None:
    data = b"\x08\x01"
    for _ in range(5000):
        data = b"\x1a" + wire_varint(len(data)) + data
    spans = wire_spans(data, "Frame", 0, len(data), 1000, {"Frame": {3: WireField("in", "Frame")}})
    cover(spans, 0, len(data))
    assert max(span.path.count(".in") for span in spans) == 101


def test_steps_of_a_sequence_example() -> None:
    message = tfrkit.make_sequence_example({"user": 1}, {"word": ["a", "b"]})
    data = message.SerializeToString(deterministic=True)
    spans = wire_spans(data, "SequenceExample", 0, len(data), 1000)
    cover(spans, 0, len(data))
    assert any(span.path == "SequenceExample.feature_lists.feature_list['word'].value.feature.bytes_list.value"
               and span.label == "'b'" for span in spans)  # fmt: skip


def test_a_part_in_the_middle_has_the_same_spans() -> None:
    data = tfrkit.make_example(
        {"x": [float(each) for each in range(5000)], "name": b"y" * 100}
    ).SerializeToString(deterministic=True)
    whole = wire_spans(data, "Example", 0, len(data), 10**6)
    part = wire_spans(data, "Example", 9000, 9100, 1000)
    assert part == [span for span in whole if span.end > 9000 and span.start < 9100]


def test_there_are_never_more_spans_than_asked_for() -> None:
    data = tfrkit.make_example({"x": list(range(1000))}).SerializeToString()
    assert len(wire_spans(data, "Example", 0, len(data), 50)) == 50


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from(["Example", "SequenceExample", ""]),
    st.integers(0, 220),
    st.integers(0, 220),
)
def test_no_bytes_lead_it_astray(data: bytes, message: str, start: int, count: int) -> None:
    for span in wire_spans(data, message, start, start + count, 500):
        assert 0 <= span.start < span.end <= len(data)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_examples_lead_it_nowhere(drawn: st.DataObject) -> None:
    data = bytearray(tfrkit.make_example({"a": [1, 300], "b": b"text", "c": [0.5]}).SerializeToString())
    for _ in range(drawn.draw(st.integers(1, 4))):
        data[drawn.draw(st.integers(0, len(data) - 1))] = drawn.draw(st.integers(0, 255))
    cover(wire_spans(bytes(data), "Example", 0, len(data), 500), 0, len(data))
