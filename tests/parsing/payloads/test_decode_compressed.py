"""decode_compressed: containers, cut and damaged streams, and memory that follows the output."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
import zstandard

import tfrkit as tfr
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.parsing.payloads import decode_compressed as module

TEXT = bytes(range(256)) * 40
PACKED = {
    "": TEXT,
    "ZLIB": zlib.compress(TEXT),
    "GZIP": gzip.compress(TEXT),
    "ZSTD": zstandard.compress(TEXT),
}


@pytest.mark.parametrize("kind", PACKED)
def test_each_string_is_decompressed(kind):
    assert tfr.decode_compressed(PACKED[kind], kind) == TEXT
    nested = tfr.decode_compressed([[PACKED[kind]], [PACKED[kind]]], kind)
    assert nested.to_numpy().tolist() == [[TEXT], [TEXT]]


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_without_isal_it_is_the_same(kind, monkeypatch):
    monkeypatch.setattr(module, "_fast", zlib)
    assert tfr.decode_compressed(PACKED[kind], kind) == TEXT
    assert TEXT.startswith(tfr.decode_compressed(PACKED[kind][:-20], kind))


def test_members_are_joined():
    joined = gzip.compress(b"a") + gzip.compress(b"") + gzip.compress(b"bc")
    assert tfr.decode_compressed(joined, "GZIP") == b"abc"


def test_what_follows_a_zlib_stream_is_ignored():
    assert tfr.decode_compressed(PACKED["ZLIB"] + PACKED["ZLIB"], "ZLIB") == TEXT


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_of_a_cut_stream_what_is_there_is_given(kind):
    for end in range(len(PACKED[kind])):
        assert TEXT.startswith(tfr.decode_compressed(PACKED[kind][:end], kind))


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_damage_has_the_text_of_zlib(kind):
    with pytest.raises(DataLossError, match=r"^inflate\(\) failed with error -3: incorrect header check$"):
        tfr.decode_compressed(b"junk", kind)
    damaged = bytearray(PACKED[kind])
    damaged[-5] ^= 1
    with pytest.raises(DataLossError, match=r"error -3: incorrect data check$"):
        tfr.decode_compressed(bytes(damaged) if kind == "GZIP" else PACKED[kind][:-1] + b"\0", kind)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "Failed to determine decompressed size"),
        (PACKED["ZSTD"][:-1], "Failed to decompress zstd input: Src size is incorrect"),
        (PACKED["ZSTD"] * 2, "Failed to decompress zstd input: Destination buffer is too small"),
        (PACKED["ZSTD"] + b"junkjunk", "Failed to decompress zstd input: Src size is incorrect"),
    ],
)
def test_zstd_errors(data, text):
    with pytest.raises(InvalidArgumentError, match=f"^{text}$"):
        tfr.decode_compressed(data, "ZSTD")


def test_a_claimed_size_allocates_nothing():
    claim = PACKED["ZSTD"][:4] + b"\xe0" + (1 << 61).to_bytes(8, "little") + b"\x01\0\0"
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArgumentError):
            tfr.decode_compressed(claim, "ZSTD")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_bomb_of_frames_is_stopped_at_the_size_of_the_first():
    bomb = zstandard.compress(b"a") + zstandard.compress(bytes(1 << 24)) * 100
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArgumentError, match=r"Destination buffer is too small"):
            tfr.decode_compressed(bomb, "ZSTD")
        assert tracemalloc.get_traced_memory()[1] < 1 << 27
    finally:
        tracemalloc.stop()


def test_other_types_are_refused():
    with pytest.raises(InvalidArgumentError, match=r"^Only ZLIB, ZSTD, GZIP or NONE are supported .*'zlib'"):
        tfr.decode_compressed(b"", "zlib")
    with pytest.raises(TypeError, match=r"^Expected string for argument 'compression_type' not 5\.$"):
        tfr.decode_compressed(b"", 5)
