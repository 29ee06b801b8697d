"""decode_jpeg in TensorFlow and in tfrkit: sound files, and arguments."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pytest
import skimage
import sklearn
from PIL import Image

import tfrkit.image
from tests.oracle.support.jpeg_compare import attempt, both
from tests.oracle.support.jpeg_files import SIZES, any_jpeg, jpeg, picture
from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import same, same_lines
from tests.support.rules import tf_rule

PHOTOS = [
    *(Path(sklearn.__file__).parent / "datasets" / "images").glob("*.jpg"),
    *(Path(skimage.__file__).parent / "data").glob("*.jpg"),
]
INVALID = "jpeg::Uncompress failed. Invalid JPEG data or crop window."


@tf_rule("6 decode_jpeg pixels")
@pytest.mark.parametrize("height", SIZES)
def test_sizes(height):
    for width in SIZES:
        subsampling = ("4:2:0", "4:2:2", "4:4:4")[(height + width) % 3]
        found = both(jpeg(height, width, subsampling=subsampling), what=(width, subsampling))
        assert found.shape == (height, width, 3)


@tf_rule("6 decode_jpeg pixels")
@pytest.mark.parametrize("photo", PHOTOS, ids=lambda path: path.stem)
def test_photos(photo):
    contents = photo.read_bytes()
    whole = both(contents)
    assert whole.size > 400_000
    both(contents, ratio=2, dct_method="INTEGER_ACCURATE")
    both(contents, ratio=8, channels=1, fancy_upscaling=False)
    both(contents, [33, 64, 100, 151], function="decode_and_crop_jpeg")


@tf_rule("6 decode_jpeg options")
@pytest.mark.parametrize("seed", range(5))
def test_any_options(seed):
    chosen = random.Random(seed)
    for _ in range(60):
        contents, what = any_jpeg(chosen)
        both(
            contents,
            what=what,
            channels=chosen.choice([0, 0, 1, 3]),
            ratio=chosen.choice([1, 1, 2, 4, 8]),
            fancy_upscaling=chosen.random() < 0.6,
            dct_method=chosen.choice(["", "INTEGER_FAST", "INTEGER_ACCURATE"]),
        )


@tf_rule("6 decode_jpeg ratio")
@pytest.mark.parametrize("ratio", [2, 4, 8])
def test_ratio_of_tiny_images(ratio):
    for height in range(1, 9):
        for width in (1, 2, 3, 5, 8):
            for options in ({"subsampling": "4:2:0"}, {"subsampling": "4:2:2"}, {"subsampling": "4:4:4"}):
                found = both(jpeg(height, width, **options), ratio=ratio)
                assert found.shape == (-(-height // ratio), -(-width // ratio), 3)
            both(jpeg(height, width, "L"), ratio=ratio)


@tf_rule("6 decode_jpeg orientation")
def test_orientation_is_ignored():
    contents, turned = (
        jpeg(8, 16),
        jpeg(8, 16, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"),
    )
    assert np.array_equal(both(turned), both(contents))


@tf_rule("6 decode_jpeg trailing data")
def test_bytes_behind_the_image_are_ignored():
    contents = jpeg(9, 7)
    assert np.array_equal(both(contents + b"anything" + contents), both(contents))


@tf_rule("6 decode_jpeg contents")
def test_contents_that_are_no_image():
    contents = jpeg(9, 7)
    unknown = "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
    assert both(b"").message == "Input is empty."
    assert both(b"\0" + contents).message == unknown
    assert both(b"abc").message == unknown
    assert both([contents]).message == "`contents` must be scalar but got shape[1]"
    assert both(np.zeros((2, 0), object)).message == "`contents` must be scalar but got shape[2,0]"
    assert both(b"\xff\xd8\xff").message == INVALID
    assert both(5) == Failure("TypeError", "Cannot convert 5 to EagerTensor of dtype string")
    assert both(None).name == "ValueError"
    assert np.array_equal(both(np.array(contents, object)), both(contents))


@tf_rule("6 decode_jpeg other formats")
@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "WEBP"])
def test_other_formats(kind):
    file = io.BytesIO()
    Image.fromarray(picture(9, 7, 3, 1)).save(file, kind, lossless=True)
    for options in ({}, {"channels": 1}, {"channels": 3}, {"channels": 4}, {"ratio": 2}, {"ratio": 3}):
        both(file.getvalue(), what=kind, **options)
        both(file.getvalue(), [0, 0, 2, 2], function="decode_and_crop_jpeg", what=kind, **options)
    both(file.getvalue(), function="extract_jpeg_shape")


@tf_rule("6 decode_jpeg arguments")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": 2}, "`channels` must be 0, 1, 3 or 4 but got 2"),
        ({"channels": 4}, "JPEG does not support 4 channels"),
        ({"channels": -1, "ratio": 3}, "ratio must be 1, 2, 4, or 8, got 3"),
        ({"channels": 2**40}, "Attr channels has value 1099511627776 out of range for an int32"),
        ({"ratio": 0, "dct_method": "x"}, "ratio must be 1, 2, 4, or 8, got 0"),
        (
            {"channels": 2, "dct_method": "x"},
            "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}",
        ),
        ({"channels": "3"}, "Expected int for argument 'channels' not '3'."),
        ({"channels": [3]}, "Expected int for argument 'channels' not [3]."),
        ({"ratio": "b"}, "Expected int for argument 'ratio' not 'b'."),
        ({"fancy_upscaling": 1}, "Expected bool for argument 'fancy_upscaling' not 1."),
        ({"try_recover_truncated": "x"}, "Expected bool for argument 'try_recover_truncated' not 'x'."),
        ({"acceptable_fraction": b"1"}, "Expected float for argument 'acceptable_fraction' not b'1'."),
        ({"dct_method": 5}, "Expected string for argument 'dct_method' not 5."),
    ],
    ids=str,
)
def test_wrong_arguments(options, message):
    assert both(jpeg(9, 7), **options).message == message


@tf_rule("6 decode_jpeg arguments")
@pytest.mark.parametrize(
    "options",
    [
        {"channels": 1.7},
        {"channels": np.int64(1)},
        {"channels": b"1"},
        {"channels": True},
        {"ratio": 2.0},
        {"acceptable_fraction": float("nan")},
        {"acceptable_fraction": -1},
        {"dct_method": b"INTEGER_FAST"},
        dict.fromkeys(
            [
                "channels",
                "ratio",
                "fancy_upscaling",
                "try_recover_truncated",
                "acceptable_fraction",
                "dct_method",
            ]
        ),
    ],
    ids=str,
)
def test_arguments_that_are_converted(options):
    assert not isinstance(both(jpeg(9, 7), **options), Failure)


@tf_rule("6 decode_jpeg names")
def test_names():
    contents = jpeg(9, 7)
    same(lambda tf: tf.io.decode_jpeg(tf.constant(contents), name="x"))
    same_lines(
        """
        tf.image.decode_jpeg(contents, 1, 2)
        tf.compat.v1.image.decode_jpeg(contents)
        tf.io.decode_and_crop_jpeg(contents, tf.constant([0, 0, 3, 3]), channels=3)
        tf.image.decode_and_crop_jpeg(contents, [0, 0, 3, 3])
        tf.io.extract_jpeg_shape(contents, output_type=tf.int64)
        tf.image.extract_jpeg_shape(contents)
        tf.io.is_jpeg([contents, b"x"])
        tf.image.is_jpeg(contents)
        tf.io.encode_jpeg(tf.zeros([3, 4, 3], tf.uint8), quality=50)
        tf.image.encode_jpeg(tf.io.decode_jpeg(contents))
        tf.image.adjust_jpeg_quality(tf.io.decode_jpeg(contents), 30)
        """,
        contents=contents,
    )


def test_no_argument_is_changed():
    contents = bytearray(jpeg(9, 7))
    before = bytes(contents)
    assert np.array_equal(
        tfrkit.image.decode_jpeg(contents), attempt(lambda: tfrkit.image.decode_jpeg(before))
    )
    assert bytes(contents) == before
