"""Which kind of source a path is, and what is in it: folder, archive or list."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from tfrkit.build.images.image_items import ImageItems, ImageSource, Ledger
from tfrkit.build.images.sources.image_folder import FolderSource, list_folder
from tfrkit.build.images.sources.image_list import LIST_SUFFIXES, ListSource, list_rows
from tfrkit.build.images.sources.image_objects import ObjectSource, list_objects
from tfrkit.build.images.sources.image_tar import TarStreamSource, list_tar, list_tar_stream, tar_source
from tfrkit.build.images.sources.image_zip import list_zip, zip_source
from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.codecs.file_kinds import looks_like
from tfrkit.codecs.gzip import GZIP
from tfrkit.codecs.table import sniff
from tfrkit.errors import InvalidArgumentError, os_errors
from tfrkit.stores.files import is_folder, open_file, open_source
from tfrkit.stores.url import base_name, is_url

__all__ = ["Listing", "list_source"]

_EXPECTED: Final = (
    "Expected a folder, a .zip, .tar or .tar.gz archive, or a .csv, .tsv or .jsonl list of paths and labels"
)


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a source.

    Attributes:
        kind: "folder", "zip", "tar", "tar.gz" or "list".
        source: to read it.
        items: the images, in order.
        classes: names of classes for `items.texts`; None: folders are classes.
        numbered: the labels of a list are numbers, which `items.labels` has.
        stamp: of times; changes when something is written again.
        files: the archive or list as it was before it was read; none for a folder, whose images are compared one by
            one when they are read.
    """

    kind: str
    source: ImageSource
    items: ImageItems
    classes: tuple[bytes, ...] | None
    numbered: bool
    stamp: str
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
        for name, extra in items.extras.items():
            content.update(repr((name, extra.kind, extra.to_list())).encode("utf-8", "surrogateescape"))
        return content.hexdigest()


def list_source(
    path: str,
    bad: Ledger,
    noted: Ledger,
    *,
    class_depth: int,
    max_bytes: int,
    list_encoding: str,
    zip_encoding: str | None,
) -> Listing:
    """Determine what a path is, an archive by its content, and list it.

    Args:
        path: of a folder, an archive or a list.
        bad: takes what cannot be an image.
        noted: takes what is ignored.
        class_depth: see `list_folder`.
        max_bytes: the largest file.
        list_encoding: of the text of a list.
        zip_encoding: of names in a ZIP archive that are not marked as UTF-8; None guesses.

    Raises:
        InvalidArgumentError: it is nothing of that kind, or damaged, or has names that lead out of it.
        NotFoundError: there is nothing.
    """
    if is_folder(path):
        if is_url(path):
            items, stamp = list_objects(path, bad, noted)
            return Listing("folder", ObjectSource(path, max_bytes), items, None, False, stamp)
        items, stamp = list_folder(path, bad, noted, class_depth=class_depth)
        return Listing("folder", FolderSource(path, max_bytes), items, None, False, stamp)
    with os_errors(path, f"{_EXPECTED}."), open_file(path) as file:
        head = file.read(512)
    known = InputStamp.of(path)
    listing = _list_file(path, head, known, bad, noted, max_bytes, list_encoding, zip_encoding)
    return replace(listing, files=(known,))


def _list_file(
    path: str,
    head: bytes,
    known: InputStamp,
    bad: Ledger,
    noted: Ledger,
    max_bytes: int,
    list_encoding: str,
    zip_encoding: str | None,
) -> Listing:
    stamp = f"{known.size} {known.version or known.time_ns}"
    name = base_name(path).lower()
    if name.endswith(LIST_SUFFIXES):
        rows = list_rows(path, bad, noted, encoding=list_encoding)
        source = ListSource(path, max_bytes, rows.items)
        return Listing("list", source, rows.items, rows.classes, rows.numbered, rows.times)
    if sniff(head) == GZIP:
        items = list_tar_stream(path, bad, noted, max_bytes=max_bytes)
        return Listing("tar.gz", TarStreamSource(path, max_bytes), items, None, False, stamp)
    _check_ranges(path)
    if head[257:262] == b"ustar" or name.endswith(".tar"):
        return Listing("tar", tar_source(path, max_bytes), list_tar(path, bad, noted), None, False, stamp)
    if head[:2] == b"PK" or name.endswith(".zip"):
        items = list_zip(path, bad, noted, encoding=zip_encoding)
        return Listing("zip", zip_source(path, max_bytes), items, None, False, stamp)
    raise InvalidArgumentError(
        f"{path}: {_EXPECTED} but got {looks_like(head)}. Unpack other archives, and name the folder.",
        path=path,
    )


def _check_ranges(path: str) -> None:
    """Refuse an archive that is read anywhere if its server gives it only as a whole."""
    if is_url(path) and not open_source(path).regular:
        raise InvalidArgumentError(
            f"{path}: expected an archive that can be read from any position, but its server does not serve ranges. "
            "Download it first.",
            path=path,
        )
