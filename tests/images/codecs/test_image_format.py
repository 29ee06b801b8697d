"""Formats are told by their first bytes, and arguments are checked before anything is decoded."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_format import check_channels, image_bytes, image_format
from tfrkit.model.bytes_column import BytesColumn

CONTAINER = bytes.fromhex("0000000c4a584c200d0a870a")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"\xff\xd8\xff", "JPEG"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"GIF8", "GIF"),
        (b"BM", "BMP"),
        (b"RIFF0000WEBPV", "WebP"),
        (b"\xff\x0a", "JPEG XL"),
        (CONTAINER, "JPEG XL"),
        (b"RIFF0000" + CONTAINER, "JPEG XL"),
    ],
)
def test_first_bytes_name_the_format(head: bytes, name: str) -> None:
    assert image_format(head) == name
    assert image_format(memoryview(head + b"more of it")) == name


@pytest.mark.parametrize(
    "data", [b"x", b"\xff", b"\xff\xd8", b"\x89PNG\r\n\x1a", b"GIF7", b"RIFF0000WEBP", CONTAINER[:-1]]
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(
        InvalidArgumentError,
        match=r"^Unknown image file format\. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required\.",
    ):
        image_format(data)


def test_contents_are_one_string_that_is_not_empty() -> None:
    assert image_bytes("é") == "é".encode()
    assert image_bytes(np.array(b"BM", object)) == b"BM"
    assert image_bytes(bytearray(b"BM")) == b"BM"
    with pytest.raises(InvalidArgumentError, match=r"^Input is empty\."):
        image_bytes(b"")
    for strings in (BytesColumn.from_list([b"a", b"b"]), [b"a", b"b"]):
        with pytest.raises(InvalidArgumentError, match=r"^`contents` must be scalar but got shape\[2\]"):
            image_bytes(strings)


def test_channels_are_0_1_3_or_4() -> None:
    assert [check_channels(given) for given in (None, 0, 1.5, np.int64(3), 4)] == [0, 0, 1, 3, 4]
    for wrong in (2, 5, -1):
        with pytest.raises(InvalidArgumentError, match=rf"^`channels` must be 0, 1, 3 or 4 but got {wrong}"):
            check_channels(wrong)
    with pytest.raises(TypeError, match=r"^Expected int for argument 'channels' not '3'\."):
        check_channels("3")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WebP", "BMP"])
def test_native_header_says_format_and_size(kind):
    file = io.BytesIO()
    Image.new("RGB", (300, 20)).save(file, kind)
    content = file.getvalue()
    assert _core.read_image_header(content, len(content)) == (kind, 300, 20)
    assert _core.read_image_header(memoryview(content)[:1000], len(content)) == (kind, 300, 20)
    assert _core.read_image_header(content[:12], len(content)) in (
        (kind, 0, 0),
        ("GIF", 300, 20),
    )
    assert _core.read_image_header(b"no image", 8) is None
