"""The functions of `tf.io.gfile` and `tf.compat.v1.gfile`, with TensorFlow's errors, on local files.

Paths are str, bytes or PathLike. Directory listings are in the operating system's order.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tfrkit.errors import AlreadyExistsError, FailedPreconditionError, NotFoundError, OpError, from_os_error
from tfrkit.stores.glob_files import match_files
from tfrkit.stores.scheme import check_local, is_url

__all__ = [
    "FileStatistics", "any_path_text", "copy", "copy_v1", "delete_recursively", "exists", "exists_v1",
    "get_registered_schemes", "glob", "glob_v1", "isdir", "isdir_v1", "join", "listdir", "listdir_v1", "makedirs",
    "makedirs_v1", "mkdir", "mkdir_v1", "os_errors", "path_text", "remove", "remove_v1", "rename", "rename_v1",
    "rmtree", "stat", "stat_v1", "walk", "walk_v1",
]  # fmt: skip


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
    """Return the path of a local file as str.

    Raises:
        TypeError: it is not a path.
        UnimplementedError: it is a URL.

    >>> path_text(b"/a/b")
    '/a/b'
    """
    return check_local(any_path_text(path))


def any_path_text(path: Any) -> str:
    """Return a path or URL as str.

    Raises:
        TypeError: it is not a path.
    """
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, (str, bytes)):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


def exists(path: Any) -> bool:
    """Return whether a file or folder exists."""
    return os.path.exists(path_text(path))


def isdir(path: Any) -> bool:
    """Return whether a path is a folder; a URL never is, as in TensorFlow."""
    return os.path.isdir(any_path_text(path)) and not is_url(any_path_text(path))


def listdir(path: Any) -> list[str]:
    """Return the names of the entries of a folder.

    Raises:
        NotFoundError: the folder does not exist.
    """
    folder = any_path_text(path)
    if not isdir(folder):
        raise NotFoundError(f"Could not find directory {folder}", path=folder)
    with os_errors(folder):
        return os.listdir(folder)


def glob(pattern: Any) -> list[str]:
    """Return the paths that match a pattern, or one of several; see `glob_files`."""
    patterns = [pattern] if isinstance(pattern, (str, bytes)) else list(pattern)
    return [path for one in patterns for path in match_files(path_text(one))]


def mkdir(path: Any) -> None:
    """Make a folder, unless the path exists.

    Raises:
        NotFoundError: the parent folder does not exist.
    """
    folder = path_text(path)
    if not os.path.exists(folder):
        with os_errors(folder):
            os.mkdir(folder)


def makedirs(path: Any) -> None:
    """Make a folder and its parents where they do not exist.

    Raises:
        FailedPreconditionError: one of them is a file.
    """
    folder = path_text(path)
    parts = folder.rstrip("/").split("/")
    for count in range(1, len(parts) + 1):
        part = "/".join(parts[:count])
        if part and os.path.exists(part) and not os.path.isdir(part):
            raise FailedPreconditionError(f"{part} is not a directory", path=part)
    with os_errors(folder):
        os.makedirs(folder, exist_ok=True)


def remove(path: Any) -> None:
    """Remove a file.

    Raises:
        NotFoundError: it does not exist.
        FailedPreconditionError: it is a folder.
    """
    name = path_text(path)
    with os_errors(name):
        os.remove(name)


def rmtree(path: Any) -> None:
    """Remove a folder with everything in it, or a file.

    Raises:
        NotFoundError: it does not exist.
    """
    name = path_text(path)
    if not os.path.lexists(name):
        raise NotFoundError(f"{name} not found", path=name)
    with os_errors(name):
        if os.path.isdir(name) and not os.path.islink(name):
            shutil.rmtree(name)
        else:
            os.remove(name)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Rename a file.

    Raises:
        AlreadyExistsError: the new path exists, and `overwrite` is False.
        NotFoundError: the old path does not exist.
    """
    source, target = path_text(src), path_text(dst)
    _check_free(target, overwrite)
    with os_errors(source):
        os.replace(source, target)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        AlreadyExistsError: the target exists, and `overwrite` is False.
        NotFoundError: the source, or the folder of the target, does not exist.
    """
    source, target = path_text(src), path_text(dst)
    _check_free(target, overwrite)
    with os_errors(source):
        if os.path.isdir(source):
            raise from_os_error(OSError(errno.EINVAL, ""), target)
        file = open(source, "rb")  # noqa: SIM115
    with file, os_errors(target), open(target, "wb") as made:
        shutil.copyfileobj(file, made)


def stat(path: Any) -> FileStatistics:
    """Return size, time of the last change, and kind of a file.

    Raises:
        NotFoundError: it does not exist.
    """
    name = path_text(path)
    with os_errors(name):
        found = os.stat(name)
    return FileStatistics(found.st_size, int(found.st_mtime) * 10**9, os.path.isdir(name))


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
    folder = any_path_text(top)
    try:
        names = listdir(folder)
    except OpError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [name for name in names if os.path.isdir(os.path.join(folder, name))]
    here = folder, folders, [name for name in names if not os.path.isdir(os.path.join(folder, name))]
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
    return os.path.join(any_path_text(path), *map(any_path_text, paths))


def get_registered_schemes() -> list[str]:
    """Return the schemes that paths may have: only the empty one, of local files."""
    return [""]


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
    if not overwrite and os.path.exists(target):
        raise AlreadyExistsError("file already exists", path=target)
