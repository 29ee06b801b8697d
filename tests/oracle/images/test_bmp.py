"""decode_bmp in TensorFlow and in tfrkit."""

from __future__ import annotations

import io
import random
import struct

import numpy as np
import pytest
from PIL import Image

from tests.oracle.support.codecs import same
from tests.support.rules import tf_rule


def bmp(width, height, bits, header_bytes=54):
    """A file with random pixels."""
    row_bytes = (bits // 8 * width + 3) // 4 * 4
    body = np.random.default_rng(width * 1000 + bits).bytes(row_bytes * abs(height))
    file = b"BM" + struct.pack("<IHHI", header_bytes + len(body), 0, 0, header_bytes)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, len(body), 0, 0, 0, 0)
    return (file + info)[:header_bytes].ljust(header_bytes, b"\0") + body


@tf_rule("6 decode_bmp pixels")
@pytest.mark.parametrize("bits", [8, 24, 32])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 2), (4, 5), (5, -3), (7, 7), (1, -9)])
def test_pixels(bits, width, height):
    for channels in (0, 1, 3, 4):
        same("decode_bmp", bmp(width, height, bits), channels=channels)


@tf_rule("6 decode_bmp pixels")
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_files_of_pillow(mode):
    pixels = np.random.default_rng(1).integers(0, 256, (9, 7, 4), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(file, "BMP")
    same("decode_bmp", file.getvalue())


@tf_rule("6 decode_bmp errors")
@pytest.mark.parametrize("bits", [0, 1, 4, 15, 16, 31, 33, 39, 40])
def test_bits(bits):
    same("decode_bmp", bmp(3, 2, bits))


@tf_rule("6 decode_bmp errors")
@pytest.mark.parametrize(
    ("at", "form", "value"),
    [
        (18, "<i", 0),
        (18, "<i", -5),
        (18, "<i", 2**27),
        (18, "<i", 2**31 - 1),
        (22, "<i", 0),
        (22, "<i", 2**31 - 1),
        (22, "<i", -(2**31)),
        (10, "<i", -1),
        (10, "<i", 2**31 - 1),
        (28, "<h", -24),
    ],
)
def test_headers(at, form, value):
    contents = bytearray(bmp(5, 4, 24))
    struct.pack_into(form, contents, at, value)
    same("decode_bmp", bytes(contents))


@tf_rule("6 decode_bmp errors")
def test_sizes_and_mutations():
    contents = bmp(5, 4, 24)
    for size in range(2, len(contents)):
        same("decode_bmp", contents[:size])
    same("decode_bmp", contents + b"more")
    same("decode_bmp", bmp(5, 4, 24, header_bytes=1078))
    chosen = random.Random(1)
    for number in range(500):
        damaged = bytearray(contents)
        for _ in range(2):
            damaged[chosen.randrange(2, 54)] = chosen.choice((0, 1, 255, chosen.randrange(256)))
        same("decode_bmp", bytes(damaged), what=number)
