"""Where an export goes: one file, or a file for each shard in a folder; and what must not exist yet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tfrkit.codecs.table import from_suffix
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError
from tfrkit.stores.files import ask_all, is_folder, is_there, real_path
from tfrkit.stores.paths import Paths, expand_paths
from tfrkit.stores.url import base_name, is_url, path_parts

__all__ = ["STDOUT", "ExportTarget", "input_files", "plan_targets", "record_stem", "refuse_existing"]

STDOUT: Final = "-"
_RECORD_SUFFIXES: Final = (".tfrecord", ".tfrecords", ".tfrec", ".records")


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """One file to write, and the files whose records go there, in order."""

    path: str
    inputs: tuple[str, ...]


def input_files(paths: Paths) -> list[str]:
    """Return the files of some paths and patterns.

    Raises:
        InvalidArgumentError: one is standard input or an open file, which cannot be read twice.
        NotFoundError: a pattern matches nothing.
    """
    files = []
    for file in expand_paths(paths, globs=True):
        if not isinstance(file, str):
            raise InvalidArgumentError(
                "expected files to export but got a stream: the records are read twice, first to settle the columns. "
                "Write it to a file, and name that."
            )
        files.append(file)
    return files


def plan_targets(files: Sequence[str], out: str, suffixes: tuple[str, ...]) -> list[ExportTarget]:
    """Decide which files are written: one if `out` has one of the suffixes, else one for each input, in a folder.

    >>> [target.path for target in plan_targets(["a/x.tfrecord.gz", "b/x.tfrecord"], "out", (".csv",))]
    ['out/a/x.csv', 'out/b/x.csv']
    """
    if out == STDOUT or (os.path.splitext(out)[1].lower() in suffixes and not is_folder(out)):
        return [ExportTarget(out, tuple(files))]
    names = [record_stem(base_name(file)) for file in files]
    if len(set(names)) < len(names):
        folders = [_folders_of(file) for file in files]
        levels = zip(*folders, strict=False)
        shared = next(
            (depth for depth, each in enumerate(levels) if len(set(each)) > 1), min(map(len, folders))
        )
        names = [os.path.join(*folder[shared:], name) for folder, name in zip(folders, names, strict=True)]
    return [
        ExportTarget(os.path.join(out, name + suffixes[0]), (file,))
        for name, file in zip(_unique(names), files, strict=True)
    ]


def _folders_of(file: str) -> tuple[str, ...]:
    """Return the names of the folders that a file is in; never what would lead out of another folder. Pure: no I/O."""
    if is_url(file):
        return tuple(part for part in path_parts(file)[:-1] if part not in (".", ".."))
    return path_parts(os.path.abspath(file))[:-1]


def refuse_existing(targets: Sequence[ExportTarget], overwrite: bool) -> None:
    """Check that nothing is lost.

    Raises:
        AlreadyExistsError: a file is there already.
        InvalidArgumentError: a file is one of the inputs, whether it may be overwritten or not.
    """
    written = [target.path for target in targets if target.path != STDOUT]
    there = {path for path, found in zip(written, ask_all(is_there, written), strict=True) if found}
    for target in targets:
        if target.path not in there:
            continue
        for other in targets:
            for file in other.inputs:
                if _is_same(file, target.path):
                    raise InvalidArgumentError(
                        f"{target.path}; the output is an input. Choose another one.",
                        path=target.path,
                    )
        if not overwrite:
            raise AlreadyExistsError(
                f"{target.path}; the file exists already. Remove it, choose another output, or pass "
                "overwrite=True.",
                path=target.path,
            )


def _is_same(file: str, other: str) -> bool:
    if is_url(file) or is_url(other):
        return real_path(file) == real_path(other)
    return os.path.exists(file) and os.path.exists(other) and os.path.samefile(file, other)


def record_stem(name: str) -> str:
    """Return the name of a shard without the suffixes of record files. Pure: no I/O.

    >>> record_stem("train-00000-of-00002.tfrecord.gz"), record_stem("part-r-00000.gz")
    ('train-00000-of-00002', 'part-r-00000')
    """
    stem, suffix = os.path.splitext(name)
    if from_suffix(suffix) and stem:
        name = stem
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in _RECORD_SUFFIXES and stem else name


def _unique(names: list[str]) -> list[str]:
    """Make names unique regardless of case: later ones get a number."""
    taken = {name.casefold() for name in names}
    seen: set[str] = set()
    found = []
    for name in names:
        number, title = 1, name
        while title.casefold() in seen or (title != name and title.casefold() in taken):
            number += 1
            title = f"{name}-{number}"
        seen.add(title.casefold())
        found.append(title)
    return found
