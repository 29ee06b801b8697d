from __future__ import annotations

import os
import threading

import pytest

from tfrkit.records.pool import default_threads, thread_pool


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="there is no affinity on this system")
def test_default_is_the_number_of_cores_this_process_may_use():
    assert default_threads() == len(os.sched_getaffinity(0))


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="there is no affinity on this system")
def test_default_follows_the_affinity():
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cores)})
        assert default_threads() == 1
    finally:
        os.sched_setaffinity(0, cores)


def test_there_is_one_pool():
    assert thread_pool() is thread_pool()


def test_tasks_run_in_named_threads():
    assert thread_pool().submit(lambda: threading.current_thread().name).result().startswith("tfrkit")


def test_a_task_may_wait_for_one_handed_in_before_it():
    first = threading.Event()
    pool = thread_pool()
    waiting = [pool.submit(first.set), pool.submit(first.wait, 10), pool.submit(first.wait, 10)]
    assert [task.result() for task in waiting] == [None, True, True]


@pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # Python 3.12 warns of forks with threads
def test_a_forked_child_makes_its_own_pool():
    thread_pool().submit(int).result()
    pid = os.fork()
    if pid == 0:
        os._exit(thread_pool().submit(lambda: 7).result(10))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
