"""What byte strings look like, from headers written out by hand."""

from __future__ import annotations

import gzip
import json
import lzma
import random
import struct
import zlib

import numpy as np
import pytest

from tfrkit.model.messages import Example, SequenceExample
from tfrkit.records.sniff.value_sniffer import Sample, sniff_values

CUT = 1 << 14

JPEG = (
    bytes.fromhex("ffd8ffe0 0010 4a46494600010100000100010000 ffc4 0003 00 ffc0 0011 08 0177 01f4 03")
    + b"\0" * 40
)
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\0\0\0"
GIF = b"GIF89a" + struct.pack("<HH", 12, 7) + b"\x80\0\0"
BMP = b"BM" + struct.pack("<IIIIii", 60, 0, 54, 40, 31, -17) + b"\0" * 34
WEBP_VP8 = b"RIFF\x1e\0\0\0WEBPVP8 \x12\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 300, 200)
WEBP_LOSSLESS = b"RIFF\x1e\0\0\0WEBPVP8L\x12\0\0\0\x2f" + struct.pack("<I", 299 | 199 << 14) + b"\0" * 10
WEBP_EXTENDED = (
    b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (299).to_bytes(3, "little") + (199).to_bytes(3, "little")
)


def look(*values: bytes) -> str:
    return sniff_values([Sample(value[:CUT], len(value)) for value in values])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (JPEG, "JPEG image 500x375"),
        (JPEG[:12], "JPEG image"),
        (PNG, "PNG image 640x480"),
        (PNG[:10], "PNG image"),
        (GIF, "GIF image 12x7"),
        (BMP, "BMP image 31x17"),
        (WEBP_VP8, "WebP image 300x200"),
        (WEBP_LOSSLESS, "WebP image 300x200"),
        (WEBP_EXTENDED, "WebP image 300x200"),
        (b"RIFF\0\0\0\0WAVEfmt ", "WAV audio"),
        (gzip.compress(b"x" * 100, mtime=0), "GZIP data"),
        (zlib.compress(b"x" * 100), "ZLIB data"),
        (lzma.compress(b"x"), "XZ data"),
        (b"x\x9cno deflate stream", ""),
    ],
)
def test_files_are_told_by_their_headers(data, expected):
    assert look(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"hello", "UTF-8 text"),
        ("süß\n".encode(), "UTF-8 text"),
        (b"123", "UTF-8 text"),
        (b"\xff\xfeh", ""),
        (b"a\0b", ""),
        (json.dumps({"a": [1, 2]}).encode(), "JSON"),
        (b"{no json}", "UTF-8 text"),
        (b'[{"a": 1}' + b" " * 2 * CUT + b"]", "JSON"),
        (("x" + "ß" * CUT).encode(), "UTF-8 text"),  # cut within a character
    ],
)
def test_text_is_told_from_bytes(data, expected):
    assert look(data) == expected


def test_messages_are_recognised():
    example = Example()
    example.features.feature["a"].int64_list.value.append(1)
    sequence = SequenceExample()
    sequence.feature_lists.feature_list["s"].feature.add().float_list.value.append(1)
    tensor = bytes.fromhex("0803 1204 12020802 2208 0100000002000000")
    other = bytes.fromhex("0896ffff01 1205 68656c6c6f 3d01000000")
    assert look(example.SerializeToString()) == "serialised Example"
    assert look(sequence.SerializeToString()) == "serialised SequenceExample"
    assert look(tensor) == "serialised TensorProto"
    assert look(other) == "serialised protobuf message with fields 1, 2, 7"
    assert look(other, b"\x18\x01" * 5) == "serialised protobuf message with fields 1, 2, 3, 7"
    assert look(other, b"text") == ""


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", "float64"])
def test_raw_arrays_are_recognised(dtype):
    rng = np.random.default_rng(3)
    values = (rng.random(28) * 1000 - 300).astype(dtype)
    assert look(values.tobytes()) == f"raw {dtype} array of 28"


def test_noise_is_nothing():
    noise = random.Random(5)
    assert look(*(noise.randbytes(16) for _ in range(4))) == ""
    assert look(noise.randbytes(5000)) == ""
    assert look(bytes(784)) == ""


def test_several_are_named_together():
    smaller = JPEG.replace(bytes.fromhex("017701f4"), bytes.fromhex("00600060"))
    third = JPEG.replace(bytes.fromhex("017701f4"), bytes.fromhex("00700060"))
    assert look(JPEG, JPEG) == "JPEG image 500x375"
    assert look(JPEG, smaller) == "JPEG image 500x375, 96x96"
    assert look(JPEG, smaller, third) == "JPEG image 500x375, 96x96, ..."
    assert look(JPEG, PNG) == "JPEG image 500x375 or PNG image 640x480"
    assert look(JPEG, b"text") == ""


def test_empty_strings_say_nothing():
    assert look() == ""
    assert look(b"") == ""
    assert look(b"", b"text") == "UTF-8 text"


def test_any_bytes_are_taken():
    noise = random.Random(9)
    for start in (b"", JPEG[:20], PNG[:8], WEBP_VP8[:16], b"BM", b"\xff\xd8\xff", b"\x78\x9c", b"{"):
        for size in range(40):
            sniff_values(
                [
                    Sample(start + noise.randbytes(size), 10_000),
                    Sample(start + noise.randbytes(size), len(start) + size),
                ]
            )
