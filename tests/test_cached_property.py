"""A property that is kept: computed once for an object, and no lock that others, or a forked process, wait for."""

from __future__ import annotations

import os
import threading

import pytest

from tfrkit.cached_property import cached_property


class Slow:
    """An object whose value may take long."""

    def __init__(self, begun: threading.Event | None = None, end: threading.Event | None = None) -> None:
        self.begun, self.end, self.times = begun, end, 0

    @cached_property
    def value(self) -> list[int]:
        """What it is."""
        self.times += 1
        if self.begun is not None:
            self.begun.set()
            self.end.wait(60)
        return [7]


@pytest.fixture
def busy():
    """An object whose value another thread is computing."""
    begun, end = threading.Event(), threading.Event()
    slow = Slow(begun, end)
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert begun.wait(60)
    yield slow
    end.set()
    thread.join(60)
    assert slow.value == [7]


def test_value_is_computed_once():
    slow = Slow()
    assert slow.value is slow.value
    assert slow.times == 1
    assert Slow.value.__doc__ == "What it is."


@pytest.mark.usefixtures("busy")
def test_other_objects_do_not_wait():
    assert Slow().value == [7]


@pytest.mark.usefixtures("busy")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of threads
def test_forked_process_does_not_wait():
    child = os.fork()
    if child == 0:
        os._exit(Slow().value[0])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
