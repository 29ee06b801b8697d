"""Headers of images: what decoders say, and every way of being cut or made up."""

from __future__ import annotations

import contextlib
import io
import random
import struct

import hypothesis.strategies as st
import pytest
from hypothesis import given
from PIL import Image

from tests.build.support.image_samples import FORMATS, picture, pixels
from tfrkit.images.codecs import image_header
from tfrkit.images.codecs.decode_image import decode_image
from tfrkit.images.codecs.image_header import BadImageError, ImageHeader, read_image_header

BEGINNINGS = [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"RIFF\x30\0\0\0WEBPVP8X\x0a\0\0\0"]


def header(content: bytes) -> ImageHeader:
    """Read it in the middle of other bytes, which must not matter."""
    data = bytearray(b"\xff\xd9IEND" + content + b"\xff\xd9IEND")
    return read_image_header(data, 6, 6 + len(content))


def problem(content: bytes) -> tuple[str, str]:
    with pytest.raises(BadImageError) as caught:
        header(content)
    return caught.value.reason, caught.value.detail


@pytest.mark.parametrize(
    ("kind", "mode"),
    [(kind, "RGB") for kind in FORMATS]
    + [
        ("JPEG", "L"),
        ("PNG", "L"),
        ("PNG", "LA"),
        ("PNG", "RGBA"),
        ("PNG", "P"),
        ("BMP", "L"),
        ("BMP", "RGBA"),
    ]
    + [("WEBP", "RGBA"), ("GIF", "L")],
)
@pytest.mark.parametrize("size", [(1, 1), (3, 700)])
def test_header_says_what_the_decoder_gives(kind, mode, size):
    image = Image.fromarray(pixels(0, *size)).convert(mode)
    if mode == "RGBA":
        image.putalpha(100)
    file = io.BytesIO()
    image.save(file, kind, **({"lossless": True} if kind == "WEBP" and size == (1, 1) else {}))
    content = file.getvalue()
    decoded = decode_image(content, expand_animations=False)
    assert header(content) == ImageHeader(kind, *decoded.shape)


@given(st.data())
def test_usual_files_are_read_as_by_the_exact_reader(data):
    content = bytearray(picture(1))
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, min(len(content), 700) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    content = content[:cut] + data.draw(st.sampled_from([b"", b"\xff\xd9", b"x"]))
    usual = image_header.read_usual_jpeg(content, 0, len(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(image_header, "read_usual_jpeg", lambda *_: None)
        try:
            exact = read_image_header(content, 0, len(content))
        except BadImageError:
            exact = None
    assert usual is None or usual == exact


def test_usual_files_need_no_exact_reader():
    content = bytearray(picture(1))
    assert image_header.read_usual_jpeg(content, 0, len(content)) == header(content)
    with pytest.raises(IndexError):
        image_header.read_usual_jpeg(content, 0, len(content) + 1)
    with pytest.raises(IndexError):
        image_header.read_usual_jpeg(content, 1, 0)


def test_palette_with_transparency_has_four_channels():
    file = io.BytesIO()
    Image.fromarray(pixels()).convert("P").save(file, "PNG", transparency=3)
    assert header(file.getvalue()).channels == decode_image(file.getvalue()).shape[2] == 4


def test_cmyk_has_four_channels():
    assert header(picture(0, "JPEG", "CMYK")) == ImageHeader("JPEG", 12, 16, 4)


def test_progressive_jpeg_and_one_with_metadata_and_bytes_behind_its_end():
    exif = Image.Exif()
    exif[0x010E] = "x" * 60_000
    content = picture(0, "JPEG", progressive=True, exif=exif, comment=b"\xff\xd9\xff\xda")
    assert header(content + b"\0" * 5000) == ImageHeader("JPEG", 12, 16, 3)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP", "WEBP"])
def test_every_truncation_is_broken(kind):
    content = picture(0, kind)
    for size in range(len(content) - (kind == "PNG") * 4):  # the last checksum of a PNG is not looked at
        reason, detail = problem(content[:size])
        assert reason in ("broken image", "not an image", "empty file")
        if size > 30:
            assert reason == "broken image"
            assert detail


def test_cut_gif_header_is_broken():
    for size in range(4, 10):
        assert problem(picture(0, "GIF")[:size]) == ("broken image", "the header of the GIF file is cut")


def test_nothing_is_an_empty_file():
    assert problem(b"") == ("empty file", "")


def test_other_bytes_are_no_image():
    assert problem(b"%PDF-1.7 and so on") == ("not an image", "it looks like a PDF file")
    assert problem(b"\1\2\3") == ("not an image", "it looks like unknown data that begins with 010203")


@pytest.mark.parametrize(
    ("head", "look"),
    [
        (b"\xff\x0a", "a JPEG XL image"),
        (b"II*\0\x08\0\0\0", "a TIFF image"),
        (b"\0\0\0\x18ftypheic", "a HEIC image"),
        (b"\0\0\0\x1cftypavif", "an AVIF image"),
        (b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg">', "an SVG image"),
    ],
)
def test_images_of_other_formats_are_named(head, look):
    assert problem(head + bytes(30)) == (
        "unsupported image format",
        f"it looks like {look}; convert it to JPEG or PNG",
    )


def test_a_header_that_is_too_short_for_a_decoder_is_broken():
    assert problem(picture(0, "WEBP")[:12]) == (
        "broken image",
        "it looks like a WebP image, but its header is cut",
    )


def test_sizes_of_zero_are_broken():
    content = bytearray(picture(0, "PNG"))
    content[16:20] = bytes(4)
    assert problem(bytes(content)) == ("broken image", "the size is 12 x 0 pixels")


def test_bmp_that_claims_more_than_it_has():
    content = bytearray(picture(0, "BMP"))
    struct.pack_into("<ii", content, 18, 2**31 - 1, -(2**31))
    reason, detail = problem(bytes(content))
    assert reason == "broken image"
    assert detail.startswith("the BMP file is cut: expected 138")


def test_old_bmp_with_the_short_header():
    content = b"BM" + struct.pack("<IHHIIHHHH", 32, 0, 0, 26, 12, 1, 1, 1, 24) + bytes(4)
    assert header(content) == ImageHeader("BMP", 1, 1, 3)


@pytest.mark.parametrize("filling", [b"\0", b"\xff", b"\xff\xe0\0\2", b"\xff\xd0"], ids=bytes.hex)
def test_long_nonsense_ends_soon(filling):
    assert problem(b"\xff\xd8\xff" + filling * (4_000_000 // len(filling)))[0] == "broken image"


@given(st.sampled_from(BEGINNINGS), st.binary(max_size=200))
def test_hostile_bytes_are_a_header_or_bad(beginning, rest):
    data = bytearray(beginning + rest)
    with contextlib.suppress(BadImageError):
        found = read_image_header(data, 0, len(data))
        assert found.height > 0
        assert found.width > 0


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_bytes_never_raise_anything_else(kind):
    content = picture(0, kind)
    chance = random.Random(1)
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(min(200, len(damaged)))] = chance.randrange(256)
        with contextlib.suppress(BadImageError):
            read_image_header(damaged, 0, len(damaged))
