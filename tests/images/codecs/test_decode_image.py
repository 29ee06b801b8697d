"""decode_image, decode_bmp and decode_webp: types, refusals, and what needs no extra."""

from __future__ import annotations

import io
import struct
import sys

import numpy as np
import pytest

from tfrkit.errors import InvalidArgumentError, MissingExtraError, UnimplementedError
from tfrkit.images.codecs.decode_image import decode_bmp, decode_image, decode_webp
from tfrkit.images.codecs.png.png import encode_png

IMAGE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3) * 14


def bmp(height: int) -> bytes:
    rows = IMAGE if height < 0 else IMAGE[::-1]
    body = b"".join(row[:, ::-1].tobytes() + bytes(3) for row in rows)
    return b"BM" + struct.pack("<IIIIiiHH", 0, 0, 54, 40, 3, height, 1, 24) + bytes(24) + body


def webp(**options) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(IMAGE).save(file, "WEBP", lossless=True, **options)
    return file.getvalue()


@pytest.mark.parametrize("height", [2, -2])
def test_bmp_rows_in_either_order(height):
    assert np.array_equal(decode_bmp(bmp(height)), IMAGE)
    assert decode_bmp(bmp(height), channels=4)[0, 0].tolist() == [0, 14, 28, 255]
    assert np.array_equal(decode_image(bmp(height), dtype="uint16"), IMAGE.astype(np.uint16) * 256)


def test_bmp_says_what_is_wrong():
    with pytest.raises(InvalidArgumentError, match=r"^Input size should match .* but they differ by 1$"):
        decode_bmp(bmp(2) + b"x")
    with pytest.raises(InvalidArgumentError, match=r"^Trying to decode PNG format using DecodeBmp op"):
        decode_bmp(encode_png(IMAGE))


def test_types_have_tensorflow_scales():
    file = encode_png(IMAGE)
    assert np.array_equal(decode_image(file, dtype="uint16"), IMAGE.astype(np.uint16) * 257)
    floats = decode_image(bmp(2), dtype="float32")
    assert np.array_equal(floats, IMAGE * np.float32(1 / 255))
    wide = decode_image(file, dtype="float32")
    assert np.array_equal(wide, (IMAGE.astype(np.float32) * 257) * np.float32(1 / 65535))


def test_webp_gives_frames():
    assert np.array_equal(decode_webp(webp()), IMAGE[np.newaxis])
    assert np.array_equal(decode_image(webp(), expand_animations=False), IMAGE)
    with pytest.raises(InvalidArgumentError, match=r"^Number of channels requested does not match input"):
        decode_webp(webp(), channels=4)
    with pytest.raises(InvalidArgumentError, match=r"^WebP only supports uint8 for dtype"):
        decode_image(webp(), dtype="uint16")
    with pytest.raises(InvalidArgumentError, match=r"^Failed to decode WebP image\."):
        decode_webp(webp()[:-3])


def test_png_and_bmp_need_no_extra_and_webp_says_so(monkeypatch):
    file = webp()
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    assert np.array_equal(decode_image(encode_png(IMAGE)), IMAGE)
    assert np.array_equal(decode_image(bmp(2)), IMAGE)
    with pytest.raises(MissingExtraError, match=r"Decoding WebP needs the package pillow.*tfrkit\[images\]"):
        decode_image(file)


def test_jpeg_xl_is_refused():
    with pytest.raises(UnimplementedError, match="JPEG XL images are not decoded"):
        decode_image(b"\xff\x0a" + bytes(20))
