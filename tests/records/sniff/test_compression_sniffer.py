from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.support.made import CONTAINERS, GOLDEN, contain, flip, frame, header
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, holds_records, sniff_compression

NAMES = {"MEMBERS": "GZIP"}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_every_container_is_known_by_its_head(kind):
    head = contain(GOLDEN * 100, kind)[:HEAD_BYTES]
    assert sniff_compression(head) == NAMES.get(kind, kind)


@pytest.mark.parametrize("kind", [kind for kind in CONTAINERS if kind != "MEMBERS"])
def test_empty_container_is_known(kind):
    assert sniff_compression(contain(b"", kind)) == kind


@given(st.binary(max_size=600))
def test_a_file_that_begins_with_a_frame_is_plain(payload):
    assert sniff_compression(frame(payload)[:HEAD_BYTES]) == ""


@pytest.mark.parametrize("length", [0x088B1F, 0x9C78, 0x0178, 0xFD2FB528])
def test_plain_wins_over_a_length_that_looks_like_a_magic_number(length):
    assert sniff_compression(header(length)) == ""


def test_same_magic_with_a_wrong_crc_is_the_container():
    assert sniff_compression(flip(header(0x088B1F), 8)) == "GZIP"


@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_zlib_of_any_level_is_known(level):
    assert sniff_compression(zlib.compress(GOLDEN, level)) == "ZLIB"


def test_two_bytes_like_zlibs_are_not_enough():
    assert sniff_compression(b"\x78\x9c" + b"certainly not a deflate stream") == ""


def test_zlib_of_anything_but_frames_is_not_taken():
    assert sniff_compression(zlib.compress(b"some text that is no record, longer than a header")) == ""


@pytest.mark.parametrize("head", [b"", b"\x1f", b"text", bytes(512), b"\xff" * 12])
def test_what_is_nothing_known_counts_as_plain(head):
    assert sniff_compression(head) == ""


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_files_that_hold_records_are_told_from_others(kind):
    assert holds_records(contain(frame(b"payload") * 100, kind)[:HEAD_BYTES])
    assert not holds_records(contain(b"some text, and not a frame" * 100, kind)[:HEAD_BYTES])
    assert not holds_records(contain(b"", kind))
