"""What a worker leaves that ends by a crash or hangs: where all its threads stood, shown after all tests.

Beside it, at the moment it happens, it would be lost in what the other workers print.
"""

from __future__ import annotations

import faulthandler
import os
import shutil
import tempfile
from pathlib import Path

import pytest

_FOLDER = "TFRKIT_TEST_CRASHES"  # of the files, one for each worker
_file: list[int] = []  # the descriptor, of a worker


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder, or in a worker the file."""
    if not hasattr(config, "workerinput"):
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="tfrkit-crashes-")
    else:
        name = os.path.join(os.environ[_FOLDER], f"{config.workerinput['workerid']}-{os.getpid()}")
        _file.append(os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC))


def pytest_sessionstart() -> None:
    """Let a crash be told to the file, after pytest has named its standard error for that."""
    if _file:
        faulthandler.enable(_file[0])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the alarm anew, as pytest has, but with the file."""
    if _file:
        os.ftruncate(_file[0], 0)
        os.pwrite(_file[0], f"{item.nodeid}\n".encode(), 0)
        os.lseek(_file[0], 0, os.SEEK_END)
        seconds = float(item.config.getini("faulthandler_timeout"))
        faulthandler.dump_traceback_later(seconds, exit=True, file=_file[0])


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind."""
    if _file:
        os.ftruncate(_file[0], 0)
    elif not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(_FOLDER), ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what workers have left."""
    for path in sorted(Path(os.environ[_FOLDER]).iterdir()):
        name, _, stacks = path.read_text(errors="replace").partition("\n")
        if stacks:
            terminalreporter.section(f"where the threads of {path.name} stood in {name}")
            terminalreporter.line(stacks)
