"""The functions of `tf.io.gfile` and `tf.compat.v1.gfile`, with TensorFlow's errors, on local files and URLs.

Paths are str, bytes or PathLike. Directory listings are in the operating system's or the store's order. Object stores
are as TensorFlow has gs://: a folder is there as long as a name begins with it, making one does nothing, and renaming
one renames each file in it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
    UnimplementedError,
    from_os_error,
)
from tfrkit.stores import files
from tfrkit.stores.glob_files import match_files
from tfrkit.stores.store import FileInfo
from tfrkit.stores.table import known_schemes, store_of
from tfrkit.stores.url import display_name, is_url, local_path, scheme_of

__all__ = [
    "FileStatistics", "copy", "copy_v1", "delete_recursively", "exists", "exists_v1",
    "get_registered_schemes", "glob", "glob_v1", "isdir", "isdir_v1", "join", "listdir", "listdir_v1", "makedirs",
    "makedirs_v1", "mkdir", "mkdir_v1", "open_to_write", "os_errors", "path_text", "remove", "remove_v1", "rename",
    "rename_v1", "rmtree", "stat", "stat_v1", "walk", "walk_v1",
]  # fmt: skip


_COPY_BYTES: Final = 1 << 23


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """Size, time and kind of a file.

    Attributes:
        length: size in bytes.
        mtime_nsec: time of the last change in nanoseconds since 1970, cut to whole seconds.
        is_directory: whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


@contextlib.contextmanager
def os_errors(path: str) -> Iterator[None]:
    """Turn an OSError within into the error that TensorFlow has for it."""
    try:
        yield
    except OpError:
        raise
    except OSError as error:
        raise from_os_error(error, path) from error


def path_text(path: Any) -> str:
    """Return a path or URL as str; that of a `file://` URL is local.

    Raises:
        TypeError: it is not a path.

    >>> path_text(b"/a/b"), path_text("file:///a/b"), path_text("s3://bucket/a")
    ('/a/b', '/a/b', 's3://bucket/a')
    """
    return local_path(_text(path))


def _text(path: Any) -> str:
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, (str, bytes)):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


def exists(path: Any) -> bool:
    """Return whether a file or folder exists."""
    name = path_text(path)
    return files.file_info(name) is not None if is_url(name) else os.path.exists(name)


def isdir(path: Any) -> bool:
    """Return whether a path is a folder; what cannot be found out is none, as in TensorFlow."""
    try:
        return files.is_folder(path_text(path))
    except OpError:
        return False


def listdir(path: Any) -> list[str]:
    """Return the names of the entries of a folder; in gs:// those of folders end in "/", as TensorFlow has them.

    Raises:
        NotFoundError: the folder does not exist.
    """
    return [name for name, _ in _entries(_text(path))]


def _entries(text: str) -> list[tuple[str, bool]]:
    """Return the names in a folder, and which are folders themselves."""
    folder = local_path(text)
    if not isdir(folder):
        raise NotFoundError(f"Could not find directory {text}", path=text)
    if is_url(folder):
        slash = "/" if scheme_of(folder) == "gs" else ""
        return [
            (os.path.basename(found.path) + (slash if found.is_folder else ""), found.is_folder)
            for found in files.list_files(folder)
        ]
    with os_errors(folder):
        return [(name, os.path.isdir(os.path.join(folder, name))) for name in os.listdir(folder)]


def glob(pattern: Any) -> list[str]:
    """Return the paths that match a pattern, or one of several; see `glob_files`."""
    patterns = [pattern] if isinstance(pattern, (str, bytes)) else list(pattern)
    return [path for one in patterns for path in match_files(_text(one))]


def mkdir(path: Any) -> None:
    """Make a folder, unless the path exists.

    Raises:
        NotFoundError: the parent folder does not exist.
    """
    folder = path_text(path)
    if is_url(folder):
        files.make_folder(folder)
    elif not os.path.exists(folder):
        with os_errors(folder):
            os.mkdir(folder)


def makedirs(path: Any) -> None:
    """Make a folder and its parents where they do not exist.

    Raises:
        FailedPreconditionError: one of them is a file.
    """
    folder = path_text(path)
    if not is_url(folder):
        parts = folder.rstrip("/").split("/")
        for count in range(1, len(parts) + 1):
            part = "/".join(parts[:count])
            if part and os.path.exists(part) and not os.path.isdir(part):
                raise FailedPreconditionError(f"{part} is not a directory", path=part)
    files.make_folder(folder)


def remove(path: Any) -> None:
    """Remove a file.

    Raises:
        NotFoundError: it does not exist.
        FailedPreconditionError: it is a folder.
    """
    name = path_text(path)
    if is_url(name):
        if _info(name).is_folder:
            raise from_os_error(OSError(errno.EISDIR, ""), display_name(name))
        files.remove(name)
        return
    with os_errors(name):
        os.remove(name)


