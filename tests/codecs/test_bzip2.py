from __future__ import annotations

import bz2
import io

import pytest

from tfrkit.codecs.bzip2 import BZIP2
from tfrkit.errors import DataLossError
from tfrkit.stores.files import open_source

TEXT = b"some text\n" * 10_000


def read(data: bytes) -> bytes:
    return b"".join(iter(BZIP2.open(open_source(io.BytesIO(data))).read, b""))


def test_streams_one_after_another_are_one():
    assert read(bz2.compress(TEXT)) == TEXT
    assert read(bz2.compress(TEXT, 1) + bz2.compress(b"") + bz2.compress(b"end")) == TEXT + b"end"


def test_what_follows_the_last_stream_is_ignored_as_by_the_program():
    assert read(bz2.compress(TEXT) + b"garbage, which the program warns of") == TEXT


def test_damage_is_an_error_and_a_cut_is_noticed():
    data = bytearray(bz2.compress(TEXT))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(DataLossError, match=r"^bzip2 decompression failed: "):
        read(bytes(data))
    decoder = BZIP2.open(open_source(io.BytesIO(bz2.compress(TEXT)[:-5])))
    assert TEXT.startswith(b"".join(iter(decoder.read, b"")))
    assert decoder.truncated


def test_files_of_every_level_are_known_by_their_first_bytes():
    for level in range(1, 10):
        assert BZIP2.is_surely(bz2.compress(TEXT, level)[:10])
    assert not BZIP2.is_surely(b"BZh is how this text begins")
