"""The plan of a build from images: which images there are, their labels, splits, order and shards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.build.images.image_arguments import ImagesOptions
from tfrkit.build.images.image_classes import FolderMeaning, common_top, read_folders
from tfrkit.build.images.image_duplicates import find_duplicates
from tfrkit.build.images.image_features import COLORSPACE, FIELDS, feature_names
from tfrkit.build.images.image_items import Findings, ImageBuffer, ImageItems, Ledger, Listing, shown
from tfrkit.build.images.image_recipe import ImageRecipe
from tfrkit.build.images.image_split import assign_ratios, permutation
from tfrkit.build.images.label_map import LABELS_FILE, read_label_map, write_label_map
from tfrkit.build.images.sources.image_sources import list_source
from tfrkit.build.job.job_plan import Job, ShardGroup, plan_shards
from tfrkit.build.job.progress import Progress, SurveyMeter
from tfrkit.codecs.table import canonical
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_header import BadImageError
from tfrkit.model.spec_json import spec_to_data
from tfrkit.model.specs import FixedLenFeature, VarLenFeature
from tfrkit.stores.files import is_folder, real_path, traits_of
from tfrkit.stores.paths import path_text
from tfrkit.stores.url import is_url, path_parts

__all__ = ["check_apart", "plan_images"]

IntArray = npt.NDArray[Any]
DUPLICATE: Final = "duplicate"
_NO_CLASS: Final = "not in a class folder"
_NO_SPLIT: Final = "not in the folder of a split"
_NOT_IN_MAP: Final = "class is not in the label map"
_SUFFIXES: Final = (b".jpg", b".jpeg", b".png", b".gif", b".bmp", b".webp")
_RECORD_BYTES: Final = 200  # of a record beside the image


def plan_images(
    source: str, out: str, options: ImagesOptions, *, progress: Callable[[Progress], None] | None = None
) -> Job:
    """List a source and decide everything.

    Raises:
        InvalidArgumentError: there are no images, or an option does not fit them.
    """
    check_apart(source, out)
    pixels = options.pixel_plan()
    if pixels is not None:
        pixels.require_extra()
    found = Findings(meter=SurveyMeter(progress))
    bad, noted = found.bad, found.noted
    listing = list_source(source, options, found)
    found.meter.tick(last=True)
    digest = listing.digest()
    listing = _without_duplicates(_without_strangers(listing, bad), options, found, progress)
    items, label_names = _label(listing, options, bad)
    name = path_parts(source)[-1] if is_url(source) else os.path.basename(os.path.normpath(source))
    if not len(items):
        raise _nothing(source, found, options)
    is_raw = pixels is not None and pixels.encoding == "raw"
    features = feature_names(options.chosen_names(), options.rename or {}, items.extras, raw=is_raw)
    recipe = ImageRecipe(listing.source, name, items, label_names, features, pixels, _formats(options))
    files = {} if label_names is None else {LABELS_FILE: write_label_map(label_names)}
    job = Job(
        folder=out,
        groups=tuple(_groups(recipe, options)),
        compression=canonical(options.compression),
        level=options.level,
        made_by={
            "command": "build images",
            "arguments": options.noted(),
            "source": {"name": name, "kind": listing.kind, "images": len(items), "digest": digest},
        },
        spec=_spec(recipe),
        files=files,
        bad=_under(name, bad),
        counts=bad.counts,
        noted=_under(name, noted),
        noted_counts=noted.counts,
        transient={"stamp": listing.stamp},
        stamps=listing.files,
    )
    return job if options.layout == "tfrkit" else _with_layout(job, options, recipe)


def _formats(options: ImagesOptions) -> tuple[str, ...]:
    """Return the formats that files of a layout may have; none says any."""
    if options.layout == "tfrkit":
        return ()
    from tfrkit.folders.encode.encode_pictures import READ_FORMATS

    return READ_FORMATS


def _with_layout(job: Job, options: ImagesOptions, recipe: ImageRecipe) -> Job:
    """Return a job whose folder TensorFlow Datasets reads."""
    from tfrkit.build.job.tfds_layout import tfds_job  # with pipelines, which no other build needs
    from tfrkit.folders.features import ClassLabel, Image

    names = recipe.features
    if recipe.pixels is not None and recipe.pixels.encoding == "raw":
        raise InvalidArgumentError(
            "layout='tfds' (--layout tfds): raw pixels do not say their size there. Pass another encoding, or none."
        )
    special: dict[str, Any] = {names["image/encoded"]: Image()}
    if recipe.label_names is not None and "image/label" in names:
        classes = [name.decode(errors="replace") for name in recipe.label_names]
        special[names["image/label"]] = ClassLabel(classes)
    return tfds_job(job, options.dataset, {}, special)


def _under(name: str, ledger: Ledger) -> tuple[Any, ...]:
    """What was listed, with the name of the source before the paths in it."""
    return tuple(
        found if found.line is not None else replace(found, source=f"{name}/{found.source}")
        for found in ledger.listed
    )


def check_apart(source: str, out: str) -> None:
    """Refuse an output folder inside the source: the next build would take it for a class.

    Raises:
        InvalidArgumentError: it is inside.
        UnimplementedError: no store knows the scheme of one of them.
    """
    for path in (out, source):
        traits_of(path)  # before anything is done
    inner, outer = real_path(out), real_path(source)
    if inner == outer or (inner.startswith(os.path.join(outer, "")) and is_folder(source)):
        raise InvalidArgumentError(
            f"{out}: expected a folder for the output outside of the source {source!r}. Choose another one."
        )


def _nothing(source: str, found: Findings, options: ImagesOptions) -> InvalidArgumentError:
    counts = found.bad.counts | found.noted.counts
    beside = ", ".join(f"{reason}: {number}" for reason, number in counts.items())
    wanted = "images"
    if (folders := options.splits().folders) is not None:
        names = ", ".join(sorted({shown(folder) for folder in folders}))
        wanted = f"images in folders of splits ({names})"
    return InvalidArgumentError(
        f"{source}: expected {wanted} but found none" + (f" ({beside})" if beside else "")
        + ". Name a folder with a folder for each class, or a folder of images.",
        path=source,
    )  # fmt: skip


def _without_strangers(listing: Listing, bad: Ledger) -> Listing:
    """Read the few files that are not named like images now, so that splits are exact without those that are not."""
    items = listing.items
    names: list[bytes] = items.names.to_list()
    odd = np.array([row for row, name in enumerate(names) if not name.lower().endswith(_SUFFIXES)], np.int64)
    if not len(odd) or len(odd) > max(100, len(items) // 20) or listing.source.streams:
        return listing
    kept = np.ones(len(items), bool)
    buffer = ImageBuffer()
    with listing.source.open() as reader:
        for row, read in zip(odd.tolist(), reader.contents(items.take(odd), buffer), strict=True):
            try:
                read.header(buffer)
            except BadImageError as error:
                kept[row] = False
                bad.add(shown(items.run(row, row + 1).paths()[0]), error.reason, error.detail)
    return listing if kept.all() else replace(listing, items=items.take(np.flatnonzero(kept)))


def _without_duplicates(
    listing: Listing, options: ImagesOptions, found: Findings, progress: Callable[[Progress], None] | None
) -> Listing:
    if options.duplicates == "keep":
        return listing
    items = listing.items
    rows, firsts = find_duplicates(listing.source, items, progress)
    if not len(rows):
        return listing
    first_of = dict(zip(rows.tolist(), firsts.tolist(), strict=True)) if len(rows) < 100_000 else {}

    def same_as(row: int) -> str:
        first = first_of.get(row)
        return "" if first is None else f"same as {shown(items.run(first, first + 1).paths()[0])}"

    if options.duplicates == "raise":
        row = int(rows[0])
        path = shown(items.run(row, row + 1).paths()[0])
        raise InvalidArgumentError(
            f"{path}: {same_as(row) or DUPLICATE}; there are {len(rows)} such images. Remove them, or pass "
            'duplicates="skip" or "note" (--duplicates).',
            path=path,
        )
    if options.duplicates == "note":
        found.noted.add_rows(items, rows, DUPLICATE, same_as)
        return listing
    unwanted = np.isin(np.arange(len(items)), rows)
    return replace(listing, items=found.bad.drop(items, unwanted, DUPLICATE, same_as))


# -- labels and splits -----------------------------------------------------------------------------------------------


def _label(
    listing: Listing, options: ImagesOptions, bad: Ledger
) -> tuple[ImageItems, tuple[bytes, ...] | None]:
    """Assign every image its label and, if folders decide, its split; leave out those that have none.

    Returns:
        The images, and the names of the labels; None without names.
    """
    items, folders, split = listing.items, listing.items.folders, options.splits()
    used = [folders[number] for number in np.unique(items.folder_of).tolist()]
    top = b"" if listing.kind == "folder" else common_top(used, split.folders)
    meanings = read_folders(folders, split.folders, top=top, classes=listing.kind != "list")
    if split.folders is not None:
        numbers = {name: number for number, name in enumerate(split.names)}
        by_folder = np.array(
            [-1 if found.split is None else numbers[found.split] for found in meanings], np.int8
        )
        splits = by_folder[items.folder_of]
        items = bad.drop(replace(items, splits=splits), splits < 0, _NO_SPLIT)
    if items.labels is not None:  # the list has numbers
        return items, None
    if listing.kind == "list":
        classes, class_of = listing.classes, items.texts
    else:
        classes, class_of = _folder_classes(items, meanings)
    if classes is None or class_of is None:
        return items, None
    items = bad.drop(items, class_of < 0, _NO_CLASS)
    class_of = class_of[class_of >= 0]
    if options.label_map is None:
        # In the order of Unicode code points, as UTF-8 sorts: the label is the position.
        names = tuple(sorted({classes[number] for number in np.unique(class_of).tolist()}))
    else:
        names = read_label_map(path_text(options.label_map))
    label_of = {name: number for number, name in enumerate(names)}
    labels = np.array([label_of.get(name, -1) for name in classes], np.int64)[class_of]
    items = bad.drop(items, labels < 0, _NOT_IN_MAP, lambda row: shown(classes[class_of[row]]))
    return replace(items, labels=labels[labels >= 0], texts=None), names


def _folder_classes(
    items: ImageItems, meanings: list[FolderMeaning]
) -> tuple[tuple[bytes, ...] | None, IntArray | None]:
    """Classes by folders: their names, and for each image the number; None if no image is in one."""
    numbers: dict[bytes, int] = {}
    by_folder = [
        -1 if found.label is None else numbers.setdefault(found.label, len(numbers)) for found in meanings
    ]
    class_of = np.array(by_folder, np.int64)[items.folder_of]
    return (tuple(numbers), class_of) if (class_of >= 0).any() else (None, None)


# -- shards ----------------------------------------------------------------------------------------------------------


def _groups(recipe: ImageRecipe, options: ImagesOptions) -> Iterator[ShardGroup]:
    """Make the recipes of all shards from one for all images."""
    items, split = recipe.items, options.splits()
    splits = items.splits
    if splits is None:
        by_class = items.labels if options.per_class else None
        splits = assign_ratios(len(items), split.ratios or (), options.seed, by_class)
    whole = replace(recipe, items=replace(items, splits=None))
    for number, prefix in enumerate(split.names):
        rows = np.flatnonzero(splits == number)
        if len(rows) or split.folders is None:  # a source need not have all of the folders
            yield _group(whole, rows, prefix, options)


def _group(whole: ImageRecipe, rows: IntArray, prefix: str, options: ImagesOptions) -> ShardGroup:
    estimated = int(whole.items.sizes[rows].sum()) + _RECORD_BYTES * len(rows)
    pixels = whole.pixels
    if pixels is not None and pixels.encoding == "raw" and pixels.size is not None:
        height, width = pixels.size
        estimated = (height * width * pixels.channels + _RECORD_BYTES) * len(rows)
    shards = plan_shards(estimated, options.shards, options.shard_size, most=len(rows))
    if whole.source.streams and options.shuffle:
        return ShardGroup(prefix, (replace(whole, items=whole.items.take(rows)),), shards, options.seed)
    if options.shuffle:
        rows = rows[permutation(len(rows), options.seed)]
    items = whole.items.take(rows)
    ends = [len(rows) * number // shards for number in range(shards + 1)]
    recipes = [replace(whole, items=items.run(*run)) for run in pairwise(ends)]
    return ShardGroup(prefix, tuple(recipes), shards)


def _spec(recipe: ImageRecipe) -> Any:
    items = recipe.items
    kinds: dict[str, Any] = {field: FixedLenFeature([], kind) for field, kind in FIELDS.items()}
    kinds[COLORSPACE] = FixedLenFeature([], "bytes")
    if items.labels is None:
        del kinds["image/label"]
    if recipe.label_names is None:
        del kinds["image/text"]
    for name, extra in items.extras.items():
        whole = not any(value is None or isinstance(value, list) for value in extra.values)
        kinds[name] = FixedLenFeature([], extra.kind) if whole else VarLenFeature(extra.kind)
    return spec_to_data({name: kinds[field] for field, name in recipe.features.items() if field in kinds})
