"""Tasks that any engine can run: they count, fail, wait, and kill their own process."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tfrkit.engines.engine import Control
from tfrkit.errors import InvalidArgumentError
from tfrkit.stores.object_config import options_of


@dataclass(frozen=True, slots=True)
class Square:
    """Returns the square of its number, and counts it."""

    number: int

    @property
    def name(self) -> str:
        return f"square-{self.number}"

    def run(self, control: Control) -> int:
        control.check()
        control.count({"records": self.number, "done_bytes": 0.5})
        return self.number**2


@dataclass(frozen=True, slots=True)
class Fails:
    """Raises an error of ours, or one that no other process can read, or make."""

    how: Literal["ours", "odd", "strict"] = "ours"
    name: str = "fails"

    def run(self, control: Control) -> int:
        if self.how == "ours":
            raise InvalidArgumentError("the cell is not a number", path="a.csv", record=7)
        raise OddError(lambda: None) if self.how == "odd" else StrictError("a.csv", 7)


class OddError(Exception):
    """Holds what does not pickle."""


class StrictError(Exception):
    """Pickles, and cannot be made of what was pickled."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(f"{path}:{line}")


@dataclass(frozen=True, slots=True)
class Configured:
    """Returns how a store is configured where it runs."""

    url: str
    name: str = "configured"

    def run(self, control: Control) -> dict[str, Any]:
        return dict(options_of(self.url).config)


@dataclass(frozen=True, slots=True)
class Waits:
    """Runs until it is stopped, and then leaves a file; says that it runs by another."""

    folder: str
    name: str

    def run(self, control: Control) -> int:
        (Path(self.folder) / f"{self.name}.begun").touch()
        try:
            while True:
                control.check()
                time.sleep(0.005)
        finally:
            (Path(self.folder) / f"{self.name}.ended").touch()


@dataclass(frozen=True, slots=True)
class Dies:
    """Kills its own process, the first `times` times that it is run."""

    folder: str
    times: int
    name: str = "dies"

    def run(self, control: Control) -> int:
        tries = len(list(Path(self.folder).iterdir()))
        (Path(self.folder) / f"try-{tries}").touch()
        control.count({"records": 1})
        time.sleep(0.15)
        control.count({"records": 1})
        if tries < self.times:
            os.kill(os.getpid(), signal.SIGKILL)
        return tries
