"""decode_and_crop_jpeg in TensorFlow and in tfrkit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.oracle.support.jpeg_compare import both, is_unimplemented
from tests.oracle.support.jpeg_files import jpeg
from tests.oracle.support.jpeg_writer import Layout, write
from tests.oracle.support.oracle import Failure
from tests.support.rules import tf_rule

CROP = {"function": "decode_and_crop_jpeg"}
INVALID = "jpeg::Uncompress failed. Invalid JPEG data or crop window."


def window(chosen: random.Random, height: int, width: int) -> list[int]:
    """Any part of an image."""
    top, left = chosen.randrange(height), chosen.randrange(width)
    return [
        top,
        left,
        chosen.randint(1, height - top),
        chosen.randint(1, min(chosen.choice([3, width]), width - left)),
    ]


@tf_rule("6 decode_and_crop_jpeg pixels")
@pytest.mark.parametrize("kind", ["4:2:0", "4:2:2", "4:4:4", "L", "CMYK", "4:4:0", "4:1:1"])
def test_any_window(kind):
    chosen = random.Random(kind)
    for seed in range(40):
        height, width = chosen.choice([5, 40, 67]), chosen.choice([1, 4, 5, 9, 33, 93])
        if kind in ("4:4:0", "4:1:1"):
            samplings = ((1, 2) if kind == "4:4:0" else (4, 1), (1, 1), (1, 1))
            contents = write(Layout(height, width, samplings), seed)
        else:
            mode = "RGB" if kind.startswith("4") else kind
            options = {"subsampling": kind} if mode == "RGB" else {}
            contents = jpeg(height, width, mode, seed, progressive=seed % 4 == 0, **options)
        ratio = chosen.choice([1, 1, 2, 4, 8])
        found = both(
            contents,
            window(chosen, -(-height // ratio), -(-width // ratio)),
            what=(height, width),
            ratio=ratio,
            fancy_upscaling=chosen.random() < 0.8,
            dct_method=chosen.choice(["", "INTEGER_ACCURATE"]),
            channels=chosen.choice([0, 0, 1, 3]),
            **CROP,
        )
        assert not is_unimplemented(found)


@tf_rule("6 decode_and_crop_jpeg sides")
def test_sides_differ_from_the_whole_image():
    contents = jpeg(40, 64)
    whole, part = both(contents), both(contents, [0, 16, 40, 32], **CROP)
    assert np.array_equal(part[:, 1:-1], whole[:, 17:47])
    assert not np.array_equal(part, whole[:, 16:48])


@tf_rule("6 decode_and_crop_jpeg window")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0, 0, 0, 1], INVALID),
        ([-1, 0, 3, 3], INVALID),
        ([0, 0, 38, 53], INVALID),
        ([0, 0, 2**31 - 1, 2], INVALID),
        (np.array([2**31, 0, 3, 3]), INVALID),
        ([0, 0, 1], "crop_size must have four elements [3]"),
        ([], "crop_size must have four elements [0]"),
        ([[0, 0, 1, 1]], "crop_window must be 1-D, got shape [1,4]"),
        (5, "crop_window must be 1-D, got shape []"),
        ([0.0, 0, 3, 3], "Cannot convert [0.0, 0, 3, 3] to EagerTensor of dtype int32"),
        (["0", 0, 1, 1], "Can't convert Python sequence with mixed types to Tensor."),
        (
            None,
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
        ),
    ],
    ids=str,
)
def test_wrong_windows(given, message):
    assert both(jpeg(37, 53), given, **CROP).message == message


@tf_rule("6 decode_and_crop_jpeg window")
@pytest.mark.parametrize(
    "given",
    [np.array([0.9, 0, 3, 3]), np.array([0, 1, 3, 3], np.uint8), (0, 0, 3, 3), [True, False, True, True]],
    ids=str,
)
def test_windows_that_are_converted(given):
    assert not isinstance(both(jpeg(37, 53), given, **CROP), Failure)


@tf_rule("6 decode_and_crop_jpeg arguments")
def test_order_of_checks():
    contents = jpeg(9, 7)
    assert both(contents, [1], ratio=3, **CROP).message == "ratio must be 1, 2, 4, or 8, got 3"
    assert both(b"", [1], **CROP).message == "Input is empty."
    assert both([contents], [1], **CROP).message == "`contents` must be scalar but got shape[1]"
    assert both(contents, [1], channels=4, **CROP).message == "JPEG does not support 4 channels"
    assert both(contents[:-30], [0, 0, 99, 1], **CROP).message == INVALID
