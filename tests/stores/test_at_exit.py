"""What the garbage collector finds is finished where nothing waits for the thread that it runs in."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfrkit as tfr
from tests.data.support.outcomes import wait_for
from tfrkit.stores import at_exit
from tfrkit.stores.at_exit import unless_exiting
from tfrkit.threads import spawn, thread_pool


class Owner:
    """Finishes by a call; in a cycle, so that only the collector finds it."""

    def __init__(self, finish: Callable[[], object]) -> None:
        self.finish, self.me = finish, self

    @unless_exiting
    def __del__(self) -> None:
        self.finish()


@pytest.fixture(autouse=True)
def only_when_asked() -> Iterator[None]:
    """Collect where the tests do."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("submit", [thread_pool().submit, spawn])
def test_collector_in_a_thread_does_not_wait_for_what_that_thread_does(submit):
    dropped, ended = threading.Event(), []

    def collects() -> int:
        dropped.wait(10)
        return gc.collect()

    task = submit(collects)
    Owner(lambda: ended.append(task.result()))
    dropped.set()
    task.result(20)
    assert wait_for(lambda: len(ended) == 1)


def test_collector_in_the_thread_that_deflates_for_a_writer_does_not_wait_for_it(tmp_path):
    dropped = threading.Event()

    class Collects:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        def deflate(self, *arguments: Any) -> bytes:
            dropped.wait(10)
            gc.collect()
            return self._inner.deflate(*arguments)

    records = [b"%07d" % number * 100 for number in range(5000)]  # several members
    writer = tfr.TFRecordWriter(tmp_path / "a.tfrecord.gz", threads=2)
    writer._sink._format = Collects(writer._sink._format)
    writer.write_many(records)
    assert len(writer._sink._pending) >= 2
    writer.me = writer
    del writer
    dropped.set()
    assert wait_for(lambda: not at_exit._found and not at_exit._finishing.locked() and pool_is_idle())
    assert list(tfr.read_records(tmp_path / "a.tfrecord.gz")) == records


def pool_is_idle() -> bool:
    return len(thread_pool()._idle) == len(thread_pool().threads())


def test_in_other_threads_a_collection_waits_until_all_is_finished_in_order(tmp_path):
    finished = []
    for number in range(100):
        Owner(lambda number=number: finished.append((number, threading.current_thread().name)))
    gc.collect()
    assert finished == [(number, "tfrkit") for number in range(100)]
    writer = tfr.TFRecordWriter(tmp_path / "a.tfrecord")
    writer.write_many([b"one", b"two"])
    writer.me = writer
    del writer
    gc.collect()
    assert list(tfr.read_records(tmp_path / "a.tfrecord")) == [b"one", b"two"]


def test_a_collection_waits_for_a_while_only(monkeypatch):
    monkeypatch.setattr(at_exit, "_PATIENCE_SECONDS", 0.05)
    held, ended = threading.Lock(), []
    Owner(lambda: ended.append(held.acquire(timeout=30)))
    with held:  # by the thread that collects
        gc.collect()
        assert ended == []
    assert wait_for(lambda: ended == [True])


def test_the_last_reference_finishes_at_once_and_here():
    names = []
    owner = Owner(lambda: names.append(threading.current_thread()))
    owner.me = None
    del owner
    assert names == [threading.current_thread()]


def test_errors_are_reported_as_those_of_any_del(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: seen.append(str(args.exc_value)))

    def fail() -> None:
        raise OSError("the disk is full")

    Owner(fail)
    gc.collect()
    assert wait_for(lambda: seen == ["the disk is full"])
