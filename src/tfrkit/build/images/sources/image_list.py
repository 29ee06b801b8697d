"""Lists of images: CSV, TSV or JSON lines with the columns `path`, `label` and any others.

Paths are relative to the folder of the list; they may be URLs, as may the list, and a list behind a URL names nothing
but URLs and what is below its folder. The images are read in `image_objects.py`.
"""

from __future__ import annotations

import codecs
import csv
import errno
import hashlib
import json
import os
import re
import stat
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import TextIOWrapper
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np

from tfrkit.build.images.image_columns import make_extra
from tfrkit.build.images.image_items import Findings, ImageSource, ItemColumns, Listing
from tfrkit.build.images.sources.image_folder import UNREADABLE
from tfrkit.build.images.sources.image_objects import ImageFileReader
from tfrkit.build.tables.float_range import BEYOND, beyond_in_cell
from tfrkit.errors import InvalidArgumentError, OpError, UnavailableError, os_errors
from tfrkit.images.codecs.image_header import EMPTY
from tfrkit.stores.files import ask_all, file_info, open_file
from tfrkit.stores.store import FileInfo
from tfrkit.stores.url import base_name, display_name, is_url, local_path

__all__ = ["LIST_SUFFIXES", "list_rows"]

Row: TypeAlias = Mapping[str, Any]
LIST_SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".ndjson")
_PATH, _LABEL = "path", "label"
_NO_PATH: Final = "no path"
_NO_LABEL: Final = "no label"
_BAD_LINE: Final = "not a row of the list"
_AT_ONCE: Final = 1024  # rows whose files are looked for together
_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")


def list_rows(path: str, found: Findings, *, encoding: str, max_bytes: int) -> Listing:
    """Read a list, whose suffix says what it is, and find its files.

    Rows without a path, a label or a file are bad; numbers that float32 does not hold are noted.

    Raises:
        InvalidArgumentError: the text is not in this encoding, or a table has columns without names.
    """
    reader = _Reader(path, found)
    is_utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    # Paths need not be UTF-8.
    codec, errors = ("utf-8-sig", "surrogateescape") if is_utf8 else (encoding, "strict")
    try:
        with (
            os_errors(path),
            open_file(path) as raw,
            TextIOWrapper(raw, codec, errors, newline="") as file,
        ):
            rows = _json_rows(file, reader) if reader.is_typed else _table_rows(file, reader)
            while some := list(islice(rows, _AT_ONCE)):
                reader.look_at(some)
                for line, row in some:
                    reader.add_row(line, row)
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"{path}: expected text in {encoding} but got bytes that are not ({error.reason}). "
            "Pass another list_encoding (--list-encoding), such as gbk.",
            path=path,
        ) from None
    except csv.Error as error:
        raise InvalidArgumentError(
            f"{path}: expected a table but in the row that begins in line {reader.next_line} there is: {error}. "
            "Fix the list.",
            path=path,
        ) from None
    return reader.finish(max_bytes)


def _table_rows(file: Any, reader: _Reader) -> Iterator[tuple[int, Row]]:
    delimiter = "\t" if base_name(reader.path).lower().endswith(".tsv") else ","
    # Strict: else a quote without its other end takes all that follows.
    table = csv.reader(file, delimiter=delimiter, strict=True)
    names: list[str] | None = None
    for cells in table:
        line = table.line_num
        reader.next_line = line + 1
        if not any(cells):
            continue
        if names is None:
            names = [cell.strip() for cell in cells]
            if _PATH in names:
                _check_names(reader.path, names)
                continue
            if len(cells) > 2:
                raise InvalidArgumentError(
                    f"{reader.path}: expected a first line that names the columns, one of them {_PATH!r}, but got "
                    f"{len(cells)} columns without names: {', '.join(cells)[:100]}. Add such a line.",
                    path=reader.path,
                )
            names = [_PATH, _LABEL][: len(cells)]
        if len(cells) != len(names):
            reader.refuse(line, _BAD_LINE, f"expected {len(names)} cells but got {len(cells)}")
            continue
        yield line, {name: cell for name, cell in zip(names, cells, strict=True) if cell != ""}


def _check_names(path: str, names: list[str]) -> None:
    for name in names:
        if not name or names.count(name) > 1:
            raise InvalidArgumentError(
                f"{path}: expected columns of different names but got {', '.join(map(repr, names))[:200]}. "
                "Fix the first line.",
                path=path,
            )


