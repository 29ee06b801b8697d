"""What an export format is: something that takes chunks and writes a file. One module for each format.

`export_arrow.py` (Parquet and Arrow), `export_jsonl.py`, `export_csv.py`.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any, Protocol

from tfrkit.build.export.export_options import FORMATS, Format, TableExportOptions
from tfrkit.errors import InvalidArgumentError
from tfrkit.scanning.columns import ScanChunk
from tfrkit.stores.output import Output

__all__ = ["OutputFile", "TableSink", "check_options", "format_of"]


class TableSink(Protocol):
    """A file that is being written."""

    @property
    def losses(self) -> Mapping[str, int]:
        """What the format could not express so far, each with how often."""

    def write(self, chunk: ScanChunk) -> None:
        """Write some records."""

    def close(self) -> None:
        """Write what belongs to the end of the file, which stays open."""


class OutputFile(io.RawIOBase):
    """An output as a file object, for writers that need one."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._abandoned = False

    def abandon(self) -> None:
        """Accept no more data: an abandoned writer may still write the end of its file when it is collected."""
        self._abandoned = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        if not self._abandoned:
            self._output.write(view)
        return len(view)

    def tell(self) -> int:
        return self._output.position


def format_of(path: str) -> Format | None:
    """Return the format that the suffix of a path means, or None. Pure: no I/O.

    >>> format_of("a/b.Parquet"), format_of("folder")
    ('parquet', None)
    """
    suffix = os.path.splitext(path)[1].lower()
    return next((name for name, known in FORMATS.items() if suffix in known.suffixes), None)


def check_options(kind: Format, options: TableExportOptions) -> None:
    """Refuse options that a format does not have, when none of them is left open.

    Raises:
        InvalidArgumentError: a compression that it does not know, or separators that cannot be told apart.
    """
    known = FORMATS[kind].compressions
    if options.compression not in known:
        raise InvalidArgumentError(
            f"expected a compression of {kind} ({', '.join(known)}) but got {options.compression!r}."
        )
    if options.level is not None and options.compression in ("none", "snappy", "lz4"):
        raise InvalidArgumentError(
            f"the compression {options.compression!r} has no levels: leave out level= (--level)."
        )
    marks = (options.delimiter or "", options.separator)
    if kind == "csv" and (len(marks[0]) != 1 or marks[0] == marks[1] or set('"\r\n') & set("".join(marks))):
        raise InvalidArgumentError(
            f"expected a delimiter of one character and another separator, without quotes and line ends, but got "
            f"{marks[0]!r} and {marks[1]!r}."
        )
