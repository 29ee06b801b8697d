"""Protobuf's text format where it is damaged, or made to do harm."""

from __future__ import annotations

import contextlib
import time

import pytest

import tfrkit as tfr
from tfrkit.folders.proto_text import parse_proto_text


@pytest.mark.parametrize(
    "text",
    [
        b"a", b"a:", b"a {", b"}", b"a: 1 }", b"a: {b}", b"a 1", b'"x"', b"a: 'x", b"a: [1", b"[", b"[b] 1",
        b"a: [[1]]", b"a::1", b"<", b": 3", b"a: 1 : 2", b"a {>", b"a: [1}", b"\x00", b"a: \\", b"\xff",
    ],
)  # fmt: skip
def test_what_is_not_of_the_format_is_refused(text):
    with pytest.raises(
        tfr.errors.DataLossError, match=r"^map\.pbtxt(, line 2: expected protobuf's|; expected text)"
    ):
        parse_proto_text(b"b: 1\n" + text, "map.pbtxt")


def test_nesting_is_bounded():
    with pytest.raises(tfr.errors.DataLossError, match="more than 100 messages inside each other"):
        parse_proto_text(b"a {" * 1_000_000, "map.pbtxt")
    assert parse_proto_text(b"a {" * 100 + b"}" * 100, "map.pbtxt").messages("a")


@pytest.mark.parametrize("text", [b'a: "\\a' * 100_000, b'a: ""' + b'"x"' * 100_000, b"#" * 1_000_000, b" " * 1_000_000,
                                  b"[a" * 100_000, b"a:1," * 100_000])  # fmt: skip
def test_time_is_linear(text):
    begin = time.monotonic()
    with contextlib.suppress(tfr.errors.DataLossError):
        parse_proto_text(text, "map.pbtxt")
    assert time.monotonic() - begin < 5


def test_values_of_another_kind_are_refused():
    found = parse_proto_text(b'a: 1\nb {\n c: "x" d: 99999999999999999999\n}', "map.pbtxt")
    with pytest.raises(tfr.errors.DataLossError, match=r"line 1: a: expected \{ \.\.\. \} but got a value"):
        found.messages("a")
    with pytest.raises(tfr.errors.DataLossError, match=r"line 1: b: expected a value but got"):
        found.text("b")
    for name in ("c", "d"):
        with pytest.raises(tfr.errors.DataLossError, match=rf"line 2: {name}: expected an integer"):
            found.message("b").number(name)
    with pytest.raises(tfr.errors.DataLossError, match=r"line 2: c: expected a number but got 'x'"):
        found.message("b").decimal("c")
