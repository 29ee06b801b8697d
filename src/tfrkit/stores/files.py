"""Files by path or URL, wherever they live: each function asks the store that the path belongs to.

What is local stays what it was: `os` is called directly where a local path is all that can come. Everything else of
tfrkit opens, lists, writes and removes files through this module.
"""

from __future__ import annotations

import fnmatch
import glob as local_glob
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any, Final, TypeAlias, TypeVar

from tfrkit.errors import FailedPreconditionError, NotFoundError, OpError, UnimplementedError, os_errors
from tfrkit.stores.output import WholeOutput
from tfrkit.stores.source import ByteSource, SourceFile, open_descriptor, wrap_file
from tfrkit.stores.store import FileInfo, Traits
from tfrkit.stores.table import store_of
from tfrkit.stores.url import display_name, is_url, local_path
from tfrkit.threads import spawn_all

__all__ = [
    "ask_all",
    "create",
    "file_info",
    "file_size",
    "file_sizes",
    "find_files",
    "is_file",
    "is_folder",
    "is_local",
    "is_there",
    "list_files",
    "list_if_there",
    "list_names",
    "list_tree",
    "make_folder",
    "match_remote",
    "move",
    "open_file",
    "open_known",
    "open_small",
    "open_source",
    "read_bytes",
    "read_version",
    "real_path",
    "remove",
    "remove_tree",
    "traits_of",
    "write_bytes",
]

_MAGIC: Final = re.compile(r"[*?\[]")
_BUFFER_BYTES: Final = 1 << 20
_MAX_ATTEMPTS: Final = 100  # to read a file that others write
_MANY: Final = 8  # files of a folder that are rather listed than asked for one by one
_AT_ONCE: Final = 32  # requests of one call
_T = TypeVar("_T")
_Matcher: TypeAlias = Callable[[str], bool]


def is_local(path: str) -> bool:
    """Tell whether a path is the operating system's. Pure: no I/O."""
    return not is_url(path)


def traits_of(path: str) -> Traits:
    """Return what the store of a path can do."""
    return store_of(path).traits


def open_source(
    target: str | IO[bytes] | Any, *, cache: bool | None = None, folders: bool = False
) -> ByteSource:
    """Open a path or URL, or take an open binary file as it is (read from where it stands; it is not closed).

    Args:
        target: what to open.
        cache: keep what is read of a remote file in the cache folder; None: as `configure_store` says.
        folders: a local folder is an error on the first read only, as in TensorFlow's old readers.

    Raises:
        NotFoundError, FailedPreconditionError, PermissionDeniedError: as the operating system or the store says.
        UnavailableError: the store does not answer.
        UnimplementedError: no store knows the URL's scheme.
    """
    if not isinstance(target, str):
        return wrap_file(target)
    if is_url(target):
        try:
            return _open_url(target, cache)
        except NotFoundError as error:
            raise _about_folder(target) or error from None
    return open_descriptor(local_path(target), folders=folders)


def _open_url(url: str, cache: bool | None) -> ByteSource:
    return store_of(url).open(url, cache=cache)


def _about_folder(url: str) -> FailedPreconditionError | None:
    """Return the error about a file that is a folder instead; None if it is none, or that cannot be known."""
    try:
        if not traits_of(url).lists or not is_folder(url):
            return None
    except OpError:
        return None
    name = display_name(url)
    return FailedPreconditionError(
        f"{name}; Is a directory. Name the files in it, for example {name.rstrip('/') + '/*.tfrecord'!r}.",
        path=name,
    )


def open_known(info: FileInfo) -> ByteSource:
    """Open what a store has listed, where that helps without a request; what has changed since is an error, or differs.

    Raises:
        FailedPreconditionError, NotFoundError: it was replaced or removed, which may turn out only when it is read.
    """
    known: Callable[[FileInfo], ByteSource] | None = getattr(store_of(info.path), "open_known", None)
    return open_source(info.path) if known is None else known(info)


def open_file(path: str) -> io.BufferedReader:
    """Open a path or URL as a binary file object, for libraries that want one."""
    if is_url(path):
        return io.BufferedReader(SourceFile(open_source(path)), _BUFFER_BYTES)
    return open(local_path(path), "rb")


