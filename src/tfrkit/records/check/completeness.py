"""Whether everything is there: files, patterns and folders become files to read, and what is wrong with their sets.

Reads no records. A file that is named alone is just that file: nothing is said of the others of its set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import IO

from tfrkit.errors import NotFoundError
from tfrkit.records.check.folder_state import (
    Expected,
    FolderState,
    Problem,
    look_at_folder,
    look_at_named,
    look_at_some,
)
from tfrkit.stores.files import ask_all, is_folder, is_local
from tfrkit.stores.paths import Paths, expand_paths, is_pattern, match_files
from tfrkit.stores.url import split_path, split_query

__all__ = ["ShardFiles", "files_or_folders", "find_shards"]


@dataclass(slots=True)
class ShardFiles:
    """Files to read, and what is wrong with the sets that they belong to.

    Attributes:
        files: paths and open files, in the order given; those of one pattern or folder are sorted.
        unlisted: paths of what looks like records in a folder whose manifest does not name it.
        problems: what is wrong.
        others: paths of files that do not belong to any set.
        expected: by path, the records and bytes that a shard should have, and who says so.
    """

    files: list[str | IO[bytes]] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    expected: dict[str, Expected] = field(default_factory=dict)

    def difference(self, path: str, records: int, size: int | None) -> Problem | None:
        """Say how a file that was read differs from what is written down about it. Pure: no I/O."""
        known = self.expected.get(path)
        if known is None or known[:2] == (records, size):
            return None
        return Problem(
            "differs",
            path,
            f"the {known[2]} says {known[0]:,} records in {known[1]:,} bytes, "
            f"but there are {records:,} in {size or 0:,}",
        )

    def add(self, state: FolderState, *, whole: bool) -> None:
        """Take over what is wrong in a folder, and with `whole` all its files."""

        def path(name: str) -> str:
            return os.path.join(state.folder, name)

        self.problems = list(dict.fromkeys([*self.problems, *state.problems]))
        self.expected.update({path(name): known for name, known in state.expected.items()})
        if whole:
            self.files += map(path, state.shards)
            self.unlisted += map(path, state.unlisted)
            self.others += map(path, state.others)


def find_shards(paths: Paths) -> ShardFiles:
    """Find the files that a user has named, and what is missing of their sets.

    Args:
        paths: a file, a pattern, a folder (which means the shards in it), an open file, or any nesting of these. Of
            a pattern everything is expected that would match it; of a list, the sets of which it has all files
            that are there.

    Raises:
        NotFoundError: a pattern matches nothing, or a folder has nothing of the kind.
    """
    found = ShardFiles()
    named: dict[str, list[str]] = {}
    items = expand_paths(paths, globs=False)
    texts = list(dict.fromkeys(item for item in items if isinstance(item, str)))
    folders = {text for text, folder in zip(texts, ask_all(is_folder, texts), strict=True) if folder}
    for item in items:
        if not isinstance(item, str) or item == "-":
            found.files += expand_paths(item, globs=True)
        elif item in folders:
            state = look_at_folder(item)
            if not (state.shards or state.unlisted or state.problems):
                raise NotFoundError(
                    f"{item}; no shards in this folder. Name files, or a pattern such as "
                    f"{os.path.join(item, '**', '*.tfrecord')!r}.",
                    path=item,
                )
            found.add(state, whole=True)
        elif is_pattern(item):
            matched = match_files(item)
            found.files += matched
            for folder, names in _by_folder(matched).items():
                found.add(look_at_some(folder, names, _matching(os.path.basename(item))), whole=False)
        else:
            found.files.append(item)
            folder, name = split_path(split_query(item)[0])
            named.setdefault(folder, []).append(name)
    for folder, names in named.items():
        found.add(look_at_named(folder, names), whole=False)
    return found


def files_or_folders(paths: Paths, *, globs: bool) -> list[str | IO[bytes]]:
    """Flatten paths as `expand_paths` does, with their shards for local folders and for URLs that end in a slash.

    Raises:
        NotFoundError: a folder has no shards, or not all of a set; or as `expand_paths`.
    """
    found: list[str | IO[bytes]] = []
    for file in expand_paths(paths, globs=globs):
        if not isinstance(file, str) or not (file.endswith("/") or is_local(file)) or not is_folder(file):
            found.append(file)
            continue
        shards = find_shards(file)
        for problem in shards.problems:
            raise NotFoundError(f"{problem}. Name the files to read without it.", path=problem.path)
        found += shards.files
    return found


def _matching(pattern: str) -> Callable[[str], bool]:
    return lambda name: pattern == "**" or fnmatchcase(name, pattern)


def _by_folder(files: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in files:
        folder, name = split_path(file)
        found.setdefault(folder, []).append(name)
    return found
