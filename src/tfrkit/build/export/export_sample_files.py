"""What file of a sample each feature becomes: its name by the feature and its content, and the bytes.

One rule a feature, settled from all records; what is in a byte string decides between the suffixes of images.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from tfrkit.build.export.export_image_records import IMAGE_SUFFIXES
from tfrkit.build.export.export_jsonl import json_cells
from tfrkit.build.export.export_names import readable, safe_name
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_format import image_format
from tfrkit.model.near_names import near_names
from tfrkit.records.describe.schema import Schema
from tfrkit.records.read.feature_columns import Cells
from tfrkit.records.sniff.value_sniffer import Sample, sniff_values
from tfrkit.scanning.columns import ScanColumn, type_text

__all__ = ["Content", "Found", "SampleFile", "settle_files"]

NOT_TEXT: Final = "texts that are not UTF-8, in files called .bin"
NOT_IMAGE: Final = "images of an unknown format, in files called .bin"
Content: TypeAlias = Literal["image", "text", "bytes", "number", "array", "json"]
Found: TypeAlias = tuple[bytes, bytes | memoryview]  # what ends the name, and the content
_SUFFIXES: Final = {"number": "cls", "array": "npy", "json": "json"}
_CONTENTS: Final[Mapping[str, Content]] = {"txt": "number", "cls": "number", "npy": "array", "json": "json"}
_NAME: Final = re.compile(r"[\w-]+(\.[\w-]+)*")


@dataclass(frozen=True, slots=True)
class SampleFile:
    """The file of a feature in each sample.

    Attributes:
        content: what is in it.
        stem: its name behind the key, without the suffix; may be empty.
        suffix: of all of them, if the user has named it; else the content decides.
    """

    content: Content
    stem: str
    suffix: str = ""

    def files(self, column: ScanColumn, cells: Cells, odd: Counter[str]) -> list[Found | None]:
        """Return the end of the name and the content for each row; None where there is no such feature.

        Args:
            column: of the feature.
            cells: its values.
            odd: counts what has not the suffix that one would expect.
        """
        values: Any = cells.rows.values
        found: Sequence[Found]
        if self.content in ("image", "text", "bytes"):
            data = memoryview(values.data)  # photos are copied once, when they are joined
            views = [data[start:stop] for start, stop in pairwise(values.offsets.tolist())]
            found = [(self._end(self._suffix_of(value, odd)), value) for value in views]
        else:
            if self.content == "array":
                contents = _arrays(cells, single=not column.form.depth)
            else:
                contents = [text.encode() for text in json_cells(cells, column)]
            end = self._end(_SUFFIXES[self.content])
            found = [(end, content) for content in contents]
        return list(found) if cells.valid.all() else _spread(found, cells)

    def _suffix_of(self, value: memoryview, odd: Counter[str]) -> str:
        """Return what a byte string is called by its content, where the user has not said it."""
        if self.suffix or self.content == "bytes":
            return "bin"
        try:
            if self.content == "image":
                return IMAGE_SUFFIXES[image_format(value)][0].removeprefix(".")
            str(value, "utf-8")
        except (InvalidArgumentError, UnicodeDecodeError):
            odd[NOT_IMAGE if self.content == "image" else NOT_TEXT] += 1
            return "bin"
        return "txt"

    def _end(self, suffix: str) -> bytes:
        return "".join(f".{part}" for part in (self.stem, self.suffix or suffix) if part).encode()


def _spread(found: Sequence[Found], cells: Cells) -> list[Found | None]:
    """Return what was found for rows that have the feature, or for all, with None for the others."""
    spread: list[Found | None] = [None] * len(cells.valid)
    rows = np.flatnonzero(cells.valid).tolist()
    chosen = found if len(found) == len(rows) else [found[row] for row in rows]
    for row, file in zip(rows, chosen, strict=True):
        spread[row] = file
    return spread


def _arrays(cells: Cells, *, single: bool) -> list[bytes]:
    """Return the .npy file of each row: a list of values, or one without dimensions."""
    values: Any = cells.rows.values
    data, size = values.tobytes(), values.itemsize
    if single:
        head = _npy_head(values.dtype.str, ())
        return [head + data[at : at + size] for at in range(0, len(data), size)]
    return [
        _npy_head(values.dtype.str, (stop - start,)) + data[start * size : stop * size]
        for start, stop in pairwise(cells.rows.row_splits.tolist())
    ]


@lru_cache(maxsize=4096)
def _npy_head(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return what stands before the values in a .npy file."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def settle_files(
    columns: Sequence[ScanColumn], schema: Schema, names: Mapping[str, str]
) -> tuple[SampleFile, ...]:
    """Settle what file each column becomes. Pure: no I/O.

    Args:
        columns: of all records.
        schema: what is in them.
        names: by feature what ends the names of its files, such as "jpg" or "image.jpg".

    Raises:
        InvalidArgumentError: a name is for no feature, cannot be a file's, is not for such values, or is there twice.
    """
    files = [
        _named(column, names[column.name])
        if column.name in names
        else SampleFile(_content(column, schema), "")
        for column in columns
    ]
    if unknown := names.keys() - {column.name for column in columns}:
        first = min(unknown)
        raise InvalidArgumentError(
            f"names (--name): no feature {first!r} is written. {near_names(first, [column.name for column in columns])}"
        )
    given = Counter(f"{file.stem}.{file.suffix}".casefold() for file in files if file.suffix)
    if twice := [name for name, count in given.items() if count > 1]:
        raise InvalidArgumentError(f"names (--name): two features have the name {twice[0].lstrip('.')!r}.")
    taken = {file.stem.casefold() for file in files if file.suffix}
    for place, (column, file) in enumerate(zip(columns, files, strict=True)):
        if not file.suffix:
            stem = title = safe_name(readable(column.name)) or "feature"
            number = 2
            while title.casefold() in taken:  # readers compare the ends of names in small letters
                title, number = f"{stem}-{number}", number + 1
            taken.add(title.casefold())
            files[place] = replace(file, stem=title)
    return tuple(files)


def _content(column: ScanColumn, schema: Schema) -> Content:
    if column.steps or (column.form.depth and column.kind == "bytes"):
        return "json"
    if column.kind != "bytes":
        return "number" if column.kind == "int64" and not column.form.depth else "array"
    heads = [head for head in schema.features[column.feature].examples if head]
    looks = [sniff_values([Sample(head, len(head) + 1)]) for head in heads]
    half = len(looks) / 2  # so that one that is broken does not decide for all
    if looks and sum("image" in look for look in looks) >= half:
        return "image"
    return "text" if sum("text" in look or "JSON" in look for look in looks) > half else "bytes"


def _named(column: ScanColumn, name: str) -> SampleFile:
    stem, _, suffix = name.lower().rpartition(".")
    if _NAME.fullmatch(name) is None:
        raise InvalidArgumentError(
            f"names (--name): expected letters, digits, - and _, with dots between, as in image.jpg, "
            f"but got {name!r} for {column.name!r}."
        )
    if column.kind == "bytes" and not column.form.depth:
        return SampleFile("bytes", stem, suffix)
    content = _CONTENTS.get(suffix)
    fits = content == "json" or not (column.steps or column.kind == "bytes" or column.form.depth)
    fits |= content == "array" and column.kind != "bytes" and not column.steps
    fits &= suffix != "cls" or column.kind == "int64"  # WebDataset reads it as an int
    if content is None or not fits:
        raise InvalidArgumentError(
            f"names (--name): {column.name!r} is {type_text(column)}, which {name!r} cannot hold: "
            "expected the suffix json, npy for numbers, txt for one number, or cls for an integer."
        )
    return SampleFile(content, stem, suffix)