def file_info(path: str) -> FileInfo | None:
    """Return what is known of a file or folder; None if there is none."""
    return store_of(path).stat(path)


def is_there(path: str) -> bool:
    """Tell whether a file or folder exists; also a local link that leads nowhere."""
    return file_info(path) is not None if is_url(path) else os.path.lexists(local_path(path))


def is_file(path: str) -> bool:
    """Tell whether a path names a file that can be read by position: no folder, no pipe."""
    if not is_url(path):
        return os.path.isfile(local_path(path))
    found = file_info(path)
    return found is not None and not found.is_folder


def is_folder(path: str) -> bool:
    """Tell whether a path names a folder, or the beginning of names in an object store."""
    if not is_url(path):
        return os.path.isdir(local_path(path))
    found = file_info(path)
    return found is not None and found.is_folder


def file_size(path: str) -> int:
    """Return the bytes of a file.

    Raises:
        NotFoundError: there is none.
    """
    found = file_info(path)
    if found is None:
        raise NotFoundError(f"{path}; No such file or directory", path=path)
    return found.size


def file_sizes(paths: Iterable[str]) -> list[int]:
    """Return the sizes of many files, 0 for what is not a file; one listing serves those of a folder."""
    named = list(paths)
    folders: dict[str, list[str]] = {}
    for path in named:
        if is_url(path):
            folders.setdefault(os.path.dirname(path), []).append(path)
    known: dict[str, int] = {}
    for folder, members in folders.items():
        if len(members) >= _MANY and traits_of(folder).lists:
            known.update((info.path, info.size) for info in list_files(folder))
    rest = [path for path in named if path not in known]
    known.update(zip(rest, ask_all(_size_or_zero, rest), strict=True))
    return [known[path] for path in named]


def _size_or_zero(path: str) -> int:
    found = file_info(path)
    return 0 if found is None or not found.regular else found.size


def ask_all(ask: Callable[[str], _T], paths: Sequence[str]) -> list[_T]:
    """Call a function for each path, of URLs several at once; results in order."""
    if not any(map(is_url, paths)):
        return [ask(path) for path in paths]
    return spawn_all(ask, paths, _AT_ONCE)


def list_files(folder: str, *, recursive: bool = False) -> Iterator[FileInfo]:
    """Yield what is in a folder, or all files below it; see `Store.list`."""
    return store_of(folder).list(folder, recursive=recursive)


def list_names(folder: str) -> list[str]:
    """Return the names in a folder, in any order; none if there is no such folder."""
    try:
        if not is_url(folder):
            with os_errors(folder):
                return os.listdir(local_path(folder) or ".")
        return [os.path.basename(found.path) for found in list_files(folder)]
    except FileNotFoundError:
        return []


def read_bytes(path: str) -> bytes:
    """Return the whole content of a small file."""
    return _read_all(open_small(path))


def read_version(path: str) -> tuple[bytes, str] | None:
    """Return the whole content of a small file and the version that it belongs to; None if there is no file.

    Raises:
        FailedPreconditionError: it changes again and again while it is read.
    """
    attempts = 1
    while True:
        try:
            source = open_small(path, cache=False)
            return _read_all(source), source.version
        except NotFoundError:
            return None
        except FailedPreconditionError:
            if attempts == _MAX_ATTEMPTS or is_local(path):
                raise
            attempts += 1


def open_small(path: str, *, cache: bool | None = None) -> ByteSource:
    """Open a file that is often missing, without asking whether it is a folder."""
    return _open_url(path, cache) if is_url(path) else open_source(path)


def _read_all(source: ByteSource) -> bytes:
    parts = []
    while part := source.read(1 << 23):
        parts.append(part)
    return b"".join(parts)


def create(path: str, *, durable: bool = True, at_once: int = 1) -> WholeOutput:
    """Begin a file that appears whole or not at all; see `Store.create`."""
    return store_of(path).create(path, durable=durable, at_once=at_once)


