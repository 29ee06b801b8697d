"""JPEG files whose components are sampled in unusual ways, which the codec refuses: Pillow decodes them.

Pillow has two of the four combinations of transform and upscaling; the other two are the same wherever no component
has exactly half of the samples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tfrkit.errors import UnimplementedError
from tfrkit.images.codecs.jpeg.jpeg_header import Frame
from tfrkit.images.codecs.jpeg.jpeg_ratio import reduced, spread
from tfrkit.images.codecs.pillow import opened_by_pillow

__all__ = ["decode_unusual_sampling"]


def decode_unusual_sampling(
    frame: Frame, channels: int, ratio: int, fancy: bool, accurate: bool
) -> npt.NDArray[np.uint8]:
    """Decode with Pillow.

    Args:
        frame: of the file.
        channels: 1 or 3; of a file with four components all four are returned.
        ratio: 1, 2, 4 or 8.
        fancy: smooth colours between samples.
        accurate: the slow inverse transform.

    Raises:
        UnimplementedError: Pillow cannot do it.
        ValueError: it finds damage.
    """
    halved = ratio < 8 and any(
        pixels in ((1, 2), (2, 1), (2, 2)) for pixels in spread(frame, ratio)[: len(frame.shown(channels))]
    )
    if halved and fancy != accurate:
        raise _unimplemented(frame, "with this dct_method and fancy_upscaling; change one of the two")
    with opened_by_pillow(frame.data, "JPEG") as image:
        mode = "L" if channels == 1 else image.mode
        image.draft(mode, (max(1, frame.width // ratio), max(1, frame.height // ratio)))
        if image.decoderconfig[:1] != (ratio,):
            raise _unimplemented(frame, f"with ratio={ratio}; decode it with ratio=1")
        image.decoderconfig = (ratio, 0 if accurate else 1)
        pixels: npt.NDArray[np.uint8] = np.array(image)
    pixels = pixels.reshape(reduced(frame.height, ratio), reduced(frame.width, ratio), -1)
    return 255 - pixels if frame.channels == 4 else pixels


def _unimplemented(frame: Frame, why: str) -> UnimplementedError:
    samplings = [(part.across, part.down) for part in frame.components]
    return UnimplementedError(f"decode_jpeg of a file with the samplings {samplings} {why}.")
