"""Small pictures: of every format, and why there is none."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.viewer.server import client_of, write_examples
from tfrkit.errors import DataLossError
from tfrkit.viewer.shown.payload import media_type
from tfrkit.viewer.shown.thumbs import thumbnail


def image_file(kind: str, size: tuple[int, int] = (500, 375), mode: str = "RGB", **options: object) -> bytes:
    rows = np.linspace(0, 255, size[1], dtype=np.uint8)[:, None, None]
    pixels = np.broadcast_to(rows, (size[1], size[0], 3))
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).convert(mode).save(file, kind, **options)
    return file.getvalue()


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    assert image.format == "JPEG"
    return image


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "BMP"])
def test_every_format_becomes_a_small_jpeg(kind: str) -> None:
    small = thumbnail(image_file(kind), 160)
    assert opened(small).size == (160, 120)
    column = np.asarray(opened(small).convert("L"))[:, 80].astype(int)
    assert column[0] < 20
    assert column[-1] > 235
    assert len(small) < 8000


def test_small_images_stay_as_they_are() -> None:
    assert opened(thumbnail(image_file("PNG", (28, 20)), 160)).size == (28, 20)


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("JPEG", "L"), ("PNG", "L"), ("JPEG", "CMYK"), ("PNG", "RGBA"), ("PNG", "LA"), ("PNG", "P")],
)
def test_gray_transparent_and_printed_ones(kind: str, mode: str) -> None:
    assert opened(thumbnail(image_file(kind, mode=mode), 100)).size == (100, 75)


def test_transparent_pixels_are_white() -> None:
    file = io.BytesIO()
    Image.new("RGBA", (50, 50), (255, 0, 0, 0)).save(file, "PNG")
    assert opened(thumbnail(file.getvalue(), 50)).getpixel((20, 20)) == (255, 255, 255)


def test_photos_are_turned_as_they_say() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert opened(thumbnail(image_file("JPEG", exif=exif), 160)).size == (120, 160)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (image_file("JPEG")[:2000], "broken image: the JPEG file has no end"),
        (b"\xff\xd8\xff\xe0" + bytes(100), "broken image"),
        (b"no image at all", "not an image"),
        (b"", "empty file"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\0\0\0\x01\0\0\x08\2\0\0\0" + bytes(40), "image"),
    ],
)
def test_what_does_not_decode_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(DataLossError, match=reason):
        thumbnail(data, 100)
    with client_of([write_examples(tmp_path / "a.tfrecord", [{"image": data}])]) as client:
        reply = client.get("/api/thumb", n=0, feature="image")
        assert reply.status == 422
        assert reason in reply.json["error"]


def test_an_image_that_would_fill_memory_is_refused() -> None:
    file = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(file, "PNG")
    with pytest.raises(DataLossError, match="20000 x 20000 pixels, too many"):
        thumbnail(file.getvalue(), 160)


def test_pictures_and_their_pixels_over_http(tmp_path: Path) -> None:
    data = image_file("PNG", (40, 30))
    with client_of([write_examples(tmp_path / "a.tfrecord", [{"image": data}])]) as client:
        (feature,) = client.json("/api/session")["sets"]["a"]["features"]
        assert (feature["role"], feature["looks_like"]) == ("image", "PNG image 40x30")
        thumb = client.get("/api/thumb", n=0, feature="image", size=20)
        assert opened(thumb.body).size == (20, 15)
        assert thumb.headers["Content-Type"] == "image/jpeg"
        whole = client.get("/api/value", n=0, feature="image")
        assert (whole.headers["Content-Type"], whole.body) == ("image/png", data)
        assert "Content-Disposition" not in whole.headers
        assert (
            "attachment"
            in client.get("/api/value", n=0, feature="image", download=1).headers["Content-Disposition"]
        )
        part = client.json("/api/pixels", n=0, feature="image", x=38, y=29, w=5, h=5)
        assert (part["width"], part["height"], part["channels"]) == (40, 30, 3)
        assert part["values"] == [[[255, 255, 255], [255, 255, 255]]]
        assert client.get("/api/pixels", n=0, feature="image", x=40, y=0).status == 404


def test_sound_is_sent_as_sound() -> None:
    assert media_type(b"RIFF\x24\0\0\0WAVEfmt ") == "audio/wav"
    assert media_type(b"OggS\0") == "audio/ogg"
    assert media_type(b"RIFF\x24\0\0\0AVI LIST") == "application/octet-stream"
