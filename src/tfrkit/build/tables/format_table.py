"""The table of input formats: by name, by suffix, by first bytes. `add_format` adds one.

Adding a format here is a row; everything else about it is in its own file, which is imported when it is first used.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tfrkit.codecs.table import all_codecs
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import near_names

if TYPE_CHECKING:
    from tfrkit.build.tables.table_format import TableFormat

__all__ = [
    "PARQUET",
    "InputFormat",
    "add_format",
    "all_formats",
    "format_names",
    "formats_by_suffix",
    "named_format",
    "remove_format",
    "split_suffix",
]


@dataclass(frozen=True, slots=True)
class InputFormat:
    """One format of tables in files.

    Attributes:
        name: as users write it.
        title: its name in a sentence, such as "JSON lines".
        suffixes: of file names, in lower case; those of compressions follow them.
        make: makes the reader of files, with the options in `options` as keywords as far as they were given.
        options: which options of `TableOptions` it takes besides those that every format has.
        magic: what files begin with, each of them certain enough; () where the first bytes prove nothing.
        recognizes: without `magic`: whether some first bytes, without a byte order mark, look like it.
        compressed: whether it reads compressed files; their first bytes are then those of what is in them.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    make: Callable[..., TableFormat]
    options: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    recognizes: Callable[[bytes], bool] = lambda _head: False
    compressed: bool = False

    def is_in(self, head: bytes) -> bool:
        """Tell whether the first bytes of a file are those of this format. Pure: no I/O."""
        return head.startswith(self.magic) if self.magic else self.recognizes(head)

    def reader(self, given: Mapping[str, Any], max_field: int) -> TableFormat:
        """Make the reader of files.

        Args:
            given: options that not every format has, as far as the user gave them.
            max_field: bytes that a field, or a line, may have; for formats that have a limit.

        Raises:
            InvalidArgumentError: one of them is not for this format, or wrong.
        """
        for name in given:
            if name not in self.options:
                raise InvalidArgumentError(
                    f"{name}: this option is for delimited text, and the input is {self.name}. Leave it out."
                )
        limits = {"max_field": max_field} if "max_field" in self.options else {}
        return self.make(**given, **limits)


def _from(place: str, **fixed: Any) -> Callable[..., TableFormat]:
    """Return what imports a class, given as "module:class", and makes one of it."""

    def make(**options: Any) -> TableFormat:
        module, _, name = place.partition(":")
        made: TableFormat = getattr(importlib.import_module(module), name)(**fixed, **options)
        return made

    return make


_HERE: Final = "tfrkit.build.tables"
_TEXT_OPTIONS: Final = (
    "names", "header", "delimiter", "quote", "escape", "encoding", "nulls", "max_field"
)  # fmt: skip


