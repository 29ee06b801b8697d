"""JPEG files to decode, made with Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 50, 65)


def picture(height: int, width: int, bands: int, seed: int) -> np.ndarray:
    """Smooth random colours with some noise."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (height // 4 + 2, width // 4 + 2, bands), np.uint8)
    planes = [
        np.asarray(Image.fromarray(coarse[..., band]).resize((width, height), Image.Resampling.BICUBIC))
        for band in range(bands)
    ]
    noise = random.integers(-9, 10, (height, width, bands))
    return np.clip(np.stack(planes, -1) + noise, 0, 255).astype(np.uint8)


def jpeg(height: int, width: int, mode: str = "RGB", seed: int = 0, **options: Any) -> bytes:
    """A JPEG file of such a picture; the options are Pillow's."""
    pixels = picture(height, width, {"L": 1, "RGB": 3, "CMYK": 4}[mode], seed)
    image = Image.frombytes(mode, (width, height), pixels.tobytes())
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return file.getvalue()


def any_jpeg(random: Any) -> tuple[bytes, str]:
    """A file of random size, mode and options, and what it is."""
    height, width = random.choice(SIZES), random.choice(SIZES)
    mode = random.choice(["RGB", "RGB", "RGB", "L", "CMYK"])
    options: dict[str, Any] = {
        "quality": random.choice([1, 10, 50, 75, 95, 100]),
        "progressive": random.random() < 0.3,
        "optimize": random.random() < 0.2,
    }
    if mode == "RGB":
        options["subsampling"] = random.choice(["4:2:0", "4:2:2", "4:4:4"])
        options["keep_rgb"] = options["subsampling"] == "4:4:4" and random.random() < 0.4
    if random.random() < 0.3:
        options[random.choice(["restart_marker_blocks", "restart_marker_rows"])] = random.choice([1, 2, 5])
    if random.random() < 0.2:
        options["exif"] = Image.Exif()
        options["exif"][0x0112] = 6  # to be shown turned by 90 degrees
    return jpeg(height, width, mode, random.randrange(1000), **options), f"{height}x{width} {mode} {options}"
