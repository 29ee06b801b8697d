"""JPEG: TensorFlow's names in tf.io and tf.image."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry

NAMES: Final[dict[str, Entry]] = {
    "image.adjust_jpeg_quality": "images.codecs.jpeg.jpeg_encode:adjust_jpeg_quality",
    "io.decode_and_crop_jpeg image.decode_and_crop_jpeg": "images.codecs.jpeg.jpeg:decode_and_crop_jpeg",
    "io.decode_jpeg image.decode_jpeg": "images.codecs.jpeg.jpeg:decode_jpeg",
    "io.encode_jpeg image.encode_jpeg": "images.codecs.jpeg.jpeg_encode:encode_jpeg",
    "io.extract_jpeg_shape image.extract_jpeg_shape": "images.codecs.jpeg.jpeg:extract_jpeg_shape",
    "io.is_jpeg image.is_jpeg": "images.codecs.jpeg.jpeg:is_jpeg",
}
