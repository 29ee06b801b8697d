"""WebP files to arrays, by Pillow, which brings the same decoder as TensorFlow.

The header is read here, because TensorFlow decides by it what a file is refused for.
"""

from __future__ import annotations

import io
import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import require

__all__ = ["decode_webp_file"]

Pixels = npt.NDArray[np.uint8]
Buffer = bytes | memoryview

_HAS_ANIMATION = 0x02
_HAS_ALPHA = 0x10


class _Features(NamedTuple):
    width: int
    height: int
    has_alpha: bool
    has_animation: bool


def decode_webp_file(data: Buffer, channels: int, expand_animations: bool) -> Pixels:
    """Decode a file that begins like WebP.

    Args:
        data: the file.
        channels: 0 (as stored), 3 or 4, which must be what is stored.
        expand_animations: give all frames, and one more dimension; else the first.

    Raises:
        InvalidArgumentError: the file is damaged, or has another number of channels, with TensorFlow's text.
        MissingExtraError: Pillow is not installed.
    """
    features = _read_features(bytes(data))
    if features is None:
        raise InvalidArgumentError("Failed to decode WebP header.")
    stored = 4 if features.has_alpha else 3
    if channels not in (0, stored):
        raise InvalidArgumentError(
            f"Number of channels requested does not match input: {channels} requested, the image has {stored}"
        )
    if features.has_animation and channels == 3:
        raise InvalidArgumentError("WebP Animation must be 4 channel RGBA")
    failure = (
        "Failed to decode WebP Animation: failed to decode WebP Animation"
        if features.has_animation
        else "Failed to decode WebP image."
    )
    frames = _read_frames(data, features, expand_animations, failure)
    return frames if expand_animations else frames[0]


def _read_frames(data: Buffer, features: _Features, all_frames: bool, failure: str) -> Pixels:
    pillow = require("PIL.Image", "Decoding WebP")
    mode = "RGBA" if features.has_alpha else "RGB"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
            image: Any = pillow.open(io.BytesIO(data), formats=("WEBP",))
        count = getattr(image, "n_frames", 1) if all_frames and features.has_animation else 1
        frames = []
        for number in range(count):
            image.seek(number)
            frames.append(np.asarray(image.convert(mode)))
    except (OSError, ValueError, SyntaxError, EOFError, pillow.DecompressionBombError) as error:
        raise InvalidArgumentError(f"{failure} ({error})") from error
    return frames[0][np.newaxis] if len(frames) == 1 else np.stack(frames)


def _read_features(data: bytes) -> _Features | None:
    """What the header says, None if it cannot be read. The bytes begin with RIFF, a size and WEBP."""
    size = int.from_bytes(data[4:8], "little")
    if size < 12 or size > 2**32 - 10:
        return None
    at, extended = 12, None
    if data[at : at + 4] == b"VP8X":
        if int.from_bytes(data[16:20], "little") != 10 or len(data) < 30:
            return None
        width = 1 + int.from_bytes(data[24:27], "little")
        height = 1 + int.from_bytes(data[27:30], "little")
        if width * height >= 1 << 32:
            return None
        extended = _Features(width, height, bool(data[20] & _HAS_ALPHA), bool(data[20] & _HAS_ANIMATION))
        if extended.has_animation:
            return extended
        at = 30
    return _read_image_features(data, at, extended)


def _read_image_features(data: bytes, at: int, extended: _Features | None) -> _Features | None:
    has_alpha = False
    while extended is not None and data[at : at + 4] not in (b"VP8 ", b"VP8L"):
        if len(data) < at + 8:
            return None
        has_alpha = has_alpha or data[at : at + 4] == b"ALPH"
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        at += 8 + size + size % 2
    found = _read_lossless(data, at + 8) if data[at : at + 4] == b"VP8L" else _read_lossy(data, at)
    if found is None or extended is None:
        return found
    if (found.width, found.height) != (extended.width, extended.height):
        return None
    return extended._replace(has_alpha=extended.has_alpha or found.has_alpha or has_alpha)


def _read_lossless(data: bytes, at: int) -> _Features | None:
    bits = int.from_bytes(data[at + 1 : at + 5], "little")
    if len(data) < at + 5 or data[at] != 0x2F or bits >> 29:
        return None
    return _Features(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF), bool(bits >> 28 & 1), False)


def _read_lossy(data: bytes, at: int) -> _Features | None:
    if data[at : at + 4] != b"VP8 " or len(data) < at + 18:
        return None
    size = int.from_bytes(data[at + 4 : at + 8], "little")
    frame = data[at + 8 : at + 18]
    bits = int.from_bytes(frame[:3], "little")
    width = int.from_bytes(frame[6:8], "little") & 0x3FFF
    height = int.from_bytes(frame[8:10], "little") & 0x3FFF
    is_key, profile, is_shown, part = not bits & 1, bits >> 1 & 7, bits >> 4 & 1, bits >> 5
    if frame[3:6] != b"\x9d\x01\x2a" or not is_key or profile > 3 or not is_shown or part >= size:
        return None
    return _Features(width, height, False, False) if width and height else None
