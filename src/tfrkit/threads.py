"""The process's threads: a bounded pool for reading, inflating and checking, and `spawn` for work that may block.

Owns when threads begin and end; knows nothing of what they do. Threads begin when there is a task and end when they
had none for a fraction of a second, so an idle process has none. They are daemons: a user's function that never
returns does not keep the interpreter alive. A forked child begins with none, and makes its own.

At the interpreter's exit a thread inside native code must not be cut off, as it would take the process down; one that
is blocked in a user's function must not be waited for. Which is which can be seen from its innermost Python frame.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

__all__ = [
    "ThreadPool",
    "default_threads",
    "exiting",
    "in_own_thread",
    "in_threads",
    "spawn",
    "spawn_all",
    "thread_pool",
    "uninterrupted",
]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_IDLE_SECONDS: Final = 0.25  # a thread without a task for so long ends
_EXIT_SECONDS: Final = 5.0  # how long the interpreter's exit waits for threads inside native code
_BLOCKED_SECONDS: Final = 0.2  # a thread that stood at one place outside tfrkit for so long is blocked there
_POLL_SECONDS: Final = 0.002
_PACKAGE: Final = str(Path(__file__).parent) + os.sep


def default_threads() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ThreadPool:
    """Daemon threads that begin with a task and end when idle.

    Tasks begin in the order in which they were handed in. There is no lock: the garbage collector may run anywhere, in
    any thread, and what it finalizes may hand in a task and wait for it. Each step is one atomic call of a deque or a
    set, and whoever waits, or ends, looks for tasks once more after saying so.

    Args:
        limit: the most threads, further tasks wait their turn; tasks that are handed in at the very same moment may
            begin one each. None: no task ever waits for another.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._tasks: deque[Callable[[], None]] = deque()
        self._idle: deque[threading.Lock] = deque()  # of waiting threads: released to wake one
        self._threads: set[threading.Thread] = set()
        self._stopped = False

    def submit(self, function: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Hand in a task; a pool that has stopped runs it at once, in the calling thread."""
        future: Future[_T] = Future()
        # No function of its own, whose frame would keep the future, and that its error.
        task = functools.partial(_run, future, function, args, kwargs)
        try:
            self._tasks.append(task)
            if self._stopped:
                self._run_here([task])
            elif not self._wake_one() and (self._limit is None or len(self._threads) < self._limit):
                self._start(task)
        except BaseException:  # interrupted: no task is left behind
            self._take_back(task)
            raise
        return future

    def map(self, function: Callable[[Any], _T], items: Iterable[Any]) -> Iterator[_T]:
        """Hand in a task for each item at once; yield the results in order."""
        futures = [self.submit(function, item) for item in items]
        return (future.result() for future in futures)

    def stop(self) -> None:
        """Take no more tasks, finish those that are there, and let idle threads end."""
        self._stopped = True
        while self._wake_one():
            pass

    def threads(self) -> list[threading.Thread]:
        """Return the threads that have not ended."""
        return list(self._threads)

    def _wake_one(self) -> bool:
        try:
            wake = self._idle.pop()
        except IndexError:
            return False
        with contextlib.suppress(RuntimeError):  # it is awake: its waiting was over before another woke it
            wake.release()
        return True

    def _take_back(self, task: Callable[[], None]) -> bool:
        """Take a task out of the queue; False if a thread has it."""
        try:
            self._tasks.remove(task)
        except ValueError:
            return False
        return True

    def _run_here(self, tasks: Iterable[Callable[[], None]]) -> None:
        for task in tasks:
            if self._take_back(task):
                task()

    def _start(self, task: Callable[[], None]) -> None:
        """Start a thread for a task. If there can be no more, what no other thread will take is done here."""
        thread = threading.Thread(target=self._work, name="tfrkit", daemon=True)
        try:
            self._threads.add(thread)
            thread.start()
        except RuntimeError:  # the system gives no more threads
            self._threads.discard(thread)
            if self._limit is None:
                self._run_here([task])
            elif not self._threads:
                self._run_here(list(self._tasks))
        except BaseException:  # interrupted: if it has begun nevertheless, it adds itself
            self._threads.discard(thread)
            raise

    def _work(self) -> None:
        me, wake = threading.current_thread(), threading.Lock()
        wake.acquire()
        self._threads.add(me)
        while True:
            try:
                task = self._tasks.popleft()
            except IndexError:
                if self._is_over(me, wake):
                    return
            else:
                task()
                del task  # it holds what the task worked on

    def _is_over(self, me: threading.Thread, wake: threading.Lock) -> bool:
        """Wait for a task; True if there was none for a while, or the pool has stopped."""
        self._idle.append(wake)
        if not (self._tasks or self._stopped) and wake.acquire(timeout=_IDLE_SECONDS):
            with contextlib.suppress(ValueError):  # still there: it was woken for an earlier task, too late
                self._idle.remove(wake)
            return False
        try:
            self._idle.remove(wake)
        except ValueError:  # it is being woken
            wake.acquire(timeout=_IDLE_SECONDS)
            return False
        if not self._tasks:
            self._threads.discard(me)
            if not self._tasks:
                return True
            self._threads.add(me)  # a task was handed in while the pool seemed full
        return False


def _run(future: Future[_T], function: Callable[..., _T], args: Any, kwargs: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001  # it belongs to the caller of result()
        future.set_exception(error)
        del future  # its exception's traceback refers to this frame
    else:
        future.set_result(result)


_pools: dict[int, tuple[ThreadPool, ThreadPool]] = {}  # by process id: threads do not survive a fork
_exiting: set[int] = set()


def _here() -> tuple[ThreadPool, ThreadPool]:
    pid = os.getpid()
    pools = _pools.get(pid)
    if pools is None:
        for other in set(_pools) - {pid}:  # of the process that forked this one
            _pools.pop(other, None)
        made = (ThreadPool(max(2, min(32, default_threads()))), ThreadPool(None))
        pools = _pools.setdefault(pid, made)
    return pools


def thread_pool() -> ThreadPool:
    """Return the pool of this process for work that only computes and reads.

    A task may wait for one that was handed in earlier, never for a later one.
    """
    return _here()[0]


def spawn(function: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
    """Run a function that may block in a thread of its own, without waiting for another task.

    At the interpreter's exit, and where the system gives no more threads, it runs in the calling thread. What runs for
    long looks at `exiting()` now and then.

    >>> spawn(pow, 2, 5).result()
    32
    """
    return _here()[1].submit(function, *args, **kwargs)


def uninterrupted(function: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run a short function in another thread, to its end: interruptions (Ctrl-C) are raised afterwards.

    >>> uninterrupted(pow, 2, 5)
    32
    """
    turns = itertools.count()
    ended = threading.Lock()
    ended.acquire()
    found: list[tuple[_T | None, BaseException | None]] = []

    def work() -> None:
        if next(turns):  # an interruption came when it was handed in already
            return
        try:
            found.append((function(*args, **kwargs), None))
        except BaseException as error:  # noqa: BLE001  # it belongs to the caller
            found.append((None, error))
        ended.release()

    handed_in, interruption = False, None
    while not found:
        try:
            if not handed_in:
                spawn(work)
                handed_in = True
            ended.acquire()
        except BaseException as error:  # noqa: BLE001  # raised below
            interruption = error
    result, failure = found.pop()
    if interruption is not None:
        raise interruption from failure
    if failure is not None:
        raise failure
    return result  # type: ignore[return-value]  # without a failure there is one


def spawn_all(function: Callable[[Any], _T], items: Sequence[Any], limit: int) -> list[_T]:
    """Call a function that may block for each item, in this thread and some of their own; return the results in order.

    Args:
        function: what to call.
        items: its arguments.
        limit: the most calls at once.

    Raises:
        Exception: of the first item, in order, that failed; after a failure nothing more is begun.

    >>> spawn_all(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    results: list[Any] = [None] * len(items)
    todo, failures = iter(range(len(items))), dict[int, Exception]()
    stopped = False

    def work() -> None:
        for number in todo:  # an iterator of a range gives each number once, whichever threads ask
            try:
                results[number] = function(items[number])
            except Exception as error:  # noqa: BLE001  # it belongs to the caller
                failures[number] = error
            if failures or stopped:
                return

    others = [spawn(work) for _ in range(min(limit, len(items)) - 1)]
    try:
        work()
    except BaseException:  # an interruption: what is under way is not waited for
        stopped = True
        raise
    wait(others)
    if failures:
        raise failures[min(failures)]
    return results


@contextlib.contextmanager
def in_threads(calls: Sequence[Callable[[], _T]]) -> Iterator[list[Callable[[], _T]]]:
    """Make calls on the threads of the pool, if it has several; yields functions that wait for the results.

    At the end, calls that have not begun are dropped, and those under way are waited for.

    >>> with in_threads([lambda: 3, lambda: 4]) as results:
    ...     [result() for result in results]
    [3, 4]
    """
    if min(default_threads(), len(calls)) < 2:
        yield list(calls)
        return
    futures = [thread_pool().submit(call) for call in calls]
    try:
        yield [future.result for future in futures]
    finally:
        for future in futures:
            future.cancel()
        wait(futures)


def in_own_thread() -> bool:
    """Return whether this is one of tfrkit's threads: others may wait for what it does."""
    me = threading.get_ident()
    return any(thread.ident == me for pool in _here() for thread in pool.threads())


def exiting() -> bool:
    """Return whether the interpreter is about to end; background work then stops by itself."""
    return bool(_exiting) and os.getpid() in _exiting


def _at_exit() -> None:
    pid = os.getpid()
    _exiting.add(pid)
    pools = _pools.get(pid, ())
    for pool in pools:
        pool.stop()
    seen: dict[threading.Thread, tuple[object, float]] = {}
    deadline = time.monotonic() + _EXIT_SECONDS
    while time.monotonic() < deadline:
        threads = [thread for pool in pools for thread in pool.threads()]
        if not _any_at_work(threads, seen):
            break
        time.sleep(_POLL_SECONDS)


def _any_at_work(threads: list[threading.Thread], seen: dict[threading.Thread, tuple[object, float]]) -> bool:
    """Return whether a thread is inside tfrkit, or still moves; `seen` keeps where each stood, and since when."""
    frames = sys._current_frames()  # noqa: SLF001  # the only way to see where another thread stands
    now, working = time.monotonic(), False
    for thread in threads:
        frame = frames.get(thread.ident or 0)
        if frame is None:
            working = working or thread.ident is None  # about to begin
            continue
        place = (id(frame), frame.f_lasti)
        if frame.f_code.co_filename.startswith(_PACKAGE) or seen.get(thread, (None, 0.0))[0] != place:
            seen[thread] = (place, now)
        working = working or now - seen[thread][1] < _BLOCKED_SECONDS
    return working


atexit.register(_at_exit)
