from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

from tfrkit.threads import (
    ThreadPool,
    default_threads,
    in_threads,
    spawn,
    spawn_all,
    thread_pool,
    uninterrupted,
)


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


def wait_for(condition, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tfrkit"]


def test_idle_threads_end():
    thread_pool().submit(int).result()
    spawn(int).result()
    assert ours()
    assert wait_for(lambda: not ours())
    assert thread_pool().submit(pow, 3, 2).result() == 9
    assert spawn(pow, 3, 2).result() == 9


def test_the_pool_is_bounded_and_keeps_the_order():
    pool, begun, door = ThreadPool(2), [], threading.Event()

    def task(number: int) -> None:
        begun.append(number)
        door.wait(10)

    tasks = [pool.submit(task, number) for number in range(6)]
    assert wait_for(lambda: len(begun) == 2)
    time.sleep(0.05)
    assert (sorted(begun), len(pool.threads())) == ([0, 1], 2)
    door.set()
    for each in tasks:
        each.result(10)
    assert sorted(begun[:2]) == [0, 1]
    assert sorted(begun) == [0, 1, 2, 3, 4, 5]


def test_spawned_work_never_waits_for_other_work():
    door = threading.Event()
    blocked = [spawn(door.wait, 30) for _ in range(40)]
    assert spawn(int).result(10) == 0
    assert not any(each.done() for each in blocked)
    door.set()
    assert [each.result(10) for each in blocked] == [True] * 40


def test_results_are_let_go():
    class Big:
        pass

    big = Big()
    gone = weakref.ref(big)
    assert spawn(lambda item: item, big).result() is big
    del big
    assert wait_for(lambda: gone() is None, 1)


def test_exceptions_come_out_unchanged():
    error = KeyError("x")

    def fail() -> None:
        raise error

    with pytest.raises(KeyError) as caught:
        spawn(fail).result()
    assert caught.value is error


def test_a_task_can_be_cancelled_before_it_begins():
    pool, door = ThreadPool(1), threading.Event()
    first, second = pool.submit(door.wait, 10), pool.submit(int)
    assert second.cancel()
    door.set()
    assert first.result() is True
    assert second.cancelled()
    assert list(pool.map(abs, [-1, 2])) == [1, 2]


def test_a_stopped_pool_runs_tasks_in_the_calling_thread():
    pool = ThreadPool(2)
    assert pool.submit(int).result() == 0
    pool.stop()
    assert wait_for(lambda: not pool.threads())
    assert pool.submit(threading.current_thread).result() is threading.current_thread()


def test_without_more_threads_tasks_run_in_the_calling_thread(monkeypatch):
    def refuse(self) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    for limit in (1, None):
        assert ThreadPool(limit).submit(threading.current_thread).result() is threading.current_thread()


def test_an_interrupted_start_costs_no_place(monkeypatch):
    pool, start = ThreadPool(1), threading.Thread.start

    def interrupted(self) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool.submit(int)
    monkeypatch.setattr(threading.Thread, "start", start)
    assert pool.submit(int).result(10) == 0


@pytest.mark.parametrize("limit", [2, None])
def test_a_thread_that_is_about_to_begin_may_hand_in_a_task(limit, monkeypatch):
    """As the finalizer of a writer does, if the garbage collector runs there."""
    pool, begin = ThreadPool(limit), threading.Thread._bootstrap_inner
    asked, handed_in, first = [], [], []

    def collects(self) -> None:
        if self.name == "tfrkit" and len(asked) == 0:
            asked.append(True)
            handed_in.append(pool.submit(int))
        begin(self)

    monkeypatch.setattr(threading.Thread, "_bootstrap_inner", collects)
    starter = threading.Thread(target=lambda: first.append(pool.submit(pow, 2, 3)), daemon=True)
    starter.start()
    starter.join(10)
    assert not starter.is_alive()
    assert (first[0].result(10), handed_in[0].result(10)) == (8, 0)


@pytest.mark.parametrize("limit", [2, None])
def test_a_thread_that_is_woken_too_late_counts_as_idle_once(limit, monkeypatch):
    """As by a thread that the garbage collector, or a busy machine, has stopped between two steps."""
    monkeypatch.setattr("tfrkit.threads._IDLE_SECONDS", 0.1)
    pool, door = ThreadPool(limit), threading.Event()
    pool.submit(int).result(10)
    assert wait_for(lambda: pool._idle)
    late = pool._idle.pop()
    assert wait_for(lambda: pool._idle)  # it has given up to wait for that, and is idle again
    late.release()
    time.sleep(0.05)
    blocked = pool.submit(door.wait, 30)
    assert pool.submit(int).result(10) == 0
    assert not blocked.done()
    door.set()
    assert blocked.result(10)


@pytest.mark.parametrize("limit", [1, 2, None])
def test_no_task_is_lost_while_threads_end_and_begin(limit, monkeypatch):
    monkeypatch.setattr("tfrkit.threads._IDLE_SECONDS", 0.0002)
    pool, pauses = ThreadPool(limit), random.Random(7)
    results = [[] for _ in range(3)]

    def hand_in(found: list[int]) -> None:
        for number in range(1500):
            future = pool.submit(abs, -number)
            if pauses.random() < 0.3:
                time.sleep(pauses.random() * 0.0008)  # about as long as threads wait
            found.append(future.result(20))

    callers = [threading.Thread(target=hand_in, args=[found]) for found in results]
    for each in callers:
        each.start()
    for each in callers:
        each.join(60)
    assert results == [list(range(1500))] * 3
    assert wait_for(lambda: not pool.threads())


def test_two_threads_that_cannot_begin_leave_no_task(monkeypatch):
    pool, both = ThreadPool(2), threading.Barrier(2)

    def refuse(self) -> None:
        both.wait(10)
        raise RuntimeError("can't start new thread")

    class Ordinary(threading.Thread):
        start = threading.Thread.start

    futures = []
    callers = [Ordinary(target=lambda: futures.append(pool.submit(int))) for _ in range(2)]
    monkeypatch.setattr(threading.Thread, "start", refuse)
    for each in callers:
        each.start()
    for each in callers:
        each.join(10)
    assert [each.result(0) for each in futures] == [0, 0]


EXITS = {
    "blocked in a user's function": "spawn(lambda: time.sleep(60))",
    "blocked in a lock": "spawn(lambda: threading.Event().wait())",
    "idle": "spawn(int).result(); thread_pool().submit(int).result()",
    "inside a kernel": "[thread_pool().submit(_core.crc32c, bytes(1 << 28)) for _ in range(3)]",
    "begins a thread at exit": "atexit.register(lambda: print(spawn(int).result()))",
    "in an earlier hook": "",
}


@pytest.mark.parametrize("code", EXITS.values(), ids=EXITS.keys())
def test_the_interpreter_ends_quietly_and_soon(code):
    lines = "import atexit\natexit.register(lambda: print(spawn(len, 'abc').result()))\n"
    lines += "import threading, time\nfrom tfrkit import _core\n"
    lines += f"from tfrkit.threads import spawn, thread_pool\n{code}\n"
    begin = time.monotonic()
    process = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.splitlines()[-1] == "3"
    assert time.monotonic() - begin < 20


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_exits_without_the_threads_of_its_parent():
    code = (
        "import os, sys, threading\nfrom tfrkit.threads import spawn\n"
        "door = threading.Event()\nwork = spawn(door.wait, 60)\npid = os.fork()\n"
        "if pid == 0:\n    sys.exit(spawn(lambda: 7).result(10))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\ndoor.set()\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (process.stdout, process.stderr) == ("7\n", "")


def test_what_is_under_way_is_waited_for_and_the_rest_dropped():
    begun, ended = threading.Event(), []

    def work():
        begun.set()
        time.sleep(0.05)
        ended.append(1)

    def stop_early():
        with in_threads([work] * 50):
            begun.wait()
            raise KeyError

    with pytest.raises(KeyError):
        stop_early()
    count = len(ended)
    assert 0 < count < 50
    time.sleep(0.1)
    assert len(ended) == count


def test_spawn_all_returns_results_in_order_and_raises_the_first_failure():
    assert spawn_all(lambda number: number * 2, list(range(100)), 7) == list(range(0, 200, 2))
    assert spawn_all(abs, [], 7) == []

    def fail(number: int) -> None:
        if number >= 3:
            raise ValueError(number)

    with pytest.raises(ValueError, match=r"^3$"):
        spawn_all(fail, list(range(100)), 4)


def test_uninterrupted_work_ends_before_the_interruption_is_raised():
    ended = []

    def work(number):
        os.kill(os.getpid(), signal.SIGINT)  # reaches the main thread, which waits
        time.sleep(0.2)
        ended.append(number)
        return number

    with pytest.raises(KeyboardInterrupt):
        uninterrupted(work, 3)
    assert ended == [3]
    assert uninterrupted(abs, -4) == 4
    with pytest.raises(ZeroDivisionError):
        uninterrupted(divmod, 1, 0)
