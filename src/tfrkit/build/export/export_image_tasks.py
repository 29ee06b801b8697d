"""Exports of images by engines: what is in each input, then the files under the names that they get.

The names of files depend on all records before, so this process alone gives them: first a task for each input says what
its images are called and of which class they are, then names are taken in the order of the inputs, and then a task for
each input writes its files. All attempts at a task write the same bytes under the same names, each of them whole.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from tfrkit.build.export.export_folder import Uploads
from tfrkit.build.export.export_image_keys import ImageKeys
from tfrkit.build.export.export_image_records import FoundImages, ImageContent, ImageFinder
from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.engines.engine import Control
from tfrkit.errors import os_errors
from tfrkit.model.policy import OnCorrupt
from tfrkit.records.read.reader import read_blocks
from tfrkit.scanning.chunks import scan_chunks
from tfrkit.scanning.columns import ScanColumn, ScanParser
from tfrkit.stores import files

__all__ = ["CHUNK_BYTES", "FindTask", "ImageInput", "InputImages", "WriteTask", "read_images"]

CHUNK_BYTES: Final = 16 << 20  # of records that are parsed and written at once
_HALF: Final = 0.5  # of the progress of writing, which reads records twice here
_TOKEN_BYTES: Final = 6

_Read: TypeAlias = tuple[int, int, Iterator[tuple[FoundImages, list[ImageContent]]]]


def read_images(
    paths: Sequence[str],
    reader: ImageFinder,
    columns: tuple[ScanColumn, ...],
    on_corrupt: OnCorrupt,
    threads: int | None,
) -> Iterator[_Read]:
    """Yield the bytes and the number of records in each chunk of some files, and what `reader` finds in it."""
    blocks = read_blocks(list(paths), on_corrupt=on_corrupt, threads=threads)
    for chunk in scan_chunks(blocks, ScanParser(columns), size=CHUNK_BYTES, threads=threads):
        yield sum(block.nbytes for block in chunk.blocks), chunk.rows, reader.read(chunk)


@dataclass(frozen=True, slots=True)
class ImageInput:
    """A file with images, and how it is read.

    Attributes:
        path: of the file.
        keys: which features say what.
        columns: settled over all inputs of the export.
        on_corrupt: what becomes of damaged records.
        unicode: names must be Unicode.
        ratio: bytes of progress for each byte of records.
    """

    path: str
    keys: ImageKeys
    columns: tuple[ScanColumn, ...]
    on_corrupt: OnCorrupt
    unicode: bool
    ratio: float

    def reader(self) -> ImageFinder:
        return ImageFinder(self.keys, self.columns, unicode=self.unicode)

    def chunks(
        self, reader: ImageFinder, control: Control, *, counted: bool
    ) -> Iterator[Iterator[tuple[FoundImages, list[ImageContent]]]]:
        """Yield what is in each chunk; progress counts, and that of records if they are `counted`."""
        for size, rows, found in read_images([self.path], reader, self.columns, self.on_corrupt, 1):
            control.check()
            yield found
            done = {"done_bytes": size * self.ratio * _HALF}
            control.count({**done, "records": rows} if counted else done)


@dataclass(frozen=True, slots=True)
class InputImages:
    """What an input has: its records, what each with images says of them, and what is left out or changed."""

    records: int
    found: tuple[FoundImages, ...]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FindTask:
    """Says what is in an input."""

    name: str
    input: ImageInput

    def run(self, control: Control) -> InputImages:
        reader = self.input.reader()
        found = tuple(
            each for chunk in self.input.chunks(reader, control, counted=False) for each, _ in chunk
        )
        return InputImages(reader.records, found, Counter(reader.counts))


@dataclass(frozen=True, slots=True)
class WriteTask:
    """Writes the images of an input; returns the bytes of all.

    Attributes:
        name: of the task.
        input: where they are.
        paths: of the files, in the order of the images; their folders are there.
        attempts: a local folder for files that are not whole; empty: they go to a store.
    """

    name: str
    input: ImageInput
    paths: tuple[str, ...]
    attempts: str

    def run(self, control: Control) -> int:
        left, total = iter(self.paths), 0
        with _WholeFiles(self.attempts) if self.attempts else Uploads() as writer:
            for chunk in self.input.chunks(self.input.reader(), control, counted=True):
                for image in (image for _, images in chunk for image in images):
                    if (path := next(left, None)) is None:
                        raise self._changed()
                    data = image.file()
                    writer.add(path, data)
                    total += len(data)
                    control.check()
            writer.finish()
        if next(left, None) is not None:
            raise self._changed()
        return total

    def _changed(self) -> InputChangedError:
        return InputChangedError(
            self.input.path, f"expected {len(self.paths):,} images but got another number"
        )


class _WholeFiles:
    """Local files that are renamed when they are whole: of two attempts, the last one counts, and both are the same."""

    def __init__(self, attempts: str) -> None:
        self._folder = os.path.join(attempts, secrets.token_hex(_TOKEN_BYTES))

    def __enter__(self) -> Self:
        files.make_folder(self._folder)
        return self

    def add(self, path: str, data: bytes) -> None:
        temporary = os.path.join(self._folder, "image")
        with os_errors(path):
            with open(temporary, "wb") as file:
                file.write(data)
            os.rename(temporary, path)

    def finish(self) -> None:
        """All are there."""

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            files.remove_tree(self._folder)
