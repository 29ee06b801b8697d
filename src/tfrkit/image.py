"""Images: decoding and encoding, resizing, cropping, colours, and random changes, as in `tf.image`.

Every function takes and returns numpy arrays, and does what TensorFlow's function of the same name does. A function is
imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tfrkit.model.near_names import missing_name

if TYPE_CHECKING:  # the same names as in _EXPORTS, for type checkers and editors
    from tfrkit.images.adjust import (
        adjust_brightness,
        adjust_contrast,
        adjust_gamma,
        adjust_hue,
        adjust_saturation,
    )
    from tfrkit.images.boxes import crop_and_resize, draw_bounding_boxes
    from tfrkit.images.codecs.decode_image import decode_bmp, decode_gif, decode_image, decode_webp
    from tfrkit.images.codecs.jpeg.jpeg import decode_and_crop_jpeg, decode_jpeg, extract_jpeg_shape, is_jpeg
    from tfrkit.images.codecs.jpeg.jpeg_encode import adjust_jpeg_quality, encode_jpeg
    from tfrkit.images.codecs.png.png import decode_png, encode_png
    from tfrkit.images.color import (
        grayscale_to_rgb,
        hsv_to_rgb,
        rgb_to_grayscale,
        rgb_to_hsv,
        rgb_to_yiq,
        rgb_to_yuv,
        yiq_to_rgb,
        yuv_to_rgb,
    )
    from tfrkit.images.crop import central_crop, crop_to_bounding_box, pad_to_bounding_box
    from tfrkit.images.dtype import convert_image_dtype, per_image_standardization
    from tfrkit.images.flip import flip_left_right, flip_up_down, rot90, transpose
    from tfrkit.images.random import (
        random_brightness,
        random_contrast,
        random_crop,
        random_flip_left_right,
        random_flip_up_down,
        random_hue,
        random_saturation,
        stateless_random_brightness,
        stateless_random_contrast,
        stateless_random_crop,
        stateless_random_flip_left_right,
        stateless_random_flip_up_down,
        stateless_random_hue,
        stateless_random_saturation,
    )
    from tfrkit.images.random_jpeg import random_jpeg_quality, stateless_random_jpeg_quality
    from tfrkit.images.resize.resize import ResizeMethod, resize
    from tfrkit.images.resize.resize_fit import resize_with_crop_or_pad, resize_with_pad
    from tfrkit.images.sample_boxes import (
        sample_distorted_bounding_box,
        stateless_sample_distorted_bounding_box,
    )

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_jpeg_quality",
    "adjust_saturation",
    "central_crop",
    "convert_image_dtype",
    "crop_and_resize",
    "crop_to_bounding_box",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "draw_bounding_boxes",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "is_jpeg",
    "pad_to_bounding_box",
    "per_image_standardization",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_jpeg_quality",
    "random_saturation",
    "resize",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "rot90",
    "sample_distorted_bounding_box",
    "stateless_random_brightness",
    "stateless_random_contrast",
    "stateless_random_crop",
    "stateless_random_flip_left_right",
    "stateless_random_flip_up_down",
    "stateless_random_hue",
    "stateless_random_jpeg_quality",
    "stateless_random_saturation",
    "stateless_sample_distorted_bounding_box",
    "transpose",
    "yiq_to_rgb",
    "yuv_to_rgb",
]

# The modules of `tfrkit.images`, with the functions that each has.
_EXPORTS = {
    "boxes": "crop_and_resize draw_bounding_boxes",
    "sample_boxes": "sample_distorted_bounding_box stateless_sample_distorted_bounding_box",
    "random_jpeg": "random_jpeg_quality stateless_random_jpeg_quality",
    "codecs.decode_image": "decode_bmp decode_gif decode_image decode_webp",
    "adjust": "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation",
    "color": (
        "grayscale_to_rgb hsv_to_rgb rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb"
    ),
    "crop": "central_crop crop_to_bounding_box pad_to_bounding_box",
    "dtype": "convert_image_dtype per_image_standardization",
    "random": (
        "random_brightness random_contrast random_crop random_flip_left_right random_flip_up_down random_hue "
        "random_saturation stateless_random_brightness stateless_random_contrast stateless_random_crop "
        "stateless_random_flip_left_right stateless_random_flip_up_down stateless_random_hue "
        "stateless_random_saturation"
    ),
    "flip": "flip_left_right flip_up_down rot90 transpose",
    "codecs.png.png": "decode_png encode_png",
    "codecs.jpeg.jpeg": "decode_and_crop_jpeg decode_jpeg extract_jpeg_shape is_jpeg",
    "codecs.jpeg.jpeg_encode": "adjust_jpeg_quality encode_jpeg",
    "resize.resize": "ResizeMethod resize",
    "resize.resize_fit": "resize_with_crop_or_pad resize_with_pad",
}
MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names.split()}  # also tf.image


if not TYPE_CHECKING:  # a type checker reports names that are not there itself

    def __getattr__(name: str) -> object:
        module = MODULE_OF.get(name)
        if module is None:
            raise missing_name("tfrkit.image", name, __all__)
        value: object = getattr(importlib.import_module(f"tfrkit.images.{module}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
