"""export_images: the pictures of TFRecord files as image files, in a folder for each class.

The bytes are written as they are; pixels become PNG files. Everything else that records have is dropped, and counted.
The files are gathered in a temporary folder, which gets its name when all are there; see `export_folder.py` for stores,
and `export_image_tasks.py` for engines.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from tfrkit.build.export.export_folder import ExportFolder, export_folder
from tfrkit.build.export.export_image_keys import ImageKeys, find_keys
from tfrkit.build.export.export_image_records import ImageFinder
from tfrkit.build.export.export_image_tasks import FindTask, ImageInput, WriteTask, read_images
from tfrkit.build.export.export_image_writer import ImageWriter
from tfrkit.build.export.export_options import ImageExportOptions
from tfrkit.build.export.export_paths import input_files
from tfrkit.build.export.export_progress import Meter
from tfrkit.build.export.export_tasks import run_export_tasks
from tfrkit.build.images.label_map import LABELS_FILE, read_label_map
from tfrkit.build.job.bad_limit import BadLimit
from tfrkit.build.job.input_stamp import InputChangedError, check_unchanged, stamps_of
from tfrkit.engines.engine import Engine
from tfrkit.errors import InvalidArgumentError, PermissionDeniedError
from tfrkit.options import takes
from tfrkit.records.describe.inspect import inspect
from tfrkit.records.describe.schema import Schema
from tfrkit.scanning.columns import ScanColumn, settle_columns
from tfrkit.stores.files import is_file
from tfrkit.stores.paths import PathLike, Paths, path_text

if TYPE_CHECKING:
    from tfrkit.build.keywords import ImageExportKeywords

__all__ = ["ImagesReport", "export_images", "run_image_export"]

_DERIVED: Final = ("image/format", "image/height", "image/width", "image/channels", "image/colorspace")


@dataclass(frozen=True, slots=True)
class ImagesReport:
    """What an export of images did.

    Attributes:
        folder: where they are.
        records: how many were read.
        images: how many files were written.
        bytes: of all of them.
        classes: how many files each folder has; the key is "" if there are no classes.
        dropped: what records have and files do not, and what had to be changed, each with how often.
        skipped: damages of the inputs that were passed over (`on_corrupt="skip"` or "stop").
        seconds: how long it took.
    """

    folder: str
    records: int
    images: int
    bytes: int
    classes: Mapping[str, int]
    dropped: Mapping[str, int]
    skipped: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)


@takes(ImageExportOptions)
def export_images(paths: Paths, folder: PathLike, **options: Unpack[ImageExportKeywords]) -> ImagesReport:
    """Write the images of TFRecord files as files, in a folder for each class, as `tfrkit.build.images` reads them.

    A file is called as the record says, else after its shard and its number there. Names never lead out of the folder;
    one that is taken gets a number. Pixels (`image/height` and so on tell their shape) become PNG files, all other
    bytes stay as they are. The folder appears when everything is written.

    Args:
        paths: files or patterns. They are read twice, first to see what is in them; by engines other than threads
            once more, for the names of the files.
        folder: where the images go. It must not be there yet, or be empty. Behind a URL images appear one by one, and
            `.tfrkit/export.json` in it says `"complete": false` until all of them are there.

    Returns:
        What was written, and what was dropped.

    Raises:
        InvalidArgumentError: a record is no Example, or there is no feature with images.
        AlreadyExistsError: the folder is there already.
        DataLossError, NotFoundError: as in `read_blocks`.

    >>> import numpy as np
    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     png = tfrkit.image.encode_png(np.zeros((2, 2, 3), np.uint8))
    ...     writer.write_example({"image/encoded": png, "image/text": "black", "image/filename": "x/1.png"})
    >>> export_images("a.tfrecord", "pictures").classes
    {'black': 1}
    >>> os.listdir("pictures/black")
    ['1.png']
    """
    return run_image_export(paths, folder, ImageExportOptions.of(options))


def run_image_export(
    paths: Paths,
    folder: PathLike,
    options: ImageExportOptions,
    class_names: Mapping[str, Sequence[str]] | None = None,
) -> ImagesReport:
    """Export with options that are checked: see `export_images`; `class_names`: of features, without a label map."""
    started = time.perf_counter()
    files = input_files(paths)
    stamps = stamps_of(files)
    names = _label_names(options.label_map, files)
    engine = options.made_engine()
    with export_folder(path_text(folder), options.overwrite) as staged:
        meter = Meter(sum(stamp.size for stamp in stamps.values()), 1, options.progress)
        schema = inspect(
            files, on_corrupt=options.on_corrupt, threads=options.threads, progress=meter.surveyed
        )
        BadLimit.parse(options.max_bad).check({"damaged": schema.skipped}, schema.records, ())
        keys = find_keys(
            schema, image=options.image, label=options.label, text=options.text, filename=options.filename
        )
        if names is None and class_names and keys.label is not None:
            names = list(class_names.get(keys.label, ())) or None
        columns = settle_columns(schema, keys.all(), unset="absent") if schema.records else ()
        meter.begin(schema.data_bytes)
        staged.begin()
        writer = ImageWriter(staged, keys, names, schema)
        read = _read if engine.shares_memory else partial(_read_elsewhere, engine)
        records, counts = read(files, keys, columns, options, staged, writer, meter)
        lines = writer.label_lines()
        if lines is not None:
            staged.add("", *os.path.splitext(LABELS_FILE), lines)
        check_unchanged(stamps.values())
        if records != schema.records:
            raise InputChangedError(
                files[-1], f"expected {schema.records:,} records in all inputs but got {records:,}"
            )
        staged.publish({"format": "images", "images": writer.images})
    meter.finished()
    dropped = writer.dropped + counts + _unused(schema, keys)
    return ImagesReport(
        staged.name,
        records,
        writer.images,
        writer.bytes,
        dict(sorted(writer.classes.items())),
        {what: number for what, number in sorted(dropped.items()) if number},
        schema.skipped,
        time.perf_counter() - started,
    )


def _read(
    files: list[str],
    keys: ImageKeys,
    columns: tuple[ScanColumn, ...],
    options: ImageExportOptions,
    staged: ExportFolder,
    writer: ImageWriter,
    meter: Meter,
) -> tuple[int, Counter[str]]:
    """Write all images, in this process; return the number of records, and what was left out or changed."""
    reader = ImageFinder(keys, columns, unicode=staged.unicode)
    for size, rows, chunk in read_images(files, reader, columns, options.on_corrupt, options.threads):
        for found, images in chunk:
            writer.write(found, images)
        meter.written(size, rows)
        meter.tick()
    return reader.records, reader.counts


def _read_elsewhere(
    engine: Engine,
    files: list[str],
    keys: ImageKeys,
    columns: tuple[ScanColumn, ...],
    options: ImageExportOptions,
    staged: ExportFolder,
    writer: ImageWriter,
    meter: Meter,
) -> tuple[int, Counter[str]]:
    """Do as `_read` with an engine whose tasks share no memory with this process."""
    workers, on_corrupt = options.threads or engine.cores, options.on_corrupt
    inputs = [ImageInput(file, keys, columns, on_corrupt, staged.unicode, meter.ratio) for file in files]
    finding = [FindTask(f"images of {each.path}", each) for each in inputs]
    writing: list[WriteTask] = []
    records, counts = 0, Counter[str]()
    for task, images in zip(finding, run_export_tasks(engine, finding, workers, meter), strict=True):
        records += images.records
        counts.update(images.counts)
        paths = [path for found in images.found for path in writer.reserve(found)]
        writing.append(WriteTask(f"files of {task.input.path}", task.input, tuple(paths), staged.attempts))
    writer.bytes = sum(run_export_tasks(engine, writing, workers, meter))
    return records, counts


def _unused(schema: Schema, keys: ImageKeys) -> Counter[str]:
    """Features that no file has, and in how many records they are."""
    used = {*keys.all(), *_DERIVED}
    found = Counter({f"records with the feature {name!r}": feature.records for name, feature in schema.features.items()
                     if name not in used})  # fmt: skip
    for name, feature in schema.feature_lists.items():
        found[f"records with the feature list {name!r}"] = feature.records
    return found


def _label_names(label_map: PathLike | None, files: list[str]) -> list[str] | None:
    """The names in a label map, or None."""
    if label_map is not None:
        return [os.fsdecode(name) for name in read_label_map(path_text(label_map))]
    path = os.path.join(os.path.dirname(files[0]), LABELS_FILE) if files else LABELS_FILE
    try:
        return [os.fsdecode(name) for name in read_label_map(path)] if is_file(path) else None
    except (InvalidArgumentError, PermissionDeniedError):
        return None  # something else that is called so, or nothing that this user may see
