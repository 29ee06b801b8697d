"""encode_jpeg and kin, extract_jpeg_shape and is_jpeg in TensorFlow and in tfrkit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.oracle.support.jpeg_compare import both
from tests.oracle.support.jpeg_files import jpeg, picture
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.tf_scenarios import same_lines
from tests.support.rules import tf_rule
from tfrkit.images.codecs.jpeg.jpeg_encode import encode_jpeg_variable_quality

ENCODE = {"function": "encode_jpeg"}
SHAPE = {"function": "extract_jpeg_shape"}
PIXELS = picture(37, 53, 3, 0)


@tf_rule("6 encode_jpeg bytes")
@pytest.mark.parametrize("channels", [1, 3])
def test_bytes(channels):
    chosen = random.Random(channels)
    for seed in range(80):
        height, width = chosen.choice([1, 2, 7, 8, 17, 50]), chosen.choice([1, 3, 8, 16, 33, 64])
        noise = np.random.default_rng(seed).integers(0, 256, (height, width, channels), np.uint8)
        found = both(
            noise if seed % 2 else picture(height, width, channels, seed),
            quality=chosen.choice([0, 1, 10, 25, 50, 75, 95, 99, 100]),
            progressive=chosen.random() < 0.3,
            optimize_size=chosen.random() < 0.3,
            chroma_downsampling=chosen.random() < 0.6,
            density_unit=chosen.choice(["in", "cm"]),
            x_density=chosen.choice([300, 0, 72, -1, 70_000]),
            y_density=chosen.choice([300, 1]),
            xmp_metadata=chosen.choice(["", "", "abc", "\0é"]),
            what=(seed, height, width),
            **ENCODE,
        )
        assert not isinstance(found, Failure)


@tf_rule("6 encode_jpeg bytes")
@pytest.mark.parametrize("progressive", [False, True])
def test_bytes_of_large_noise(progressive):
    noise = np.random.default_rng(1).integers(0, 256, (300, 400, 3), np.uint8)
    both(noise, quality=100, progressive=progressive, optimize_size=True, chroma_downsampling=False, **ENCODE)


@tf_rule("6 encode_jpeg image")
@pytest.mark.parametrize(
    ("image", "message"),
    [
        (PIXELS[..., 0], "image must be 3-dimensional[37,53]"),
        (PIXELS[None], "image must be 3-dimensional[1,37,53,3]"),
        (5, "image must be 3-dimensional[]"),
        (PIXELS[..., :2], "image must have 1 or 3 channels, got [37,53,2]"),
        (np.zeros((3, 4, 4), np.uint8), "image must have 1 or 3 channels, got [3,4,4]"),
        (np.zeros((0, 4, 3), np.uint8), "JPEG encoding failed"),
        (np.zeros((1, 65_501, 1), np.uint8), "JPEG encoding failed"),
        ([[[1.0, 2, 3]]], "Cannot convert [[[1.0, 2, 3]]] to EagerTensor of dtype uint8"),
        ([[[True]]], "Cannot convert [[[True]]] to EagerTensor of dtype uint8"),
        ("a", "Cannot convert 'a' to EagerTensor of dtype uint8"),
        (
            None,
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
        ),
    ],
    ids=["2-D", "4-D", "scalar", "two", "four", "empty", "wide", "floats", "bools", "text", "None"],
)
def test_wrong_images(image, message):
    assert both(image, **ENCODE).message == message


@tf_rule("6 encode_jpeg image")
@pytest.mark.parametrize(
    "image",
    [
        PIXELS.astype(np.float32) + 0.9,
        PIXELS.astype(np.int32) * 3 - 50,
        PIXELS > 100,
        PIXELS[::-1, ::2],
        [[[1, 2, 3]]],
        [[[300, -1, 2]]],
    ],
    ids=["float", "int", "bool", "strided", "list", "wrapped"],
)
def test_images_that_are_converted(image):
    assert not isinstance(both(image, **ENCODE), Failure)


@tf_rule("6 encode_jpeg arguments")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "grayscale"}, "format grayscale expects 1 channels, got [37,53,3]"),
        ({"format": "x"}, "Value for attr 'format' of \"x\" is not in the list of allowed values"),
        ({"density_unit": ""}, "Value for attr 'density_unit' of \"\" is not in the list of allowed values"),
        ({"quality": 101}, "quality must be in [0,100], got 101"),
        ({"quality": -1}, "quality must be in [0,100], got -1"),
        ({"quality": "a"}, "Expected int for argument 'quality' not 'a'."),
        ({"progressive": 1}, "Expected bool for argument 'progressive' not 1."),
        ({"xmp_metadata": 5}, "Expected string for argument 'xmp_metadata' not 5."),
        ({"xmp_metadata": "a" * 65_505}, "JPEG encoding failed"),
    ],
    ids=[*"012345678"],
)
def test_wrong_arguments(options, message):
    assert both(PIXELS, **options, **ENCODE).message.startswith(message)


@tf_rule("6 encode_jpeg arguments")
@pytest.mark.parametrize(
    "options",
    [{"format": "rgb"}, {"format": None}, {"quality": 50.7}, {"xmp_metadata": "a" * 65_504}],
    ids=[*"0123"],
)
def test_right_arguments(options):
    assert not isinstance(both(PIXELS, **options, **ENCODE), Failure)


@tf_rule("6 encode_jpeg_variable_quality")
@pytest.mark.parametrize("quality", [0, 30, np.int64(100)])
def test_variable_quality(quality):
    theirs = tensorflow().raw_ops.EncodeJpegVariableQuality(images=PIXELS, quality=quality).numpy()
    assert encode_jpeg_variable_quality(PIXELS, quality) == theirs


@tf_rule("6 adjust_jpeg_quality")
def test_adjust_quality():
    same_lines(
        """
        tf.image.adjust_jpeg_quality(pixels, 50)
        tf.image.adjust_jpeg_quality(pixels, tf.constant(0))
        tf.image.adjust_jpeg_quality(pixels, 50, dct_method="INTEGER_ACCURATE")
        tf.image.adjust_jpeg_quality(pixels[..., :1], 50)
        tf.image.adjust_jpeg_quality(pixels.astype("float32") / 255, 20)
        tf.image.adjust_jpeg_quality(pixels.astype("float64") / 255, 20)
        tf.image.adjust_jpeg_quality(pixels.astype("uint16") * 250, 20)
        tf.image.adjust_jpeg_quality(pixels, 101)
        tf.image.adjust_jpeg_quality(pixels, [50])
        tf.image.adjust_jpeg_quality(pixels, 50.5)
        tf.image.adjust_jpeg_quality(pixels[None], 50)
        tf.image.adjust_jpeg_quality(pixels[..., :2], 50)
        """,
        pixels=PIXELS,
    )


@tf_rule("6 extract_jpeg_shape")
def test_shape():
    contents = jpeg(37, 53)
    assert both(contents, **SHAPE).tolist() == [37, 53, 3]
    assert both(contents, "int64", **SHAPE).dtype == np.int64
    assert both(jpeg(9, 7, "CMYK"), **SHAPE).tolist() == [9, 7, 4]
    assert both(contents[:-1], **SHAPE).tolist() == [37, 53, 3]
    assert both([contents], **SHAPE).message == "contents must be scalar, got shape [1]"
    assert both(b"", **SHAPE).message == "Invalid JPEG data, size 0"
    assert both(b"abc" + contents, **SHAPE).message == f"Invalid JPEG data, size {len(contents) + 3}"
    assert both(contents.replace(b"\xff\xc0", b"\xff\xc3"), **SHAPE).name == "InvalidArgumentError"
    for size in range(0, contents.index(b"\xff\xda") + 14, 9):
        assert both(contents[:size], **SHAPE).message == f"Invalid JPEG data, size {size}"


@tf_rule("6 extract_jpeg_shape")
@pytest.mark.parametrize("dtype", ["uint8", "x", np.float32])
def test_types_of_the_shape(dtype):
    assert isinstance(both(jpeg(9, 7), dtype, **SHAPE), Failure)


@tf_rule("6 is_jpeg")
def test_is_jpeg():
    same_lines(
        """
        tf.io.is_jpeg(contents)
        tf.io.is_jpeg(b"")
        tf.io.is_jpeg(contents[:3])
        tf.io.is_jpeg(contents[:2])
        tf.io.is_jpeg([[contents, b"GIF8"], ["", "text"]])
        tf.io.is_jpeg(np.array([contents, b"a"], object))
        tf.io.is_jpeg(5)
        tf.io.is_jpeg(None)
        """,
        contents=jpeg(9, 7),
    )
