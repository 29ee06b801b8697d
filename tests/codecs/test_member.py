from __future__ import annotations

import gzip
import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.support.made import flip, member
from tfrkit.codecs.codec import WINDOW_BYTES
from tfrkit.codecs.member import (
    EMPTY_MEMBER,
    MEMBER_HEADER_BYTES,
    deflate_huge,
    deflate_member,
    ends_badly,
    inflate_member,
    pad_member,
    parse_member_header,
)

DATA = bytes(range(256)) * 20


def test_header_is_as_defined():
    made = deflate_member(DATA, 3, 5)
    assert made[:10].hex() == "1f8b08040000000000ff"
    assert made[10:16].hex() == "100054520c00"  # extra field of 16 bytes: "TR", 12
    assert struct.unpack("<III", made[16:28]) == (len(made), len(DATA), 3)
    assert made[-8:] == struct.pack("<II", zlib.crc32(DATA), len(DATA))


@pytest.mark.parametrize("level", [0, 1, 5, 9])
def test_any_gzip_reader_reads_a_member(level):
    assert gzip.decompress(deflate_member(DATA, 1, level)) == DATA


@given(st.binary(min_size=1, max_size=2000), st.integers(0, 9))
def test_member_comes_back(data, level):
    made = deflate_member(data, len(data) // 16, level)
    assert zlib.decompress(made, 31) == data
    head = parse_member_header(made)
    assert (head is None) == (len(data) < 16)  # no frame is that small: it is an ordinary member
    if head is not None:
        assert head == (28, len(made), len(data), len(data) // 16)
        assert inflate_member(made) == data


def test_member_made_by_hand_is_read():
    assert inflate_member(member(DATA, 7)) == DATA


def test_empty_member_is_zlibs():
    assert gzip.decompress(EMPTY_MEMBER) == b""
    assert parse_member_header(EMPTY_MEMBER) is None


def test_no_bit_of_a_member_can_change_its_content():
    made = deflate_member(DATA[:40], 1, 5)
    for at in range(len(made)):
        for bit in range(8):
            assert inflate_member(flip(made, at, 1 << bit)) in {None, DATA[:40]}


def test_no_cut_or_longer_member_is_read():
    made = deflate_member(DATA[:40], 1, 5)
    assert not any(inflate_member(made[:size]) for size in range(len(made)))
    assert inflate_member(made + b"\0") is None


@pytest.mark.parametrize(
    ("size", "raw", "frames"),
    [
        (20, 100, 1),  # smaller than its own header
        (1000, 100, 7),  # more frames than fit
        (1000, 100, 0),  # bytes without frames
        (100, 1 << 30, 1),  # deflate cannot shrink that much
        (1 << 30, (1 << 31) + 1, 1),  # beyond the limit
        (1 << 30, 100, 1),  # deflate does not make data so much larger: it would be read at once
    ],
)
def test_header_that_contradicts_itself_is_not_believed(size, raw, frames):
    made = bytearray(member(DATA))
    assert parse_member_header(bytes(made)) is not None
    made[16:28] = struct.pack("<III", size, raw, frames)
    assert parse_member_header(bytes(made)) is None


@pytest.mark.parametrize("level", range(10))
@pytest.mark.parametrize("size", [16, 1000, 70_000, 1 << 20])
def test_members_that_cannot_be_compressed_are_believed(level, size):
    data = random.Random(size).randbytes(size)
    assert inflate_member(deflate_member(data, 1, level)) == data


def test_short_head_is_no_header():
    assert parse_member_header(member(DATA)[: MEMBER_HEADER_BYTES - 1]) is None


@pytest.mark.parametrize("behind", [1, 8, 32])
def test_member_that_would_end_just_behind_a_window_is_padded(behind):
    made = deflate_member(DATA, 3, 5)
    start = WINDOW_BYTES + behind - len(made)
    padded = pad_member(made, start)
    assert len(padded) == len(made) + 32
    assert not ends_badly(start + len(padded))
    assert gzip.decompress(padded) == inflate_member(padded) == DATA
    assert parse_member_header(padded) == (60, len(padded), len(DATA), 3)


@pytest.mark.parametrize("behind", [0, 33, 5000])
def test_member_that_ends_elsewhere_is_left_as_it_is(behind):
    made = deflate_member(DATA, 3, 5)
    assert pad_member(made, WINDOW_BYTES + behind - len(made)) is made


@pytest.mark.parametrize("padded", [False, True])
def test_huge_member_is_an_ordinary_one(padded):
    pieces = list(deflate_huge(memoryview(DATA), 5, padded))
    assert gzip.decompress(b"".join(pieces)) == DATA
    assert len(pieces[0]) == (44 if padded else 10)
    assert parse_member_header(b"".join(pieces)) is None
