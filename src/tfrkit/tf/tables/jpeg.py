"""JPEG: TensorFlow's names in tf.io and tf.image."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry

NAMES: Final[dict[str, Entry]] = {
    "image.adjust_jpeg_quality": "ops.jpeg_encode:adjust_jpeg_quality",
    "io.decode_and_crop_jpeg image.decode_and_crop_jpeg": "ops.jpeg:decode_and_crop_jpeg",
    "io.decode_jpeg image.decode_jpeg": "ops.jpeg:decode_jpeg",
    "io.encode_jpeg image.encode_jpeg": "ops.jpeg_encode:encode_jpeg",
    "io.extract_jpeg_shape image.extract_jpeg_shape": "ops.jpeg:extract_jpeg_shape",
    "io.is_jpeg image.is_jpeg": "ops.jpeg:is_jpeg",
}
