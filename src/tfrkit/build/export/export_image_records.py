"""What records say of their images: class, name and format; and the bytes of their files.

Stateless but for counts: what names files get depends on all records before, and is in `export_image_writer.py`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from tfrkit.build.export.export_image_keys import ImageKeys
from tfrkit.build.export.export_names import file_name, readable, safe_name
from tfrkit.build.export.export_paths import record_stem
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_format import image_format
from tfrkit.images.codecs.png.png_encode import encode_png_file
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.read.feature_columns import Cells
from tfrkit.scanning.columns import ScanChunk, ScanColumn
from tfrkit.stores.url import base_name

__all__ = ["IMAGE_SUFFIXES", "FoundImages", "ImageContent", "ImageFinder"]

NO_IMAGE: Final = "records without an image, which are left out"
UNKNOWN: Final = "images of an unknown format, in files called .bin"
PIXELS: Final = "images that were pixels, and are PNG files now"
# The first of each is what new names get.
IMAGE_SUFFIXES: Final = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "PNG": (".png",),
    "GIF": (".gif",),
    "BMP": (".bmp", ".dib"),
    "WebP": (".webp",),
    "JPEG XL": (".jxl",),
    "": (".bin",),
}

_Record: TypeAlias = dict[str, list[Any]]


class FoundImages(NamedTuple):
    """What a record says of its images. Plain data.

    Attributes:
        label: number of the class, or None.
        text: name of the class, or None.
        filename: name of the file as the record has it, or None.
        names: stem and suffix of the file of each image, as they should be.
    """

    label: int | None
    text: str | None
    filename: str | None
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ImageContent:
    """An image: the bytes of a file, or pixels that become a PNG file, of a shape and an order of colours."""

    data: bytes
    shape: tuple[int, int, int] | None = None
    reverse: bool = False

    def file(self) -> bytes:
        """Return the bytes of its file."""
        if self.shape is None:
            return self.data
        pixels = np.frombuffer(self.data, np.uint8).reshape(self.shape)
        return encode_png_file(pixels[..., ::-1] if self.reverse else pixels, -1)


class ImageFinder:
    """Finds the images of records.

    Attributes:
        counts: of what is left out or changed, by what the report calls it.
        records: how many were looked at.
    """

    def __init__(self, keys: ImageKeys, columns: tuple[ScanColumn, ...], *, unicode: bool) -> None:
        """Begin.

        Args:
            keys: which features say what.
            columns: those that chunks have.
            unicode: names must be Unicode.
        """
        self._keys, self._unicode = keys, unicode
        self._places = {column.feature: place for place, column in enumerate(columns) if not column.steps}
        self.counts: Counter[str] = Counter()
        self.records = 0

    def read(self, chunk: ScanChunk) -> Iterator[tuple[FoundImages, list[ImageContent]]]:
        """Yield what each record with images says of them, and the images."""
        values = {name: _lists(chunk.cells[place]) for name, place in self._places.items()}
        row = 0
        for block in chunk.blocks:
            for number in range(len(block)):
                record = {name: column[row] for name, column in values.items() if column[row]}
                row += 1
                if record.get(self._keys.image):
                    yield self._found(record, block, number)
                else:
                    self.counts[NO_IMAGE] += 1
        self.records += row

    def _found(self, record: _Record, block: Block, number: int) -> tuple[FoundImages, list[ImageContent]]:
        keys = self._keys
        labels, texts, names = (record.get(key or "", []) for key in (keys.label, keys.text, keys.filename))
        filename = os.fsdecode(names[0]) if names else None
        kinds, images = zip(*(self._content(image, record) for image in record[keys.image]), strict=True)
        found = FoundImages(
            labels[0] if labels else None,
            os.fsdecode(texts[0]) if texts else None,
            filename,
            tuple(self._name(filename, IMAGE_SUFFIXES[kind], block, number) for kind in kinds),
        )
        return found, list(images)

    def _content(self, image: bytes, record: _Record) -> tuple[str, ImageContent]:
        """Return the format of a file, and its content."""
        try:
            return image_format(image), ImageContent(image)
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
            self.counts[PIXELS] += 1
            reverse = channels == 3 and record.get(self._keys.colorspace or "") == [b"BGR"]
            return "PNG", ImageContent(image, (height, width, channels), reverse)
        self.counts[UNKNOWN] += 1
        return "", ImageContent(image)

    def _name(
        self, filename: str | None, suffixes: tuple[str, ...], block: Block, number: int
    ) -> tuple[str, str]:
        """Return stem and suffix of a file: as the record says, else after its shard and its number there."""
        stem, suffix = "", suffixes[0]
        if filename is not None:
            stem, suffix = file_name(self._text(filename), suffixes)
        stem = stem or f"{safe_name(self._text(_stem_of(block)))}-{block.place(number)[0]:08d}"
        return stem, suffix

    def _text(self, name: str) -> str:
        """Return a name as the folder takes it."""
        return readable(name) if self._unicode else name


def _lists(cells: Cells) -> list[list[Any]]:
    """The values of each row; none where there is no such feature."""
    values: Any = cells.rows.values
    flat = values.to_list() if isinstance(values, BytesColumn) else values.tolist()
    return [flat[start:stop] for start, stop in pairwise(cells.rows.row_splits.tolist())]


def _stem_of(block: Block) -> str:
    return record_stem(base_name(block.path or "record"))
