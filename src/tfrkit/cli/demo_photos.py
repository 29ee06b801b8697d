"""Photos for the demo: coloured clouds that compress like photos, in class folders inside a zip.

Knows nothing of TFRecord files.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit import image
from tfrkit.errors import MissingExtraError

_SIZE: Final = (375, 500)
_STAMP: Final = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip can say: the same photos, the same bytes
_SHADES: Final = {
    "日落": (250, 150, 60),
    "forest": (90, 170, 70),
    "mountains": (150, 150, 160),
    "sea": (60, 130, 210),
}
CLASSES: Final = tuple(_SHADES)


def _encoder() -> tuple[str, Callable[[Any], Any]]:
    """Return JPEG, or PNG where the JPEG codec is not installed."""
    try:
        image.encode_jpeg(np.zeros((8, 8, 3), np.uint8))
    except MissingExtraError:
        return "png", image.encode_png
    return "jpg", lambda pixels: image.encode_jpeg(pixels, quality=85)


def write_photos(path: str, count: int, *, seed: int = 1) -> str:
    """Write photos of 500 x 375 in the folders of CLASSES into a zip; the same ones every time.

    Args:
        path: the zip.
        count: how many in all.
        seed: of the drawing.

    Returns:
        The suffix of the photos: "jpg", or "png" without the JPEG codec.
    """
    rng = np.random.default_rng(seed)
    suffix, encode = _encoder()
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(count):
            kind = CLASSES[number % len(CLASSES)]
            grid = rng.uniform(0.2, 1.2, (24, 32, 1)).astype(np.float32)
            clouds = np.asarray(image.resize(grid, _SIZE, method="bicubic")) * np.array(_SHADES[kind])
            pixels = np.clip(clouds + rng.integers(-9, 9, (*_SIZE, 1), np.int8), 0, 255)
            entry = zipfile.ZipInfo(f"photos/{kind}/{number:05d}.{suffix}", _STAMP)
            archive.writestr(entry, encode(pixels.astype(np.uint8)))
    return suffix
