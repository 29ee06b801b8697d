"""The records of one shard of images: read the files, parse their headers, encode a block at once.

Plain data that pickles. Which images belong to which shard is planned in `image_plan.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.build.images.image_features import COLORSPACE
from tfrkit.build.images.image_items import (
    BLOCK_BYTES,
    BulkReader,
    ImageBuffer,
    ImageItems,
    ImageReader,
    ImageSource,
    ReadImage,
    read_image,
    shown,
)
from tfrkit.build.images.image_pixels import PixelPlan
from tfrkit.build.job.job import BadInput, TaskReporter
from tfrkit.images.codecs.image_header import BadImageError, ImageHeader, read_image_header
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
    """

    source: ImageSource
    source_name: str
    items: ImageItems
    label_names: tuple[bytes, ...] | None
    features: Mapping[str, str]
    pixels: PixelPlan | None

    @property
    def input_bytes(self) -> int:
        return self.items.nbytes

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        batch = _Batch(self)
        buffer = batch.buffer
        with self.source.open() as reader:
            for first in range(0, len(self.items), _AT_ONCE):
                items = self.items.run(first, first + _AT_ONCE)
                batch.begin(items)
                sizes = items.sizes.tolist()
                for row, read in enumerate(self._read(reader, reader.keys(items), buffer)):
                    batch.input_bytes += sizes[row]
                    at = buffer.at
                    try:
                        if read.error is not None:
                            raise read.error
                        header = read_image_header(buffer.data, read.begin, read.end)
                        buffer.keep(read.begin, read.end)
                        if self.pixels is not None:
                            header = self._remake(self.pixels, buffer, at, header)
                    except BadImageError as error:
                        buffer.at = at
                        source = f"{self.source_name}/{shown(batch.paths[row])}"
                        reporter.bad(BadInput(source, None, error.reason, error.detail))
                        continue
                    batch.add(row, header)
                    if buffer.at >= BLOCK_BYTES:
                        yield batch.encode(reporter)
                if batch.rows:
                    yield batch.encode(reporter)
        reporter.advance(batch.input_bytes)

    def _read(self, reader: ImageReader, keys: Sequence[Any], buffer: ImageBuffer) -> Iterator[ReadImage]:
        """Read images many at a time where the source can, and pixels are not made in their place."""
        if self.pixels is None and isinstance(reader, BulkReader):
            yield from reader.read_all(keys, buffer)
            return
        for key in keys:
            yield read_image(reader, key, buffer)

    @staticmethod
    def _remake(pixels: PixelPlan, buffer: ImageBuffer, begin: int, header: ImageHeader) -> ImageHeader:
        made, header = pixels.make(bytes(buffer.data[begin : buffer.at]), header)
        if made is not None:
            buffer.replace(begin, made)
        return header


class _Batch:
    """Images that were read and are not encoded yet."""

    def __init__(self, recipe: ImageRecipe) -> None:
        self._recipe = recipe
        self.buffer = ImageBuffer()
        self.input_bytes = 0
        self.paths: list[bytes] = []
        self.rows: list[int] = []
        self._items: ImageItems = recipe.items
        self._headers: list[ImageHeader] = []
        self._ends: list[int] = [0]

    def begin(self, items: ImageItems) -> None:
        """Continue with further images; rows count from the first of them."""
        self._items = items
        self.paths = [path if b"://" not in path else shown(path).encode() for path in items.paths()]

    def add(self, row: int, header: ImageHeader) -> None:
        """Take the image that was read last."""
        self.rows.append(row)
        self._headers.append(header)
        self._ends.append(self.buffer.at)

    def encode(self, reporter: TaskReporter) -> Block:
        """Make records of the images that were read, and forget them."""
        columns = self._columns()
        block = encode_examples(columns, threads=1)
        del columns
        reporter.advance(self.input_bytes, len(self.rows))
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
            fields[name] = extra.take(rows).to_list()
        return {name: fields[field] for field, name in recipe.features.items() if field in fields}
