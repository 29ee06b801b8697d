"""Whether the scans of a progressive JPEG file give all of the image.

Where they do not, decoders smooth the blocks, and libjpeg-turbo changed how after the version in TensorFlow. Decodes
nothing.
"""

from __future__ import annotations

import re
from typing import Final

from tfrkit.images.codecs.jpeg.jpeg_header import Frame

__all__ = ["is_smoothed"]

_SCAN: Final = re.compile(rb"\xff\xda..[\x01-\x04]", re.DOTALL)
_LOOKED_AT: Final = 10  # coefficients of a block that decide about smoothing
_UNKNOWN: Final = -1


def is_smoothed(frame: Frame) -> bool:
    """Say whether a decoder smooths the blocks, as it does not know the first coefficients of each to the last bit.

    Args:
        frame: of a progressive file. Pure: no I/O.
    """
    known = {part.id: [_UNKNOWN] * _LOOKED_AT for part in frame.components}
    data = frame.data
    for found in _SCAN.finditer(data, frame.offset):
        at, count = found.end(), data[found.end() - 1]
        body = data[at : at + 2 * count + 3]
        if len(body) < 2 * count + 3:
            break
        first, last, low = body[-3], body[-2], body[-1] & 15
        for name in body[: 2 * count : 2]:
            for place in range(first, min(last + 1, _LOOKED_AT)):
                known.get(name, [0] * _LOOKED_AT)[place] = low
    if any(bits[0] == _UNKNOWN for bits in known.values()):
        return False
    return any(bit != 0 for bits in known.values() for bit in bits[1:])
