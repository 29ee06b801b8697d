"""JPEG files of any structure, with random coefficients: what no encoder writes, and decoders must know.

The Huffman tables are the simplest there are: every code of the first has 4 bits, every code of the second 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

_SIZES = range(12)  # bits of a first coefficient's difference
_PAIRS = [0x00, 0xF0, *(run << 4 | size for run in range(16) for size in range(1, 11))]
_PAIR_CODES = {symbol: code for code, symbol in enumerate(_PAIRS)}


class _Bits:
    """Bits, most significant first, with the zero byte that follows 0xff in a scan."""

    def __init__(self) -> None:
        self.bits: list[str] = []

    def put(self, value: int, size: int) -> None:
        if size:
            self.bits.append(format(value, f"0{size}b"))

    def put_number(self, value: int, size: int) -> None:
        self.put(value if value > 0 else value + (1 << size) - 1, size)

    def take(self) -> bytes:
        """The bytes so far, filled up with ones."""
        text = "".join(self.bits)
        self.bits.clear()
        text += "1" * (-len(text) % 8)
        return bytes(int(text[at : at + 8], 2) for at in range(0, len(text), 8)).replace(b"\xff", b"\xff\0")


def segment(marker: int, body: bytes) -> bytes:
    """A marker with its length and contents."""
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body


@dataclass(frozen=True)
class Layout:
    """What the file is to be.

    Attributes:
        height: pixels.
        width: pixels.
        samplings: across and down of each component.
        restart: units between restart markers.
        separate: a scan for each component, instead of one for all.
        marker: of the frame.
        precision: bits of a sample.
        names: the components' ids; 1, 2, 3 ... if not given.
        before: segments behind the start of image.
        step: of the quantisation; more than 255 makes tables of 16 bits.
        density: how many coefficients of a block are not zero, about.
    """

    height: int
    width: int
    samplings: tuple[tuple[int, int], ...] = ((2, 2), (1, 1), (1, 1))
    restart: int = 0
    separate: bool = False
    marker: int = 0xC0
    precision: int = 8
    names: tuple[int, ...] = ()
    before: bytes = b""
    step: int = 8
    density: int = 4

    @property
    def ids(self) -> tuple[int, ...]:
        """Of the components."""
        return self.names or tuple(range(1, len(self.samplings) + 1))


def write(layout: Layout, seed: int = 0) -> bytes:
    """The file."""
    random = Random(seed)
    wide = layout.step > 255
    table = layout.step.to_bytes(2 if wide else 1, "big") * 64
    parts = [b"\xff\xd8", layout.before, segment(0xDB, bytes([0x10 if wide else 0]) + table), _frame(layout)]
    parts.append(segment(0xC4, b"\x00" + bytes([0, 0, 0, len(_SIZES)] + [0] * 12) + bytes(_SIZES)))
    parts.append(segment(0xC4, b"\x10" + bytes([0] * 7 + [len(_PAIRS)] + [0] * 8) + bytes(_PAIRS)))
    if layout.restart:
        parts.append(segment(0xDD, layout.restart.to_bytes(2, "big")))
    every = range(len(layout.samplings))
    for scan in [[part] for part in every] if layout.separate else [list(every)]:
        parts += _scan(layout, scan, random)
    return b"".join(parts) + b"\xff\xd9"


def _frame(layout: Layout) -> bytes:
    body = bytes([layout.precision]) + layout.height.to_bytes(2, "big") + layout.width.to_bytes(2, "big")
    body += bytes([len(layout.samplings)])
    for name, (across, down) in zip(layout.ids, layout.samplings, strict=True):
        body += bytes([name, across << 4 | down, 0])
    return segment(layout.marker, body)


def _scan(layout: Layout, scan: Sequence[int], random: Random) -> Iterable[bytes]:
    names = b"".join(bytes([layout.ids[part], 0]) for part in scan)
    yield segment(0xDA, bytes([len(scan)]) + names + b"\x00\x3f\x00")
    bits, last = _Bits(), [0] * len(layout.samplings)
    for number, unit in enumerate(_units(layout, scan)):
        if layout.restart and number and number % layout.restart == 0:
            yield bits.take() + bytes([0xFF, 0xD0 + (number // layout.restart - 1) % 8])
            last = [0] * len(last)
        for part in unit:
            value = max(-800, min(800, last[part] + random.randint(-60, 60)))
            _put_block(bits, value - last[part], layout.density, random)
            last[part] = value
    yield bits.take()


def _units(layout: Layout, scan: Sequence[int]) -> Iterable[list[int]]:
    """The components whose blocks make up each unit of a scan."""
    most_across = max(across for across, _ in layout.samplings)
    most_down = max(down for _, down in layout.samplings)
    if len(scan) > 1:
        unit = [part for part in scan for _ in range(layout.samplings[part][0] * layout.samplings[part][1])]
        count = -(-layout.width // (8 * most_across)) * -(-layout.height // (8 * most_down))
    else:
        across, down = layout.samplings[scan[0]]
        unit = [scan[0]]
        columns, rows = -(-layout.width * across // most_across), -(-layout.height * down // most_down)
        count = -(-columns // 8) * -(-rows // 8)
    return [unit] * count


def _put_block(bits: _Bits, difference: int, density: int, random: Random) -> None:
    size = abs(difference).bit_length()
    bits.put(size, 4)
    bits.put_number(difference, size)
    at = 1
    while True:
        run = random.randint(0, 2 * 64 // (density + 1))
        if random.randint(0, density) == 0 or at + run > 63:
            break
        while run > 15:
            bits.put(_PAIR_CODES[0xF0], 8)
            run, at = run - 16, at + 16
        value = random.choice([-1, 1]) * random.randint(1, 40)
        size = abs(value).bit_length()
        bits.put(_PAIR_CODES[run << 4 | size], 8)
        bits.put_number(value, size)
        at += run + 1
        if at > 63:
            return
    bits.put(_PAIR_CODES[0], 8)
