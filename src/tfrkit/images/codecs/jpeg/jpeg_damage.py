"""What TensorFlow makes of damaged JPEG files: pixels, an error, or pixels down to some row.

Its decoder goes on through wrong codes and markers in wrong places, as the codec does if it is not strict. The two
differ in what an end of the data means, and the codec is more strict about the header. So a damaged file is mended
here until the codec takes it, and ended where TensorFlow's decoder would end it. Decodes nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tfrkit.errors import UnimplementedError
from tfrkit.images.codecs.jpeg.jpeg_header import Frame, header_segments
from tfrkit.images.codecs.jpeg.jpeg_options import JpegOptions
from tfrkit.images.codecs.jpeg.jpeg_ratio import spread
from tfrkit.images.codecs.jpeg.jpeg_replay import replay

__all__ = ["Mended", "mend", "tidy_header"]

_END: Final = b"\xff\xd9"
_RESTARTS: Final = range(0xD0, 0xD8)
_BARE: Final = frozenset({0x01, *_RESTARTS})
_ADOBE: Final = 0xEE
_ENDLESS: Final = 64  # times that bytes are read again before giving up
_APPS: Final = {0xE0: 14, 0xEE: 14}  # bytes of these segments that the decoder reads one by one
_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2, 0xC9, 0xCA})
_TABLES: Final = frozenset({0xC4, 0xCC, 0xDB, 0xDD})
_SKIPPED: Final = frozenset({0xDC, 0xFE, *range(0xE0, 0xF0)})


@dataclass(frozen=True, slots=True)
class Mended:
    """A file that the codec takes.

    Attributes:
        data: the file.
        rows: of pixels that are to be kept, the others are black; None for all.
    """

    data: bytes
    rows: int | None = None


def mend(frame: Frame, options: JpegOptions, channels: int) -> Mended | None:
    """Mend a damaged file.

    Args:
        frame: of the file.
        options: of decoding. Rows behind the wanted ones may be missing.
        channels: to which it is decoded.

    Returns:
        What the codec decodes to TensorFlow's pixels, or None where TensorFlow fails. Pure: no I/O.

    Raises:
        UnimplementedError: TensorFlow's decoder reads bytes again in a way that is not known here.
    """
    recover = options.try_recover_truncated
    if recover and frame.scan[0] < 0:
        frame = _with_scan(frame)
        if not frame.progressive and not frame.sole_scan:
            return None
    data, start = frame.data, frame.scan[0]
    if start < 0:
        return None
    if not frame.sole_scan or frame.arithmetic:
        return _mend_scans(frame, recover)
    stop, run, restarts = _find_stop(data, start, frame.restart_interval)
    if stop >= 0:
        return _mend_end(data, stop, recover, _is_part(frame, options))
    first = restarts * frame.restart_interval
    if recover:
        found = replay(frame, run, first, recover=True)
        return Mended(data + (found.tail if found else b"") + _END)
    return _mend_cut(frame, options, channels, run, first)


def _is_part(frame: Frame, options: JpegOptions) -> bool:
    """Say whether the last rows are not wanted: what is wrong behind the wanted ones is then never seen."""
    return options.rows is not None and options.rows[1] < -(-frame.height // options.ratio)


def _mend_end(data: bytes, stop: int, recover: bool, part: bool) -> Mended | None:
    """A scan that ends with a marker is whole, what follows it may not be."""
    if part:
        return Mended(data[:stop] + _END)
    end = _find_end(data, stop)
    if end is None:
        return Mended(data) if recover else None
    return Mended(data if data[end : end + 2] == _END else data[:end] + _END)


def _mend_cut(frame: Frame, options: JpegOptions, channels: int, run: int, first: int) -> Mended | None:
    """A scan that is cut: the rows before may be enough."""
    halved = frame.data.endswith(b"\xff")  # a marker of which the second half may come
    part = _is_part(frame, options)
    if not (options.acceptable_fraction < 1 or halved or part):
        return None
    found = replay(frame, run, first, recover=False)
    if found is None:
        return None
    if found.units == frame.units:
        return Mended(frame.data + _END) if halved or part else None
    height = -(-frame.height // options.ratio)
    top, bottom = options.rows or (0, height)
    rows = min(height, _whole_rows(frame, found.units, options.ratio, channels, options.fancy_upscaling))
    if rows >= bottom:
        return Mended(frame.data + _END)
    share = np.float32(max(0, rows - top)) / np.float32(bottom - top)
    skippable = (
        rows >= top or frame.largest[1] == 1
    )  # several rows of samples in a unit are not skipped in part
    if (
        not found.within
        or not skippable
        or share < min(np.float32(1), np.float32(options.acceptable_fraction))
    ):
        return None
    return Mended(frame.data + _END, rows)


def _with_scan(frame: Frame) -> Frame:
    """Complete the header of the first scan if the file is cut in it: its bytes are read again."""
    cut = next((at for marker, at, _ in header_segments(frame.data) if marker == 0xDA), -1)
    if cut >= 0:
        rest = frame.data[cut + 2 :]
        for _ in range(_ENDLESS):
            frame = Frame(frame.data + rest, frame.offset)
            if frame.scan[0] >= 0:
                break
    return frame


def _mend_scans(frame: Frame, recover: bool) -> Mended | None:
    """A file of several scans, or in arithmetic coding, must end with an end of image."""
    if _has_end(frame.data, frame.scan[0]):
        return Mended(frame.data)
    if not recover:
        return None
    if not frame.arithmetic:
        raise UnimplementedError(
            "decode_jpeg(try_recover_truncated=True) of a file that is cut and comes in several scans (progressive): "
            "TensorFlow fills the rest from bytes of the scan that is cut. Decode it with Pillow, or drop it."
        )
    return Mended(frame.data)


def _whole_rows(frame: Frame, units: int, ratio: int, channels: int, fancy: bool) -> int:
    """Rows of pixels that come out when so many units are in."""
    groups = 8 // ratio  # of rows, that a row of units gives
    group = frame.largest[1]
    lines = units // frame.unit_columns
    if frame.channels == 1:
        lines //= group
    if lines and fancy and _waits(frame, ratio, channels):
        return (lines * groups - 1) * group
    return lines * groups * group


def _waits(frame: Frame, ratio: int, channels: int) -> bool:
    """Say whether rows are smoothed with their neighbours, so that the last ones wait for the next."""
    if ratio == 8:
        return False
    for part, (across, down) in zip(frame.shown(channels), spread(frame, ratio), strict=False):
        columns = -(-frame.width * part.across // (frame.largest[0] * ratio))
        if down == 2 and (across == 1 or (across == 2 and columns > 2)):
            return True
    return False


def _find_stop(data: bytes, start: int, interval: int) -> tuple[int, int, int]:
    """Find the marker that ends a scan.

    Returns:
        Its offset, or -1; then where the last run of units begins, and how many restart markers precede it.
    """
    at, run, restarts = start, start, 0
    while (at := data.find(b"\xff", at)) >= 0 and at + 1 < len(data):
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker in _RESTARTS and interval:
            run, restarts = at + 2, restarts + 1
        elif marker >= (
            0xC0 if interval else 1
        ):  # between restart markers, others that mean nothing are skipped
            return at, run, restarts
        at += 2
    return -1, run, restarts


def _find_end(data: bytes, at: int) -> int | None:
    """Walk the segments behind a scan.

    Returns:
        The offset at which the decoder finds the end of the image, or waits for it; None where it fails.
    """
    while True:
        at = data.find(b"\xff", at)
        if at < 0:
            return None
        begin = at
        while at < len(data) and data[at] == 0xFF:
            at += 1
        if at == len(data):
            return begin
        marker, at = data[at], at + 1
        if marker == 0xD9:
            return begin
        if marker == 0 or marker in _BARE:
            continue
        size = int.from_bytes(data[at : at + 2], "big")
        if len(data) - at < max(size, 2):
            return begin if _waits_within(data, marker, at) else None
        at += size


def _waits_within(data: bytes, marker: int, at: int) -> bool:
    """Say whether the decoder waits for the rest of a segment that is cut, instead of failing.

    It does in segments that it reads byte by byte, if it has read nothing wrong.
    """
    left, size = len(data) - at, int.from_bytes(data[at : at + 2], "big")
    if not left or marker not in _FRAMES | _TABLES | _SKIPPED | {0xDA}:
        return False
    if left == 1:
        return True
    if marker in _SKIPPED:
        return left < 2 + _APPS.get(marker, 0)
    if marker in _FRAMES:
        return left < 8  # then a second frame is one too many
    if marker == 0xDA:
        return left == 2 or (1 <= data[at + 2] <= 4 and size == 6 + 2 * data[at + 2])
    if marker == 0xDD:
        return size == 4
    if marker == 0xDB:
        return all(data[table] & 15 < 4 for table in range(at + 2, len(data), 65))
    if marker == 0xCC:
        return all(index < 32 for index in data[at + 2 : len(data) - 1 : 2])
    return _sound_tables(data[at + 2 :], size - 2)


def _sound_tables(body: bytes, size: int) -> bool:
    """Say whether what is there of a segment of Huffman tables is right so far."""
    at = 0
    while at + 17 <= len(body):
        symbols = sum(body[at + 1 : at + 17])
        if symbols > min(256, size - at - 17) or (at + 17 + symbols <= len(body) and body[at] & 0xEF > 3):
            return False
        at += 17 + symbols
    return True


def _has_end(data: bytes, at: int) -> bool:
    """Say whether an end of image comes behind the first scan's header."""
    while (at := data.find(b"\xff", at)) >= 0 and at + 1 < len(data):
        marker = data[at + 1]
        if marker == 0xD9:
            return True
        if marker == 0xFF:
            at += 1
        elif marker < 0xC0 or marker in _BARE or at + 4 > len(data):
            at += 2
        else:
            at += 2 + max(2, data[at + 2] << 8 | data[at + 3])
    return False


