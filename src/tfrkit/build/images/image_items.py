"""The images of a source as columns: names, sizes and positions; and the buffer that their bytes are read into.

There is no object for each image, so that a million of them take some 100 MB. Reading is the sources': a file each
(`image_folder.py`, `image_zip.py`, `image_tar.py`, `image_list.py`).
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.build.job.progress import MAX_LISTED_BAD, SILENT, BadInput, SurveyMeter
from tfrkit.images.codecs.image_header import TOO_LARGE, BadImageError, ImageHeader, read_image_header
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.stores.url import display_name

__all__ = [
    "Extra",
    "Findings",
    "ImageBuffer",
    "ImageItems",
    "ImageReader",
    "ImageSource",
    "ItemColumns",
    "Ledger",
    "Listing",
    "ReadImage",
    "is_ignored",
    "shown",
]

IntArray: TypeAlias = npt.NDArray[Any]
BLOCK_BYTES: Final = 4 << 20
_KEEP_BYTES: Final = 16 << 20  # a buffer that had to grow beyond this is not kept
_IGNORED: Final = frozenset({b"__MACOSX", b"Thumbs.db", b"desktop.ini"})
_BESIDE: Final = frozenset({b"labels.txt", b"manifest.json", b"report.json"})
RESERVED: Final = frozenset(name.decode().casefold() for name in _IGNORED | _BESIDE)  # no names for classes
IGNORED: Final = "hidden or system file"
_ROW_COLUMNS: Final = ("folder_of", "names", "sizes", "labels", "texts", "splits", "times", "versions")


def is_ignored(name: bytes, *, top: bool = False) -> bool:
    """Whether a file or folder of this name is not part of the data: dot files and what operating systems add.

    With `top`, which is for files at the top of a source, also what builds and exports put beside their files.
    """
    return name.startswith(b".") or name in _IGNORED or (top and name in _BESIDE)


def shown(name: bytes) -> str:
    r"""Return a name as text that every output can encode.

    >>> shown("猫/a.jpg".encode()), shown(b"\xc3\x28")
    ('猫/a.jpg', '\\xc3(')
    """
    return display_name(name.decode("utf-8", "backslashreplace"))


class Ledger:
    """Counts what is left out or noticed while a job is planned, and lists the first of it."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.listed: list[BadInput] = []

    def add_rows(self, items: ImageItems, rows: IntArray, reason: str, details: Callable[[int], str]) -> None:
        """Count some images; `details` says for each what is listed."""
        if not len(rows):
            return
        self.counts[reason] = self.counts.get(reason, 0) + len(rows)
        listed = rows[: max(0, MAX_LISTED_BAD - len(self.listed))]
        for row, path in zip(listed.tolist(), items.take(listed).paths(), strict=True):
            self.listed.append(BadInput(shown(path), None, reason, details(row)))

    def drop(
        self,
        items: ImageItems,
        unwanted: IntArray,
        reason: str,
        details: Callable[[int], str] = lambda _: "",
    ) -> ImageItems:
        """Count images that a mask says are not wanted, and return the others."""
        if not unwanted.any():
            return items
        self.add_rows(items, np.flatnonzero(unwanted), reason, details)
        return items.take(np.flatnonzero(~unwanted))

    def add(
        self, source: str, reason: str, detail: str = "", *, line: int | None = None, count: int = 1
    ) -> None:
        """Count one, or several in one place, and list it if there is room."""
        self.counts[reason] = self.counts.get(reason, 0) + count
        if len(self.listed) < MAX_LISTED_BAD:
            self.listed.append(BadInput(source, line, reason, detail))


@dataclass(frozen=True, slots=True)
class Findings:
    """What is found in a source besides its images: what is bad, and what is noted; files are counted with a meter."""

    bad: Ledger = field(default_factory=Ledger)
    noted: Ledger = field(default_factory=Ledger)
    meter: SurveyMeter = SILENT


