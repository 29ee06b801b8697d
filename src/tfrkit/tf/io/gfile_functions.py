"""Files and folders by TensorFlow's names and with its errors: `tf.io.gfile`, on local files.

Paths are str, bytes or PathLike. Names of files come in the order in which the operating system gives them.
"""

from __future__ import annotations

import errno
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
    "makedirs_v1", "mkdir", "mkdir_v1", "path_text", "remove", "remove_v1", "rename", "rename_v1", "rmtree", "stat",
    "stat_v1", "walk", "walk_v1",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """What is known of a file.

    Attributes:
        length: bytes.
        mtime_nsec: when it was changed, in nanoseconds since 1970, of which whole seconds are known.
        is_directory: whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def path_text(path: Any) -> str:
    """Give the path of a local file as text.

    Raises:
        TypeError: it is none.
        UnimplementedError: it is a URL.

    >>> path_text(b"/a/b")
    '/a/b'
    """
    return check_local(any_path_text(path))


def any_path_text(path: Any) -> str:
    """Give a path or URL as text.

    Raises:
        TypeError: it is none.
    """
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, (str, bytes)):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


def exists(path: Any) -> bool:
    """Whether there is a file or folder of that name."""
    return os.path.exists(path_text(path))


def isdir(path: Any) -> bool:
    """Whether there is a folder of that name; there is none behind a URL, as in TensorFlow."""
    return os.path.isdir(any_path_text(path)) and not is_url(any_path_text(path))


def listdir(path: Any) -> list[str]:
    """Names of what is in a folder.

    Raises:
        NotFoundError: there is no such folder.
    """
    folder = any_path_text(path)
    if not isdir(folder):
        raise NotFoundError(f"Could not find directory {folder}", path=folder)
    with _told(folder):
        return os.listdir(folder)


def glob(pattern: Any) -> list[str]:
    """Paths that match a pattern, or one of several; see `glob_files`."""
    patterns = [pattern] if isinstance(pattern, (str, bytes)) else list(pattern)
    return [path for one in patterns for path in match_files(path_text(one))]


def mkdir(path: Any) -> None:
    """Make a folder, if there is nothing of that name.

    Raises:
        NotFoundError: the folder it is to be in is not there.
    """
    folder = path_text(path)
    if not os.path.exists(folder):
        with _told(folder):
            os.mkdir(folder)


def makedirs(path: Any) -> None:
    """Make a folder and those it is in, where they are not there.

    Raises:
        FailedPreconditionError: one of them is a file.
    """
    folder = path_text(path)
    parts = folder.rstrip("/").split("/")
    for count in range(1, len(parts) + 1):
        part = "/".join(parts[:count])
        if part and os.path.exists(part) and not os.path.isdir(part):
            raise FailedPreconditionError(f"{part} is not a directory", path=part)
    with _told(folder):
        os.makedirs(folder, exist_ok=True)


def remove(path: Any) -> None:
    """Remove a file.

    Raises:
        NotFoundError: there is none.
        FailedPreconditionError: it is a folder.
    """
    name = path_text(path)
    with _told(name):
        os.remove(name)


def rmtree(path: Any) -> None:
    """Remove a folder with all that is in it, or a file.

    Raises:
        NotFoundError: there is none.
    """
    name = path_text(path)
    if not os.path.lexists(name):
        raise NotFoundError(f"{name} not found", path=name)
    with _told(name):
        if os.path.isdir(name) and not os.path.islink(name):
            shutil.rmtree(name)
        else:
            os.remove(name)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file another name.

    Raises:
        AlreadyExistsError: there is one of the new name, and it is not said to overwrite it.
        NotFoundError: there is none of the old name.
    """
    source, target = path_text(src), path_text(dst)
    _check_free(target, overwrite)
    with _told(source):
        os.replace(source, target)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        AlreadyExistsError: there is one of the new name, and it is not said to overwrite it.
        NotFoundError: there is none of the old name, or no folder for the new one.
    """
    source, target = path_text(src), path_text(dst)
    _check_free(target, overwrite)
    with _told(source):
        if os.path.isdir(source):
            raise from_os_error(OSError(errno.EINVAL, ""), target)
        file = open(source, "rb")  # noqa: SIM115
    with file, _told(target), open(target, "wb") as made:
        shutil.copyfileobj(file, made)


def stat(path: Any) -> FileStatistics:
    """Size, time of the last change, and kind of a file.

    Raises:
        NotFoundError: there is none.
    """
    name = path_text(path)
    with _told(name):
        found = os.stat(name)
    return FileStatistics(found.st_size, int(found.st_mtime) * 10**9, os.path.isdir(name))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Go through a folder and all below it.

    Args:
        top: where to begin.
        topdown: give a folder before those in it.
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
    """Join parts of a path; an absolute part begins anew.

    >>> join("a", "b", "c"), join("a", "/b")
    ('a/b/c', '/b')
    """
    return os.path.join(any_path_text(path), *map(any_path_text, paths))


def get_registered_schemes() -> list[str]:
    """What paths may begin with before `://`: nothing but local files here."""
    return [""]


def exists_v1(filename: Any) -> bool:
    """`exists` with the argument of TensorFlow 1."""
    return exists(filename)


def isdir_v1(dirname: Any) -> bool:
    """`isdir` with the argument of TensorFlow 1."""
    return isdir(dirname)


def listdir_v1(dirname: Any) -> list[str]:
    """`listdir` with the argument of TensorFlow 1."""
    return listdir(dirname)


def glob_v1(filename: Any) -> list[str]:
    """`glob` with the argument of TensorFlow 1."""
    return glob(filename)


def mkdir_v1(dirname: Any) -> None:
    """`mkdir` with the argument of TensorFlow 1."""
    mkdir(dirname)


def makedirs_v1(dirname: Any) -> None:
    """`makedirs` with the argument of TensorFlow 1."""
    makedirs(dirname)


def remove_v1(filename: Any) -> None:
    """`remove` with the argument of TensorFlow 1."""
    remove(filename)


def delete_recursively(dirname: Any) -> None:
    """`rmtree` with the argument of TensorFlow 1."""
    rmtree(dirname)


def rename_v1(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """`rename` with the arguments of TensorFlow 1."""
    rename(oldname, newname, overwrite)


def copy_v1(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """`copy` with the arguments of TensorFlow 1."""
    copy(oldpath, newpath, overwrite)


def stat_v1(filename: Any) -> FileStatistics:
    """`stat` with the argument of TensorFlow 1."""
    return stat(filename)


def walk_v1(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """`walk` with the arguments of TensorFlow 1."""
    return walk(top, in_order)


def _check_free(target: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(target):
        raise AlreadyExistsError("file already exists", path=target)


class _told:  # noqa: N801 (it is used as a statement)
    """Turn an OSError within into the error that TensorFlow has for it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, OpError):
            raise from_os_error(error, self._path) from error
