"""The records of one shard of images: read the files, parse their headers, encode a block at once.

Plain data that pickles. Which images belong to which shard is planned in `image_plan.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.build.images.image_features import COLORSPACE
from tfrkit.build.images.image_items import (
    BLOCK_BYTES,
    ImageBuffer,
    ImageItems,
    ImageSource,
    ReadImage,
    shown,
)
from tfrkit.build.images.image_pixels import PixelPlan
from tfrkit.build.job.job import BadInput, TaskReporter
from tfrkit.images.codecs.image_header import UNSUPPORTED, BadImageError, ImageHeader
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.parsing.encode import encode_examples

__all__ = ["ImageRecipe"]

_AT_ONCE: Final = 2048  # images whose names are Python objects at the same time


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """Some images of a source, in the order in which they become records.

    Attributes:
        source: where they are.
        source_name: for reports.
        items: which.
        label_names: texts of the labels; None without names.
        features: names of features by fields.
        pixels: what is done to pixels; None keeps every file as it is.
        formats: those that files may have, such as "PNG"; none says any.
    """

    source: ImageSource
    source_name: str
    items: ImageItems
    label_names: tuple[bytes, ...] | None
    features: Mapping[str, str]
    pixels: PixelPlan | None
    formats: tuple[str, ...] = ()

    @property
    def input_bytes(self) -> int:
        return self.items.nbytes

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        batch = _Batch(self)
        buffer = batch.buffer if self.pixels is None else ImageBuffer()
        with self.source.open() as reader:
            for first in range(0, len(self.items), _AT_ONCE):
                items = self.items.run(first, first + _AT_ONCE)
                batch.begin(items)
                buffer.clear()
                for row, read in enumerate(reader.contents(items, buffer)):
                    try:
                        batch.add(row, read, buffer)
                    except BadImageError as error:
                        source = f"{self.source_name}/{shown(batch.paths[row])}"
                        reporter.bad(BadInput(source, None, error.reason, error.detail))
                    if batch.buffer.at >= BLOCK_BYTES:
                        yield batch.encode(reporter)
                if batch.rows:
                    yield batch.encode(reporter)
        reporter.advance(batch.input_bytes)


class _Batch:
    """Images that were read and are not encoded yet."""

    def __init__(self, recipe: ImageRecipe) -> None:
        self._recipe = recipe
        self.buffer = ImageBuffer()
        self.input_bytes = 0
        self.paths: list[bytes] = []
        self.rows: list[int] = []
        self._items: ImageItems = recipe.items
        self._sizes: list[int] = []
        self._headers: list[ImageHeader] = []
        self._ends: list[int] = [0]

    def begin(self, items: ImageItems) -> None:
        """Continue with further images; rows count from the first of them."""
        self._items, self._sizes = items, items.sizes.tolist()
        self.paths = [path if b"://" not in path else shown(path).encode() for path in items.paths()]

    def add(self, row: int, read: ReadImage, buffer: ImageBuffer) -> None:
        """Take an image that was read into a buffer, this one's own unless pixels are made of it.

        Raises:
            BadImageError: it could not be read, or is not an image.
        """
        self.input_bytes += self._sizes[row]
        header = read.header(buffer)
        if self._recipe.pixels is None:
            self._check_format(header)
            self.buffer.keep(read.begin, read.end)
        else:
            with memoryview(buffer.data)[read.begin : read.end] as view:
                data = bytes(view)
            made, header = self._recipe.pixels.make(data, header)
            self._check_format(header)
            self.buffer.put(data if made is None else made)
        self.rows.append(row)
        self._headers.append(header)
        self._ends.append(self.buffer.at)

    def _check_format(self, header: ImageHeader) -> None:
        formats = self._recipe.formats
        if formats and header.format not in formats:
            raise BadImageError(
                UNSUPPORTED, f"a {header.format} image, and the layout takes {', '.join(formats)}"
            )

    def encode(self, reporter: TaskReporter) -> Block:
        """Make records of the images that were read, and forget them."""
        columns = self._columns()
        block = encode_examples(columns, threads=1)
        del columns
        reporter.advance(self.input_bytes)
        self.input_bytes = 0
        self.rows = []
        self._headers = []
        self._ends = [0]
        self.buffer.clear()
        return block

    def _columns(self) -> dict[str, Any]:
        recipe, rows, items = self._recipe, np.array(self.rows), self._items
        kinds, heights, widths, channels = zip(*self._headers, strict=True)
        fields: dict[str, Any] = {
            "image/encoded": BytesColumn.unchecked(
                np.frombuffer(self.buffer.data, np.uint8), np.array(self._ends, np.int64)
            ),
            "image/format": list(kinds),
            "image/height": np.array(heights),
            "image/width": np.array(widths),
            "image/channels": np.array(channels),
            "image/filename": [self.paths[row] for row in self.rows],
        }
        if recipe.pixels is not None:
            fields[COLORSPACE] = [recipe.pixels.colorspace] * len(rows)
        if items.labels is not None:
            labels = items.labels[rows]
            fields["image/label"] = labels
            if recipe.label_names is not None:
                fields["image/text"] = [recipe.label_names[label] for label in labels.tolist()]
        for name, extra in items.extras.items():
            fields[name] = extra.values[rows].tolist()
        return {name: fields[field] for field, name in recipe.features.items() if field in fields}
