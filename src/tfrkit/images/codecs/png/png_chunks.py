"""The chunks of a PNG file: what its header, palette, transparency and gamma say, and where its pixels lie.

Inflates nothing and makes no image. What is damaged, missing, repeated or out of place is an error, ignored or taken as
it is, as in libpng: damage before and after the first pixels are distinguished, as in TensorFlow.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_format import PNG_MAGIC
from tfrkit.images.codecs.png.png_gamma import ColorSpace

_fast: Any
try:
    from isal import isal_zlib as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib

__all__ = ["GRAY", "GRAY_ALPHA", "PALETTE", "RGB", "RGBA", "PngFile", "read_chunks"]

GRAY: Final = 0
RGB: Final = 2
PALETTE: Final = 3
GRAY_ALPHA: Final = 4
RGBA: Final = 6
_DEPTHS: Final = {
    GRAY: (1, 2, 4, 8, 16),
    RGB: (8, 16),
    PALETTE: (1, 2, 4, 8),
    GRAY_ALPHA: (8, 16),
    RGBA: (8, 16),
}
_SAMPLES: Final = {GRAY: 1, RGB: 3, PALETTE: 3, GRAY_ALPHA: 2, RGBA: 4}

_BEGINNING: Final = struct.Struct(">I4s")
_CHECKSUM: Final = struct.Struct(">I")
_MAX_SIDE: Final = 1_000_000  # libpng's limit
_MAX_LENGTH: Final = 2**31 - 1
_NEEDS_HEADER: Final = frozenset(
    b"PLTE bKGD cHRM eXIf gAMA hIST oFFs pCAL sCAL pHYs sBIT sRGB iCCP sPLT tEXt tIME tRNS zTXt iTXt".split()
)

Buffer = bytes | memoryview


class _BadPngError(Exception):
    """The bytes break a rule that libpng insists on; the text says which."""


@dataclass(slots=True)
class PngFile:
    """What the chunks of a file say.

    Attributes:
        width, height, depth, color, interlaced: the header; color is the format's own number.
        palette: red, green, blue of each entry.
        opacities: alpha of the first entries of the palette; None if the file says nothing.
        key: the colour that is transparent, one number for gray, three for RGB.
        gamma: of the file, times 100,000; 0 if it is not said.
        significant_bits: the most that the samples are said to have; 0 if it is not said.
        pixels: payloads of the run of IDAT chunks.
        ending: what is wrong after the first of them, or "".
    """

    width: int = 0
    height: int = 0
    depth: int = 0
    color: int = 0
    interlaced: bool = False
    palette: bytes = b""
    opacities: bytes | None = None
    key: tuple[int, ...] | None = None
    gamma: int = 0
    significant_bits: int = 0
    pixels: list[Buffer] = field(default_factory=list)
    ending: str = ""


def read_chunks(data: Buffer) -> PngFile:
    """Read all chunks of a file whose signature is right. Pure: no I/O.

    Raises:
        InvalidArgumentError: something is wrong before the first pixels. What is wrong later stands in `ending`.
    """
    reader = _Reader(data)
    try:
        while not reader.read_chunk():
            pass
    except _BadPngError as error:
        raise InvalidArgumentError(f"Invalid PNG. Failed to initialize decoder. {error}") from None
    try:
        while not reader.read_later_chunk():
            pass
    except _BadPngError as error:
        reader.file.ending = str(error)
    return reader.file


class _Reader:
    """Goes through the chunks once, and keeps what came before where their order matters."""

    def __init__(self, data: Buffer) -> None:
        self.file = PngFile()
        self._data = memoryview(data)
        self._at = len(PNG_MAGIC)
        self._has_header = self._has_palette = self._has_transparency = False
        self._is_run = True  # only IDAT chunks since the first
        self._space = ColorSpace()

    def read_chunk(self) -> bool:
        """Read a chunk before the pixels; tell whether they begin now."""
        name, length = self._name()
        if name == b"IDAT":
            self._check_pixels_may_begin()
            self._at -= 8
            return True
        if name == b"IEND":
            raise _BadPngError("There is no IDAT chunk.")
        if not self._has_header and name in _NEEDS_HEADER:
            raise _BadPngError(f"A chunk {name.decode()} stands before IHDR.")
        if name == b"PLTE" and self._has_palette:
            raise _BadPngError("There are two PLTE chunks.")
        body, good = self._body(name, length)
        handler = _HANDLERS.get(name)
        if handler is None:
            self._check_unknown(name)
        elif good or name == b"iCCP":  # libpng takes a profile whatever its checksum
            handler(self, body)
        return False

    def read_later_chunk(self) -> bool:
        """Read a chunk from the first IDAT on; tell whether it was the last."""
        name, length = self._name()
        if name == b"IDAT":
            if self._is_run:
                self._need(length)
                self.file.pixels.append(self._data[self._at : self._at + length])
        else:
            self._is_run = False
            if name == b"IHDR":
                raise _BadPngError("There are two IHDR chunks.")
            if name == b"PLTE" and self._has_palette:
                raise _BadPngError("There are two PLTE chunks.")
        self._body(name, length)
        if name not in (b"IDAT", b"IEND", b"PLTE"):
            self._check_unknown(name)
        return name == b"IEND"

    def _name(self) -> tuple[bytes, int]:
        self._need(8)
        length, name = _BEGINNING.unpack_from(self._data, self._at)
        self._at += 8
        if length > _MAX_LENGTH:
            raise _BadPngError(f"A chunk claims {length} bytes.")
        if not name.isalpha():
            raise _BadPngError(f"A chunk's name has other bytes than letters: {name.hex()}.")
        return name, length

    def _body(self, name: bytes, length: int) -> tuple[memoryview, bool]:
        """Return the content of a chunk, and whether its checksum holds, as it must in critical chunks."""
        self._need(length + 4)
        end = self._at + length
        body = self._data[self._at : end]
        (stored,) = _CHECKSUM.unpack_from(self._data, end)
        computed = _fast.crc32(self._data[self._at - 4 : end])  # from the name on
        self._at = end + 4
        if stored != computed and name[0] & 0x20 == 0:
            raise _BadPngError(
                f"The checksum of a chunk {name.decode()} is stored as {stored:#010x}, computed {computed:#010x}."
            )
        return body, stored == computed

    def _need(self, size: int) -> None:
        if len(self._data) - self._at < size:
            raise _BadPngError(f"The file ends inside a chunk, after {len(self._data)} bytes.")

    def _check_pixels_may_begin(self) -> None:
        if not self._has_header:
            raise _BadPngError("There is no IHDR chunk.")
        if self.file.color == PALETTE and not self.file.palette:
            raise _BadPngError("There is no PLTE chunk.")
        self.file.gamma = self._space.gamma

    def _check_unknown(self, name: bytes) -> None:
        if name[0] & 0x20 == 0 and name != b"IHDR":
            raise _BadPngError(f"The chunk {name.decode()} is not known, and the image needs it.")

    def take_header(self, body: memoryview) -> None:
        """Take the first chunk: sizes and type."""
        if self._has_header:
            raise _BadPngError("There are two IHDR chunks.")
        if len(body) != 13:
            raise _BadPngError(f"IHDR has {len(body)} bytes, expected 13.")
        width, height, depth, color, compression, filters, interlace = struct.unpack(">IIBBBBB", body)
        if not 0 < width <= _MAX_SIDE or not 0 < height <= _MAX_SIDE:
            raise _BadPngError(f"The image claims {width} x {height} pixels, expected 1 to {_MAX_SIDE} each.")
        if depth not in _DEPTHS.get(color, ()):
            raise _BadPngError(f"There is no colour type {color} with {depth} bits.")
        if compression or filters or interlace > 1:
            raise _BadPngError(
                f"Compression {compression}, filters {filters} or interlace {interlace} is unknown."
            )
        self._has_header = True
        file = self.file
        file.width, file.height, file.depth, file.color = width, height, depth, color
        file.interlaced = bool(interlace)

    def take_palette(self, body: memoryview) -> None:
        """Take the colours of a palette."""
        self._has_palette = True
        if self.file.color in (GRAY, GRAY_ALPHA):
            return
        count, rest = divmod(len(body), 3)
        if rest or count > 256:
            if self.file.color == PALETTE:
                raise _BadPngError(f"PLTE has {len(body)} bytes.")
            return
        if self.file.color == PALETTE:
            count = min(count, 1 << self.file.depth)
        if not count:
            raise _BadPngError("PLTE is empty.")
        self.file.palette = bytes(body[: 3 * count])
        self.file.key = None  # transparency has to come later

    def take_transparency(self, body: memoryview) -> None:
        """Take what is transparent."""
        file = self.file
        if self._has_transparency:
            return
        if file.color == PALETTE:
            if 0 < len(body) <= len(file.palette) // 3:
                file.opacities = bytes(body)
        elif file.color in (GRAY, RGB) and len(body) == 2 * _SAMPLES[file.color]:
            file.key = struct.unpack(f">{_SAMPLES[file.color]}H", body)
        self._has_transparency = file.opacities is not None or file.key is not None

    def take_gamma(self, body: memoryview) -> None:
        """Take the gamma."""
        if len(body) == 4 and not self._has_palette:
            self._space.set_gamma(int.from_bytes(body, "big"))

    def take_srgb(self, body: memoryview) -> None:
        """Take that colours are sRGB."""
        if len(body) == 1 and not self._has_palette:
            self._space.set_srgb(body[0])

    def take_profile(self, body: memoryview) -> None:
        """Take a colour profile."""
        if not self._has_palette:
            self._space.set_profile(body)

    def take_significant_bits(self, body: memoryview) -> None:
        """Take how many bits of samples count."""
        file = self.file
        most = 8 if file.color == PALETTE else file.depth
        if self._has_palette or file.significant_bits or len(body) != _SAMPLES[file.color]:
            return
        if all(0 < bits <= most for bits in body):
            file.significant_bits = max(body[:3] if file.color in (RGB, RGBA, PALETTE) else body[:1])


_HANDLERS: Final[dict[bytes, Callable[[_Reader, memoryview], None]]] = {
    b"IHDR": _Reader.take_header,
    b"PLTE": _Reader.take_palette,
    b"tRNS": _Reader.take_transparency,
    b"gAMA": _Reader.take_gamma,
    b"sRGB": _Reader.take_srgb,
    b"iCCP": _Reader.take_profile,
    b"sBIT": _Reader.take_significant_bits,
}
