"""Resizing: TensorFlow's names in tf.image."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "image.ResizeMethod": Raw("images.resize.resize:ResizeMethod"),
    "image.resize": "images.resize.resize:resize",
    "image.resize_with_pad": "images.resize.resize_fit:resize_with_pad",
    "image.resize_with_crop_or_pad compat.v1.image.resize_image_with_crop_or_pad": (
        "images.resize.resize_fit:resize_with_crop_or_pad"
    ),
    "compat.v1.image.ResizeMethod": Raw("images.resize.resize_v1:ResizeMethodV1"),
    "compat.v1.image.resize compat.v1.image.resize_images": "images.resize.resize_v1:resize_images",
    "compat.v1.image.resize_area": "images.resize.resize_v1:resize_area",
    "compat.v1.image.resize_bicubic": "images.resize.resize_v1:resize_bicubic",
    "compat.v1.image.resize_bilinear": "images.resize.resize_v1:resize_bilinear",
    "compat.v1.image.resize_image_with_pad": "images.resize.resize_fit:resize_image_with_pad",
    "compat.v1.image.resize_nearest_neighbor": "images.resize.resize_v1:resize_nearest_neighbor",
}
