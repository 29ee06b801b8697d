"""A part of a JPEG image, with the pixels that TensorFlow's decoder returns for it.

They are those of the whole image, except at the sides: where colours are smoothed between samples, the decoder takes
the part for an image of its own, that has no neighbours to the right of its last sample, nor to the left of the first
if that begins a unit. So the whole image is decoded and cut, and two columns are computed here.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import UnimplementedError
from tfrkit.images.codecs.jpeg.jpeg_decode import Pixels, decode_components, decode_jpeg_data, invalid_jpeg
from tfrkit.images.codecs.jpeg.jpeg_header import Frame, read_frame
from tfrkit.images.codecs.jpeg.jpeg_options import JpegOptions
from tfrkit.images.codecs.jpeg.jpeg_ratio import reduced, spread

__all__ = ["decode_jpeg_part"]

Levels = npt.NDArray[np.int32]

_ADOBE: Final = (
    b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"  # four components, to be left as they are
)
_HALVED: Final = ((2, 1), (2, 2))  # samples that make two pixels side by side


def decode_jpeg_part(data: bytes, options: JpegOptions, window: tuple[int, int, int, int]) -> Pixels:
    """Decode a part of a JPEG image.

    Args:
        data: the file.
        options: of decoding.
        window: top, left, height and width of the part, in pixels of the decoded image.

    Raises:
        InvalidArgumentError: the window is not within the image; and see `decode_jpeg_data`.
        UnimplementedError: see `decode_jpeg_data`; or the sides of the part cannot be computed.
    """
    top, left, height, width = window
    frame = read_frame(data)
    if frame is not None:
        whole = reduced(frame.height, options.ratio), reduced(frame.width, options.ratio)
        inside = min(top, left) >= 0 and min(height, width) > 0
        if not inside or top + height > whole[0] or left + width > whole[1]:
            raise invalid_jpeg(
                f"The crop window [{top}, {left}, {height}, {width}] is not within {whole[0]} x {whole[1]} pixels."
            )
    pixels = decode_jpeg_data(data, options)
    part = pixels[top : top + height, left : left + width].copy()
    if frame is not None and options.fancy_upscaling:
        _mend_sides(part, frame, options, (top, left), pixels.shape[1])
    return part


def _mend_sides(
    part: Pixels, frame: Frame, options: JpegOptions, corner: tuple[int, int], width: int
) -> None:
    """Put the pixels of TensorFlow's decoder into the columns at the sides."""
    top, left = corner
    unit = 8 // options.ratio * frame.largest[0]
    begin, right = left // unit * unit, left + part.shape[1]
    shown = frame.shown(options.channels)
    halved = [pixels in _HALVED for pixels in spread(frame, options.ratio)[: len(shown)]]
    if options.ratio == 8 or not any(halved) or reduced(width, 2) <= 2:
        return
    narrow = right - begin <= 2
    columns = {left} if begin and left == begin else set()
    if right < width and right % 2 == 0:
        columns.add(right - 1)
    if narrow:
        columns = set(range(left, right))
    if not columns:
        return
    planes = _planes(frame, options)
    for column in sorted(columns):
        levels = [planes[:, column, number].astype(np.int32) for number in range(3)]
        if not narrow:
            rounding = 8 if column == begin else 7
            levels = [
                _smooth_down(plane, rounding) if pixels == (2, 2) else plane
                for plane, pixels in zip(levels, spread(frame, options.ratio), strict=True)
            ]
        colours = np.stack(levels, -1) if frame.stored_rgb else _as_rgb(*levels)
        part[:, column - left] = colours[top : top + part.shape[0]]


def _smooth_down(plane: Levels, rounding: int) -> Levels:
    """Mix each sample with the nearer one above or below; two rows show one sample."""
    samples = plane[::2]
    above, below = np.append(samples[:1], samples[:-1]), np.append(samples[1:], samples[-1:])
    mixed = np.stack([3 * samples + above, 3 * samples + below], -1).reshape(-1)
    return (4 * mixed + rounding >> 4)[: len(plane)]


def _planes(frame: Frame, options: JpegOptions) -> Pixels:
    """The components as stored, each sample repeated over its pixels.

    The codec returns components unchanged only if there are four, so one is added to the header.
    """
    if frame.channels != 3 or options.channels == 1:
        raise UnimplementedError(
            "decode_and_crop_jpeg cannot decode this file: its components are not colours and have fewer samples than "
            "pixels. Decode all of it and crop the result."
        )
    data, at = frame.data, frame.offset
    body = data[at + 4 : at + 9] + b"\x04" + data[at + 10 : at + 19]
    unused = max(set(range(256)) - set(body[6::3]))
    body += bytes([unused]) + body[7:9]
    marked = (
        data[:at] + _ADOBE + data[at : at + 2] + (len(body) + 2).to_bytes(2, "big") + body + data[at + 19 :]
    )
    raw = options._replace(channels=3, fancy_upscaling=False)
    return decode_components(marked, raw)


def _as_rgb(light: Levels, blue: Levels, red: Levels) -> Levels:
    """Colours of brightness and two differences, in the decoder's whole numbers."""
    half, blue, red = 1 << 15, blue - 128, red - 128
    colours = [
        light + (91881 * red + half >> 16),
        light + (-22554 * blue - 46802 * red + half >> 16),
        light + (116130 * blue + half >> 16),
    ]
    clipped: Levels = np.clip(np.stack(colours, -1), 0, 255)
    return clipped
