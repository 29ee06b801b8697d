"""What a user may give as paths and URLs -> a flat list of files to open.

Opens nothing. Globs are expanded here; they skip dot files, folders, `manifest.json` and, where tfrkit wrote,
`report.json` and `labels.txt`, so that the files that tfrkit keeps beside shards never match.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import warnings
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import IO, Any, TypeAlias, cast

from tfrkit.errors import DataLossWarning, InvalidArgumentError, NotFoundError
from tfrkit.stores.files import find_files, is_folder, is_there, traits_of
from tfrkit.stores.output import SIDECAR_FOLDER
from tfrkit.stores.shard_names import shard_sets
from tfrkit.stores.table import known_schemes
from tfrkit.stores.url import is_url, local_path, path_parts

__all__ = ["PathLike", "Paths", "expand_paths", "is_pattern", "match_files", "path_text"]

PathLike: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
# Paths, open binary files, or any nesting of iterables of them.
Paths: TypeAlias = PathLike | IO[bytes] | Iterable[Any]

_ONE_SLASH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/(?!/)")
_MAGIC = frozenset("*?[")
_MAX_CHECKED = 100_000  # names of missing shards that are compared with a pattern


def path_text(path: PathLike) -> str:
    """Return a path or URL as str; bytes that are no UTF-8 survive as surrogates, as everywhere in Python.

    Raises:
        InvalidArgumentError: a URL went through pathlib.
    """
    text = os.fsdecode(path)
    if not isinstance(path, (str, bytes)) and (found := _ONE_SLASH.match(text)):
        scheme, url = found[1], f"{found[1]}://{text[found.end() :]}"
        if scheme.lower() in known_schemes():
            raise InvalidArgumentError(
                f"{url}; pathlib.Path takes a slash out of a URL. Pass the URL as a str.", path=url
            )
    return local_path(text)


def expand_paths(paths: Paths, *, globs: bool) -> list[str | IO[bytes]]:
    """Flatten `paths` into files, in order.

    Args:
        paths: one path, an open binary file, "-" for standard input (with `globs`), or an iterable of such.
        globs: expand `*`, `?`, `[...]` and `**` (sorted), unless a file of exactly that name exists. A pattern of which
            shards are missing, as the `-of-00008` of the others says, is a DataLossWarning.

    Raises:
        NotFoundError: a pattern matches nothing.
        UnimplementedError: a pattern for a store that cannot list names.
        TypeError: an item is none of the above.
    """
    if isinstance(paths, (str, bytes, os.PathLike)):
        text = path_text(paths)
        return _expand_text(text) if globs else [text]
    if hasattr(paths, "read"):
        return [cast("IO[bytes]", paths)]
    if isinstance(paths, Iterable):
        items: Iterable[Any] = paths
        return [file for item in items for file in expand_paths(item, globs=globs)]
    raise TypeError(f"expected a path, an open binary file or a list of them but got {type(paths).__name__}")


def _expand_text(text: str) -> list[str | IO[bytes]]:
    if text == "-":
        return [sys.stdin.buffer]
    if not is_pattern(text):
        return [text]
    files = match_files(text)
    _warn_incomplete(text, files)
    return list(files)


def is_pattern(text: str) -> bool:
    """Tell whether a path is a pattern: it has signs of one, and there is no file of exactly that name."""
    if not _MAGIC.intersection(text):
        return False
    if is_url(text) and not traits_of(text).lists and _MAGIC.isdisjoint("/".join(path_parts(text)[2:])):
        return False  # signs in the host or the query of a URL of the web
    return not is_there(text)


def match_files(text: str) -> list[str]:
    """Return the files that a pattern matches, sorted.

    Raises:
        NotFoundError: there is none.
    """
    found = [p for p in find_files(text) if not _beside_shards(p)]
    files = [p for p in found if is_url(p) or not os.path.isdir(p)]
    if not files:
        raise NotFoundError(
            f"No files matched pattern: {text}. Check the folder and the spelling; "
            "dot files, folders and manifest.json never match.",
            path=text,
        )
    return files


def _warn_incomplete(pattern: str, files: Iterable[str]) -> None:
    """Warn of sets of which the pattern would match more, by the numbers in the names, if it were there."""
    for part in shard_sets(files):
        names = itertools.islice(part.missing(), _MAX_CHECKED) if part.missing_count else ()
        wanted = os.path.basename(pattern)
        missing = next((n for n in names if wanted == "**" or fnmatchcase(os.path.basename(n), wanted)), None)
        if missing is not None:
            warnings.warn(
                f"{missing}; No such file or directory. {part.missing_count:,} of {part.count:,} shards of "
                f"{part.pattern!r} are not there. Copy them again; tfrkit.verify lists them.",
                DataLossWarning,
                stacklevel=2,
            )


def _beside_shards(path: str) -> bool:
    folder, name = os.path.split(path)
    if name in ("report.json", "labels.txt"):  # also names of others' files
        return is_folder(os.path.join(folder, SIDECAR_FOLDER))
    return name == "manifest.json"
