"""PNG files made by hand: every colour type, depth and filter, interlaced, with any chunks in any order."""

from __future__ import annotations

import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
TYPES = [
    (color, depth)
    for color, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}.items()
    for depth in depths
]
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(name, body=b"", crc=None):
    """A chunk, with a checksum of one's own if it must be wrong."""
    checksum = zlib.crc32(name + body) if crc is None else crc
    return struct.pack(">I4s", len(body), name) + body + struct.pack(">I", checksum)


def samples(color, depth, height, width, generator):
    """Random samples, with runs of equal pixels and some that are gray."""
    made = generator.integers(0, 1 << depth, (height, width, CHANNELS[color]))
    made[::2, ::3] = made[0, 0]
    made[1::3, 1::2] = made[1::3, 1::2, :1]
    return made


def packed(rows, depth):
    """Rows of samples as bytes."""
    if depth >= 8:
        return [row.astype(">u2" if depth == 16 else np.uint8).tobytes() for row in rows]
    bits = (rows[:, :, np.newaxis] >> np.arange(depth - 1, -1, -1)) & 1
    return [np.packbits(row.ravel().astype(np.uint8)).tobytes() for row in bits]


def filtered(rows, step, generator):
    """Rows with a random filter each."""
    made = bytearray()
    above = np.zeros(len(rows[0]), int)
    for row in rows:
        now = np.frombuffer(row, np.uint8).astype(int)
        left = np.concatenate([np.zeros(step, int), now])[: len(now)]
        corner = np.concatenate([np.zeros(step, int), above])[: len(now)]
        kind = int(generator.integers(0, 5))
        made.append(kind)
        made += ((now - predictions(kind, left, above, corner)) % 256).astype(np.uint8).tobytes()
        above = now
    return bytes(made)


def predictions(kind, left, above, corner):
    """What a filter expects of each byte."""
    if kind < 4:
        return (0 * left, left, above, (left + above) // 2)[kind]
    estimate = left + above - corner
    distances = np.abs(np.stack([estimate - left, estimate - above, estimate - corner]))
    return np.choose(distances.argmin(axis=0), [left, above, corner])


def raw_rows(image, depth, interlaced, generator):
    """All rows as they are compressed."""
    step = max(1, image.shape[2] * depth // 8)
    parts = [image[y::down, x::across] for x, y, across, down in PASSES] if interlaced else [image]
    flat = [part.reshape(len(part), -1) for part in parts if part.size]
    return b"".join(filtered(packed(part, depth), step, generator) for part in flat)


def header(width, height, depth=8, color=2, compression=0, filters=0, interlace=0):
    """The first chunk."""
    return chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, compression, filters, interlace)
    )


def png(image, color, depth, *, interlaced=False, before=b"", after=b"", split=None, seed=0):
    """A file of these samples; `before` and `after` are chunks on either side of the pixels."""
    generator = np.random.default_rng(seed)
    height, width, _ = image.shape
    stream = zlib.compress(raw_rows(image, depth, interlaced, generator))
    size = split or len(stream)
    pixels = b"".join(chunk(b"IDAT", stream[at : at + size]) for at in range(0, len(stream), size))
    first = header(width, height, depth, color, interlace=int(interlaced))
    return SIGNATURE + first + before + pixels + after + chunk(b"IEND")


def mended(data):
    """The file with the checksums that its chunks should have, so that damage gets further."""
    made, at = bytearray(data[:8]), 8
    while len(data) - at >= 12:
        (length,) = struct.unpack_from(">I", data, at)
        if length > len(data) - at - 12:
            break
        made += data[at : at + 8 + length] + struct.pack(">I", zlib.crc32(data[at + 4 : at + 8 + length]))
        at += 12 + length
    return bytes(made) + data[at:]
