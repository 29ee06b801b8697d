"""The markers of a JPEG file, read by hand: size, components and coding, before any pixel is decoded.

Allocates nothing and trusts no number. Whether the rest of the file is sound is for the decoder (`jpeg_decode`) to
find out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.cached_property import cached_property

__all__ = ["Component", "Frame", "header_segments", "read_frame", "tidy_header"]

Buffer = bytes | bytearray | memoryview

# Starts of frames, of every kind of coding.
_SOF: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_BARE: Final = frozenset({0x01, *range(0xD0, 0xD8)})  # markers that have no length after them
_SOI, _EOI, _SOS, _APP0, _APP14 = 0xD8, 0xD9, 0xDA, 0xE0, 0xEE
_END: Final = b"\xff\xd9"
_MAX_SEGMENTS: Final = 10_000  # and runs of other bytes: a file with more is an attempt to waste time
_SKIPPED: Final = frozenset({0xDC, 0xFE, *range(0xE0, 0xF0)})  # segments that say nothing about pixels
_FRAME: Final = struct.Struct(">BxxBHHB").unpack_from
_USUAL: Final = ((1, 1), (2, 1), (2, 2), (1, 2), (4, 1), (1, 4))
_ARITHMETIC: Final = frozenset({0xC9, 0xCA})
_CODINGS: Final = frozenset({0xC0, 0xC1, 0xC2, 0xC9, 0xCA})  # those that TensorFlow's library decodes


@dataclass(frozen=True, slots=True)
class Component:
    """One plane of the image.

    Attributes:
        id: its name in the scans.
        across: samples of a row for each `max(across)` pixels; 1 to 4 in a sound file.
        down: the same for rows.
    """

    id: int
    across: int
    down: int


class Frame:
    """What the start of frame says. Read once for every image, so it is kept small; the rest is read on demand.

    Attributes:
        data: what the file lies in.
        offset: of the marker.
        marker: its second byte, the kind of coding.
        precision: bits of a sample.
        height: rows of pixels.
        width: columns of pixels.
        channels: number of components: 1 is gray, 3 colour, 4 for print.
    """

    marker: int
    precision: int
    height: int
    width: int
    channels: int

    def __init__(self, data: Any, offset: int, begin: int, end: int) -> None:
        self.data = data
        self.offset = offset
        self._begin, self._end = begin, end
        self.marker, self.precision, self.height, self.width, self.channels = _FRAME(data, offset + 1)

    def _segments(self) -> Iterator[tuple[int, int, int]]:
        return header_segments(self.data, self._begin, self._end)

    @property
    def decodable(self) -> bool:
        """Say whether TensorFlow's library has this coding: 8 bits, sequential or progressive, not lossless."""
        return self.precision == 8 and self.marker in _CODINGS

    @property
    def arithmetic(self) -> bool:
        """Say whether the coding is arithmetic instead of Huffman's."""
        return self.marker in _ARITHMETIC

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The planes; fewer than `channels` where the file is cut or the marker too short."""
        start, end = self.offset + 10, self.offset + 10 + 3 * self.channels
        parts = self.data[start:end]
        return tuple(
            Component(parts[at], parts[at + 1] >> 4, parts[at + 1] & 15) for at in range(0, len(parts) - 2, 3)
        )

    @property
    def usual_sampling(self) -> bool:
        """Say whether the samplings are those of encoders: 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, or gray."""
        first, *colours = [(part.across, part.down) for part in self.components] or [(0, 0)]
        black = colours[2:] in ([], [first])
        return first in _USUAL and black and all(colour == (1, 1) for colour in colours[:2])

    @cached_property
    def adobe_transform(self) -> int | None:
        """The colour transform that an Adobe marker before the first scan names; None without such a marker."""
        transform = None
        for marker, at, size in self._segments():
            if marker == _APP14 and size >= 14 and self.data[at + 4 : at + 9] == b"Adobe":
                transform = self.data[at + 15]
        return transform

    @cached_property
    def stored_rgb(self) -> bool:
        """Say whether the components are red, green and blue; usually they are brightness and two colours."""
        if self.channels != 3 or any(
            marker == _APP0 and size >= 16 and self.data[at + 4 : at + 9] == b"JFIF\0"
            for marker, at, size in self._segments()
        ):
            return False
        if self.adobe_transform is not None:
            return self.adobe_transform == 0
        return tuple(part.id for part in self.components) == tuple(b"RGB")

    def shown(self, channels: int) -> tuple[Component, ...]:
        """Return the components that count when decoding to a number of channels."""
        return self.components[:1] if channels == 1 and not self.stored_rgb else self.components

    @cached_property
    def scan(self) -> tuple[int, bytes]:
        """The first scan: the offset after its header, and the header's body; (-1, b"") if it is not there."""
        for marker, at, size in self._segments():
            if marker == _SOS and at + 2 + size <= self._end:
                return at + 2 + size, self.data[at + 4 : at + 2 + size]
        return -1, b""

    @property
    def has_end(self) -> bool:
        """Say whether an end-of-image marker follows the first scan's header; a file without one is cut."""
        start = self.scan[0]
        return start >= 0 and self.data.rfind(_END, start, self._end) >= 0

    @cached_property
    def largest(self) -> tuple[int, int]:
        """The largest sampling across and down of any component; at least 1."""
        return (
            max((part.across for part in self.components), default=1) or 1,
            max((part.down for part in self.components), default=1) or 1,
        )


