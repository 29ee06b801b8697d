"""The options of `tfr.build.images` and `tfr build images`, as they are given.

What follows from them is in `image_options.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from tfrkit.build.job.job_options import BadOptions, CompressionOptions, RunOptions
from tfrkit.options import option, option_class, read_pairs, size_bytes
from tfrkit.stores.paths import PathLike

__all__ = ["DEFAULT_MAX_IMAGE", "Duplicates", "Encoding", "ImagesOptions", "Names", "Order"]

Duplicates: TypeAlias = Literal["note", "skip", "raise", "keep"]
Encoding: TypeAlias = Literal["keep", "jpeg", "raw"]
Names: TypeAlias = Literal["full", "plain", "tfds", "slim"]
Order: TypeAlias = Literal["rgb", "bgr"]

DEFAULT_MAX_IMAGE: Final = 64_000_000


@option_class
class ImagesOptions(BadOptions, CompressionOptions, RunOptions):
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
    names: Names = option(
        "full",
        "How features are called: image/encoded and so on; image, label; as in TensorFlow Datasets; as in TF-slim.",
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
