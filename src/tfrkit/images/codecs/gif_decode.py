"""GIF files to arrays, frame by frame as TensorFlow puts them together.

Blocks are read here, LZW codes by the kernel. What comes after a damaged frame is left out, and so is that frame: only
a file without a whole frame is an error.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tfrkit._core import decode_gif_frame, paint_gif_frame
from tfrkit.errors import InvalidArgumentError, ResourceExhaustedError

__all__ = ["GifFrame", "paint_gif_frames", "read_gif_frames"]

Pixels = npt.NDArray[np.uint8]
Buffer = bytes | memoryview

_CUT: Final = "Failed to read from given file"
_DAMAGES: Final = {
    1: _CUT,
    2: "Image is defective, decoding aborted",
    3: "Image EOF detected before image complete",
}
_IMAGE, _EXTENSION, _TRAILER = b",!;"
_GRAPHICS: Final = 0xF9
_HAS_COLORS: Final = 0x80
_IS_INTERLACED: Final = 0x40
_MAX_PIXELS: Final = 2**31 - 1
_MAX_CODE_SIZE: Final = 8


class _DamageError(Exception):
    """The file is damaged here; the text is giflib's."""


@dataclass(frozen=True, slots=True)
class GifFrame:
    """One frame as it is stored.

    Attributes:
        left, top: where it stands on the canvas.
        pixels: numbers of colours, rows first.
        colors: red, green and blue of each number, None if the file does not say.
        transparent: number of the colour that shows what is below, -1 for none.
    """

    left: int
    top: int
    pixels: Pixels
    colors: bytes | None
    transparent: int


def read_gif_frames(data: Buffer) -> list[GifFrame]:
    """Read the frames of a file that begins with GIF8, up to the first damage.

    Raises:
        InvalidArgumentError: there is no whole frame, with TensorFlow's text.
    """
    frames, damage = _Reader(data).read_all()
    if not frames:
        raise InvalidArgumentError(f"Invalid GIF data (size {len(data)}), {damage}")
    return frames


def paint_gif_frames(data: Buffer, frames: list[GifFrame], count: int) -> Pixels:
    """Draw the first frames, each over the one before; the size is that of the largest of all.

    Returns:
        An array of shape (count, height, width, 3).

    Raises:
        InvalidArgumentError: a frame lacks colours, with TensorFlow's text.
    """
    height = max(len(frame.pixels) for frame in frames)
    width = max(frame.pixels.shape[1] for frame in frames)
    try:
        canvas = np.zeros((count, height, width, 3), np.uint8)
    except MemoryError:
        shape = f"[{count},{height},{width},3]"
        raise ResourceExhaustedError(f"OOM when allocating tensor with shape{shape} and type uint8") from None
    for number, frame in enumerate(frames[:count]):
        if number:
            canvas[number] = canvas[number - 1]
        problem = _paint(canvas[number], frame)
        if problem:
            raise InvalidArgumentError(
                f"Invalid GIF data (size {len(data)}), {problem.format(number=number)}"
            )
    return canvas


def _paint(canvas: Pixels, frame: GifFrame) -> str:
    """Draw what lies within the canvas; say what is wrong, or ''."""
    if frame.colors is None:
        return "missing color map for frame {number}"
    beyond = paint_gif_frame(canvas, frame.pixels, frame.left, frame.top, frame.colors, frame.transparent)
    if beyond < 0:
        return ""
    return f"found color index {beyond} outside of color map range {len(frame.colors) // 3}"


class _Reader:
    """Goes through the blocks of a file once."""

    def __init__(self, data: Buffer) -> None:
        self._data = memoryview(data)
        self._at = 0
        self._colors: bytes | None = None
        self._transparent: int | None = None  # as said for the next frame; what is said first counts

    def read_all(self) -> tuple[list[GifFrame], str]:
        """Read the frames up to the first damage, and say what it is."""
        frames: list[GifFrame] = []
        try:
            self._take(6)
        except _DamageError as damage:
            return frames, f"failed to open gif file: {damage}"
        try:
            self._read_screen()
        except _DamageError:
            return frames, "failed to open gif file: No screen descriptor detected"
        try:
            while self._read_block(frames):
                pass
        except _DamageError as damage:
            return frames, f"failed to slurp gif file: {damage}"
        return frames, "failed to slurp gif file: No Image Descriptor detected"

    def _read_screen(self) -> None:
        flags = self._take(7)[4]
        self._colors = self._read_colors(flags)

    def _read_block(self, frames: list[GifFrame]) -> bool:
        kind = self._take(1)[0]
        if kind == _IMAGE:
            frames.append(self._read_frame())
        elif kind == _EXTENSION:
            self._read_extension()
        elif kind != _TRAILER:
            raise _DamageError("Wrong record type detected")
        return kind != _TRAILER

    def _read_frame(self) -> GifFrame:
        left, top, width, height, flags = struct.unpack("<HHHHB", self._take(9))
        own_colors = self._read_colors(flags)
        if not width or not height or width > _MAX_PIXELS // height:
            raise _DamageError(_CUT if self._take(1)[0] > _MAX_CODE_SIZE else "Unknown error")
        end, position, pixels = decode_gif_frame(
            self._data, self._at, width, height, bool(flags & _IS_INTERLACED)
        )
        if pixels is None:
            raise _DamageError(_DAMAGES[end])
        self._at = position
        transparent, self._transparent = self._transparent, None
        colors = self._colors if own_colors is None else own_colors
        return GifFrame(left, top, pixels, colors, -1 if transparent is None else transparent)

    def _read_extension(self) -> None:
        kind = self._take(1)[0]
        size = self._take(1)[0]  # giflib goes on even if it is 0
        body = self._take(size)
        if size and kind == _GRAPHICS and self._transparent is None:
            self._transparent = body[3] if size == 4 and body[0] & 1 else -1
        while size := self._take(1)[0]:
            self._take(size)

    def _read_colors(self, flags: int) -> bytes | None:
        if not flags & _HAS_COLORS:
            return None
        count = 2 << (flags & 7)
        return bytes(self._take(3 * count))

    def _take(self, size: int) -> memoryview:
        if len(self._data) - self._at < size:
            raise _DamageError(_CUT)
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken
