"""Which files a table is read from: files, globs, folders and lists become `InputFile`s with their partition columns.

Reads no file but lists of names, and the first bytes of files whose name does not say what they are.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote_to_bytes

from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.build.tables.table_format import InputFile
from tfrkit.errors import InvalidArgumentError, NotFoundError, os_errors
from tfrkit.stores.paths import PathLike, path_text

__all__ = [
    "FORMATS",
    "PACKED_SUFFIXES",
    "SUFFIXES",
    "FormatName",
    "find_inputs",
    "guess_format",
    "read_list",
    "refuse_packed",
]

FormatName: TypeAlias = Literal["csv", "tsv", "hive", "jsonl", "parquet", "arrow"]
FORMATS: Final[tuple[FormatName, ...]] = ("csv", "tsv", "hive", "jsonl", "parquet", "arrow")

SUFFIXES: Final[dict[str, FormatName]] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_MAGIC: Final = frozenset("*?[")
_HEAD_BYTES: Final = 4096
PACKED_SUFFIXES: Final = (".gz", ".bz2", ".xz", ".zst")
_PACKED: Final = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
    b"ORC": "ORC",
    b"Obj\x01": "Avro",
}


def find_inputs(
    inputs: Iterable[PathLike], *, partitions: bool = True, out: str | None = None
) -> list[InputFile]:
    """Find all input files, in the order given; those of a folder or pattern sorted by name.

    Args:
        inputs: files, patterns, or folders. Of a folder everything below it is taken but names that begin with `_` or
            a dot (`_SUCCESS`, `.crc`). `@FILE` is a list of inputs, one a line.
        partitions: make columns of folders that are called `name=value`.
        out: the folder that will be written; what is in it is no input.

    Raises:
        NotFoundError: an input is not there, or a pattern or folder has no files.
        InvalidArgumentError: a file is named twice, or an input folder is the output folder.
    """
    written = None if out is None else os.path.realpath(out)
    found: list[InputFile] = []
    seen: dict[str, str] = {}
    for given in inputs:
        for path, name in _expand(path_text(given), written):
            real = os.path.realpath(path)
            if real in seen:
                raise InvalidArgumentError(
                    f"{path}: this input is given twice, the first time as {seen[real]}. Name every file once.",
                    path=path,
                )
            seen[real] = path
            columns = _partition_of(path) if partitions else {}
            stamp = _stamp(path)
            found.append(InputFile(path, name, columns, stamp.size, stamp))
    if not found:
        raise NotFoundError("No input files were given. Name files, patterns, folders, or @LIST.")
    return _with_unique_names(found)


def read_list(path: str) -> list[str]:
    """Read a list of inputs: one per line, relative to the current folder; empty lines and those with # are left out.

    Raises:
        NotFoundError: there is no such list.
    """
    with os_errors(path), open(path, "rb") as file:
        lines = file.read().removeprefix(b"\xef\xbb\xbf").splitlines()
    return [os.fsdecode(line.strip()) for line in lines if line.strip() and not line.startswith(b"#")]


def guess_format(files: Sequence[InputFile]) -> FormatName:
    """Find the one format of all files: by their suffixes, else by their first bytes.

    Raises:
        InvalidArgumentError: a file's format is not known, or files differ.
    """
    first: tuple[FormatName, InputFile] | None = None
    for file in files:
        if file.size == 0 and _by_suffix(file) is None:
            continue  # fits any
        name = _by_suffix(file) or _by_content(file)
        if first is None:
            first = name, file
        elif name != first[0]:
            raise InvalidArgumentError(
                f"Expected inputs of one format but {first[1].path} is {first[0]} and {file.path} is {name}. "
                "Build them one after the other, or pass format= (--format).",
                path=file.path,
            )
    if first is None:
        raise InvalidArgumentError(
            f"{files[0].path}: no format can be told from empty files ({len(files)} of them). "
            "Pass format= (--format)."
        )
    return first[0]


def refuse_packed(head: bytes, path: str) -> None:
    """Raise if a file begins like a compressed one, or like one of another kind that no format here reads.

    Raises:
        InvalidArgumentError: it does; the text names the kind.
    """
    packed = next((name for magic, name in _PACKED.items() if head.startswith(magic)), None)
    if packed is not None:
        raise InvalidArgumentError(
            f"{path}: expected CSV, TSV, Hive text, JSON lines, Parquet or Arrow but got {packed}. "
            "Unpack or convert it first; of compressed delimited text, pass format= (--format).",
            path=path,
        )


# -- names -------------------------------------------------------------------------------------------------------------


def _expand(text: str, written: str | None) -> Iterator[tuple[str, str]]:
    """Paths that an input stands for, each with its name relative to the folder that was given."""
    if text.startswith("@") and not os.path.lexists(text):
        for line in read_list(text[1:]):
            yield from _expand(line, written)
    elif os.path.isdir(text):
        yield from _in_folder(text, written)
    elif os.path.lexists(text):
        yield text, _name_of(text)
    elif _MAGIC.intersection(text):
        yield from _matching(text, written)
    else:
        raise NotFoundError(f"{text}; No such file or directory. Check the name of this input.", path=text)


def _matching(pattern: str, written: str | None) -> Iterator[tuple[str, str]]:
    matches = sorted(p for p in glob.glob(pattern, recursive=True) if not _hidden(os.path.basename(p)))
    if not matches:
        raise NotFoundError(
            f"No files matched pattern: {pattern}. Check the folder and the spelling; names that begin with `_` or a "
            "dot never match.",
            path=pattern,
        )
    recursive = "**" in pattern  # which has listed what is in folders already
    for path in matches:
        if os.path.isdir(path):
            if not recursive:
                yield from _in_folder(path, written)
        else:
            yield path, _name_of(path)


def _in_folder(folder: str, written: str | None) -> Iterator[tuple[str, str]]:
    """All files below a folder but those in the output; links to folders are followed, but never in a circle."""
    if os.path.realpath(folder) == written:
        raise InvalidArgumentError(
            f"{folder}: this is the output folder, too. Choose another folder for the output.", path=folder
        )
    files = sorted(_walk(folder, frozenset([written] if written else [])))
    if not files:
        raise NotFoundError(
            f"{folder}; No files are in this folder, apart from names that begin with `_` or a dot. Check the input.",
            path=folder,
        )
    kept = [part for part in PurePath(os.path.normpath(folder)).parts if "=" in part]
    for path in files:
        yield path, os.path.join(*kept, os.path.relpath(path, folder))


def _walk(folder: str, above: frozenset[str]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in above:
        return
    with os_errors(folder):
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    for entry in entries:
        if _hidden(entry.name):
            continue
        if entry.is_dir():
            yield from _walk(entry.path, above | {real})
        else:
            yield entry.path


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _name_of(path: str) -> str:
    """The file's own name, after the partition folders above it."""
    parts = PurePath(os.path.normpath(path)).parts
    return os.path.join(*(part for part in parts[:-1] if "=" in part), parts[-1])


