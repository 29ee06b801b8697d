"""Images that are decoded: resized, encoded anew, stored as pixels, or only checked."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from PIL import Image, ImageOps

from tests.build.support.image_samples import FORMATS, examples, photos, picture, write_files
from tfrkit.build.images.build_images import images
from tfrkit.errors import InvalidArgumentError, MissingExtraError
from tfrkit.images.codecs.jpeg.jpeg import decode_jpeg
from tfrkit.images.codecs.jpeg.jpeg_encode import encode_jpeg
from tfrkit.images.color import rgb_to_grayscale
from tfrkit.images.resize.resize import resize

OPTIONS = ["check", "size", "quality", "max_side", "raw"]


def opened(content: bytes) -> np.ndarray:
    """What Pillow makes of a file, in three colours."""
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def built(tmp_path, files, **options) -> dict[str, dict]:
    images(write_files(tmp_path / "photos", files), tmp_path / "out", **options)
    return {one["image/filename"].decode(): one for one in examples(tmp_path / "out")}


@pytest.mark.parametrize("order", ["rgb", "bgr"])
def test_raw_pixels_of_every_format(tmp_path, order):
    files = {f"c/{kind}": picture(1, kind) for kind in FORMATS}
    found = built(tmp_path, files, encoding="raw", order=order)
    for name, one in found.items():
        expected = opened(files[name])[:, :, :: 1 if order == "rgb" else -1]
        assert one["image/encoded"] == expected.tobytes(), name
        assert (one["image/height"], one["image/width"], one["image/channels"]) == (12, 16, 3)
        assert (one["image/format"], one["image/colorspace"]) == (b"RAW", order.upper().encode())


@pytest.mark.parametrize(
    ("kind", "mode"), [("JPEG", "L"), ("PNG", "RGBA"), ("PNG", "LA"), ("BMP", "L"), ("WEBP", "RGBA")]
)
def test_raw_pixels_have_three_channels_whatever_the_file_has(tmp_path, kind, mode):
    content = picture(1, kind, mode, **({"lossless": True} if kind == "WEBP" else {}))
    one = built(tmp_path, {"c/1": content}, encoding="raw")["c/1"]
    assert one["image/encoded"] == opened(content).tobytes()


@pytest.mark.parametrize("kind", FORMATS)
def test_one_channel(tmp_path, kind):
    content = picture(1, kind, "L")
    one = built(tmp_path, {"c/1": content}, encoding="raw", channels=1)["c/1"]
    got = np.frombuffer(one["image/encoded"], np.uint8).reshape(12, 16)
    expected = np.asarray(Image.open(io.BytesIO(content)).convert("L"))
    assert np.abs(got.astype(int) - expected).max() <= (3 if kind in ("WEBP", "GIF") else 0)
    assert (one["image/channels"], one["image/colorspace"]) == (1, b"GRAY")


def test_size_is_tensorflows_resize_and_jpeg(tmp_path):
    files = photos({"c": 1})
    one = built(tmp_path, files, size="8x9", quality=80)["c/0.jpg"]
    pixels = decode_jpeg(files["c/0.jpg"], channels=3, dct_method="INTEGER_ACCURATE")
    expected = np.rint(resize(pixels, (8, 9), antialias=True)).astype(np.uint8)
    assert one["image/encoded"] == encode_jpeg(expected, quality=80)
    assert (one["image/height"], one["image/width"], one["image/format"]) == (8, 9, b"JPEG")


def test_quality_alone_encodes_anew(tmp_path):
    files = {"c/1": picture(1, "PNG")}
    assert built(tmp_path, files, quality=50)["c/1"]["image/encoded"] == encode_jpeg(
        opened(files["c/1"]), quality=50
    )


def test_max_side_shrinks_in_proportion_and_never_enlarges(tmp_path):
    files = {"c/large": picture(1, height=30, width=60), "c/small": picture(2, height=5, width=7)}
    found = built(tmp_path, files, max_side=20)
    sizes = {name: (one["image/height"], one["image/width"]) for name, one in found.items()}
    assert sizes == {"c/large": (10, 20), "c/small": (5, 7)}


@pytest.mark.parametrize("orientation", range(1, 9))
def test_pixels_are_turned_upright_and_kept_files_are_not_touched(tmp_path, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = picture(1, "JPEG", exif=exif)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(content))))
    one = built(tmp_path, {"c/1": content}, encoding="raw")["c/1"]
    assert one["image/encoded"] == expected.tobytes()
    assert (one["image/height"], one["image/width"]) == expected.shape[:2]
    images(tmp_path / "photos", tmp_path / "kept")
    assert examples(tmp_path / "kept")[0]["image/encoded"] == content


def test_first_frame_of_animations(tmp_path):
    file = io.BytesIO()
    frames = [Image.fromarray(np.full((4, 5, 3), shade, np.uint8)) for shade in (0, 255)]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    one = built(tmp_path, {"c/1": file.getvalue()}, encoding="raw")["c/1"]
    assert one["image/encoded"] == bytes(60)


def test_damage_inside_is_found_by_check_and_by_decoding(tmp_path):
    good = picture(1, "PNG")
    bad = good[:60] + bytes([good[60] ^ 0xFF]) + good[61:]
    write_files(tmp_path / "photos", {"c/good.png": good, "c/bad.png": bad})
    assert images(tmp_path / "photos", tmp_path / "kept").bad == {}
    for number, options in enumerate([{"check": True}, {"size": (4, 4)}, {"encoding": "raw"}]):
        report = images(tmp_path / "photos", tmp_path / str(number), **options)
        assert report.bad == {"broken image": 1}
        assert report.listed[0].detail.startswith("it does not decode: Invalid PNG")
    assert examples(tmp_path / "0")[0]["image/encoded"] == good


def test_raw_pixels_over_the_limit_are_bad(tmp_path):
    write_files(tmp_path / "photos", {"c/1.jpg": picture(1), "c/2.jpg": picture(2, height=40, width=50)})
    report = images(tmp_path / "photos", tmp_path / "out", encoding="raw", max_image=5999)
    assert report.bad == {"larger than the limit": 1}
    assert report.listed[0].detail == "40 x 50 pixels are 6000 bytes"


def test_cmyk_photos_are_decoded(tmp_path):
    one = built(tmp_path, {"c/1": picture(1, "JPEG", "CMYK")}, encoding="raw")["c/1"]
    assert (one["image/channels"], len(one["image/encoded"])) == (3, 12 * 16 * 3)


@pytest.mark.parametrize("encoding", ["raw", "jpeg"])
def test_cmyk_photos_become_gray_by_way_of_rgb(tmp_path, encoding):
    content = picture(1, "JPEG", "CMYK")
    one = built(tmp_path, {"c/1": content}, encoding=encoding, channels=1)["c/1"]
    gray = np.asarray(rgb_to_grayscale(decode_jpeg(content, channels=3, dct_method="INTEGER_ACCURATE")))
    assert one["image/encoded"] == (gray.tobytes() if encoding == "raw" else encode_jpeg(gray, quality=95))
    by_pillow = np.asarray(Image.fromarray(opened(content)).convert("L"))
    assert (
        np.abs(gray[:, :, 0].astype(int) - by_pillow).max() <= 2
    )  # they multiply C, M and Y by K in other roundings
    assert one["image/channels"] == 1


def test_images_with_too_many_pixels_are_not_decoded(tmp_path):
    claims = bytearray(picture(1, "PNG"))
    claims[16:24] = (60_000).to_bytes(4, "big") * 2
    write_files(tmp_path / "photos", {"c/1.png": bytes(claims), "c/2.png": picture(2, "PNG")})
    report = images(tmp_path / "photos", tmp_path / "out", check=True)
    assert report.bad == {"too many pixels": 1}
    assert report.listed[0].detail.startswith("60000 x 60000 pixels are 10800000000 bytes")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "8"}, "size='8': expected HEIGHTxWIDTH, such as 224x224"),
        ({"size": (0, 4)}, "size=(0, 4): expected at least 1"),
        ({"size": "4x4", "max_side": 3}, "expected either size or max_side, and not both"),
        ({"size": "4x4", "encoding": "keep"}, "size='4x4' has no effect with encoding 'keep'"),
        ({"quality": 80, "encoding": "raw"}, "quality=80 has no effect with encoding 'raw'"),
        ({"quality": 101}, "Expected a whole number from 0 to 100 for quality (--quality) but got 101."),
        ({"max_side": 0}, "Expected a whole number of at least 1 for max_side (--max-side) but got 0."),
        (
            {"order": "bgr"},
            "order='bgr' is for raw pixels of 3 channels: pass encoding='raw' (--encoding raw).",
        ),
        (
            {"order": "bgr", "encoding": "raw", "channels": 1},
            "order='bgr' is for raw pixels of 3 channels: leave out channels=1.",
        ),
        (
            {"encoding": "png"},
            "Expected one of 'keep', 'jpeg', 'raw' for encoding (--encoding) but got 'png'.",
        ),
        ({"encoding": "raw", "channels": 2}, "channels=2: expected 1 or 3"),
        ({"duplicates": "drop"}, "Expected one of 'note', 'skip', 'raise', 'keep' for duplicates"),
        ({"zip_encoding": "klingon"}, "zip_encoding='klingon': expected the name of an encoding"),
        ({"shards": 2, "shard_size": 100}, "Expected either a number of shards or a size"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(tmp_path, options, message):
    with pytest.raises(InvalidArgumentError) as caught:
        images(tmp_path / "not there", tmp_path / "out", **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("option", OPTIONS)
def test_decoding_without_the_extra_says_so_before_anything_is_read(tmp_path, monkeypatch, option):
    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    value = {"check": True, "size": "4x4", "quality": 80, "max_side": 4}
    options = {option: value[option]} if option in value else {"encoding": "raw"}
    with pytest.raises(MissingExtraError, match=r"pip install 'tfrkit\[images\]'"):
        images(tmp_path / "not there", tmp_path / "out", **options)


def test_files_that_are_kept_need_no_extra(tmp_path, monkeypatch):
    files = {f"c/{kind}": picture(1, kind) for kind in FORMATS}
    write_files(tmp_path / "photos", files)
    for name in ("PIL", "PIL.Image", "PIL.ImageFile", "simplejpeg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert images(tmp_path / "photos", tmp_path / "out").records == 5
