"""How far a cut JPEG file can be decoded, and the bytes that TensorFlow's decoder takes for the missing ones.

A decoder that runs out of bytes in the middle of a unit (blocks that cover 8 x 8 to 32 x 32 pixels) stops there. Told
to go on, TensorFlow's reads the bytes of this unit again, then those of the following units, until a unit begins with
none left. Which bytes those are depends on how many the decoder holds in its registers, so this module counts bits
exactly as libjpeg-turbo does: it decodes no pixel, but every code of the one scan of a file that is cut within it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tfrkit.images.codecs.jpeg.jpeg_header import Frame

__all__ = ["Replay", "replay"]

_FILLED: Final = 57  # bits that the decoder wants to hold before it goes on
_PEEKED: Final = 8  # bits of a code that it looks up at once
_QUICK_LEFT: Final = 16  # bits at which its quick variant loads more
_QUICK_LOAD: Final = 6  # bytes that it loads then
_QUICK_BLOCK: Final = 512  # bytes for each block of a unit that must be there for the quick variant
_ENDLESS: Final = 64  # times that the same bytes are read again for one unit before giving up


@dataclass(frozen=True, slots=True)
class Replay:
    """What comes of a cut scan.

    Attributes:
        units: decoded before the bytes ran out.
        within: they ran out within a unit, where a decoder waits for more; otherwise between two, which is an error.
        tail: bytes that stand for the missing ones, up to the end of the image.
    """

    units: int
    within: bool
    tail: bytes


def replay(frame: Frame, start: int, first: int, recover: bool) -> Replay | None:
    """Decode the codes of the last run of units of a file's only scan.

    Args:
        frame: of the file, whose data ends within the scan.
        start: offset of the run; there is no marker from here on.
        first: units before the run.
        recover: read bytes again where they end, instead of stopping.

    Returns:
        How far the decoder comes, or None if the file's tables are not sound. Pure: no I/O.
    """
    blocks = frame.unit_blocks
    tables = _read_tables(frame)
    if not blocks or any(block not in tables for pair in blocks for block in pair):
        return None
    run = _Run(frame.data[start:], recover)
    codes = [(tables[dc], tables[ac]) for dc, ac in blocks]
    enough = 0 if frame.restart_interval else _QUICK_BLOCK * len(blocks)
    last = min(frame.units, first + frame.restart_interval) if frame.restart_interval else frame.units
    for done in range(first, last):
        run.begin_unit()
        quick = enough and run.remaining >= enough
        if not (_decode_quickly(run, codes) if quick else _decode(run, codes)):
            return Replay(done, run.remaining > 0, bytes(run.tail))
    return Replay(last, last < frame.units, bytes(run.tail))


class _Run:
    """The bytes of a run of units, and how many of them the decoder has loaded and used.

    Attributes:
        clean: the bytes without those that only mark 0xff, and some zeros.
        count: of clean bytes.
        used: bits.
        held: clean bytes loaded.
        remaining: bytes of the data that were not loaded when the unit began.
        tail: bytes read again.
    """

    def __init__(self, data: bytes, recover: bool) -> None:
        self.data = data
        self.recover = recover
        self.used = self.held = self.begun = 0
        self.remaining = len(data)
        self.tail = bytearray()
        self.clean = b"\0" * 4
        self.count = 0
        self.ends = np.zeros(0, np.int64)  # offset in the data behind each clean byte
        self.marked = False  # a marker came up among the bytes read again
        self.pending = b""  # first half of a pair that is not whole
        self._append(data, 0)

    def begin_unit(self) -> None:
        """Remember where the unit begins."""
        self.begun = int(self.ends[self.held - 1]) if self.held else 0
        self.remaining = len(self.data) - self.begun

    def load(self, used: int) -> bool:
        """Load bytes until enough bits are there; say whether they are."""
        self.held = max(self.held, -(-(used + _FILLED) // 8))
        again = 0
        while self.held > self.count:
            if not self.recover or not self.remaining or self.marked or again == _ENDLESS:
                return False
            again += 1
            self.tail += self.data[self.begun :]
            self._append(self.data[self.begun :], self.begun)
        return True

    def _append(self, data: bytes, offset: int) -> None:
        """Take the data from an offset on behind what there is."""
        raw = np.frombuffer(self.pending + data, np.uint8)
        behind = np.arange(len(raw)) + 1 + offset - len(self.pending)
        full = raw == 0xFF
        before, after = np.append(False, full[:-1]), np.append(full[1:], True)
        marks = np.flatnonzero(before & ~full & (raw != 0))
        if len(marks):
            self.marked = True
            raw, behind = raw[: marks[0] - 1], behind[: marks[0] - 1]
            full, before = full[: marks[0] - 1], before[: marks[0] - 1]
            after = np.append(full[1:], False)
        keep = ~(before & (raw == 0)) & ~(full & after)
        self.pending = b"\xff" if len(raw) and full[-1] and not len(marks) else b""
        self.ends = np.append(self.ends, (behind + full)[keep])
        self.clean = self.clean[: self.count] + raw[keep].tobytes() + b"\0" * 4
        self.count += int(keep.sum())


def _decode(run: _Run, codes: list[tuple[list[int], list[int]]]) -> bool:
    """Decode the codes of a unit; say whether all of them were there."""
    used = run.used
    for blocks in codes:
        position, table = 0, blocks[0]
        while position < 64:
            left = 8 * run.held - used
            if left < _PEEKED:
                if not run.load(used):
                    return False
                left = 8 * run.held - used
            size, symbol = _look_up(run, table, used)
            if size > _PEEKED and size > left:
                if not run.load(used if left <= _PEEKED else used + left):
                    return False
                size, symbol = _look_up(run, table, used)
            used += size
            bits = symbol & 15
            if 8 * run.held - used < bits and not run.load(used):
                return False
            used += bits
            position = _next_position(position, symbol)
            table = blocks[1]
    run.used = used
    return True


def _decode_quickly(run: _Run, codes: list[tuple[list[int], list[int]]]) -> bool:
    """The same where many bytes are left; more are loaded in other steps."""
    used, held, clean = run.used, run.held, run.clean
    for blocks in codes:
        position, table = 0, blocks[0]
        while position < 64:
            if 8 * held - used <= _QUICK_LEFT:
                held += _QUICK_LOAD
            at = used >> 3
            window = clean[at] << 16 | clean[at + 1] << 8 | clean[at + 2]
            found = table[window >> (8 - (used & 7)) & 0xFFFF]
            used += found >> 8
            bits = found & 15
            if bits:
                if 8 * held - used <= _QUICK_LEFT:
                    held += _QUICK_LOAD
                used += bits
            position = _next_position(position, found & 0xFF)
            table = blocks[1]
    run.used, run.held = used, held
    return True


def _look_up(run: _Run, table: list[int], used: int) -> tuple[int, int]:
    at = used >> 3
    window = run.clean[at] << 16 | run.clean[at + 1] << 8 | run.clean[at + 2]
    found = table[window >> (8 - (used & 7)) & 0xFFFF]
    return found >> 8, found & 0xFF


def _next_position(position: int, symbol: int) -> int:
    """Where in the block the next coefficient comes: the first stands alone, then runs of zeros are skipped."""
    if position == 0:
        return 1
    if symbol & 15:
        return position + (symbol >> 4) + 1
    return position + 16 if symbol == 0xF0 else 64


def _read_tables(frame: Frame) -> dict[int, list[int]]:
    """Huffman tables by class and number: for each 16 bits the size of the code and its symbol, 17 and 0 if none."""
    tables: dict[int, list[int]] = {}
    for body in frame.huffman_segments:
        at = 0
        while at + 17 <= len(body):
            counts = body[at + 1 : at + 17]
            symbols = body[at + 17 : at + 17 + sum(counts)]
            tables[body[at]] = _expand(counts, symbols)
            at += 17 + sum(counts)
    return tables


def _expand(counts: bytes, symbols: bytes) -> list[int]:
    parts, taken, size = [], 0, 0
    for bits, count in enumerate(counts, 1):
        for symbol in symbols[taken : taken + count]:
            parts.append(np.full(1 << (16 - bits), bits << 8 | symbol, np.int32))
            size += 1 << (16 - bits)
        taken += count
    table = np.concatenate([*parts, np.full(max(0, (1 << 16) - size), 17 << 8, np.int32)])
    expanded: list[int] = table[: 1 << 16].tolist()
    return expanded
