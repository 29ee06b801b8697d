"""Errors of images say what was given after TensorFlow's text, and what to do where that is not plain."""

from __future__ import annotations

import numpy as np
import pytest

from tfrkit import image
from tfrkit.errors import OutOfRangeError

ONE = np.zeros((1, 4, 5, 3), np.float32)
JPEG = image.encode_jpeg(np.zeros((4, 5, 3), np.uint8))
GIF = b"GIF89a" + bytes(20)
BMP = b"BM" + bytes(60)


def cropped(**changes):
    given = {"image": ONE, "boxes": [[0, 0, 1, 1]], "box_indices": [0], "crop_size": [2, 2], **changes}
    return image.crop_and_resize(**given)


def drawn(images=ONE, boxes=((((0, 0, 1, 1),),))):
    return image.draw_bounding_boxes(images, boxes, None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: image.adjust_gamma(ONE, -1), "Gamma should be a non-negative real number. Got -1."),
        (lambda: image.adjust_hue(ONE, 2.5), "delta must be in the interval [-1, 1], got 2.5"),
        (
            lambda: image.grayscale_to_rgb(ONE),
            "Last dimension of a grayscale image should be size 1. Got shape (1, 4, 5, 3).",
        ),
        (lambda: image.central_crop(ONE, 1.5), "central_fraction must be within (0, 1], got 1.5"),
        (
            lambda: image.central_crop(ONE, "half"),
            "'<=' not supported between instances of 'str' and 'float': central_fraction must be a number, got 'half'",
        ),
        (
            lambda: image.pad_to_bounding_box(ONE, 1, 2, 9, 6),
            "width must be <= target - offset: 5 > 6 - 2",
        ),
        (
            lambda: image.pad_to_bounding_box(ONE, 1, 2, 4, 9),
            "height must be <= target - offset: 4 > 4 - 1",
        ),
        (
            lambda: image.convert_image_dtype(ONE, bool),
            "dtype must be either floating point or integer, got bool",
        ),
        (
            lambda: image.convert_image_dtype(ONE > 0, "uint8"),
            "image dtype must be either floating point or integer, got bool",
        ),
        (lambda: image.rot90(ONE, [1]), "Shape (1,) must have rank 0: k is one number, of quarter turns"),
        (lambda: image.random_brightness(ONE, -1), "max_delta must be non-negative. Got -1."),
        (lambda: image.random_hue(ONE, 0.6), "max_delta must be <= 0.5. Got 0.6."),
        (lambda: image.random_contrast(ONE, 2, 1), "upper must be > lower. Got lower=2 and upper=1."),
        (lambda: image.random_saturation(ONE, -2, 1), "lower must be non-negative. Got -2."),
        (
            lambda: image.random_jpeg_quality(ONE[0], 10, 120),
            "jpeg encoding range must be between 0 and 100. Got 10 to 120.",
        ),
        (
            lambda: image.random_jpeg_quality(ONE[0], 60, 50),
            "`min_jpeg_quality` must be less than `max_jpeg_quality`. Got 60 and 50.",
        ),
        (
            lambda: image.resize(ONE[0, 0], (2, 2)),
            "'images' must have either 3 or 4 dimensions. Got shape (5, 3).",
        ),
        (
            lambda: image.resize(ONE, 224),
            "'size' must be a 1-D Tensor of 2 elements: new_height, new_width; got 224",
        ),
        (lambda: image.resize(ONE, (2.5, 2)), "'size' must be a 1-D int32 Tensor: got (2.5, 2)"),
        (lambda: image.resize(ONE, (0, 7)), "output dimensions must be positive, got 0 x 7"),
        (
            lambda: image.resize(ONE, (2, 2), "bilnear"),
            "Resize method is not implemented: bilnear. Did you mean 'bilinear'?",
        ),
        (
            lambda: image.resize(ONE[:, :0], (2, 2)),
            "input image must be of non-zero size, got shape (1, 0, 5, 3)",
        ),
        (
            lambda: image.resize(ONE[..., :0], (2, 2)),
            "image must have at least one channel, got shape (1, 4, 5, 0)",
        ),
        (
            lambda: cropped(boxes=[[0, 1, 1]]),
            "boxes must have 4 columns, y1, x1, y2 and x2: got shape [1,3]",
        ),
        (
            lambda: cropped(box_indices=[0, 0]),
            "box_index has incompatible shape [2]: expected [1], one for each box",
        ),
        (lambda: cropped(crop_size=[0, 3]), "crop dimensions must be positive, got crop_size [0, 3]"),
        (
            lambda: cropped(box_indices=[2]),
            "box_index has values outside [0, batch_size): got 2, the batch has 1",
        ),
        (lambda: cropped(image=ONE[:, :0]), "image dimensions must be positive, got shape [1,0,5,3]"),
        (lambda: drawn(ONE[0]), "The rank of the images should be 4, got shape [4,5,3]"),
        (lambda: drawn(boxes=[[0, 0, 1, 1]]), "The rank of the boxes tensor should be 3, got shape [1,4]"),
        (lambda: drawn(ONE[:0]), "The batch sizes should be the same: 0 images, boxes of 1"),
        (
            lambda: drawn(ONE[..., :2]),
            "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got 2",
        ),
        (
            lambda: image.sample_distorted_bounding_box([4, 5, 3], [[[0, 0, 1, 1]]], 1, area_range=[0.5]),
            "Area range field must specify 2 dimensions, got [0.5]",
        ),
    ],
)
def test_what_was_given_is_said(call, message):
    with pytest.raises((ValueError, TypeError, AttributeError, OutOfRangeError)) as caught:
        call()
    assert str(getattr(caught.value, "message", caught.value)) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: image.decode_jpeg(JPEG, channels=4),
            "JPEG does not support 4 channels: pass channels=0, 1 or 3",
        ),
        (
            lambda: image.decode_jpeg(JPEG, dct_method="FAST"),
            "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}, got 'FAST'",
        ),
        (
            lambda: image.decode_and_crop_jpeg(JPEG, [0, 0, 2]),
            "crop_size must have four elements [3]: y, x, height, width",
        ),
        (
            lambda: image.decode_and_crop_jpeg(GIF, [0, 0, 2, 2]),
            (
                "DecodeAndCropJpeg operation can run on JPEG only, but detected GIF. Use `decode_gif` or "
                "`decode_image`, and crop the result."
            ),
        ),
        (
            lambda: image.decode_and_crop_jpeg(BMP, [0, 0, 2, 2]),
            (
                "DecodeAndCropJpeg operation can run on JPEG only, but detected BMP. Use `decode_bmp` or "
                "`decode_image`, and crop the result."
            ),
        ),
        (
            lambda: image.decode_webp(GIF),
            "Bad op type DecodeWebP: the file is a GIF. Use `decode_gif` or `decode_image`.",
        ),
        (
            lambda: image.extract_jpeg_shape(GIF),
            "Invalid JPEG data, size 26: it looks like a GIF image",
        ),
        (
            lambda: image.extract_jpeg_shape(JPEG[:9]),
            "Invalid JPEG data, size 9: it is cut or damaged before its pixels begin",
        ),
        (
            lambda: image.extract_jpeg_shape(bytes.fromhex("ffd8 ffc3 000b 08 0010 0020 01 01 11 00")),
            "Invalid JPEG data, size 15: its coding (marker 0xffc3, 8 bits) is not one that TensorFlow decodes",
        ),
    ],
)
def test_what_can_be_done_about_a_file_is_said(call, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        call()
    assert str(getattr(caught.value, "message", caught.value)) == message
