"""The options of `tfr.build.images` and `tfr build images`, checked before anything is read; what follows from them.

What that needs is imported when options are made: commands import this module to know the options.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from tfrkit.build.job.job_options import BadOptions, CompressionOptions, LayoutOptions, RunOptions
from tfrkit.codecs.table import canonical
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import option, option_class, option_fields, read_pairs, size_bytes
from tfrkit.stores.paths import PathLike

if TYPE_CHECKING:
    from tfrkit.build.images.image_pixels import PixelPlan
    from tfrkit.build.images.image_split import Split

__all__ = ["DEFAULT_MAX_IMAGE", "Duplicates", "Encoding", "ImagesOptions", "Names", "Order"]

Duplicates: TypeAlias = Literal["note", "skip", "raise", "keep"]
Encoding: TypeAlias = Literal["keep", "jpeg", "raw"]
Names: TypeAlias = Literal["full", "plain", "tfds", "slim"]
Order: TypeAlias = Literal["rgb", "bgr"]

DEFAULT_MAX_IMAGE: Final = 64_000_000
_QUALITY: Final = 95  # TensorFlow's
_NOT_NOTED: Final = (  # their effect is in the job, or they have none on its bytes
    "label_map", "compression", "level", "on_bad", "max_bad", "workers", "engine", "address", "overwrite", "progress",
    "layout", "dataset",
)  # fmt: skip
_UNUSED: Final = {"keep": ("size", "max_side", "quality", "channels"), "jpeg": (), "raw": ("quality",)}


@option_class
class ImagesOptions(LayoutOptions, BadOptions, CompressionOptions, RunOptions):
    """The options of `images`."""

    split: str | Mapping[str, Any] | None = option(
        None,
        "By chance, with exact numbers: train=0.8,validation=0.1,test=0.1. By the folders train, validation (or "
        "val) and test: folders. By other folders: train=y2023,test=y2024. Everything is in train by default.",
        more="Such a dict here, too.",
    )
    per_class: bool = option(False, "Split every class in these ratios, not all together.")
    label_map: PathLike | None = option(
        None,
        "Class names, one on a line: labels are the lines' numbers, from 0 on.",
        more="By default the sorted names of the classes.",
        metavar="FILE",
    )
    shards: int | None = option(None, "How many files of each split.", least=1)
    shard_size: int | None = option(
        None,
        "Begin a new file at this size: 256MB, 1GB, 64MiB, or bytes.",
        more="A number of bytes here; 256 MB by default.",
        metavar="SIZE",
        read=size_bytes,
        least=1,
    )
    shuffle: bool = option(
        True, "Shuffle the images, or keep the order of their names.", "--shuffle/--no-shuffle"
    )
    seed: int = option(0, "Of the splits and of the order.")
    names: Names | None = option(
        None,
        "How features are called: image/encoded and so on; image, label; as in TensorFlow Datasets; as in TF-slim.",
        more='"full" by default, "tfds" with `layout="tfds"`.',
    )
    rename: Mapping[str, str] | None = option(
        None,
        "Rename a feature, or leave it out (OLD=); may be given several times.",
        "--name",
        more="New names by old ones here; an empty one leaves the feature out.",
        metavar="OLD=NEW",
        several=True,
        read=read_pairs,
    )
    encoding: Encoding | None = option(
        None,
        "Files as they are (default), JPEG encoded again, or uint8 pixels (height, width, channels).",
        more="All but the first need the extra `images`, and turn pixels upright as EXIF data say.",
    )
    size: str | tuple[int, int] | None = option(
        None,
        "Stretch images to this height and width, such as 224x224.",
        more="Or (224, 224), as by `tf.image.resize` with antialias; means JPEG unless raw pixels are asked for.",
        metavar="HxW",
    )
    max_side: int | None = option(
        None,
        "Shrink images until no side is longer, in proportion.",
        more="Means JPEG likewise.",
        least=1,
    )
    quality: int | None = option(None, "Of JPEG; 95 by default.", more="Means JPEG.", least=0, most=100)
    order: Order = option("rgb", "Of the channels of raw pixels; bgr as OpenCV has it.")
    channels: int | None = option(
        None, "1 or 3, where pixels are encoded again; 3 by default.", least=1, most=3
    )
    check: bool = option(
        False,
        "Decode every image to see that it is whole.",
        more="Those that are damaged inside are bad; needs the extra `images`.",
    )
    duplicates: Duplicates = option(
        "note",
        "Images with the same bytes: keep and report, leave out, fail, or do not look for them.",
    )
    max_image: int = option(
        DEFAULT_MAX_IMAGE, "Larger files are bad.", metavar="SIZE", read=size_bytes, least=1
    )
    list_encoding: str = option("utf-8", "Of the text of a list, such as gbk.", metavar="NAME")
    zip_encoding: str | None = option(
        None, "Of names in a .zip that are not marked as UTF-8; guessed by default.", metavar="NAME"
    )

    def __post_init__(self) -> None:
        """Check what fits no source."""
        from tfrkit.build.job.job_plan import plan_shards

        super().__post_init__()
        plan_shards(0, self.shards, self.shard_size)
        canonical(self.compression)
        _check_encoding("list_encoding", self.list_encoding)
        _check_encoding("zip_encoding", self.zip_encoding)
        self.pixel_plan()
        self.splits()

    def splits(self) -> Split:
        """Return how images are split."""
        from tfrkit.build.images.image_split import parse_split

        return parse_split(self.split)

    def pixel_plan(self) -> PixelPlan | None:
        """Return what is done to pixels; None keeps every file as it is."""
        from tfrkit.build.images.image_pixels import PixelPlan, parse_size

        encoding, size = self.encoding, parse_size(self.size)
        if encoding is None:
            unchanged = size is None and self.max_side is None and self.quality is None
            encoding = "keep" if unchanged else "jpeg"
        self._check_unused(encoding)
        if size is not None and self.max_side is not None:
            raise InvalidArgumentError("expected either size or max_side, and not both.")
        channels = 3 if self.channels is None else self.channels
        if channels not in (1, 3):
            raise InvalidArgumentError(f"channels={channels}: expected 1 or 3.")
        if encoding == "keep" and not self.check:
            return None
        quality = _QUALITY if self.quality is None else self.quality
        return PixelPlan(encoding, size, self.max_side, quality, channels, self.order, self.max_image)

    def _check_unused(self, encoding: Encoding) -> None:
        """Refuse what has no effect."""
        for name in _UNUSED[encoding]:
            if (value := getattr(self, name)) is not None:
                raise InvalidArgumentError(
                    f"{name}={value!r} has no effect with encoding {encoding!r}: leave one out."
                )
        if self.order != "rgb" and (encoding != "raw" or self.channels == 1):
            remedy = "leave out channels=1" if encoding == "raw" else "pass encoding='raw' (--encoding raw)"
            raise InvalidArgumentError(f"order='bgr' is for raw pixels of 3 channels: {remedy}.")

    def chosen_names(self) -> Names:
        """Return the set of names of features."""
        return self.names or ("tfds" if self.layout == "tfds" else "full")

    def noted(self) -> dict[str, Any]:
        """Return all options that decide the bytes, as JSON has them."""
        found = {each.name: getattr(self, each.name) for each, _ in option_fields(ImagesOptions)}
        found["names"] = self.chosen_names()
        noted = {name: value for name, value in found.items() if name not in _NOT_NOTED and value is not None}
        plain: dict[str, Any] = json.loads(json.dumps(noted, default=_plain))
        return plain


def _check_encoding(name: str, value: str | None) -> None:
    try:
        codecs.lookup(value or "utf-8")
    except LookupError:
        raise InvalidArgumentError(
            f"{name}={value!r}: expected the name of an encoding, such as gbk or utf-8."
        ) from None


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
