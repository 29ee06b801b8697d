"""Encoded images of many elements as arrays: all of a column, into the rows of one array where they have one size.

Which pixels an image has is the business of `ops`; here is where they go, on how many threads, and which image of many
is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.data.batch.collate import collate
from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.elements.columns import Column, RowList, rows, strings_in
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.image_maker import ImageMaker
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.threads import thread_pool

__all__ = [
    "BadImage",
    "ByteViews",
    "as_batch",
    "broken_text",
    "decode_column",
    "decode_value",
    "for_each_row",
]

_EACH: Final = 4  # images that a thread takes at a time


class BadImage(Exception):  # noqa: N818  # never leaves the pipeline
    """An image that cannot be decoded.

    Attributes:
        row: which one of those that were decoded together.
        key: the feature that holds it.
        reason: what the decoder said.
        batch: how many stand in the element, if it is a batch.
        path: the file that it came from, if that is known.
        record: the number of its record there.
    """

    def __init__(self, row: int, key: str, reason: InvalidArgumentError, batch: int | None = None) -> None:
        self.row = row
        self.key = key
        self.reason = reason
        self.batch = batch
        self.path: str | None = None
        self.record: int | None = None

    def locate(self, elements: Chunk, row: int) -> BadImage:
        """Note the place of an element, if it is known."""
        origin = elements.slice(row, row + 1).origin
        if origin is not None:
            self.path = origin.paths[int(origin.files[0])]
            self.record = None if self.path is None else int(origin.records[0])
        return self

    def error(self) -> InvalidArgumentError:
        """The error for the user: TensorFlow's text, then feature, record and file, as far as they are known."""
        place = "" if self.path is None else f", record {self.record} of {self.path!r}"
        error = InvalidArgumentError(
            broken_text(self.reason, self.key) + place, path=self.path, record=self.record
        )
        if self.batch is not None:
            error.add_note(f"It is example {self.row} of {self.batch}, counted from 0.")
        error.add_note('Write the image again, or pass on_corrupt="skip" to drop such elements.')
        return error


def broken_text(reason: InvalidArgumentError, key: str) -> str:
    """What a decoder said, and the feature that it said it of.

    >>> broken_text(InvalidArgumentError("Input is empty."), "image")
    "Input is empty. It is in feature 'image'"
    """
    joint = " It is" if reason.message.endswith(".") else ";"
    return f"{reason.message}{joint} in feature {key!r}"


def decode_value(value: Any, key: str, maker: ImageMaker, threads: int) -> npt.NDArray[Any]:
    """Decode the image of one element, or those of a batch.

    Raises:
        BadImage: one is broken.
        InvalidArgumentError: those of a batch do not have one shape; the text is TensorFlow's for such a batch.
        TypeError: the feature holds no bytes.
    """
    if isinstance(value, bytes):
        try:
            return maker.make(value)
        except InvalidArgumentError as reason:
            raise BadImage(0, key, reason) from None
    column = strings_in(value)
    if not isinstance(column, BytesColumn):
        raise TypeError(f"expected bytes under {key!r} but got {type(value).__name__}")
    found, error = decode_column(column.reshape(column.size), key, maker, threads)
    if error is not None:
        raise BadImage(error.row, key, error.reason, column.size) if isinstance(error, BadImage) else error
    images = as_batch(found, maker)
    return images.reshape(*column.shape, *images.shape[1:])


def as_batch(images: Column, maker: ImageMaker) -> npt.NDArray[Any]:
    """Images as one array.

    Raises:
        InvalidArgumentError: they do not have one shape; the text is TensorFlow's.
    """
    if not isinstance(images, RowList):
        return np.asarray(images)
    if not images.items:
        return np.empty((0, *(size or 0 for size in maker.shape)), maker.dtype)
    return np.asarray(collate(images.items))


def decode_column(
    column: Column, key: str, maker: ImageMaker, threads: int
) -> tuple[Column, Exception | None]:
    """Decode the images of many elements, one in each, up to the first that fails.

    Returns:
        The images before it, as one array if the size and the channels are given; and the error: a BadImage, or
        another if there is no byte string.
    """
    items: Any = ByteViews(column) if isinstance(column, BytesColumn) and column.ndim == 1 else rows(column)
    sizes: Any = maker.shape
    images: Any = [None] * len(items) if None in sizes else np.empty((len(items), *sizes), maker.dtype)

    def make(row: int) -> None:
        item = items[row]
        if not isinstance(item, (bytes, memoryview)):
            raise TypeError(f"expected bytes under {key!r} but got {type(item).__name__}")
        if isinstance(images, list):
            images[row] = maker.make(item)
        else:
            maker.make_into(item, images[row])

    row, error = for_each_row(len(items), threads, make)
    if isinstance(error, InvalidArgumentError):
        error = BadImage(row, key, error)
    return RowList(images[:row]) if isinstance(images, list) else images[:row], error


class ByteViews:
    """The entries of a column without copying them."""

    def __init__(self, column: BytesColumn) -> None:
        self._data = memoryview(column.data)
        self._offsets = column.offsets.tolist()

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, row: int) -> memoryview:
        return self._data[self._offsets[row] : self._offsets[row + 1]]


def for_each_row(count: int, threads: int, work: Callable[[int], None]) -> tuple[int, Exception | None]:
    """Call a function with the numbers up to `count`, in several threads, until it fails.

    Returns:
        The first number for which it fails, and its error; the count and None if it does not. It was called for all
        numbers before.
    """
    each = min(_EACH, max(1, count // max(1, threads)))  # a few large images are worth a thread each
    starts = iter(range(0, count, each))  # shared: each thread takes the next
    failures: list[tuple[int, Exception | None]] = []

    def run() -> None:
        for start in starts:
            if failures:
                return
            for number in range(start, min(start + each, count)):
                try:
                    work(number)
                except Exception as error:
                    failures.append((number, error))
                    return

    helpers = [thread_pool().submit(run) for _ in range(min(threads, -(-count // each)) - 1)]
    try:
        run()
        for helper in helpers:
            helper.result()
    except BaseException:  # such as KeyboardInterrupt: the rest is not wanted
        failures.append((count, None))
        raise
    return min(failures, key=lambda failure: failure[0]) if failures else (count, None)
