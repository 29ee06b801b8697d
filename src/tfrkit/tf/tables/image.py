"""Images but for codecs and resizing: TensorFlow's names in tf.image."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry

NAMES: Final[dict[str, Entry]] = {
    "image.adjust_brightness": "ops.image_adjust:adjust_brightness",
    "image.adjust_contrast": "ops.image_adjust:adjust_contrast",
    "image.adjust_gamma": "ops.image_adjust:adjust_gamma",
    "image.adjust_hue": "ops.image_adjust:adjust_hue",
    "image.adjust_saturation": "ops.image_adjust:adjust_saturation",
    "image.central_crop": "ops.image_crop:central_crop",
    "image.convert_image_dtype": "ops.image_dtype:convert_image_dtype",
    "image.crop_to_bounding_box": "ops.image_crop:crop_to_bounding_box",
    "image.flip_left_right": "ops.image_flip:flip_left_right",
    "image.flip_up_down": "ops.image_flip:flip_up_down",
    "image.grayscale_to_rgb": "ops.image_color:grayscale_to_rgb",
    "image.hsv_to_rgb": "ops.image_color:hsv_to_rgb",
    "image.pad_to_bounding_box": "ops.image_crop:pad_to_bounding_box",
    "image.per_image_standardization": "ops.image_dtype:per_image_standardization",
    "image.rgb_to_grayscale": "ops.image_color:rgb_to_grayscale",
    "image.rgb_to_hsv": "ops.image_color:rgb_to_hsv",
    "image.rgb_to_yiq": "ops.image_color:rgb_to_yiq",
    "image.rgb_to_yuv": "ops.image_color:rgb_to_yuv",
    "image.rot90": "ops.image_flip:rot90",
    "image.total_variation": "ops.image_adjust:total_variation",
    "image.transpose compat.v1.image.transpose_image": "ops.image_flip:transpose",
    "image.yiq_to_rgb": "ops.image_color:yiq_to_rgb",
    "image.yuv_to_rgb": "ops.image_color:yuv_to_rgb",
    "image.random_brightness": "ops.image_random:random_brightness",
    "image.random_contrast": "ops.image_random:random_contrast",
    "image.random_crop compat.v1.random_crop": "ops.image_random:random_crop",
    "image.random_flip_left_right": "ops.image_random:random_flip_left_right",
    "image.random_flip_up_down": "ops.image_random:random_flip_up_down",
    "image.random_hue": "ops.image_random:random_hue",
    "image.random_saturation": "ops.image_random:random_saturation",
    "image.stateless_random_brightness": "ops.image_random:stateless_random_brightness",
    "image.stateless_random_contrast": "ops.image_random:stateless_random_contrast",
    "image.stateless_random_crop": "ops.image_random:stateless_random_crop",
    "image.stateless_random_flip_left_right": "ops.image_random:stateless_random_flip_left_right",
    "image.stateless_random_flip_up_down": "ops.image_random:stateless_random_flip_up_down",
    "image.stateless_random_hue": "ops.image_random:stateless_random_hue",
    "image.stateless_random_saturation": "ops.image_random:stateless_random_saturation",
}
