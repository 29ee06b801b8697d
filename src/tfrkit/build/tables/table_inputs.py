"""Which files a table is read from: files, globs, folders and lists become `InputFile`s with their partition columns.

Reads no file but lists of names, and the first bytes of files whose name does not say what they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.build.tables.format_table import InputFormat, all_formats, format_names, formats_by_suffix
from tfrkit.build.tables.partition_filter import PartitionFilter
from tfrkit.build.tables.table_format import InputFile, open_input
from tfrkit.codecs.file_kinds import file_kind, looks_like
from tfrkit.codecs.table import sniff
from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import InvalidArgumentError, NotFoundError, os_errors
from tfrkit.stores.files import (
    file_info,
    find_files,
    is_folder,
    list_tree,
    match_remote,
    read_bytes,
    real_path,
    traits_of,
)
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.store import FileInfo
from tfrkit.stores.url import is_url, local_path, path_parts

__all__ = ["find_inputs", "guess_format", "read_list", "refuse_foreign"]

_MAGIC: Final = frozenset("*?[")
_HEAD_BYTES: Final = 4096
_LOOKS_AT_ONCE: Final = 16  # which may each be a request
# How the names of files end, in `codecs/file_kinds.py`, that are surely no table.
_FOREIGN: Final = ("archive", ".npz file)", "image", "icon", "video", "audio", "document", "PDF file", "HDF5 file",
                   "ORC file", "Avro file", "NumPy .npy file", "MATLAB file", "database", "pickle")  # fmt: skip


def find_inputs(
    inputs: Iterable[PathLike],
    *,
    partitions: bool = True,
    out: str | None = None,
    wanted: PartitionFilter = PartitionFilter(),  # noqa: B008  # it cannot be changed
    left_out: list[str] | None = None,
) -> list[InputFile]:
    """Find all input files, in the order given; those of a folder or pattern sorted by name.

    Args:
        inputs: files, patterns, or folders; also URLs. Of a folder everything below it is taken but names that begin
            with `_` or a dot (`_SUCCESS`, `.crc`). `@FILE` is a list of inputs, one a line.
        partitions: make columns of folders that are called `name=value`.
        out: the folder that will be written; what is in it is no input.
        wanted: leave out files that are in other partitions, without looking at them.
        left_out: takes the paths of those.

    Raises:
        NotFoundError: an input is not there, or a pattern or folder has no files.
        InvalidArgumentError: a file is named twice, an input folder is the output folder, or `wanted` leaves none.
    """
    written = None if out is None else real_path(out)
    seen: dict[str, _Found] = {}
    for given in inputs:
        for found in _expand(path_text(given), written):
            first = seen.setdefault(real_path(found.path), found)
            if first is not found:
                raise InvalidArgumentError(
                    f"{found.path}: this input is given twice, the first time as {first.path}. Name every file once.",
                    path=found.path,
                )
    if not seen:
        raise NotFoundError("No input files were given. Name files, patterns, folders, or @LIST.")
    said = [_partition_of(found.path) for found in seen.values()]
    files = []
    for (path, name, info), columns, chosen in zip(seen.values(), said, wanted.choose(said), strict=True):
        if chosen:
            stamp = _stamp(path, info)
            files.append(InputFile(path, name, columns if partitions else {}, stamp.size, stamp))
        elif left_out is not None:
            left_out.append(path)
    return _with_unique_names(files)


def read_list(path: str) -> list[str]:
    """Read a list of inputs: one per line; empty lines and those with # are left out.

    Names are relative to the current folder; those in a list behind a URL are relative to the list, and stay below it.

    Raises:
        NotFoundError: there is no such list.
        InvalidArgumentError: a list behind a URL names what is not below it.
    """
    lines = read_bytes(path).removeprefix(b"\xef\xbb\xbf").splitlines()
    names = [os.fsdecode(line.strip()) for line in lines if line.strip() and not line.startswith(b"#")]
    return [_below(path, name) for name in names] if is_url(path) else [local_path(name) for name in names]


def _below(url: str, name: str) -> str:
    """Return what a list behind a URL means by a name. Pure: no I/O."""
    if is_url(name):
        return name
    if name.startswith(("/", "@")) or ".." in name.split("/") or local_path(name) != name:
        raise InvalidArgumentError(
            f"{url}: expected URLs and names below this list but got {name!r}. Write the whole URL.", path=url
        )
    return f"{url[: url.rindex('/')]}/{name}"


def guess_format(files: Sequence[InputFile]) -> str:
    """Find the one format of all files: by their suffixes, else by their first bytes.

    Raises:
        InvalidArgumentError: a file's format is not known, or files differ.
    """
    named = [formats_by_suffix(path_parts(file.path)[-1]) for file in files]
    unsure = [n for n, file in enumerate(files) if len(named[n]) != 1 and file.size]

    def look(number: int) -> InputFormat:
        return _by_content(files[number], named[number])

    told = dict(run_tasks(unsure, look, workers=_LOOKS_AT_ONCE, stop=Stop()))
    first: tuple[str, InputFile] | None = None
    for number, file in enumerate(files):
        if number not in told and len(named[number]) != 1:
            continue  # it is empty, and fits any
        name = (told.get(number) or named[number][0]).name
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


def refuse_foreign(head: bytes, path: str) -> None:
    """Raise if a file begins like one of another kind that no format here reads.

    Raises:
        InvalidArgumentError: it does; the text names the kind.
    """
    if (kind := file_kind(head)).endswith(_FOREIGN):
        raise _unexpected(path, kind)


def _unexpected(path: str, kind: str) -> InvalidArgumentError:
    *titles, last = (each.title for each in all_formats())
    return InvalidArgumentError(
        f"{path}: expected {', '.join(titles)} or {last} but got {kind}. "
        "Unpack or convert it first; of compressed text, pass format= (--format).",
        path=path,
    )


# -- names -------------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """An input file: its path, its name relative to the folder that was given, and what its store said of it."""

    path: str
    name: str
    info: FileInfo | None = None


def _expand(text: str, written: str | None) -> Iterator[_Found]:
    """Find the files that an input stands for."""
    if text.startswith("@") and not os.path.lexists(text):
        for line in read_list(text[1:]):
            yield from _expand(line, written)
        return
    info = file_info(text) if is_url(text) else None
    there = info is not None if is_url(text) else os.path.lexists(text)
    if there and (os.path.isdir(text) if info is None else info.is_folder):
        yield from _in_folder(text, written)
    elif there:
        yield _Found(text, _name_of(text), info)
    elif _MAGIC.intersection(text) and traits_of(text).lists:
        yield from _matching(text, written)
    else:
        raise NotFoundError(f"{text}; No such file or directory. Check the name of this input.", path=text)


def _matching(pattern: str, written: str | None) -> Iterator[_Found]:
    known: dict[str, FileInfo] = {}
    if is_url(pattern):
        known = {info.path: info for info in match_remote(pattern)}
    matches = known if is_url(pattern) else find_files(pattern)
    matches = sorted(path for path in matches if not _hidden(os.path.basename(path)))
    if not matches:
        raise NotFoundError(
            f"No files matched pattern: {pattern}. Check the folder and the spelling; names that begin with `_` or a "
            "dot never match.",
            path=pattern,
        )
    recursive = "**" in pattern  # which has listed what is in folders already
    for path in matches:
        if known[path].is_folder if path in known else is_folder(path):
            if not recursive:
                yield from _in_folder(path, written)
        else:
            yield _Found(path, _name_of(path), known.get(path))


def _in_folder(folder: str, written: str | None) -> Iterator[_Found]:
    """All files below a folder but those in the output; links to folders are followed, but never in a circle."""
    if real_path(folder) == written:
        raise InvalidArgumentError(
            f"{folder}: this is the output folder, too. Choose another folder for the output.", path=folder
        )
    known: dict[str, FileInfo] = {}
    if is_url(folder):
        known = {info.path: info for info in list_tree(folder) if _is_wanted(info.path, folder, written)}
        files = sorted(known)
    else:
        files = sorted(_walk(folder, frozenset([written] if written else [])))
    if not files:
        raise NotFoundError(
            f"{folder}; No files are in this folder, apart from names that begin with `_` or a dot. Check the input.",
            path=folder,
        )
    kept = [part for part in path_parts(folder) if "=" in part]
    for path in files:
        name = path[len(folder.rstrip("/")) + 1 :] if known else os.path.relpath(path, folder)
        yield _Found(path, os.path.join(*kept, name), known.get(path))


def _is_wanted(path: str, folder: str, written: str | None) -> bool:
    """Tell whether a file below a URL is an input: nothing on its way is hidden, or the output. Pure: no I/O."""
    names = path[len(folder.rstrip("/")) + 1 :].split("/")
    return not any(map(_hidden, names)) and (written is None or not path.startswith(written + "/"))


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
    parts = path_parts(path)
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
        parts = [path_parts(file.path) for file in same]
        if len(set(parts)) < len(same):  # URLs that only their queries distinguish
            parts = [(*part[:-1], str(number), part[-1]) for number, part in enumerate(parts, 1)]
        depth = 1
        while len(same) > 1 and len({part[-depth:] for part in parts}) < len(same):
            depth += 1
        for file, part in zip(same, parts, strict=True):
            longer = len(same) > 1 and depth > len(path_parts(file.name))
            names[file.path] = os.path.join(*part[-depth:]) if longer else file.name
    return [replace(file, name=names[file.path]) for file in files]


def _stamp(path: str, info: FileInfo | None) -> InputStamp:
    if info is not None:
        if not info.regular:
            raise InvalidArgumentError(
                f"{path}: expected a file that can be read from any position, but its server does not serve ranges. "
                "Download it first.",
                path=path,
            )
        return InputStamp.listed(info)
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
    for part in path_parts(path)[:-1]:
        name, equals, value = part.partition("=")
        if equals and name:
            columns[_unquoted(name)] = _unquoted(value)
    return columns


def _unquoted(text: str) -> str:
    return os.fsdecode(unquote_to_bytes(os.fsencode(text)))


# -- formats -----------------------------------------------------------------------------------------------------------


def _by_content(file: InputFile, named: Sequence[InputFormat]) -> InputFormat:
    """Tell the format by the first bytes; if the name promises some, one of them."""
    source = open_input(file)
    codec = sniff(head := source.peek(_HEAD_BYTES))
    refuse_foreign(head, file.path)
    if codec.name:
        head = codec.open(source).read()[:_HEAD_BYTES]
    text = head.removeprefix(b"\xef\xbb\xbf")
    for each in reversed(named or all_formats()):
        if each.is_in(text) and (each.compressed or not codec.name):
            return each
    if named:
        return named[0]
    if codec.name:
        raise _unexpected(file.path, codec.name.lower())
    raise InvalidArgumentError(
        f"{file.path}: neither the suffix nor the content tells the format: it looks like {looks_like(head)}. "
        f"Pass format= (--format), one of {', '.join(format_names())}.",
        path=file.path,
    )
