"""A folder that appears whole or not at all: filled under another name beside it, and renamed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

from tfrkit.errors import AlreadyExistsError, from_os_error
from tfrkit.storage.output import SIDECAR_FOLDER, sync_folder

__all__ = ["StagedFolder"]

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
        try:
            os.makedirs(folder, exist_ok=True)
            self.path = tempfile.mkdtemp(prefix=f".{title[:100]}.", suffix=".tmp", dir=folder)
            os.chmod(self.path, 0o777 & ~_umask())
        except OSError as error:
            raise from_os_error(error, self.name) from error
        return self

    def publish(self, mark: Mapping[str, Any]) -> None:
        """Give the folder its name; what an earlier export has left there goes away."""
        try:
            os.mkdir(os.path.join(self.path, SIDECAR_FOLDER))
            with open(os.path.join(self.path, _MARK), "w", encoding="utf-8") as file:
                json.dump(mark, file)
            old = None
            if os.path.lexists(self.name):
                old = tempfile.mkdtemp(suffix=".old.tmp", prefix=".", dir=os.path.dirname(self.path))
                os.replace(self.name, os.path.join(old, "export"))
            os.rename(self.path, self.name)
            sync_folder(os.path.dirname(self.path))
        except OSError as error:
            raise from_os_error(error, self.name) from error
        self.path = ""
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.path:
            shutil.rmtree(self.path, ignore_errors=True)


def _may_replace(name: str, overwrite: bool) -> bool:
    if not os.path.isdir(name) or os.path.islink(name):
        return False
    return not os.listdir(name) or (overwrite and os.path.isfile(os.path.join(name, _MARK)))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