def read_frame(data: Buffer, begin: int = 0, end: int | None = None) -> Frame | None:
    """Find the start of frame.

    Args:
        data: what a JPEG file lies in; only its markers up to the start of frame are looked at.
        begin: where the file begins.
        end: where it ends; None for the end of the data.

    Returns:
        The frame, or None if there is none before the first scan or the end of the file. Pure: no I/O.

    >>> frame = read_frame(bytes.fromhex("ffd8 ffc0 000b 08 0010 0020 01 01 11 00"))
    >>> frame.height, frame.width, frame.channels, frame.components
    (16, 32, 1, (Component(id=1, across=1, down=1),))
    """
    stop = len(data) if end is None else end
    for marker, at, _ in header_segments(data, begin, stop):
        if marker in _SOF:
            return Frame(data, at, begin, stop) if at + 10 <= stop else None
    return None


def header_segments(data: Buffer, begin: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield the markers up to the first scan: second byte, offset, and length of what follows.

    Args:
        data: what a JPEG file lies in.
        begin: where the file begins.
        end: where it ends; None for the end of the data.
    """
    at, stop = begin + 2, len(data) if end is None else end
    for _ in range(_MAX_SEGMENTS):
        if at < 0 or at + 4 > stop:
            return
        marker = data[at + 1]
        if data[at] != 0xFF:  # between markers anything is skipped
            data = bytes(data) if isinstance(data, memoryview) else data
            at = data.find(b"\xff", at, stop)
        elif marker in (0x00, 0xFF):
            at += 1
        else:
            length = 0 if marker in _BARE else max(2, data[at + 2] << 8 | data[at + 3])
            yield marker, at, length
            if marker in (_SOI, _EOI, _SOS):
                return
            at += 2 + length


def tidy_header(frame: Frame) -> bytes:
    """Return the file without what the codec refuses in a header although decoders only warn of it.

    That is bytes between segments, versions of JFIF from 2 on, and unknown colour transforms in Adobe's segment, for
    which YCCK is assumed with four components and YCbCr with others.
    """
    data: bytes = frame.data
    parts, end = [data[:2]], 2
    for marker, at, size in header_segments(data):
        end = min(len(data), at + 2 + size)
        body = data[at:end]
        if marker == _APP0 and body[4:9] == b"JFIF\0" and size >= 16:
            body = body[:9] + b"\1" + body[10:]
        elif marker == _APP14 and body[4:9] == b"Adobe" and size >= 14 and body[15]:
            body = body[:15] + (b"\2" if frame.channels == 4 else b"\1") + body[16:]
        elif marker in _SKIPPED and body[4:9] != b"Adobe":
            continue
        parts.append(body)
    return b"".join(parts) + data[end:]
