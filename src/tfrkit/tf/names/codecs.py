"""Image formats but JPEG: TensorFlow's names in tf.io and tf.image."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry

NAMES: Final[dict[str, Entry]] = {
    "io.decode_bmp image.decode_bmp": "images.codecs.bmp:decode_bmp",
    "io.decode_gif image.decode_gif": "images.codecs.gif:decode_gif",
    "io.decode_image image.decode_image": "images.codecs.decode_image:decode_image",
    "io.decode_png image.decode_png": "images.codecs.png.png:decode_png",
    "io.decode_webp image.decode_webp": "images.codecs.webp:decode_webp",
    "io.encode_png image.encode_png": "images.codecs.png.png:encode_png",
}
