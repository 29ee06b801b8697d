"""The options of TensorFlow's JPEG decoders, and the checks of its arguments."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_format import check_channels
from tfrkit.values.attributes import bool_attribute, float_attribute, int_attribute, str_attribute

__all__ = ["JpegOptions", "jpeg_options"]

_RATIOS: Final = (1, 2, 4, 8)
_METHODS: Final = {"": False, "INTEGER_FAST": False, "INTEGER_ACCURATE": True}


class JpegOptions(NamedTuple):
    """TensorFlow's options of decode_jpeg, checked.

    Attributes:
        channels: 0 as stored, 1 gray, 3 colour.
        ratio: 1, 2, 4 or 8.
        fancy_upscaling: smooth colours between samples.
        try_recover_truncated: decode what is there of a file that is cut.
        accurate: the slow inverse transform.
    """

    channels: int = 0
    ratio: int = 1
    fancy_upscaling: bool = True
    try_recover_truncated: bool = False
    accurate: bool = False


def jpeg_options(*arguments: Any) -> JpegOptions:
    """Check the attributes of decode_jpeg in TensorFlow's order: types first, then values.

    Args:
        arguments: channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction and dct_method.

    Raises:
        TypeError: one is of the wrong type.
        InvalidArgumentError: one is out of its range. Four channels pass, as other formats have them.
    """
    try:
        return _known_options(*arguments)
    except TypeError:  # an argument that cannot be remembered, or a wrong one
        return _options(*arguments)


def _options(channels: Any, ratio: Any, fancy: Any, recover: Any, fraction: Any, method: Any) -> JpegOptions:
    wanted = int_attribute(channels, "channels", 0)
    scale = int_attribute(ratio, "ratio", 1)
    smooth = bool_attribute(fancy, "fancy_upscaling", True)
    recovered = bool_attribute(recover, "try_recover_truncated", False)
    float_attribute(fraction, "acceptable_fraction", 1.0)  # any file that is cut is an error
    transform = str_attribute(method, "dct_method", "")
    if scale not in _RATIOS:
        raise InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {scale}")
    if transform not in _METHODS:
        names = "{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}"
        raise InvalidArgumentError(f"dct_method must be one of {names}, got {transform!r}")
    return JpegOptions(check_channels(wanted), scale, smooth, recovered, _METHODS[transform])


_known_options = lru_cache(maxsize=64, typed=True)(_options)  # pipelines pass the same ones again and again
