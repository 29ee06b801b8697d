"""LocalStore: files of the operating system."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator

from tfrkit.errors import NotFoundError, from_os_error, os_errors
from tfrkit.stores.output import AtomicOutput, WholeOutput, write_whole
from tfrkit.stores.source import ByteSource, open_descriptor
from tfrkit.stores.store import ABSENT, FileInfo, Traits
from tfrkit.stores.url import local_path

__all__ = ["LocalStore", "make_store"]


class LocalStore:
    """Files and folders of this machine, and what is mounted there."""

    traits = Traits(local=True, appends=True, renames=True, locks=True)

    def stat(self, path: str) -> FileInfo | None:
        name = local_path(path)
        try:
            return _info(name, os.stat(name))
        except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a null byte in the name
            return None
        except OSError as error:
            raise from_os_error(error, path) from error

    def list(self, folder: str, *, recursive: bool = False) -> Iterator[FileInfo]:
        name = local_path(folder)
        if recursive:
            for place, _, names in os.walk(name):
                for each in names:
                    if (info := self.stat(os.path.join(place, each))) is not None:
                        yield info
            return
        with os_errors(folder), os.scandir(name or ".") as entries:
            found = list(entries)
        for entry in found:
            path = os.path.join(name, entry.name)
            try:
                yield _info(path, entry.stat())
            except OSError:  # a link that leads nowhere, or removed meanwhile
                yield FileInfo(path, 0, ABSENT, regular=False)

    def open(self, path: str, *, cache: bool | None = None) -> ByteSource:
        return open_descriptor(local_path(path))

    def create(self, path: str, *, durable: bool = True, at_once: int = 1) -> WholeOutput:
        return AtomicOutput(local_path(path), durable=durable)

    def write(self, path: str, data: bytes, *, expected: str | None = None) -> str | None:
        name = local_path(path)
        if expected == ABSENT:
            return self._write_new(name, data)
        if expected is not None and ((found := self.stat(name)) is None or found.version != expected):
            return None
        write_whole(AtomicOutput(name), data)
        return self._version(name)

    def _write_new(self, name: str, data: bytes) -> str | None:
        """Write a file that must not be there: a link gives a temporary file its name, and never replaces another."""
        output = AtomicOutput(name)
        try:
            output.write(data)
            output.finish()
            with os_errors(name):
                os.link(output.temporary, name)
        except FileExistsError:
            return None
        finally:
            output.discard()
        return self._version(name)

    def _version(self, name: str) -> str:
        found = self.stat(name)
        return found.version if found is not None else ABSENT

    def remove(self, path: str) -> bool:
        try:
            os.unlink(local_path(path))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise from_os_error(error, path) from error
        return True

    def move(self, source: str, target: str) -> None:
        with os_errors(source):
            os.replace(local_path(source), local_path(target))

    def make_folder(self, path: str) -> None:
        with os_errors(path):
            os.makedirs(local_path(path) or ".", exist_ok=True)

    def remove_tree(self, path: str) -> None:
        name = local_path(path)
        try:
            with os_errors(path):
                if os.path.islink(name):
                    os.unlink(name)
                elif os.path.lexists(name):
                    shutil.rmtree(name)
        except NotFoundError:  # removed meanwhile
            return


def _info(path: str, found: os.stat_result) -> FileInfo:
    folder = stat.S_ISDIR(found.st_mode)
    return FileInfo(
        path,
        0 if folder else found.st_size,
        str(found.st_mtime_ns),
        is_folder=folder,
        regular=stat.S_ISREG(found.st_mode),
        modified_ns=found.st_mtime_ns,
    )


def make_store() -> LocalStore:
    """Make the store of local files."""
    return LocalStore()