def _json_rows(file: Any, reader: _Reader) -> Iterator[tuple[int, Row]]:
    for line, text in enumerate(file, 1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            reader.refuse(line, _BAD_LINE, str(error)[:200])
            continue
        if not isinstance(row, dict):
            reader.refuse(line, _BAD_LINE, f"expected an object but got {text.strip()[:100]}")
            continue
        yield line, {name: value for name, value in row.items() if value is not None}


class _Reader(ItemColumns):
    """Collects rows as columns."""

    def __init__(self, path: str, found: Findings) -> None:
        super().__init__(found)
        self.path, self._name = path, display_name(path)
        self.next_line = 1
        self._root = os.path.dirname(path)
        self._known: dict[str, FileInfo | OpError | None] = {}  # by URL
        self._has_urls = False
        self._lines = array("q")
        self._classes: dict[str, int] = {}
        self._texts = array("q")
        self._extras: dict[str, list[Any]] = {}
        self._stamp = hashlib.blake2b(digest_size=8)

    def refuse(self, line: int, reason: str, detail: str = "") -> None:
        """Count a row that is bad."""
        self.bad.add(self._name, reason, detail, line=line)

    def add_row(self, line: int, row: Row) -> None:
        """Take a row if there is a file for it."""
        given, label = row.get(_PATH), row.get(_LABEL)
        if not isinstance(given, str) or not given or "\0" in given:
            self.refuse(line, _NO_PATH)
            return
        if isinstance(label, (dict, list, float)):
            self.refuse(line, _BAD_LINE, f"expected a name or a number as label but got {label!r}"[:200])
            return
        found = self._find(given, line)
        if found is None:
            return
        folder, name = os.path.split(given.encode("utf-8", "surrogateescape"))
        version = found.version.encode()
        self.add(self.folder(folder), name, found.size, time=found.modified_ns, version=version)
        self._lines.append(line)
        text = None if label is None else str(int(label) if isinstance(label, bool) else label)
        self._texts.append(-1 if text is None else self._classes.setdefault(text, len(self._classes)))
        for key, value in row.items():
            if key not in (_PATH, _LABEL):
                column = self._extras.setdefault(key, [])
                column += [None] * (len(self) - 1 - len(column))
                column.append(value)

    def look_at(self, rows: Sequence[tuple[int, Row]]) -> None:
        """Ask for what rows name behind URLs, several at once."""
        given = (row.get(_PATH) for _, row in rows)
        urls = list(
            dict.fromkeys(url for name in given if isinstance(name, str) and (url := self._url(name)))
        )
        self._known = dict(zip(urls, ask_all(_look, urls), strict=True))

    def _url(self, given: str) -> str:
        """Return the URL that a row names; empty for a local file, and for names that lead out of the list's folder."""
        if is_url(given):
            return given
        if not is_url(self.path) or _leads_out(given):
            return ""
        return f"{self._root}/{given}"

    def _find(self, given: str, line: int) -> FileInfo | None:
        """Return the file that a row names; None if it is bad."""
        url, name = self._url(given), display_name(given)
        found = self._known.get(url) if url else self._find_local(given)
        if not isinstance(found, FileInfo) or found.is_folder or not found.regular:
            reason = (
                "not a regular file" if isinstance(found, FileInfo) else found or os.strerror(errno.ENOENT)
            )
            detail = reason.message if isinstance(reason, OpError) else reason
            self.refuse(line, UNREADABLE, f"{name}: {detail}")
            return None
        if not found.size:
            self.refuse(line, EMPTY, name)
            return None
        version = found.version.strip('"')
        self._has_urls |= bool(url)
        self._stamp.update(version.encode() if url else found.modified_ns.to_bytes(8, "little", signed=True))
        return replace(found, version=version)

    def _find_local(self, given: str) -> FileInfo | str:
        """Return what a local path names, or why it cannot be looked at."""
        if is_url(self.path):
            return "it leads out of the list's folder"
        try:
            status = os.stat(os.path.join(self._root, given))
        except (OSError, ValueError) as error:
            return os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
        regular = stat.S_ISREG(status.st_mode)
        return FileInfo(given, status.st_size, "", regular=regular, modified_ns=status.st_mtime_ns)

    def finish(self, max_bytes: int) -> Listing:
        """Return the columns; rows without a label are bad if others have one."""
        texts = np.array(self._texts, np.int64)
        rows = np.arange(len(texts))
        if self._classes and (texts < 0).any():
            for line in np.array(self._lines)[texts < 0].tolist():
                self.refuse(line, _NO_LABEL)
            rows = rows[texts >= 0]
        count = len(self)
        extras = {
            name: make_extra(column + [None] * (count - len(column)), name, self.path, typed=self.is_typed)
            for name, column in self._extras.items()
        }
        for name, extra in extras.items():
            for line, value in zip(self._lines, extra.values, strict=True):
                if extra.kind == "float32" and (found := beyond_in_cell(value)) is not None:
                    reason = f"{BEYOND}: column {name!r}"
                    self.noted.add(self._name, reason, f"got {found.value!r}", line=line, count=found.count)
        classes = list(self._classes)
        numbered = bool(classes) and all(_NUMBER.fullmatch(text) for text in classes)
        labels = np.array([int(text) for text in classes], np.int64)[texts] if numbered else None
        items = replace(
            self.items(versioned=self._has_urls),
            labels=labels,
            texts=None if numbered or not classes else texts,
            extras=extras,
        )
        names = tuple(text.encode("utf-8", "surrogateescape") for text in classes)
        if len(rows) < count:
            items = items.take(rows)
        source = ImageSource(self._root or ".", max_bytes, ImageFileReader)
        known = None if numbered or not classes else names
        return Listing("list", source, items, self._stamp.hexdigest(), known)

    @property
    def is_typed(self) -> bool:
        """Whether values have types, as in JSON."""
        return base_name(self.path).lower().endswith((".jsonl", ".ndjson"))


def _look(url: str) -> FileInfo | OpError | None:
    try:
        return file_info(url)
    except UnavailableError:
        raise
    except OpError as error:
        return error


def _leads_out(name: str) -> bool:
    """Tell whether a name means something that is not below its folder. Pure: no I/O.

    >>> _leads_out("a/../../b"), _leads_out("/a"), _leads_out("file:///a"), _leads_out("a/..b")
    (True, True, True, False)
    """
    return name.startswith("/") or ".." in name.split("/") or local_path(name) != name
