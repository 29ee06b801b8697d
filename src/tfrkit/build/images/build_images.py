"""`tfr.build.images`: photos in folders, archives or lists become train, validation and test shards.

Checks the options and runs the plan (`image_plan.py`). Images are read by the sources, records are made in
`image_recipe.py`, and the job is run in `job.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from tfrkit.build.images.image_duplicates import Duplicates
from tfrkit.build.images.image_features import Names
from tfrkit.build.images.image_options import DEFAULT_MAX_IMAGE, ImageOptions
from tfrkit.build.images.image_pixels import Encoding, Order
from tfrkit.build.images.image_plan import plan_images
from tfrkit.build.job.job import BuildReport, MaxBad, OnBad, Progress, run_job
from tfrkit.stores.paths import PathLike, path_text

__all__ = ["images"]


def images(
    source: PathLike,
    out: PathLike,
    *,
    split: str | Mapping[str, Any] | None = None,
    per_class: bool = False,
    label_map: PathLike | None = None,
    shards: int | None = None,
    shard_size: int | None = None,
    shuffle: bool = True,
    seed: int = 0,
    names: Names = "full",
    rename: Mapping[str, str] | None = None,
    encoding: Encoding | None = None,
    size: str | tuple[int, int] | None = None,
    max_side: int | None = None,
    quality: int | None = None,
    order: Order = "rgb",
    channels: Literal[1, 3] | None = None,
    check: bool = False,
    duplicates: Duplicates = "note",
    on_bad: OnBad = "skip",
    max_bad: MaxBad | None = None,
    max_image: int = DEFAULT_MAX_IMAGE,
    list_encoding: str = "utf-8",
    zip_encoding: str | None = None,
    compression: str | None = None,
    level: int | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Make shards of Examples from JPEG, PNG, GIF, BMP and WebP images.

    An interrupted job resumes when it is called again with the same arguments. The same source,
    arguments and seed give the same bytes, whatever the number of workers.

    Args:
        source: a folder with a folder for each class; the same inside a .zip, .tar or .tar.gz archive, which is read
            without being unpacked; a .csv, .tsv or .jsonl list with the columns `path`, `label` and any others; or a
            folder with images alone, which then have no labels.
        out: the folder for the shards, `labels.txt`, `manifest.json` and `report.json`.
        split: "train=0.8,validation=0.1,test=0.1" or such a dict: by chance, with exact numbers; "folders": the source
            has the folders train, validation (or val) and test, with a folder for each class in them;
            "train=y2023,test=y2024": these folders. By default everything is in "train".
        per_class: split every class in these ratios, instead of all images together.
        label_map: a file with a class name on each line; the number of the line, from 0 on, is the label. By default
            the sorted names of the classes.
        shards: number of files of each split.
        shard_size: or about how many bytes a file has; 256 MB by default.
        shuffle: shuffle the images of a split; else they keep the order of their folders and names.
        seed: of the splits and of the order.
        names: of the features: "full", "plain", "tfds" or "slim".
        rename: new names of features by old ones; an empty one leaves the feature out.
        encoding: "keep" (default): files as they are; "jpeg": encoded again; "raw": uint8 pixels, rows first. All but
            "keep" need the extra `images`, and turn pixels upright as EXIF data say.
        size: height and width, "224x224" or (224, 224), to which images are stretched as by `tf.image.resize` with
            antialias; means "jpeg" unless "raw" is given.
        max_side: shrink images until no side is longer than this, in proportion; means "jpeg" likewise.
        quality: of JPEG, 0 to 100; 95 by default; means "jpeg".
        order: of the channels of raw pixels: "rgb", or "bgr" as OpenCV has them.
        channels: 3 (default) or 1, where images are encoded again or raw.
        check: decode every image, and leave out those that are damaged inside; needs the extra `images`.
        duplicates: what to do with images that have the same bytes as another: "note" keeps and reports them, "skip"
            leaves them out as bad, "raise" is an error, "keep" does not look for them.
        on_bad: "skip" counts and lists broken, empty and other files that are no images; "raise" ends at the first.
        max_bad: with "skip", more bad files than this number, or than this share ("1%"), are an error, and nothing is
            published. If all files are bad, that always is.
        max_image: files with more bytes are bad.
        list_encoding: of the text of a list.
        zip_encoding: of names in a .zip that are not marked as UTF-8; guessed by default.
        compression: of the shards: "gzip", "zlib", "xz", "zstd"; none by default, as images are compressed already.
        level: of the compression.
        workers: how many shards are written at once; all cores by default.
        overwrite: replace what another job has left in `out`.
        progress: called several times a second with a `Progress`.

    Returns:
        What was written, and what was left out and why.

    Raises:
        InvalidArgumentError: an argument is wrong, the source has no images, or an archive has names that lead out of
            it; or bad input is fatal.
        AlreadyExistsError: `out` has shards of another job.
        DataLossError: the source has changed while it was read.
        NotFoundError: there is no such source.
        MissingExtraError: decoding needs the extra `images`.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("cat", "dog"):
    ...     os.makedirs(f"{folder}/photos/{name}")
    ...     with open(f"{folder}/photos/{name}/1.gif", "wb") as file:
    ...         _ = file.write(b"GIF89a" + bytes([4, 0, 3, 0, 0, 0, 0]) + name.encode() + b";")
    >>> report = images(f"{folder}/photos", f"{folder}/out", shuffle=False)
    >>> report.records, [shard.name for shard in report.shards]
    (2, ['train-00000-of-00001.tfrecord'])
    """
    options = ImageOptions.make(
        split=split, per_class=per_class, label_map=label_map, shards=shards, shard_size=shard_size, shuffle=shuffle,
        seed=seed, names=names, rename=rename, encoding=encoding, size=size, max_side=max_side, quality=quality,
        order=order, channels=channels, check=check, duplicates=duplicates, max_image=max_image,
        list_encoding=list_encoding, zip_encoding=zip_encoding, compression=compression, level=level,
    )  # fmt: skip
    job = plan_images(path_text(source), path_text(out), options)
    return run_job(
        job, workers=workers, on_bad=on_bad, max_bad=max_bad, overwrite=overwrite, progress=progress
    )
