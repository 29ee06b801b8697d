from __future__ import annotations

import threading

import pytest

from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import CancelledError


def test_every_task_is_done_once():
    done = dict(run_tasks(range(50), lambda task: task * task, workers=3, stop=Stop()))
    assert done == {task: task * task for task in range(50)}


def test_no_tasks_are_no_results():
    assert list(run_tasks([], lambda task: task, workers=2, stop=Stop())) == []


@pytest.mark.parametrize("workers", [0, 1])
def test_one_worker_takes_tasks_in_their_order(workers):
    results = run_tasks("abc", str.upper, workers=workers, stop=Stop())
    assert list(results) == [("a", "A"), ("b", "B"), ("c", "C")]


def test_so_many_tasks_run_at_once():
    together = threading.Barrier(3)
    results = run_tasks(range(3), lambda _: together.wait(timeout=60), workers=3, stop=Stop())
    assert sorted(result for _, result in results) == [0, 1, 2]


def test_error_of_a_task_stops_the_others_and_is_raised():
    stop = Stop()
    stopped = []

    def work(task: int) -> None:
        if task == 1:
            raise ValueError("task 1 failed")
        try:
            while True:
                stop.check()
        except CancelledError:
            stopped.append(task)
            raise

    with pytest.raises(ValueError, match="task 1 failed"):
        list(run_tasks(range(5), work, workers=2, stop=stop))
    assert stopped == [0]  # those behind have not begun


def test_tasks_are_stopped_and_waited_for_when_the_caller_is_interrupted():
    stop = Stop()
    ended = []

    def work(task: int) -> None:
        try:
            while True:
                stop.check()
        finally:
            ended.append(task)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_tasks(range(5), work, workers=2, stop=stop, tick=interrupt))
    assert sorted(ended) == [0, 1]


def test_ticks_come_from_the_calling_thread_while_a_task_runs():
    ticked = threading.Event()
    threads = set()

    def tick() -> None:
        threads.add(threading.current_thread())
        ticked.set()

    assert list(run_tasks([0], lambda _: ticked.wait(60), workers=1, stop=Stop(), tick=tick)) == [(0, True)]
    assert threads == {threading.current_thread()}