def _with_unique_names(files: list[InputFile]) -> list[InputFile]:
    """Two inputs of the same name in different folders get as much of their folders as distinguishes them."""
    taken: dict[str, list[InputFile]] = {}
    for file in files:
        taken.setdefault(file.name, []).append(file)
    if len(taken) == len(files):
        return files
    names = {}
    for same in taken.values():
        parts = [PurePath(os.path.normpath(file.path)).parts for file in same]
        depth = 1
        while len(same) > 1 and len({part[-depth:] for part in parts}) < len(same):
            depth += 1
        for file, part in zip(same, parts, strict=True):
            longer = len(same) > 1 and depth > len(PurePath(file.name).parts)
            names[file.path] = os.path.join(*part[-depth:]) if longer else file.name
    return [replace(file, name=names[file.path]) for file in files]


def _stamp(path: str) -> InputStamp:
    if not os.path.isfile(path) and os.path.exists(path):
        raise InvalidArgumentError(
            f"{path}: expected a file, since inputs are read twice, but this is a pipe or device. Save it first.",
            path=path,
        )
    return InputStamp.of(path)


# -- partitions --------------------------------------------------------------------------------------------------------


def _partition_of(path: str) -> dict[str, str]:
    """Columns that the folders of a path say: `dt=2024-01-01/hour=3/x` gives dt and hour. Pure: no I/O.

    >>> _partition_of("warehouse/t/dt=2024-01-01/city=S%C3%A3o%20Paulo/000000_0")
    {'dt': '2024-01-01', 'city': 'São Paulo'}
    """
    columns = {}
    for part in PurePath(os.path.normpath(path)).parts[:-1]:
        name, equals, value = part.partition("=")
        if equals and name:
            columns[_unquoted(name)] = _unquoted(value)
    return columns


def _unquoted(text: str) -> str:
    return os.fsdecode(unquote_to_bytes(os.fsencode(text)))


# -- formats -----------------------------------------------------------------------------------------------------------


def _by_suffix(file: InputFile) -> FormatName | None:
    path = file.path.lower()
    packed = next((suffix for suffix in PACKED_SUFFIXES if path.endswith(suffix)), "")
    return SUFFIXES.get(os.path.splitext(path.removesuffix(packed))[1])


def _by_content(file: InputFile) -> FormatName:
    with os_errors(file.path), open(file.path, "rb") as opened:
        head = opened.read(_HEAD_BYTES)
    refuse_packed(head, file.path)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    line = head.split(b"\n", 1)[0]
    if b"\x01" in line:
        return "hive"
    if b"\t" in line:
        return "tsv"
    raise InvalidArgumentError(
        f"{file.path}: neither the suffix nor the first bytes ({head[:16].hex(' ')}) tell the format. "
        f"Pass format= (--format), one of {', '.join(FORMATS)}.",
        path=file.path,
    )
