"""Small encoded images in files of Examples, some of them broken, for tests of pipelines."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import tfrkit as tfr

__all__ = ["BROKEN", "SPEC", "image_record", "jpeg", "png", "write_images"]

SPEC: dict[str, Any] = {
    "image": tfr.FixedLenFeature([], "bytes"),
    "label": tfr.FixedLenFeature([], "int64"),
}
BROKEN = {
    "cut": lambda: jpeg(5)[:200],
    "empty": lambda: b"",
    "text": lambda: b"this is no image",
    "bad png": lambda: png(5)[:40],
}


def _pixels(number: int, height: int, width: int) -> np.ndarray[Any, Any]:
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / (3 + number % 5) + number) + np.cos(y / (4 + channel)) for channel in range(3)]
    return np.clip(np.stack(waves, -1) * 60 + 128, 0, 255).astype(np.uint8)


def _encode(number: int, kind: str, mode: str) -> bytes:
    image = Image.fromarray(_pixels(number, 20 + 3 * (number % 4), 30 + 5 * (number % 3)))
    file = io.BytesIO()
    image.convert(mode).save(file, kind, **({"quality": 90} if kind == "JPEG" else {}))
    return file.getvalue()


@cache
def jpeg(number: int, mode: str = "RGB") -> bytes:
    """A JPEG of about 20 x 30; sizes differ with the number."""
    return _encode(number, "JPEG", mode)


@cache
def png(number: int, mode: str = "RGB") -> bytes:
    """The same picture as a PNG."""
    return _encode(number, "PNG", mode)


def image_record(number: int, content: bytes | None = None) -> bytes:
    """An Example with an image and its number as the label: every third is a PNG, every fifth is gray."""
    make, mode = (png if number % 3 == 2 else jpeg), "L" if number % 5 == 4 else "RGB"
    return tfr.make_example(
        {"image": make(number, mode) if content is None else content, "label": number}
    ).SerializeToString()


def write_images(path: Path, count: int, broken: dict[int, str] | None = None) -> Path:
    """Write a file of so many records; those with the given numbers are broken in the given way."""
    kinds = broken or {}
    with tfr.TFRecordWriter(path) as writer:
        for number in range(count):
            writer.write(image_record(number, BROKEN[kinds[number]]() if number in kinds else None))
    return path
