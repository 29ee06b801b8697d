"""Photos for the demo: drawn landscapes that look and compress like photos, in class folders inside a zip.

Knows nothing of TFRecord files.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import image
from tfrkit.errors import MissingExtraError

_HEIGHT: Final = 375
_WIDTH: Final = 500
_DRAWN: Final = 3  # landscapes of each class; photos are parts of them in another light
_STAMP: Final = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip can say: the same photos, the same bytes
_SUN: Final = np.array([255, 235, 170], np.float32)
_SNOW: Final = np.array([240, 242, 248], np.float32)
_Picture = npt.NDArray[Any]


def _clouds(rng: np.random.Generator, height: int, width: int) -> _Picture:
    """Make noise of all sizes between -1 and 1: coarse grids, enlarged, on finer ones."""
    total = np.zeros((height, width, 1), np.float32)
    for cells in (4, 8, 16, 32, 64):
        grid = rng.normal(size=(cells, cells, 1)).astype(np.float32)
        total += np.asarray(image.resize(grid, (height, width), method="bicubic")) * (3 / cells)
    scaled: _Picture = total / np.abs(total).max()
    return scaled


def _shade(low: tuple[int, int, int], high: tuple[int, int, int], amount: _Picture) -> _Picture:
    mixed: _Picture = np.asarray(low, np.float32) * (1 - amount) + np.asarray(high, np.float32) * amount
    return mixed


def _sunset(rng: np.random.Generator, y: _Picture, x: _Picture) -> _Picture:
    noise = _clouds(rng, *y.shape[:2])
    picture = _shade((60, 20, 70), (250, 150, 60), np.clip(y + 0.2 * noise, 0, 1))
    sun = np.hypot(y - rng.uniform(0.5, 0.7), (x - rng.uniform(0.3, 0.7)) * 1.3) < 0.09
    picture = np.where(sun, _SUN, picture)
    return np.where(y > 0.75 + 0.03 * noise, _shade((20, 15, 30), (90, 50, 50), 0.5 + noise / 2), picture)


def _forest(rng: np.random.Generator, y: _Picture, x: _Picture) -> _Picture:
    noise = _clouds(rng, *y.shape[:2])
    picture = _shade((10, 40, 15), (120, 170, 70), np.clip(0.6 - 0.4 * y + 0.5 * noise, 0, 1))
    for place in rng.uniform(0, 1, 14):
        trunk = np.abs(x - place - 0.02 * noise) < rng.uniform(0.004, 0.02)
        picture = np.where(trunk, _shade((45, 30, 20), (110, 80, 60), 0.5 + noise / 2), picture)
    return picture


def _sea(rng: np.random.Generator, y: _Picture, x: _Picture) -> _Picture:
    noise = _clouds(rng, *y.shape[:2])
    horizon = rng.uniform(0.3, 0.5)
    sky = _shade((120, 170, 230), (240, 245, 250), np.clip(0.3 + 0.6 * noise, 0, 1))
    waves = np.sin(260 * np.sqrt(np.clip(y - horizon, 0, 1)) + 6 * noise + 9 * x)
    water = _shade((10, 60, 110), (150, 200, 210), np.clip(0.35 + 0.2 * waves + 0.2 * noise, 0, 1))
    return np.where(y > horizon, water, sky)


def _mountains(rng: np.random.Generator, y: _Picture, x: _Picture) -> _Picture:
    noise = _clouds(rng, *y.shape[:2])
    picture = _shade((90, 140, 210), (220, 230, 245), np.clip(y + 0.2 * noise, 0, 1))
    for depth in (0.35, 0.5, 0.65):
        ridge = depth + 0.12 * np.abs(((x * rng.uniform(2, 4) + rng.uniform()) % 1) - 0.5) + 0.03 * noise
        rock = _shade((70, 70, 80), (140, 130, 120), np.clip(depth + 0.4 * noise, 0, 1))
        snow = (y < ridge + 0.05) & (depth < 0.6)
        picture = np.where(y > ridge, np.where(snow, _SNOW, rock), picture)
    return picture


_DRAW: Final[dict[str, Callable[[np.random.Generator, _Picture, _Picture], _Picture]]] = {
    "日落": _sunset,
    "forest": _forest,
    "mountains": _mountains,
    "sea": _sea,
}
CLASSES: Final = tuple(_DRAW)


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
    height, width = 5 * _HEIGHT // 4, 5 * _WIDTH // 4
    y, x = np.meshgrid(
        np.linspace(0, 1, height, dtype=np.float32), np.linspace(0, 1, width, dtype=np.float32), indexing="ij"
    )
    place = y[..., np.newaxis], x[..., np.newaxis]
    drawn: dict[tuple[int, int], _Picture] = {}
    suffix, encode = _encoder()
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(count):
            kind = number % len(CLASSES)
            top, left = rng.integers(0, height - _HEIGHT), rng.integers(0, width - _WIDTH)
            which = kind, number // len(CLASSES) % _DRAWN
            if which not in drawn:
                drawn[which] = _DRAW[CLASSES[kind]](rng, *place)
            part = drawn[which][top : top + _HEIGHT, left : left + _WIDTH]
            light = part * np.float32(rng.uniform(0.7, 1.2)) + rng.integers(
                -9, 9, (_HEIGHT, _WIDTH, 1), np.int8
            )
            entry = zipfile.ZipInfo(f"photos/{CLASSES[kind]}/{number:05d}.{suffix}", _STAMP)
            archive.writestr(entry, encode(np.clip(light, 0, 255).astype(np.uint8)))
    return suffix
