"""Which kind of source a path is, and what is in it: folder, archive or list."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tfrkit.build.images.image_arguments import ImagesOptions
from tfrkit.build.images.image_items import Findings, ImageSource, Listing
from tfrkit.build.images.sources.image_folder import list_folder
from tfrkit.build.images.sources.image_list import LIST_SUFFIXES, list_rows
from tfrkit.build.images.sources.image_objects import ImageFileReader, list_objects
from tfrkit.build.images.sources.image_tar import TarReader, list_tar, list_tar_stream, tar_stream
from tfrkit.build.images.sources.image_zip import ZipReader, list_zip
from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.codecs.file_kinds import looks_like
from tfrkit.codecs.gzip import GZIP
from tfrkit.codecs.table import sniff
from tfrkit.errors import InvalidArgumentError, os_errors
from tfrkit.stores.files import is_folder, open_file, open_source
from tfrkit.stores.url import base_name, is_url

__all__ = ["list_source"]

_EXPECTED: Final = (
    "Expected a folder, a .zip, .tar or .tar.gz archive, or a .csv, .tsv or .jsonl list of paths and labels"
)


def list_source(path: str, options: ImagesOptions, found: Findings) -> Listing:
    """Determine what a path is, an archive by its content, and list it.

    What cannot be an image is bad, and what is ignored is noted. Files are counted as they are found.

    Raises:
        InvalidArgumentError: it is nothing of that kind, or damaged, or has names that lead out of it.
        NotFoundError: there is nothing.
    """
    max_bytes = options.max_image
    if is_folder(path):
        if is_url(path):
            items, stamp = list_objects(path, found)
        else:
            class_depth = 1 if options.splits().folders is None else 2
            items, stamp = list_folder(path, found, class_depth=class_depth)
        return Listing("folder", ImageSource(path, max_bytes, ImageFileReader), items, stamp)
    with os_errors(path, f"{_EXPECTED}."), open_file(path) as file:
        head = file.read(512)
    known = InputStamp.of(path)
    stamp = f"{known.size} {known.version or known.time_ns}"
    name = base_name(path).lower()
    if name.endswith(LIST_SUFFIXES):
        listing = list_rows(path, found, encoding=options.list_encoding, max_bytes=max_bytes)
    elif sniff(head) == GZIP:
        items = list_tar_stream(path, found, max_bytes=max_bytes)
        listing = Listing("tar.gz", tar_stream(path, max_bytes), items, stamp)
    else:
        _check_ranges(path)
        if head[257:262] == b"ustar" or name.endswith(".tar"):
            items = list_tar(path, found)
            listing = Listing("tar", ImageSource(path, max_bytes, TarReader), items, stamp)
        elif head[:2] == b"PK" or name.endswith(".zip"):
            items = list_zip(path, found, encoding=options.zip_encoding)
            listing = Listing("zip", ImageSource(path, max_bytes, ZipReader), items, stamp)
        else:
            raise InvalidArgumentError(
                f"{path}: {_EXPECTED} but got {looks_like(head)}. Unpack other archives, and name the folder.",
                path=path,
            )
    return replace(listing, files=(known,))


def _check_ranges(path: str) -> None:
    """Refuse an archive that is read anywhere if its server gives it only as a whole."""
    if is_url(path) and not open_source(path).regular:
        raise InvalidArgumentError(
            f"{path}: expected an archive that can be read from any position, but its server does not serve ranges. "
            "Download it first.",
            path=path,
        )
