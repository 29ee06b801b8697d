"""What a command prints, whatever the streams take."""

from __future__ import annotations

import io
import sys

from tfrkit.cli.console import prepare_output


def test_any_text_is_written_and_other_bytes_are_read_back(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    prepare_output()
    stream.write("a\udcff-é")
    stream.flush()
    assert stream.buffer.getvalue() == b"a\xff-\\xe9"
    stream.seek(0)
    assert stream.read() == "a\ufffd-\\xe9"  # by a program that ran the command; it was a UnicodeDecodeError
