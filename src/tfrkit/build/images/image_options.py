"""The options of a build from images: checked before anything is read, and as the manifest has them."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from tfrkit.build.images.image_arguments import Duplicates, Encoding, ImagesOptions
from tfrkit.build.images.image_features import feature_names
from tfrkit.build.images.image_pixels import PixelPlan, parse_size
from tfrkit.build.images.image_split import Split, parse_split
from tfrkit.build.job.job_plan import plan_shards
from tfrkit.codecs.table import canonical
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import option_fields
from tfrkit.stores.paths import path_text

__all__ = ["ImageOptions"]

_QUALITY: Final = 95  # TensorFlow's


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """The arguments of `images`, checked; see there.

    Attributes:
        pixels: what is done to pixels; None keeps every file as it is.
        given: all arguments that decide the bytes, as JSON has them.
    """

    split: Split
    per_class: bool
    label_map: str | None
    shards: int | None
    shard_size: int | None
    shuffle: bool
    seed: int
    names: str
    rename: Mapping[str, str]
    pixels: PixelPlan | None
    duplicates: Duplicates
    max_image: int
    list_encoding: str
    zip_encoding: str | None
    compression: str
    level: int | None
    given: Mapping[str, Any]

    @classmethod
    def make(cls, options: ImagesOptions) -> Self:
        """Check the arguments of `images`.

        Raises:
            InvalidArgumentError: one is wrong.
            MissingExtraError: they need the extra `images`.
        """
        given = {each.name: getattr(options, each.name) for each, _ in option_fields(ImagesOptions)}
        label_map = given["label_map"]
        plan_shards(0, given["shards"], given["shard_size"])
        for name in ("list_encoding", "zip_encoding"):
            _check_encoding(name, given[name])
        pixels = _pixel_plan(given)
        rename = dict(given["rename"] or {})
        if not given["rename"]:
            feature_names(given["names"], {})
        if pixels is not None:
            pixels.require_extra()
        return cls(
            split=parse_split(given["split"]),
            per_class=bool(given["per_class"]),
            label_map=None if label_map is None else path_text(label_map),
            shards=given["shards"],
            shard_size=given["shard_size"],
            shuffle=bool(given["shuffle"]),
            seed=int(given["seed"]),
            names=given["names"],
            rename=rename,
            pixels=pixels,
            duplicates=given["duplicates"],
            max_image=given["max_image"],
            list_encoding=given["list_encoding"],
            zip_encoding=given["zip_encoding"],
            compression=canonical(given["compression"]),
            level=given["level"],
            given={
                name: _plain(value)
                for name, value in given.items()
                if name not in _NOT_NOTED and value is not None
            },
        )

    @property
    def is_raw(self) -> bool:
        """Whether pixels are stored."""
        return self.pixels is not None and self.pixels.encoding == "raw"


_NOT_NOTED: Final = (  # their effect is in the job, or they have none on its bytes
    "label_map", "compression", "level", "on_bad", "max_bad", "workers", "overwrite", "progress",
)  # fmt: skip


def _pixel_plan(given: Mapping[str, Any]) -> PixelPlan | None:
    encoding: Encoding | None = given["encoding"]
    size, max_side, quality = parse_size(given["size"]), given["max_side"], given["quality"]
    if encoding is None:
        encoding = "keep" if size is None and max_side is None and quality is None else "jpeg"
    _check_unused(encoding, given)
    if size is not None and max_side is not None:
        raise InvalidArgumentError("expected either size or max_side, and not both.")
    channels = 3 if given["channels"] is None else given["channels"]
    if channels not in (1, 3):
        raise InvalidArgumentError(f"channels={channels}: expected 1 or 3.")
    if encoding == "keep" and not given["check"]:
        return None
    chosen = _QUALITY if quality is None else quality
    return PixelPlan(encoding, size, max_side, chosen, channels, given["order"], given["max_image"])


def _check_unused(encoding: Encoding, given: Mapping[str, Any]) -> None:
    """Refuse what has no effect."""
    unused = {"keep": ("size", "max_side", "quality", "channels"), "jpeg": (), "raw": ("quality",)}[encoding]
    for name in unused:
        if given[name] is not None:
            raise InvalidArgumentError(
                f"{name}={given[name]!r} has no effect with encoding {encoding!r}: leave one out."
            )
    if given["order"] != "rgb" and (encoding != "raw" or given["channels"] == 1):
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