def write_bytes(path: str, data: bytes, *, expected: str | None = None) -> str | None:
    """Write a small file, whole or not at all; see `Store.write`."""
    return store_of(path).write(path, data, expected=expected)


def remove(path: str) -> bool:
    """Remove a file if it is there; return whether it was."""
    return store_of(path).remove(path)


def move(source: str, target: str) -> None:
    """Give a file another name in the same store; where it cannot be renamed, it is copied and removed."""
    store_of(source).move(source, target)


def make_folder(path: str) -> None:
    """Make a folder and those above it, where folders exist by themselves."""
    store_of(path).make_folder(path)


def remove_tree(path: str) -> None:
    """Remove a folder with all that is in it, if it is there."""
    store_of(path).remove_tree(path)


def real_path(path: str) -> str:
    """Return one name for a file that may have several: links are followed, of URLs nothing but the end is tidied."""
    return path.rstrip("/") if is_url(path) else os.path.realpath(local_path(path))


def find_files(pattern: str) -> list[str]:
    """Return what matches a pattern of `*`, `?`, `[...]` and `**`, sorted; as `glob.glob` does, which skips dot files.

    Local folders match, too; where folders are only beginnings of names, files do.

    Raises:
        UnimplementedError: the store cannot list names.
    """
    if not is_url(pattern):
        return sorted(local_glob.glob(local_path(pattern), recursive=True))
    return sorted(info.path for info in match_remote(pattern) if not info.is_folder)


def match_remote(pattern: str) -> Iterator[FileInfo]:
    """Yield the files and folders that a pattern of URLs matches, in any order; see `find_files`."""
    store = store_of(pattern)
    if not store.traits.lists:
        raise UnimplementedError(
            f"{display_name(pattern)}; a web server cannot list files, so patterns do not work there. "
            "Name each file, for example in a list.",
            path=pattern,
        )
    magic = _MAGIC.search(pattern)
    fixed = pattern[: magic.start()] if magic else pattern
    begin = fixed.rindex("/") + 1
    parts = [_matcher(part) for part in pattern[begin:].split("/")]
    seen: set[str] = set()
    for info in list_if_there(pattern[:begin], recursive=len(parts) > 1 or None in parts):
        names = info.path[begin:].split("/")
        for depth in range(1, len(names)):  # the folders that it is in
            above = info.path[:begin] + "/".join(names[:depth])
            if above not in seen:
                seen.add(above)
                if _matches(names[:depth], parts):
                    yield FileInfo(above, 0, "", is_folder=True)
        if _matches(names, parts):
            yield info


def list_if_there(folder: str, *, recursive: bool) -> Iterator[FileInfo]:
    """Yield what is in a folder of a URL, nothing if it is missing.

    Raises:
        NotFoundError: the bucket or server that it would be in is missing.
    """
    try:
        yield from list_files(folder, recursive=recursive)
    except NotFoundError:
        file_info("/".join(folder.split("/")[:3]) + "/")


def list_tree(folder: str) -> list[FileInfo]:
    """Return all files below a URL, sorted by name, without the empty objects that some tools make for folders."""
    found = sorted(list_files(folder, recursive=True), key=lambda info: info.path)
    folders = {os.path.dirname(info.path) for info in found}
    return [info for info in found if info.size or info.path not in folders]


def _matcher(part: str) -> _Matcher | None:
    """Return what tells whether a name matches a part of a pattern; None for `**`. Pure: no I/O."""
    if part == "**":
        return None
    match, hidden = re.compile(fnmatch.translate(part)).match, part.startswith(".")
    return lambda name: (hidden or not name.startswith(".")) and match(name) is not None


def _matches(names: list[str], parts: list[_Matcher | None]) -> bool:
    """Tell whether the names of a path match the parts of a pattern, `**` any number of them. Pure: no I/O."""
    if not parts:
        return not names
    first, *rest = parts
    if first is not None:
        return bool(names) and first(names[0]) and _matches(names[1:], rest)
    for count in range(len(names) + 1):
        if count and names[count - 1].startswith("."):
            return False
        if _matches(names[count:], rest) and (rest or count):
            return True
    return False
