"""What tests fork: no child is waited for without end, and none goes on as a second pytest."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import traceback
from collections.abc import Iterator

import pytest

SECONDS = 120  # of a child: a test has 600 (pyproject.toml), and what is forked here is small
FAILED = 70

_process = os.getpid()
_limited = True


@contextlib.contextmanager
def unlimited() -> Iterator[None]:
    """Let what is started meanwhile live as long as it likes, such as a server that a session of tests shares."""
    global _limited  # noqa: PLW0603  # children see it as it is when they are forked
    _limited = False
    try:
        yield
    finally:
        _limited = True


def _limit() -> None:
    """Let a child that takes too long say where it stands, and die: whoever waits for it hears of that.

    By a signal, as it may be stuck in a lock that a thread of its parent held. A program that it becomes has it, too.
    """
    if not _limited:
        return
    faulthandler.register(signal.SIGALRM, file=2, chain=True)  # 2: pytest shows it with the test that failed
    signal.alarm(SECONDS)


os.register_at_fork(after_in_child=_limit)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """End a child that left its test: it would go on with the next one, while its parent waits for it."""
    if os.getpid() != _process:
        if call.excinfo is not None:
            traceback.print_exception(call.excinfo.value)
        os._exit(FAILED)
