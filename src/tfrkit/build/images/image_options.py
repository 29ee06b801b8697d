"""The options of a build from images: checked before anything is read, and as the manifest has them."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from tfrkit.build.images.image_arguments import Encoding, ImagesOptions
from tfrkit.build.images.image_features import feature_names
from tfrkit.build.images.image_pixels import PixelPlan, parse_size
from tfrkit.build.images.image_split import Split, parse_split
from tfrkit.build.job.job_plan import plan_shards
from tfrkit.codecs.table import canonical
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import option_fields

__all__ = ["ImageOptions"]

_QUALITY: Final = 95  # TensorFlow's


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """The options of `images`, checked, and what follows from them.

    Attributes:
        given: the options.
        split: how images are split.
        pixels: what is done to pixels; None keeps every file as it is.
    """

    given: ImagesOptions
    split: Split
    pixels: PixelPlan | None

    @classmethod
    def make(cls, given: ImagesOptions) -> Self:
        """Check the options of `images`.

        Raises:
            InvalidArgumentError: one is wrong.
            MissingExtraError: they need the extra `images`.
        """
        plan_shards(0, given.shards, given.shard_size)
        canonical(given.compression)
        for name in ("list_encoding", "zip_encoding"):
            _check_encoding(name, getattr(given, name))
        pixels = _pixel_plan(given)
        if not given.rename:
            feature_names(given.names, {})
        if pixels is not None:
            pixels.require_extra()
        return cls(given, parse_split(given.split), pixels)

    def noted(self) -> dict[str, Any]:
        """Return all options that decide the bytes, as JSON has them."""
        found = {each.name: getattr(self.given, each.name) for each, _ in option_fields(ImagesOptions)}
        return {
            name: _plain(value)
            for name, value in found.items()
            if name not in _NOT_NOTED and value is not None
        }

    @property
    def is_raw(self) -> bool:
        return self.pixels is not None and self.pixels.encoding == "raw"


_NOT_NOTED: Final = (  # their effect is in the job, or they have none on its bytes
    "label_map", "compression", "level", "on_bad", "max_bad", "workers", "overwrite", "progress",
)  # fmt: skip


def _pixel_plan(given: ImagesOptions) -> PixelPlan | None:
    encoding, size = given.encoding, parse_size(given.size)
    if encoding is None:
        unchanged = size is None and given.max_side is None and given.quality is None
        encoding = "keep" if unchanged else "jpeg"
    _check_unused(encoding, given)
    if size is not None and given.max_side is not None:
        raise InvalidArgumentError("expected either size or max_side, and not both.")
    channels = 3 if given.channels is None else given.channels
    if channels not in (1, 3):
        raise InvalidArgumentError(f"channels={channels}: expected 1 or 3.")
    if encoding == "keep" and not given.check:
        return None
    quality = _QUALITY if given.quality is None else given.quality
    return PixelPlan(encoding, size, given.max_side, quality, channels, given.order, given.max_image)


def _check_unused(encoding: Encoding, given: ImagesOptions) -> None:
    """Refuse what has no effect."""
    unused = {"keep": ("size", "max_side", "quality", "channels"), "jpeg": (), "raw": ("quality",)}[encoding]
    for name in unused:
        if (value := getattr(given, name)) is not None:
            raise InvalidArgumentError(
                f"{name}={value!r} has no effect with encoding {encoding!r}: leave one out."
            )
    if given.order != "rgb" and (encoding != "raw" or given.channels == 1):
        remedy = "leave out channels=1" if encoding == "raw" else "pass encoding='raw' (--encoding raw)"
        raise InvalidArgumentError(f"order='bgr' is for raw pixels of 3 channels: {remedy}.")


def _check_encoding(name: str, value: str | None) -> None:
    try:
        codecs.lookup(value or "utf-8")
    except LookupError:
        raise InvalidArgumentError(
            f"{name}={value!r}: expected the name of an encoding, such as gbk or utf-8."
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