def tidy_header(data: bytes) -> bytes:
    """Leave out what decoders skip in the header, and settle what they only warn of, as the codec refuses both.

    That is bytes between segments, versions of JFIF from 2 on, and Adobe's colour transforms that nobody knows.
    """
    parts, end = [data[:2]], 2
    for marker, at, size in header_segments(data):
        end = min(len(data), at + 2 + size)
        body = data[at:end]
        if marker == 0xE0 and body[4:9] == b"JFIF\0" and size >= 16:
            body = body[:9] + b"\1" + body[10:]
        if marker not in _SKIPPED or body[4:9] in (b"JFIF\0", b"Adobe"):
            parts.append(body)
    header = b"".join(parts)
    return _settle_adobe(header) + data[end:]


def _settle_adobe(header: bytes) -> bytes:
    """Replace unknown transforms by those that decoders assume: YCCK for four components, YCbCr for others."""
    frame = next(
        (at for marker, at, _ in header_segments(header) if 0xC0 <= marker <= 0xCA and marker != 0xC4), -1
    )
    channels = header[frame + 9] if frame >= 0 and frame + 9 < len(header) else 0
    for marker, at, size in header_segments(header):
        if marker == _ADOBE and size >= 14 and header[at + 4 : at + 9] == b"Adobe":
            known = (0, 2) if channels == 4 else (0, 1)
            if header[at + 15] not in known:
                assumed = 2 if channels == 4 else 1
                header = header[: at + 15] + bytes([assumed]) + header[at + 16 :]
    return header
