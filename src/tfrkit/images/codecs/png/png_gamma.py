"""What the chunks of a PNG file say about its gamma, and how libpng makes gray of colours that are not linear.

Only gray needs that: TensorFlow returns colours as they are stored, whatever a file says about them.
"""

from __future__ import annotations

import functools
import math
import zlib
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["ColorSpace", "gray_tables"]

Table = npt.NDArray[np.uint16]

_ONE: Final = 100_000  # gamma is counted in these
_INSIGNIFICANT: Final = 5_000
_BITS_FOR_8: Final = 11  # of 16, where the result has 8
_SRGB_GAMMA: Final = 45_455
# Adler-32 and CRC-32 of the ICC profiles that libpng takes for sRGB, by size and rendering intent.
_SRGB_PROFILES: Final = {
    (3048, 0): (0x0A3FD9F6, 0x3B8772B9),
    (3052, 1): (0x4909E5E1, 0x427EBB21),
    (60988, 0): (0xFD2144A1, 0x306FD8AE),
    (60960, 0): (0x209C35D2, 0xBBEF7812),
    (3024, 1): (0xA054D762, 0x5D5129CE),
    (3144, 0): (0xF784F3FB, 0x182EA552),
    (3144, 1): (0x0398F3FC, 0xF29E526D),
}
_LARGEST_PROFILE: Final = 60988
_PROFILE_HEADER: Final = 132


class ColorSpace:
    """The gamma that the chunks of a file agree on, by libpng's rules. Chunks must be passed in file order."""

    def __init__(self) -> None:
        self.gamma = 0  # times 100,000; 0 if nothing is said
        self._is_invalid = self._is_srgb = self._is_said = False

    def set_gamma(self, gamma: int) -> None:
        """Take a gAMA chunk. After an sRGB chunk only what is near its gamma counts."""
        if not 16 <= gamma <= 625_000_000 or self._is_said:
            self._is_invalid = True
        elif not self._is_invalid and not (self._is_srgb and self._differs(gamma)):
            self.gamma = gamma
            self._is_said = True

    def set_srgb(self, intent: int) -> None:
        """Take an sRGB chunk, or a profile that is the same."""
        if self._is_srgb or intent > 3:
            self._is_invalid = True
        elif not self._is_invalid:
            self.gamma = _SRGB_GAMMA
            self._is_srgb = True

    def set_profile(self, body: memoryview) -> None:
        """Take an iCCP chunk: it counts if it is one of the profiles that are known for sRGB."""
        if self._is_invalid or self._is_srgb or len(body) < 14:
            return
        name, end, rest = bytes(body[:81]).partition(b"\0")
        if not end or not name or not rest or rest[0]:
            self._is_invalid = True
            return
        profile = _inflate_profile(body[len(name) + 2 :])
        if profile is None:
            return
        intent = int.from_bytes(profile[64:68], "big")
        if len(profile) < _PROFILE_HEADER or profile[16:20] != b"RGB ":
            self._is_invalid = True
        elif _SRGB_PROFILES.get((len(profile), intent)) == (zlib.adler32(profile), zlib.crc32(profile)):
            self.set_srgb(intent)

    def _differs(self, gamma: int) -> bool:
        return _matters(math.floor(self.gamma * _ONE / gamma + 0.5))


def _inflate_profile(data: memoryview) -> bytes | None:
    """As many bytes as a profile says that it has, or none if they are not there, or None if nothing can be read."""
    if len(data) < 2 or int.from_bytes(data[:2], "big") % 31:
        return None
    engine = zlib.decompressobj(-15)  # libpng does not mind a wrong checksum here
    try:
        head = engine.decompress(data[2:], 4)
    except zlib.error:
        return None
    size = int.from_bytes(head, "big")
    try:
        rest = engine.decompress(engine.unconsumed_tail, min(max(size, 5), _LARGEST_PROFILE + 1) - 4)
    except zlib.error:
        return b""
    return head + rest if len(rest) == size - 4 or size > _LARGEST_PROFILE else b""


def gray_tables(gamma: int, depth: int, significant_bits: int, narrow: bool) -> Table | None:
    """Return three tables: samples to linear light, linear light to gray, and samples that are gray already to gray.

    Args:
        gamma: of the file, times 100,000; 0 if it is not said.
        depth: bits of a sample.
        significant_bits: of samples of 16 bits, 0 if it is not said: the tables are no finer.
        narrow: samples of 16 bits become 8 in the end.

    Returns:
        Three rows of 256 or 65,536 entries, or None if colours are linear.
    """
    if gamma == 0 or not (_matters(gamma) or _matters(_reciprocal(gamma))):
        return None
    return _tables_8(gamma) if depth < 16 else _tables_16(gamma, _shift(significant_bits, narrow), narrow)


@functools.lru_cache(maxsize=8)
def _tables_8(gamma: int) -> Table:
    screen = _reciprocal(gamma)
    exponents = (screen, _reciprocal(screen), _reciprocal_of_product(gamma, screen))
    return np.array([_table_8(exponent) for exponent in exponents], np.uint16)


def _table_8(exponent: int) -> list[int]:
    if not _matters(exponent):
        return list(range(256))
    return [math.floor(255 * math.pow(value / 255.0, exponent * 0.00001) + 0.5) for value in range(256)]


@functools.lru_cache(maxsize=8)
def _tables_16(gamma: int, shift: int, narrow: bool) -> Table:
    screen = _reciprocal(gamma)
    if narrow:
        equal = _table_16_to_8(_product(gamma, screen), shift)
    else:
        equal = _table_16(_reciprocal_of_product(gamma, screen), shift)
    return np.array([_table_16(screen, shift), _table_16(_reciprocal(screen), shift), equal])


def _table_16(exponent: int, shift: int) -> Table:
    coarse = np.arange(65536, dtype=np.int64) >> shift
    most = (1 << (16 - shift)) - 1
    if _matters(exponent):
        powers = np.power(coarse * (1.0 / most), exponent * 0.00001)
        return np.asarray(np.floor(65535.0 * powers + 0.5), np.uint16)
    if shift:
        coarse = (coarse * 65535 + (1 << (15 - shift))) // most
    return np.asarray(coarse, np.uint16)


def _table_16_to_8(exponent: int, shift: int) -> Table:
    """Steps of 257, each where a value is nearer to it than to the next."""
    most = (1 << (16 - shift)) - 1
    table: Table = np.full(most + 1, 65535, np.uint16)
    last = 0
    for step in range(255):
        bound = (_correct_16(step * 257 + 128, exponent) * most + 32768) // 65535 + 1
        table[last:bound] = step * 257
        last = max(last, bound)
    return np.repeat(table, 1 << shift)


def _correct_16(value: int, exponent: int) -> int:
    return math.floor(65535 * math.pow(value / 65535.0, exponent * 0.00001) + 0.5)


def _shift(significant_bits: int, narrow: bool) -> int:
    shift = 16 - significant_bits if 0 < significant_bits < 16 else 0
    if narrow:
        shift = max(shift, 16 - _BITS_FOR_8)
    return min(shift, 8)


def _matters(gamma: int) -> bool:
    return not _ONE - _INSIGNIFICANT <= gamma <= _ONE + _INSIGNIFICANT


def _reciprocal(gamma: int) -> int:
    value = math.floor(1e10 / gamma + 0.5)
    return value if value <= 2**31 - 1 else 0


def _product(gamma: int, other: int) -> int:
    return math.floor(gamma * 1e-5 * other + 0.5)


def _reciprocal_of_product(gamma: int, other: int) -> int:
    return math.floor(1e15 / gamma / other + 0.5) if gamma and other else 0
