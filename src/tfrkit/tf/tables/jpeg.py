"""JPEG: TensorFlow's names in tf.io and tf.image."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry

NAMES: Final[dict[str, Entry]] = {
    "io.decode_jpeg image.decode_jpeg": "ops.jpeg:decode_jpeg",
}
