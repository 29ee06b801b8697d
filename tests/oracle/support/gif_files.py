"""GIF files made by hand: frames of any place, size, colours and order, and their LZW codes."""

from __future__ import annotations

import struct

COLORS = [(10 * number + 1, 10 * number + 2, 10 * number + 3) for number in range(8)]


def lzw(pixels, size, end=True):
    """The codes of pixels, as bytes."""
    clear = 1 << size
    held = count = 0
    made = bytearray()

    def put(code, bits):
        nonlocal held, count
        held |= code << count
        count += bits
        while count >= 8:
            made.append(held & 255)
            held >>= 8
            count -= 8

    bits, known, text = size + 1, {(pixel,): pixel for pixel in range(clear)}, ()
    put(clear, bits)
    for pixel in pixels:
        if (*text, pixel) in known:
            text = (*text, pixel)
            continue
        put(known[text], bits)
        if len(known) + 2 < 4096:
            known[*text, pixel] = len(known) + 2
            if len(known) + 1 == 1 << bits and bits < 12:
                bits += 1
        else:
            put(clear, bits)
            bits, known = size + 1, {(pixel,): pixel for pixel in range(clear)}
        text = (pixel,)
    if text:
        put(known[text], bits)
        if len(known) + 2 == 1 << bits and bits < 12:
            bits += 1
    if end:
        put(clear + 1, bits)
    return bytes(made) + bytes([held & 255] if count else [])


def blocks(data, size=255):
    """Bytes as a chain of blocks."""
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def color_table(colors):
    """The bits that say its size, and the table, filled up with black."""
    bits = max(1, (len(colors) - 1).bit_length())
    filled = [*colors, *[(0, 0, 0)] * ((1 << bits) - len(colors))]
    return bits - 1, b"".join(bytes(color) for color in filled)


def screen(width, height, colors=COLORS):
    """The beginning of a file."""
    bits, table = color_table(colors) if colors else (0, b"")
    return b"GIF89a" + struct.pack("<HHBBB", width, height, (0x80 if colors else 0) | bits, 0, 0) + table


def control(disposal=0, transparent=None):
    """What is said about the next frame."""
    flags = disposal << 2 | (transparent is not None)
    return b"!\xf9\x04" + struct.pack("<BHB", flags, 5, transparent or 0) + b"\0"


def frame(
    left, top, width, height, pixels, *, size=None, colors=None, interlaced=False, codes=None, end=True
):
    """A frame; `codes` are blocks of one's own in place of the pixels."""
    flags, table = 0, b""
    if colors:
        bits, table = color_table(colors)
        flags = 0x80 | bits
    if interlaced:
        order = [*range(0, height, 8), *range(4, height, 8), *range(2, height, 4), *range(1, height, 2)]
        pixels = [pixel for row in order for pixel in pixels[row * width : (row + 1) * width]]
        flags |= 0x40
    size = size or max(2, max(pixels, default=1).bit_length())
    place = struct.pack("<HHHHB", left, top, width, height, flags)
    return b"," + place + table + bytes([size]) + (codes or blocks(lzw(pixels, size, end)))