def _begins(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda head: re.match(pattern, head) is not None


def _delimited(name: str, title: str, suffixes: tuple[str, ...], first_line: bytes) -> InputFormat:
    make = _from(f"{_HERE}.delimited.delimited:DelimitedFormat", kind=name)
    return InputFormat(name, title, suffixes, make, _TEXT_OPTIONS, (), _begins(first_line), compressed=True)


def _json(name: str, title: str, suffixes: tuple[str, ...], place: str, begins: bytes) -> InputFormat:
    make = _from(f"{_HERE}.jsonl.{place}")
    return InputFormat(name, title, suffixes, make, ("max_field",), (), _begins(begins), compressed=True)


def _arrow(name: str, title: str, suffixes: tuple[str, ...], place: str, *magic: bytes) -> InputFormat:
    return InputFormat(name, title, suffixes, _from(f"{_HERE}.arrow.{place}"), (), magic)


# What a file is taken for by its content is asked from the last to the first: the surest are last.
_ARROW_SUFFIXES: Final = (".arrow", ".arrows", ".feather", ".ipc")
PARQUET: Final = _arrow("parquet", "Parquet", (".parquet", ".pq"), "parquet:ParquetFormat", b"PAR1")
_FORMATS: Final[dict[str, InputFormat]] = {
    each.name: each
    for each in (
        _delimited("csv", "CSV", (".csv",), rb"(?!)"),
        _delimited("tsv", "TSV", (".tsv", ".tab"), rb"[^\n]*\t"),
        _delimited("hive", "Hive text", (), rb"[^\n]*\x01"),
        _json("jsonl", "JSON lines", (".jsonl", ".ndjson", ".json"), "jsonl:JsonlFormat", rb"\s*\{"),
        _json("json", "a JSON array", (".json",), "json_array:JsonArrayFormat", rb'\s*\[\s*([][{"0-9-]|$)'),
        PARQUET,
        _arrow("arrow", "Arrow", _ARROW_SUFFIXES, "arrow_file:ArrowFormat", b"ARROW1", b"\xff\xff\xff\xff"),
    )
}
_BUILT_IN: Final = frozenset(_FORMATS)


def all_formats() -> tuple[InputFormat, ...]:
    """Return every format."""
    return tuple(_FORMATS.values())


def format_names() -> list[str]:
    """Return the names of all formats.

    >>> format_names()[:3]
    ['csv', 'tsv', 'hive']
    """
    return list(_FORMATS)


def named_format(name: str) -> InputFormat:
    """Return the format of a name.

    Raises:
        InvalidArgumentError: there is none.
    """
    if name not in _FORMATS:
        near = near_names(name, _FORMATS)
        raise InvalidArgumentError(
            f"Expected one of {', '.join(map(repr, _FORMATS))} for format (--format) but got {name!r}."
            + (f" {near}" if near.startswith("Did") else "")
        )
    return _FORMATS[name]


def formats_by_suffix(name: str) -> list[InputFormat]:
    """Return the formats that the name of a file promises. Pure: no I/O.

    >>> [each.name for each in formats_by_suffix("a.CSV.gz")], formats_by_suffix("000000_0")
    (['csv'], [])
    """
    _, suffix = split_suffix(name)
    return [each for each in _FORMATS.values() if suffix in each.suffixes]


def split_suffix(name: str) -> tuple[str, str]:
    """Cut a name before the suffix of its format; of that of a compression nothing is kept. Pure: no I/O.

    >>> split_suffix("a.csv.GZ"), split_suffix("a.CSV"), split_suffix("a")
    (('a', '.csv'), ('a', '.csv'), ('a', ''))
    """
    stem, suffix = os.path.splitext(name)
    if any(suffix.lower() in codec.suffixes for codec in all_codecs() if codec.magic):
        stem, suffix = os.path.splitext(stem)
    return stem, suffix.lower()


def add_format(added: InputFormat) -> None:
    """Add a format: from now on `build.table` and `tfr build table` in this process can read it.

    A process that is started, not forked, has to add it again.

    Args:
        added: its name, suffixes and first bytes must be its own.

    Raises:
        InvalidArgumentError: they are not.
    """
    for reason in _problems(added):
        raise InvalidArgumentError(f"The format {added.name!r} cannot be added: {reason}.")
    _FORMATS[added.name] = added


def _problems(added: InputFormat) -> list[str]:
    found = []
    if not (added.name.isascii() and added.name.isalnum() and added.name == added.name.lower()):
        found.append("expected a name of small letters and digits")
    found += [
        f"expected suffixes such as .csv, in lower case and none of a compression, but got {suffix}"
        for suffix in added.suffixes
        if not suffix.startswith(".") or split_suffix(f"a{suffix}") != ("a", suffix)
    ]
    for each in _FORMATS.values():
        if each.name == added.name:
            found.append("there is one of that name")
        if shared := set(each.suffixes) & set(added.suffixes):
            found.append(f"{each.name} has the suffix {min(shared)}, too")
        if any(one.startswith(two) or two.startswith(one) for one in each.magic for two in added.magic):
            found.append(f"files of {each.name} begin with the same bytes")
    return found


def remove_format(name: str) -> None:
    """Take out a format that `add_format` has added."""
    if name not in _BUILT_IN:
        _FORMATS.pop(name, None)
