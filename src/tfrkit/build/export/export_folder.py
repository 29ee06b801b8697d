"""A folder that appears whole or not at all: filled under another name beside it, synced, and renamed."""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import AlreadyExistsError, os_errors
from tfrkit.stores.exchange import exchange
from tfrkit.stores.output import SIDECAR_FOLDER, sync_folder

__all__ = ["StagedFolder"]

_log = logging.getLogger(__name__)

_SYNC_THREADS: Final = 16
_SYNC_FILES: Final = 64  # that a thread takes at once
_TITLE: Final = 50  # characters of the name in that of the temporary folder: at most 200 bytes
_MARK: Final = os.path.join(SIDECAR_FOLDER, "export.json")  # in a folder that an export made, and may replace


class StagedFolder:
    """A folder to fill in a `with` block. Without `publish` in it, nothing is left.

    Args:
        name: what it will be called.
        overwrite: replace a folder that an earlier export has made.

    Attributes:
        name: as above.
        path: where to put files meanwhile.

    Raises:
        AlreadyExistsError: there is such a folder, with something in it.
    """

    def __init__(self, name: str, overwrite: bool) -> None:
        self.name = os.path.normpath(name)
        self.path = ""
        if os.path.lexists(self.name) and not _may_replace(self.name, overwrite):
            advice = (
                "It is not the folder of an export, so it is never replaced: remove"
                if overwrite
                else "Remove"
            )
            raise AlreadyExistsError(
                f"{self.name}; there is something already. {advice} it, or choose another folder"
                + ("." if overwrite else ", or pass overwrite=True."),
                path=self.name,
            )

    def __enter__(self) -> Self:
        folder, title = os.path.split(os.path.abspath(self.name))
        with os_errors(self.name):
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, f".{title[:_TITLE]}.{secrets.token_hex(4)}.tmp")
            os.mkdir(path)
            self.path = path
        return self

    def publish(self, mark: Mapping[str, Any]) -> None:
        """Rename the folder when all of it is on the disk; what an earlier export has left there is removed."""
        with os_errors(self.name):
            os.mkdir(os.path.join(self.path, SIDECAR_FOLDER))
            with open(os.path.join(self.path, _MARK), "w", encoding="utf-8") as file:
                json.dump(mark, file)
            _sync_all(self.path)
            self._take_name()
            sync_folder(os.path.dirname(os.path.abspath(self.name)))

    def _take_name(self) -> None:
        """Rename the folder. Then `path` is that of the old one, if there was one."""
        if not os.path.lexists(self.name):
            os.rename(self.path, self.name)
            self.path = ""
        elif not exchange(self.path, self.name):
            old = self.path + ".old"
            os.rename(self.name, old)
            try:
                os.rename(self.path, self.name)
            except BaseException:
                os.rename(old, self.name)
                raise
            self.path = old

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.path:
            _remove(self.path)


def _remove(folder: str) -> None:
    """Remove a folder with its content; an interruption is raised afterwards."""
    interruption: KeyboardInterrupt | None = None
    while os.path.lexists(folder):
        try:
            shutil.rmtree(folder)
        except KeyboardInterrupt as error:
            interruption = error
        except OSError as error:
            _log.warning("%s could not be removed: %s. It is not needed: remove it.", folder, error.strerror)
            break
    if interruption is not None:
        raise interruption


def _may_replace(name: str, overwrite: bool) -> bool:
    if not os.path.isdir(name) or os.path.islink(name):
        return False
    return not os.listdir(name) or (overwrite and os.path.isfile(os.path.join(name, _MARK)))


def _sync_all(folder: str) -> None:
    """Wait until all files and folders in a folder are on the disk; many at once, so that they share the waiting."""
    stop = Stop()
    for place, _, names in os.walk(folder, onerror=_fail):
        paths = [os.path.join(place, name) for name in names]
        pieces = [paths[at : at + _SYNC_FILES] for at in range(0, len(paths), _SYNC_FILES)]
        for _ in run_tasks(pieces, lambda piece: _sync_files(piece, stop), workers=_SYNC_THREADS, stop=stop):
            pass
        sync_folder(place)


def _sync_files(paths: list[str], stop: Stop) -> None:
    for path in paths:
        stop.check()
        sync_folder(path)


def _fail(error: OSError) -> None:
    raise error
