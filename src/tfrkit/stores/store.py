"""Store: what every place for bytes can do, and what some can do beyond it.

A protocol and the values that it returns; the stores themselves are a file each beside this one, and `table.py` finds
the one that a path belongs to. Names are whole paths or URLs, as the user wrote them. All methods are thread-safe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from tfrkit.stores.output import WholeOutput
from tfrkit.stores.source import ByteSource

__all__ = ["ABSENT", "FileInfo", "Store", "Traits"]

ABSENT: Final = ""  # the version of what does not exist, for `Store.write`


@dataclass(frozen=True, slots=True)
class FileInfo:
    """What a store says of a file or folder.

    Attributes:
        path: the name to open it by.
        size: in bytes; 0 for a folder.
        version: changes whenever the content does, as far as the store can tell: an ETag, or the time of the change.
        is_folder: it is one, or an object store has names below it.
        regular: it can be read by position; a pipe cannot.
        modified_ns: when it changed, in nanoseconds since 1970; 0 where that is not known.
    """

    path: str = field(repr=False)  # may be signed
    size: int
    version: str
    is_folder: bool = False
    regular: bool = True
    modified_ns: int = 0


@dataclass(frozen=True, slots=True)
class Traits:
    """What a store can do beyond reading.

    Attributes:
        local: its files are the operating system's: descriptors, locks, links and maps work.
        lists: names can be listed; plain web servers cannot.
        writes: files can be made and removed.
        appends: bytes can be added to a file.
        renames: a file changes its name in one step; elsewhere it is copied and removed.
        locks: a file can be locked, and a process that dies unlocks it.
        lasting: its files outlive the process.
        tagged: no two contents of a file have the same version, as with ETags.
        atomic_create: of several that make one name at once, exactly one succeeds.
    """

    local: bool = False
    lists: bool = True
    writes: bool = True
    appends: bool = False
    renames: bool = False
    locks: bool = False
    lasting: bool = True
    tagged: bool = False
    atomic_create: bool = True


class Store(Protocol):
    """Where bytes live."""

    traits: Traits

    def stat(self, path: str) -> FileInfo | None:
        """Return what is known of a file or folder; None if there is none."""

    def list(self, folder: str, *, recursive: bool = False) -> Iterator[FileInfo]:
        """Yield what is in a folder, in any order: its files and folders, or all files below it with `recursive`.

        Raises:
            NotFoundError: there is no such folder. Where folders are only beginnings of names, nothing is yielded.
        """

    def open(self, path: str, *, cache: bool | None = None) -> ByteSource:
        """Open a file for reading.

        Args:
            path: its name.
            cache: keep what is read in the cache folder, and look there first; None: as `configure_store` says. Local
                files are never kept.
        """

    def create(self, path: str, *, durable: bool = True, at_once: int = 1) -> WholeOutput:
        """Begin a file that appears whole or not at all, in the place of one that may be there.

        Args:
            path: its name; folders are not made, where there are any.
            durable: do not return from `close` before a power failure could no longer undo it.
            at_once: how many files the caller is about to write at the same time, which share the memory for that.
        """

    def write(self, path: str, data: bytes, *, expected: str | None = None) -> str | None:
        """Write a small file, whole or not at all.

        Args:
            path: its name.
            data: its content.
            expected: write only if the file still has this version; ABSENT: only if there is none.

        Returns:
            The new version; None if it was not as expected, and nothing was written.
        """

    def remove(self, path: str) -> bool:
        """Remove a file, of a link the link; return whether there was one, as far as the store tells."""

    def move(self, source: str, target: str) -> None:
        """Give a file another name in the same store, replacing what has it.

        Raises:
            NotFoundError: there is no such file.
        """

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it; where folders are only beginnings of names, nothing is to be done."""

    def remove_tree(self, path: str) -> None:
        """Remove a folder with all that is in it, if it is there; links are removed, never followed."""
