"""The CRC-32 of GZIP and ZIP, with its published check value."""

from __future__ import annotations

from tfrkit.codecs.checksum import crc32


def test_crc32_of_the_check_string():
    assert crc32(b"123456789") == crc32(memoryview(b"123456789")) == 0xCBF43926