class Extra(NamedTuple):
    """A further column of a list of images: its kind, "int64", "float32" or "bytes", and objects.

    Each is a value or a list of them, or None where a row has none.
    """

    kind: str
    values: npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class ImageItems:
    """Some images of a source.

    Attributes:
        folders: paths of folders in the source, without a slash at the end; b"" is the source itself.
        folder_of: for each image the number of its folder.
        names: names in the folder.
        sizes: bytes of each file.
        places: what the source needs to find each, by name.
        labels: numbers of the classes; None without classes.
        texts: for each image the number of its class name in the list; used by lists alone.
        splits: numbers of the splits, where folders decide; None elsewhere.
        extras: further columns.
        times: when each file was written last, in nanoseconds; None for members of archives.
        versions: of what is behind URLs, as their stores say; empty for local files. None if all are local.
    """

    folders: tuple[bytes, ...]
    folder_of: IntArray
    names: BytesColumn
    sizes: IntArray
    places: Mapping[str, IntArray] = field(default_factory=dict)
    labels: IntArray | None = None
    texts: IntArray | None = None
    splits: IntArray | None = None
    extras: Mapping[str, Extra] = field(default_factory=dict)
    times: IntArray | None = None
    versions: BytesColumn | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def nbytes(self) -> int:
        return int(self.sizes.sum())

    def take(self, rows: IntArray) -> ImageItems:
        """Return some images, in this order; a copy."""
        return self._pick(rows)

    def run(self, begin: int, end: int) -> ImageItems:
        """Return the images from `begin` to `end`; views."""
        return self._pick(slice(begin, end))

    def _pick(self, rows: IntArray | slice) -> ImageItems:
        columns = {name: getattr(self, name) for name in _ROW_COLUMNS}
        return replace(
            self,
            places={name: values[rows] for name, values in self.places.items()},
            extras={name: Extra(kind, values[rows]) for name, (kind, values) in self.extras.items()},
            **{name: column[rows] for name, column in columns.items() if column is not None},
        )

    def paths(self) -> list[bytes]:
        """Paths in the source, with slashes; in lists also URLs, with all that is needed to open them."""
        prefixes = [folder + b"/" if folder else b"" for folder in self.folders]
        names: list[bytes] = self.names.to_list()
        return [prefixes[folder] + name for folder, name in zip(self.folder_of.tolist(), names, strict=True)]


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a source.

    Attributes:
        kind: "folder", "zip", "tar", "tar.gz" or "list".
        source: to read it.
        items: the images, in order; with labels if those of a list are numbers.
        stamp: of times; changes when something is written again.
        classes: names of classes for `items.texts`; None: folders are classes.
        files: the archive or list as it was before it was read; none for a folder, whose images are compared one by
            one when they are read.
    """

    kind: str
    source: ImageSource
    items: ImageItems
    stamp: str
    classes: tuple[bytes, ...] | None = None
    files: tuple[InputStamp, ...] = ()

    def digest(self) -> str:
        """Return 32 hex digits that names, sizes, places and columns decide."""
        items = self.items
        content = hashlib.blake2b(digest_size=16)
        content.update(b"\0".join(items.folders))
        for part in (items.names.used(), items.names.lengths, items.folder_of, items.sizes):
            content.update(part.tobytes())
        for name in sorted(items.places):
            content.update(items.places[name].tobytes())
        for numbers in (items.labels, items.texts):
            content.update(b"-" if numbers is None else numbers.tobytes())
        content.update(b"\0".join(self.classes or ()))
        for name, (kind, values) in items.extras.items():
            content.update(repr((name, kind, values.tolist())).encode("utf-8", "surrogateescape"))
        return content.hexdigest()


class ItemColumns:
    """Collects images as columns, which no objects stand for meanwhile; `places` are names of what a source needs."""

    def __init__(self, found: Findings, *places: str) -> None:
        self.bad, self.noted, self._meter = found.bad, found.noted, found.meter
        self.folders: dict[bytes, int] = {}
        self._folder_of = array("i")
        self._names, self._ends = bytearray(), array("q", [0])
        self._sizes, self._times = array("q"), array("q")
        self._versions: list[bytes] = []
        self._places = {name: array("Q") for name in places}

    def __len__(self) -> int:
        return len(self._sizes)

    def folder(self, path: bytes) -> int:
        """Return the number of a folder, which may stay empty."""
        return self.folders.setdefault(path, len(self.folders))

    def add(
        self, folder: int, name: bytes, size: int, *places: int, time: int = 0, version: bytes | None = None
    ) -> None:
        """Add a file; `places` in the order of their names, and a version for all files or none."""
        self._folder_of.append(folder)
        self._names += name
        self._ends.append(len(self._names))
        self._sizes.append(size)
        self._times.append(time)
        if version is not None:
            self._versions.append(version)
        if places:
            for column, value in zip(self._places.values(), places, strict=True):
                column.append(value)
        self._meter.add(1, size)
        self._meter.tick()

    def items(self, *, versioned: bool = False) -> ImageItems:
        """Return all files, as they came."""
        return ImageItems(
            tuple(self.folders),
            np.array(self._folder_of, np.int32),
            BytesColumn(bytes(self._names), np.array(self._ends)),
            np.array(self._sizes, np.int64),
            {name: np.array(column, np.uint64) for name, column in self._places.items()},
            times=None if self._places else np.array(self._times, np.int64),
            versions=BytesColumn.from_list(self._versions) if versioned else None,
        )

    def by_folder(self, *, versioned: bool = False) -> tuple[ImageItems, IntArray]:
        """Return all files as they came, with folders in the order of their names; and the order of all names."""
        items = self.items(versioned=versioned)
        order = sorted(range(len(items.folders)), key=lambda number: items.folders[number].split(b"/"))
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order))
        items = replace(
            items, folders=tuple(items.folders[number] for number in order), folder_of=rank[items.folder_of]
        )
        names: list[bytes] = items.names.to_list()
        rows = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
        return items, rows[np.argsort(items.folder_of[rows], kind="stable")]


class ImageBuffer:
    """Memory into which files are read one after the other; reused for every block.

    Attributes:
        data: the memory. Everything before `at` is in use.
        at: where the next file goes.
    """

    __slots__ = ("_view", "at", "data")

    def __init__(self) -> None:
        self.at = 0
        self._take(bytearray(2 * BLOCK_BYTES))

    def _take(self, data: bytearray) -> None:
        self.data, self._view = data, memoryview(data)

    def room(self, size: int) -> memoryview:
        """Return memory for the next `size` bytes; the caller then advances `at`."""
        end = self.at + size
        if end > len(self.data):
            self._grow(end)
        return self._view[self.at : end]

    def put(self, content: bytes | memoryview) -> None:
        self.room(len(content))[:] = content
        self.at += len(content)

    def keep(self, begin: int, end: int) -> None:
        """Append what was read into the memory after `at`, from `begin` to `end`."""
        if begin != self.at:
            self._view[self.at : self.at + end - begin] = self._view[begin:end]
        self.at += end - begin

    def clear(self) -> None:
        """Forget everything; a buffer that has become very large is freed."""
        self.at = 0
        if len(self.data) > _KEEP_BYTES:
            self._take(bytearray(2 * BLOCK_BYTES))

    def _grow(self, needed: int) -> None:
        grown = bytearray(needed + (needed >> 3))
        grown[: self.at] = self._view[: self.at]
        self._take(grown)


class ReadImage(NamedTuple):
    """Where the bytes of an image are in a buffer, or why they are not."""

    begin: int
    end: int
    error: BadImageError | None = None

    def header(self, buffer: ImageBuffer) -> ImageHeader:
        """Parse the header.

        Raises:
            BadImageError: it could not be read, or is not an image.
        """
        if self.error is not None:
            raise self.error
        return read_image_header(buffer.data, self.begin, self.end)


class ImageReader(ABC):
    """Reads images of an open source, in the order of the items. For one thread."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes

    def contents(self, items: ImageItems, buffer: ImageBuffer) -> Iterator[ReadImage]:
        """Read images into a buffer, after what is in use there; some thousand images at once.

        Yields:
            Where each one is. The caller takes it with `keep`, or leaves it, before it asks for the next; it may clear
            the buffer when a block is full.
        """
        for key, size in zip(self.keys(items), items.sizes.tolist(), strict=True):
            yield self.read_one(key, size, buffer)

    def samples(self, items: ImageItems) -> Iterator[bytes | None]:
        """Yield some bytes of each image, at little cost; None if it cannot be read. Not if items have checksums."""
        raise NotImplementedError

    @abstractmethod
    def keys(self, items: ImageItems) -> Sequence[Any]:
        """Return for each image what `read` needs; each will be read, in this order, but those that are too large."""

    @abstractmethod
    def read(self, key: Any, buffer: ImageBuffer) -> None:
        """Append the bytes of one image to the buffer.

        Raises:
            BadImageError: it cannot be read.
        """

    def read_one(self, key: Any, size: int, buffer: ImageBuffer) -> ReadImage:
        """Read one image of some bytes, after what is in use in the buffer."""
        begin = buffer.at
        try:
            if size > self.max_bytes:
                raise BadImageError(TOO_LARGE, f"{size} bytes")
            self.read(key, buffer)
            return ReadImage(begin, buffer.at)
        except BadImageError as error:
            return ReadImage(begin, begin, error)
        finally:
            buffer.at = begin

    @abstractmethod
    def close(self) -> None:
        """Wait for requests that were made for nothing, and leave what others may use."""


@dataclass(frozen=True, slots=True)
class ImageSource:
    """Where images come from: plain data that pickles.

    Attributes:
        path: of the archive, or of the folder that names are relative to.
        max_bytes: images that are larger are bad.
        reader: makes a reader of path and limit.
        streams: images can be read in the order of the listing only.
    """

    path: str
    max_bytes: int
    reader: Callable[[str, int], ImageReader]
    streams: bool = False

    @contextmanager
    def open(self) -> Iterator[ImageReader]:
        reader = self.reader(self.path, self.max_bytes)
        try:
            yield reader
        finally:
            reader.close()
