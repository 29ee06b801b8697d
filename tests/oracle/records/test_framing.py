"""Frames as TensorFlow writes and reads them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.oracle.support.frames import crc32c, frame, frames, header, masked_crc, put
from tests.oracle.support.oracle import assert_same, our_results, our_writer, tf_results, tf_writer
from tests.support.rules import tf_rule

GOLDEN = bytes.fromhex(
    "0500000000000000 eab2043e 68656c6c6f bb1f1c19"
    "0000000000000000 29039807 d8ea82a2"
    "0300000000000000 b099490e 78797a 1e358d73"
)
SIZES = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    63,
    64,
    65,
    127,
    255,
    256,
    1000,
    1023,
    1024,
    3072,
    3073,
    70_001,
]


def _written(path: Path, records: list[bytes]) -> tuple[bytes, bytes]:
    """The bytes that tfrkit and TensorFlow write for the same records."""
    ours, theirs = path / "ours", path / "theirs"
    with our_writer(str(ours)) as writer:
        for record in records:
            writer.write(record)
    with tf_writer(str(theirs)) as writer:
        for record in records:
            writer.write(record)
    return ours.read_bytes(), theirs.read_bytes()


@tf_rule("1.1 golden bytes")
def test_golden_bytes(tmp_path: Path) -> None:
    ours, theirs = _written(tmp_path, [b"hello", b"", b"xyz"])
    assert ours == theirs == GOLDEN


@tf_rule("1.1 layout")
@pytest.mark.parametrize("size", SIZES)
def test_layout_is_the_same_at_every_size(tmp_path: Path, size: int) -> None:
    record = bytes((7 * i + (i >> 8)) & 0xFF for i in range(size))
    ours, theirs = _written(tmp_path, [record, b"next"])
    length, length_crc = struct.unpack_from("<QI", theirs)
    assert (length, length_crc) == (size, masked_crc(theirs[:8]))
    assert theirs[12 : 12 + size] == record
    assert struct.unpack_from("<I", theirs, 12 + size) == (masked_crc(record),)
    assert theirs[16 + size :] == frame(b"next")
    assert ours == theirs


@tf_rule("1.1 layout")
@pytest.mark.parametrize("size", SIZES)
def test_frames_made_by_hand_are_read(tmp_path: Path, size: int) -> None:
    path = put(tmp_path / "a", frames([bytes(size), b"x" * size]))
    assert our_results(path) == tf_results(path) == [bytes(size), b"x" * size]


@tf_rule("1.1 masked crc")
@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_checksum_is_masked_castagnoli(tmp_path: Path, data: bytes, crc: int) -> None:
    assert crc32c(data) == crc
    masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    ours, theirs = _written(tmp_path, [data])
    assert ours == theirs
    assert theirs[-4:] == struct.pack("<I", masked)


@tf_rule("1.1 zero-length record")
def test_zero_length_records(tmp_path: Path) -> None:
    ours, theirs = _written(tmp_path, [b"", b""])
    assert ours == theirs == 2 * (header(0) + struct.pack("<I", 0xA282EAD8))
    path = put(tmp_path / "a", theirs)
    assert_same(our_results(path), tf_results(path))
    assert our_results(path) == [b"", b""]
