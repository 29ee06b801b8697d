"""Forked children of tests, as `tests/support/forks.py` bounds them."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from tests.support import forks

pytestmark = pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # Python 3.12 warns of threads


def test_forked_child_that_leaves_its_test_does_not_go_on_as_pytest():
    child = os.fork()
    if child == 0:
        return  # an error would be shown
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == forks.FAILED


def test_forked_child_that_is_stuck_shows_where_and_ends(monkeypatch, capfd):
    monkeypatch.setattr(forks, "SECONDS", 1)
    held = threading.Lock()
    with held:  # as by another thread
        child = os.fork()
        if child == 0:
            held.acquire()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGALRM
    assert "in test_forked_child_that_is_stuck_shows_where_and_ends" in capfd.readouterr().err