def rmtree(path: Any) -> None:
    """Remove a folder with everything in it, or a file.

    Raises:
        NotFoundError: it does not exist.
    """
    name = path_text(path)
    if not files.is_there(name):
        raise NotFoundError(f"{name} not found", path=name)
    folder = files.is_folder(name) and (is_url(name) or not os.path.islink(name))
    (files.remove_tree if folder else files.remove)(name)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Rename a file; in an object store also a folder, file by file.

    Raises:
        AlreadyExistsError: the new path exists, and `overwrite` is False.
        NotFoundError: the old path does not exist.
        UnimplementedError: the new path is in another store.
    """
    source, target = path_text(src), path_text(dst)
    _check_free(target, overwrite)
    if store_of(source) is not store_of(target):
        raise UnimplementedError(f"Renaming {source} to {target} not implemented", path=source)
    if not is_url(source) or not _info(source).is_folder:
        files.move(source, target)
        return
    begin = source.rstrip("/")
    for found in list(files.list_files(source, recursive=True)):
        files.move(found.path, target.rstrip("/") + found.path[len(begin) :])


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file, also from one store to another.

    Raises:
        AlreadyExistsError: the target exists, and `overwrite` is False.
        NotFoundError: the source, or the folder of the target, does not exist.
    """
    source, target = path_text(src), path_text(dst)
    _check_free(target, overwrite)
    with os_errors(source):
        if files.is_folder(source):
            raise from_os_error(OSError(errno.EINVAL, ""), target)
        file = files.open_source(source)
    with os_errors(target), open_to_write(target) as made:
        while data := file.read(_COPY_BYTES):
            made.write(data)


def open_to_write(path: str) -> contextlib.AbstractContextManager[Any]:
    """Open a file to write bytes to: a local one in place; elsewhere it is there when it is closed without an error."""
    return _whole(path) if is_url(path) else open(path, "wb")


@contextlib.contextmanager
def _whole(path: str) -> Iterator[Any]:
    output = files.create(path)
    try:
        yield output
        output.close()
    except BaseException:
        output.discard()
        raise


def stat(path: Any) -> FileStatistics:
    """Return size, time of the last change, and kind of a file; of a folder in an object store only that it is one.

    Raises:
        NotFoundError: it does not exist.
    """
    name = path_text(path)
    if is_url(name):
        info = _info(name)
        return FileStatistics(info.size, info.modified_ns, info.is_folder)
    with os_errors(name):
        found = os.stat(name)
    return FileStatistics(found.st_size, int(found.st_mtime) * 10**9, os.path.isdir(name))


def _info(url: str) -> FileInfo:
    found = files.file_info(url)
    if found is None:
        raise from_os_error(FileNotFoundError(errno.ENOENT, ""), display_name(url))
    return found


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk through a folder and all below it.

    Args:
        top: the folder to start with.
        topdown: yield a folder before its subfolders.
        onerror: called with the error if a folder cannot be read.

    Yields:
        Path of a folder, names of folders in it, names of files in it.
    """
    folder = _text(top)
    try:
        entries = _entries(folder)
    except OpError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [name for name, is_folder in entries if is_folder]
    here = folder, folders, [name for name, is_folder in entries if not is_folder]
    if topdown:
        yield here
    for name in folders:
        yield from walk(os.path.join(folder, name), topdown, onerror)
    if not topdown:
        yield here


def join(path: Any, *paths: Any) -> str:
    """Join parts of a path; an absolute part replaces those before it.

    >>> join("a", "b", "c"), join("a", "/b")
    ('a/b/c', '/b')
    """
    return os.path.join(_text(path), *map(_text, paths))


def get_registered_schemes() -> list[str]:
    """Return the schemes that paths may have; the empty one is of local files. What fsspec knows is not listed."""
    return known_schemes()


def _renamed(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """Return a function whose first arguments have the names of TensorFlow 1."""
    arguments = dict(zip(names, inspect.signature(function).parameters, strict=False))

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        return function(*args, **{arguments.get(name, name): value for name, value in given.items()})

    return call


exists_v1 = _renamed(exists, "filename")
isdir_v1 = _renamed(isdir, "dirname")
listdir_v1 = _renamed(listdir, "dirname")
glob_v1 = _renamed(glob, "filename")
mkdir_v1 = _renamed(mkdir, "dirname")
makedirs_v1 = _renamed(makedirs, "dirname")
remove_v1 = _renamed(remove, "filename")
delete_recursively = _renamed(rmtree, "dirname")
rename_v1 = _renamed(rename, "oldname", "newname")
copy_v1 = _renamed(copy, "oldpath", "newpath")
stat_v1 = _renamed(stat, "filename")
walk_v1 = _renamed(walk, "top", "in_order")


def _check_free(target: str, overwrite: bool) -> None:
    if not overwrite and exists(target):
        raise AlreadyExistsError("file already exists", path=target)
