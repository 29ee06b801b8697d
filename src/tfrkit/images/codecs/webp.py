"""WebP files to arrays, by Pillow, which brings the same decoder as TensorFlow.

The header is read here, because TensorFlow decides by it what a file is refused for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.pillow import opened_by_pillow

__all__ = ["WebpFeatures", "decode_webp_file", "read_webp_features"]

Pixels = npt.NDArray[np.uint8]
Buffer = bytes | memoryview

_HAS_ANIMATION = 0x02
_HAS_ALPHA = 0x10
_LOSSLESS_SIGNATURE = 0x2F
_LOSSY_SIGNATURE = b"\x9d\x01\x2a"
_IMAGES = (b"VP8 ", b"VP8L")


class WebpFeatures(NamedTuple):
    """What the header of a file says."""

    width: int
    height: int
    has_alpha: bool
    has_animation: bool


def decode_webp_file(data: Buffer, channels: int, expand_animations: bool) -> Pixels:
    """Decode a file that begins like WebP.

    Args:
        data: the file.
        channels: 0 (as stored), 3 or 4, which must be what is stored.
        expand_animations: return all frames, with one more dimension; else the first.

    Raises:
        InvalidArgumentError: the file is damaged, or has another number of channels, with TensorFlow's text.
        MissingExtraError: Pillow is not installed.
    """
    features = read_webp_features(bytes(data))
    if features is None:
        raise InvalidArgumentError("Failed to decode WebP header. The file is cut or damaged: copy it again.")
    stored = 4 if features.has_alpha else 3
    if channels not in (0, stored):
        raise InvalidArgumentError(
            f"Number of channels requested does not match input: {channels} requested, the image has {stored}"
        )
    if features.has_animation and channels == 3:
        raise InvalidArgumentError("WebP Animation must be 4 channel RGBA: pass channels=0 or 4")
    if features.has_animation:
        return _read_animation(data, features, expand_animations)
    try:
        image = _read_still(data, features)
    except ValueError as error:
        try:
            image = _read_still(_without_container(bytes(data)), features)
        except ValueError:
            raise InvalidArgumentError(f"Failed to decode WebP image. ({error})") from error
    return image[np.newaxis] if expand_animations else image


def _read_still(data: Buffer, features: WebpFeatures) -> Pixels:
    with opened_by_pillow(data, "WebP") as image:
        return np.asarray(image.convert("RGBA" if features.has_alpha else "RGB"))


def _read_animation(data: Buffer, features: WebpFeatures, all_frames: bool) -> Pixels:
    mode = "RGBA" if features.has_alpha else "RGB"
    frames: list[Pixels] = []
    opened = False
    try:
        with opened_by_pillow(data, "WebP") as image:
            opened = True
            for number in range(image.n_frames if all_frames else 1):
                image.seek(number)
                frames.append(np.asarray(image.convert(mode)))
    except ValueError as error:
        failed = f"failed to decode frame: {len(frames)}" if opened else "failed to decode WebP Animation"
        raise InvalidArgumentError(f"Failed to decode WebP Animation: {failed} ({error})") from None
    return np.stack(frames) if all_frames else frames[0]


def _without_container(data: bytes) -> bytes:
    """The image of a whole file with a header of its own and nothing else: TensorFlow looks at no more than that."""
    chunks: dict[bytes, bytes] = {}
    at = 12
    while len(data) >= at + 8 and not any(name in chunks for name in _IMAGES):
        end = at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
        chunks.setdefault(data[at : at + 4], data[at:end] + b"\0" * (end % 2))
        at = end + end % 2
    if at > len(data) + 1 or int.from_bytes(data[4:8], "little") > len(data) - 8:
        raise ValueError("the file ends too soon")
    needed = [chunks[name] for name in (b"VP8X", b"ALPH") if b"ALPH" in chunks and name in chunks]
    needed += [chunks[name] for name in _IMAGES if name in chunks]
    body = b"WEBP" + b"".join(needed)
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def read_webp_features(data: Buffer) -> WebpFeatures | None:
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
        extended = WebpFeatures(width, height, bool(data[20] & _HAS_ALPHA), bool(data[20] & _HAS_ANIMATION))
        if extended.has_animation:
            return extended
        at = 30
    return _read_image_features(data, at, extended)


def _read_image_features(data: Buffer, at: int, extended: WebpFeatures | None) -> WebpFeatures | None:
    """The same from the first image; where the file ends too soon, the extended header is enough."""
    whole = int.from_bytes(data[4:8], "little")
    has_alpha = False
    total = 22
    while extended is not None:
        if len(data) < at + 8:
            return extended
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        total += (size + 9) & ~1
        if total > whole:
            return None
        if data[at : at + 4] in _IMAGES:
            break
        has_alpha = has_alpha or data[at : at + 4] == b"ALPH"
        at += (size + 9) & ~1
    lossless = data[at : at + 4] == b"VP8L"
    if len(data) >= at + 8 and int.from_bytes(data[at + 4 : at + 8], "little") > whole - 12:
        return None
    if len(data) < at + (13 if lossless else 18):
        return extended
    found = _read_lossless(data, at) if lossless else _read_lossy(data, at)
    if found is None or extended is None:
        return found
    if (found.width, found.height) != (extended.width, extended.height):
        return None
    return extended._replace(has_alpha=extended.has_alpha or found.has_alpha or has_alpha)


def _read_lossless(data: Buffer, at: int) -> WebpFeatures | None:
    bits = int.from_bytes(data[at + 9 : at + 13], "little")
    if data[at + 8] != _LOSSLESS_SIGNATURE or bits >> 29:
        return None
    return WebpFeatures(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF), bool(bits >> 28 & 1), False)


def _read_lossy(data: Buffer, at: int) -> WebpFeatures | None:
    size = int.from_bytes(data[at + 4 : at + 8], "little")
    frame = data[at + 8 : at + 18]
    bits = int.from_bytes(frame[:3], "little")
    width = int.from_bytes(frame[6:8], "little") & 0x3FFF
    height = int.from_bytes(frame[8:10], "little") & 0x3FFF
    is_key, profile, is_shown, part = not bits & 1, bits >> 1 & 7, bits >> 4 & 1, bits >> 5
    if data[at : at + 4] != b"VP8 " or frame[3:6] != _LOSSY_SIGNATURE or not is_key:
        return None
    if profile > 3 or not is_shown or part >= size:
        return None
    return WebpFeatures(width, height, False, False) if width and height else None
