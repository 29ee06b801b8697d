"""Resizing: TensorFlow's names in tf.image."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "image.ResizeMethod": Raw("ops.resize:ResizeMethod"),
    "image.resize": "ops.resize:resize",
}
