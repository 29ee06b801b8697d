"""The local engine: independent tasks on the threads of this process, and a clean end of all of them.

A task does its heavy work in native code with the GIL released, so that threads use every core; and what a table in
memory holds need not be copied to another process. Tasks are plain data that pickles, for engines on other machines.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from tfrkit.errors import CancelledError

__all__ = ["Stop", "run_tasks"]

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class Stop:
    """A request to stop, which tasks look at whenever they can end cleanly. Thread-safe."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask all tasks to stop."""
        self._event.set()

    def check(self) -> None:
        """Return at once, or raise.

        Raises:
            CancelledError: tasks were asked to stop.
        """
        if self._event.is_set():
            raise CancelledError("The job was stopped.")


def run_tasks(
    tasks: Sequence[_Task], work: Callable[[_Task], _Result], *, workers: int, stop: Stop
) -> Iterator[tuple[_Task, _Result]]:
    """Do the work of every task, `workers` at a time, and give each with its result as soon as it is done.

    After an error in a task, or when the caller stops iterating (an interrupt, too), the others are asked to stop and
    waited for; the first error is raised.
    """
    if workers <= 1:
        for task in tasks:
            yield task, work(task)
        return
    waiting = iter(tasks)
    running: dict[Future[_Result], _Task] = {}
    pool = ThreadPoolExecutor(workers, thread_name_prefix="tfrkit-task")

    def hand_in() -> None:
        for task in waiting:
            running[pool.submit(work, task)] = task
            return

    try:
        for _ in range(workers):
            hand_in()
        while running:
            done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)  # a timeout lets Ctrl-C in
            for future in done:
                task = running.pop(future)
                result = future.result()
                hand_in()
                yield task, result
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
