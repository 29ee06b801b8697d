"""The files of exported images: their names, their content, and what could not be kept."""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise
from typing import Any, Final

import numpy as np

from tfrkit.build.export.export_folder import ExportFolder
from tfrkit.build.export.export_image_keys import ImageKeys
from tfrkit.build.export.export_names import ClassFolders, file_name, readable, safe_name
from tfrkit.build.export.export_paths import record_stem
from tfrkit.build.images.label_map import write_label_map
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_format import image_format
from tfrkit.images.codecs.png.png_encode import encode_png_file
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.describe.schema import Schema
from tfrkit.records.read.feature_columns import Cells
from tfrkit.scanning.columns import ScanChunk, ScanColumn
from tfrkit.stores.url import base_name

__all__ = ["ImageWriter"]

UNLABELLED: Final = "unlabelled"
NO_IMAGE: Final = "records without an image, which are left out"
NO_CLASS: Final = "records without a class, in the folder {folder!r}"
NO_NAME: Final = "numbers of classes that the label map does not have"
UNKNOWN: Final = "images of an unknown format, in files called .bin"
TAKEN: Final = "names of files that were taken, and got a number"
MENDED_FILES: Final = "names of files that had to be changed"
MENDED_CLASSES: Final = "names of classes that had to be changed"
PIXELS: Final = "images that were pixels, and are PNG files now"
# The first of each is what new names get.
_SUFFIXES: Final = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "PNG": (".png",),
    "GIF": (".gif",),
    "BMP": (".bmp", ".dib"),
    "WebP": (".webp",),
    "JPEG XL": (".jxl",),
    "": (".bin",),
}
_MAX_CLASSES_LISTED: Final = 1_000_000


class ImageWriter:
    """Writes images into a folder, one after the other, so that names do not depend on the number of threads."""

    def __init__(
        self,
        folder: ExportFolder,
        keys: ImageKeys,
        columns: tuple[ScanColumn, ...],
        label_names: list[str] | None,
        schema: Schema,
    ) -> None:
        """Begin with an empty folder.

        Args:
            folder: where the files go.
            keys: which features say what.
            columns: those that chunks have.
            label_names: names of the classes by number, or None.
            schema: of all records; it says how many digits the numbers of classes need.
        """
        self._folder = folder
        self._keys = keys
        self._places = {column.feature: place for place, column in enumerate(columns) if not column.steps}
        self._names = label_names
        self._digits = _digits(schema, keys.label)
        self._folders = ClassFolders(unicode=folder.unicode)
        self._labels: dict[int, str] = {}
        self._one_name_a_label = True
        self.classes: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self.records = self.images = self.bytes = 0

    @property
    def dropped(self) -> Counter[str]:
        """What could not be kept, and how often."""
        return self._counts + Counter({MENDED_CLASSES: self._folders.mended})

    def write(self, chunk: ScanChunk) -> None:
        """Write the images of some records.

        Raises:
            OpError: a file cannot be written.
        """
        values = {name: _lists(chunk.cells[place]) for name, place in self._places.items()}
        row = 0
        for block in chunk.blocks:
            for number in range(len(block)):
                record = {name: column[row] for name, column in values.items() if column[row]}
                self._write_record(record, block, number)
                row += 1
        self.records += row

    def label_lines(self) -> bytes | None:
        """The label map of what was written, if records have numbers and names of classes that make one."""
        count = len(self._labels)
        if not count or not self._one_name_a_label or set(self._labels) != set(range(count)):
            return None
        names = [os.fsencode(self._labels[number]) for number in range(count)]
        if len(set(names)) < count or any(not name or b"\n" in name or b"\r" in name for name in names):
            return None
        return write_label_map(names)

    def _write_record(self, record: dict[str, list[Any]], block: Block, number: int) -> None:
        images = record.get(self._keys.image, [])
        if not images:
            self._counts[NO_IMAGE] += 1
            return
        folder = self._class_folder(record)
        for image in images:
            kind, data = self._content(image, record)
            stem, suffix = self._file_name(record, folder, _SUFFIXES[kind])
            stem = stem or f"{safe_name(self._text(_stem_of(block)))}-{block.place(number)[0]:08d}"
            self._counts[TAKEN] += self._folder.add(folder, stem, suffix, data)
            self.images += 1
            self.bytes += len(data)
            self.classes[folder] += 1

    def _class_folder(self, record: dict[str, list[Any]]) -> str:
        keys = self._keys
        if keys.label is None and keys.text is None:
            return ""
        numbers = record.get(keys.label or "", [])
        texts = record.get(keys.text or "", [])
        if texts:
            name = os.fsdecode(texts[0])
            if numbers:
                self._note_label(numbers[0], name)
        elif numbers:
            name = self._name_of(numbers[0])
        else:
            folder = self._folders.folder(None, UNLABELLED)
            self._counts[NO_CLASS.format(folder=folder)] += 1
            return folder
        return self._folders.folder(name, "class")

    def _name_of(self, number: int) -> str:
        if self._names is not None:
            if 0 <= number < len(self._names) and self._names[number]:
                self._note_label(number, self._names[number])
                return self._names[number]
            self._counts[NO_NAME] += 1
        return f"{number:0{self._digits}d}"

    def _note_label(self, number: int, name: str) -> None:
        if len(self._labels) < _MAX_CLASSES_LISTED:
            self._one_name_a_label &= self._labels.setdefault(number, name) == name

    def _content(self, image: bytes, record: dict[str, list[Any]]) -> tuple[str, bytes]:
        """The format and the bytes of a file."""
        try:
            return image_format(image), image
        except InvalidArgumentError:
            pass
        height, width, channels = (
            (record.get(key or "") or [0])[0]
            for key in (self._keys.height, self._keys.width, self._keys.channels)
        )
        area = height * width
        if area > 0 and not channels and len(image) % area == 0:
            channels = len(image) // area
        if area > 0 and 1 <= channels <= 4 and area * channels == len(image):
            self._counts[PIXELS] += 1
            pixels = np.frombuffer(image, np.uint8).reshape(height, width, channels)
            if channels == 3 and record.get(self._keys.colorspace or "") == [b"BGR"]:
                pixels = pixels[..., ::-1]
            return "PNG", encode_png_file(pixels, -1)
        self._counts[UNKNOWN] += 1
        return "", image

    def _file_name(
        self, record: dict[str, list[Any]], folder: str, suffixes: tuple[str, ...]
    ) -> tuple[str, str]:
        """Return the file name of a record, "" if it has none, and the suffix."""
        names = record.get(self._keys.filename or "", [])
        if not names:
            return "", suffixes[0]
        wanted = os.fsdecode(names[0])
        stem, suffix = file_name(self._text(wanted), suffixes)
        self._counts[MENDED_FILES] += wanted not in (stem + suffix, f"{folder}/{stem}{suffix}")
        return stem, suffix

    def _text(self, name: str) -> str:
        """Return a name as the folder takes it."""
        return readable(name) if self._folder.unicode else name


def _digits(schema: Schema, label: str | None) -> int:
    """How many digits the largest number of a class has, so that names sort like numbers."""
    if label is None:
        return 1
    used = schema.features[label].kinds["int64"].range
    return 1 if used is None else len(str(int(used[1])))


def _lists(cells: Cells) -> list[list[Any]]:
    """The values of each row; none where there is no such feature."""
    values: Any = cells.rows.values
    flat = values.to_list() if isinstance(values, BytesColumn) else values.tolist()
    return [flat[start:stop] for start, stop in pairwise(cells.rows.row_splits.tolist())]


def _stem_of(block: Block) -> str:
    return record_stem(base_name(block.path or "record"))
