"""Answers: the part of one that a Range header asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.viewer.server import client_of, write_examples
from tfrkit.viewer.answers import Answer, part_of

WHOLE = Answer(b"0123456789", "audio/wav", headers={"Accept-Ranges": "bytes"})


@pytest.mark.parametrize(
    ("wanted", "body", "place"),
    [
        ("bytes=0-0", b"0", "0-0"),
        ("bytes=4-", b"456789", "4-9"),
        ("bytes=-3", b"789", "7-9"),
        ("bytes=-99", b"0123456789", "0-9"),
        ("bytes=8-99", b"89", "8-9"),
    ],
)
def test_a_range_is_answered_with_that_part(wanted: str, body: bytes, place: str) -> None:
    part = part_of(WHOLE, wanted)
    assert (part.status, part.body, part.kind) == (206, body, "audio/wav")
    assert part.headers["Content-Range"] == f"bytes {place}/10"


@pytest.mark.parametrize(
    "wanted", [None, "", "bytes=-", "bytes=3-2", "bytes=0-1,3-4", "items=0-1", "bytes=a-b"]
)
def test_what_is_no_range_is_answered_with_the_whole(wanted: str | None) -> None:
    assert part_of(WHOLE, wanted) is WHOLE
    assert part_of(Answer(b"{}"), "bytes=0-0").status == 200


@pytest.mark.parametrize("wanted", ["bytes=10-", "bytes=10-11", "bytes=-0"])
def test_a_range_beyond_the_end_is_refused_with_the_size(wanted: str) -> None:
    part = part_of(WHOLE, wanted)
    assert (part.status, part.body, part.headers["Content-Range"]) == (416, b"", "bytes */10")


def test_sound_is_sent_in_parts(tmp_path: Path) -> None:
    sound = b"RIFF\x24\0\0\0WAVEfmt " + bytes(range(200))
    with client_of([write_examples(tmp_path / "a.tfrecord", [{"s": sound}])]) as client:
        asked = {"Cookie": client.cookie, "Range": "bytes=8-11"}
        reply = client.send("GET", "/api/value?n=0&feature=s", asked)
        assert (reply.status, reply.body, reply.headers["Content-Type"]) == (206, b"WAVE", "audio/wav")
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert client.send("GET", "/api/session", asked).status == 200
