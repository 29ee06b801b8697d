"""The channel between a coordinator and its workers, in one process: counts, stops, and strangers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from contextlib import closing

import pytest

from tests.data.support.outcomes import wait_for
from tfrkit.engines.worker_channel import CoordinatorChannel, WorkerControl
from tfrkit.errors import CancelledError


class Noted:
    """A task as the coordinator has it."""

    def __init__(self) -> None:
        self.stop = False
        self.counts: dict[str, float] = {}
        self.cancelled = threading.Event()

    def check(self) -> None:
        if self.stop:
            raise CancelledError("stop")

    def count(self, counts: Mapping[str, float]) -> None:
        for name, number in counts.items():
            self.counts[name] = self.counts.get(name, 0) + number


@pytest.fixture
def channel():
    with closing(CoordinatorChannel("127.0.0.1")) as made:
        yield made


def stops(control: WorkerControl) -> bool:
    try:
        control.check()
    except CancelledError:
        return True
    return False


def test_counts_arrive_and_the_end_settles_them(channel):
    task = Noted()
    channel.watch(0, task, task.cancelled.set)
    with closing(WorkerControl(channel.address, 0)) as worker:
        worker._reported = 0.0  # long ago
        worker.count({"records": 5})
        assert wait_for(lambda: task.counts == {"records": 5})
    channel.finish(0, {"records": 8})
    assert task.counts == {"records": 8}


def test_worker_is_told_to_stop(channel):
    task = Noted()
    channel.watch(0, task, task.cancelled.set)
    with closing(WorkerControl(channel.address, 0)) as worker:
        worker.check()
        task.stop = True
        assert any(stops(worker) or time.sleep(0.01) for _ in range(1000))


def test_worker_that_arrives_after_the_stop_is_told_and_not_ended(channel):
    task = Noted()
    task.stop = True
    channel.watch(0, task, task.cancelled.set)
    time.sleep(0.3)  # the coordinator may notice a connection later than the stop
    with closing(WorkerControl(channel.address, 0)) as worker:
        assert any(stops(worker) or time.sleep(0.01) for _ in range(1000))
        assert not task.cancelled.wait(1.5)
    channel.finish(0, {})


def test_cluster_ends_a_task_of_which_no_worker_listens(channel):
    task = Noted()
    channel.watch(0, task, task.cancelled.set)
    task.stop = True
    assert task.cancelled.wait(10)


@pytest.mark.parametrize(
    "line", [b"[" * 60_000 + b"\n", b"\xff\n", b"{}\n", b'[0, "guess"]\n', b"x" * 200_000]
)
def test_strangers_are_dropped_and_disturb_nobody(channel, line):
    task = Noted()
    channel.watch(0, task, task.cancelled.set)
    with closing(WorkerControl(channel.address, 0)) as worker:
        with socket.create_connection((channel.address.host, channel.address.port), 10) as stranger:
            try:
                stranger.sendall(line)
                assert stranger.recv(1) == b""
            except ConnectionError:  # dropped before all of it was sent
                pass
        worker._reported = 0.0
        worker.count({"records": 1})
        assert wait_for(lambda: task.counts == {"records": 1})
        worker.check()
    channel.finish(0, {"records": 1})


def test_error_of_a_cluster_does_not_end_the_channel(channel):
    def fails() -> None:
        raise RuntimeError("the cluster has ended")

    broken, task = Noted(), Noted()
    channel.watch(0, broken, fails)
    channel.watch(1, task, task.cancelled.set)
    broken.stop = task.stop = True
    assert task.cancelled.wait(10)
