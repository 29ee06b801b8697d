"""The engine of processes: tasks in Python processes of this machine, for functions that hold the GIL.

Each worker is spawned (nothing of this process's threads, locks and connections is carried along) and has a pipe. A
worker that dies takes no other along: its task is given to another one, a few times. Workers do not listen to Ctrl-C,
which the coordinator answers by stopping them, and end when the coordinator's process does.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import time
from collections import deque
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any, Final, Generic, TypeVar

from tfrkit.engines.engine import (
    MAX_ATTEMPTS,
    TICK_SECONDS,
    Outcome,
    Running,
    Task,
    add_counts,
    no_address,
    pack_task,
    run_packed,
    unpack_outcome,
)
from tfrkit.errors import CancelledError, UnavailableError
from tfrkit.threads import default_threads

__all__ = ["ProcessEngine"]

_Result = TypeVar("_Result")
_REPORT_SECONDS: Final = 0.1
_END_SECONDS: Final = 10.0  # that a worker may take to end after it was stopped


class ProcessEngine:
    """Processes of this machine."""

    name = "processes"
    shares_memory = False

    def __init__(self, address: str | None = None) -> None:
        no_address(self.name, address)

    @property
    def cores(self) -> int:
        return default_threads()

    def start(self, tasks: Sequence[Task[_Result]], workers: int) -> Running[_Result]:
        return _ProcessRun(tasks, workers)


class _Worker:
    """One process, the pipe to it, and the task that it has."""

    def __init__(self, limit: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_work, args=(theirs, limit, os.getpid()), name="tfrkit-worker", daemon=True
        )
        self.process.start()
        theirs.close()
        self.number: int | None = None
        self.counts: dict[str, float] = {}  # of this task, which count for nothing if the worker is lost

    def end(self) -> None:
        self.pipe.close()
        self.process.join(_END_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


class _ProcessRun(Generic[_Result]):
    """Tasks in processes."""

    def __init__(self, tasks: Sequence[Task[_Result]], workers: int) -> None:
        self._tasks = tasks
        self._limit = multiprocessing.get_context("spawn").RawValue(
            "q", len(tasks)
        )  # tasks from here on stop
        self._waiting = deque(range(len(tasks)))
        self._attempts = [0] * len(tasks)
        self._ended: list[Outcome[_Result]] = []
        self._counts: dict[str, float] = {}
        self._workers: list[_Worker] = []
        self._most = min(max(1, workers), len(tasks))

    def wait(self) -> list[Outcome[_Result]]:
        self._hand_out()
        pipes = {worker.pipe: worker for worker in self._workers if worker.number is not None}
        if not self._ended:
            for pipe in multiprocessing.connection.wait(list(pipes), TICK_SECONDS):
                self._listen(pipes[pipe])  # type: ignore[index]  # those that were given
        self._hand_out()
        ended, self._ended = self._ended, []
        return ended

    def _hand_out(self) -> None:
        """Give tasks to workers that have none; those that are to stop have ended."""
        while self._waiting and self._waiting[0] >= self._limit.value:
            self._ended.append(Outcome(self._waiting.popleft(), None, CancelledError("The job was stopped.")))
        for worker in self._workers:
            if worker.number is None and self._waiting:
                self._give(worker, self._waiting.popleft())
        while self._waiting and len(self._workers) < self._most:
            self._workers.append(_Worker(self._limit))
            self._give(self._workers[-1], self._waiting.popleft())

    def _give(self, worker: _Worker, number: int) -> None:
        worker.number, worker.counts = number, {}
        self._attempts[number] += 1
        packed = pack_task(self._tasks[number])
        with contextlib.suppress(OSError):  # it has died: `_listen` notices
            worker.pipe.send((number, packed))

    def _listen(self, worker: _Worker) -> None:
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            self._lost(worker)
            return
        if isinstance(message, bytes):
            worker.number = None
            self._ended.append(unpack_outcome(message))
        else:
            add_counts(self._counts, message)
            add_counts(worker.counts, message)

    def _lost(self, worker: _Worker) -> None:
        number = worker.number
        assert number is not None
        self._workers.remove(worker)
        add_counts(self._counts, {name: -number for name, number in worker.counts.items()})
        worker.process.join(_END_SECONDS)
        code = worker.process.exitcode
        worker.end()
        if self._attempts[number] < MAX_ATTEMPTS:
            self._waiting.appendleft(number)
            return
        name = self._tasks[number].name
        how = f"killed by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"
        lost = UnavailableError(
            f"{name}; the process that made it was {how}, {MAX_ATTEMPTS} times. If memory was short, pass fewer "
            "workers (--workers)."
        )
        self._ended.append(Outcome(number, None, lost))

    def counts(self) -> Mapping[str, float]:
        counts, self._counts = self._counts, {}
        return counts

    def stop_after(self, number: int) -> None:
        self._limit.value = min(self._limit.value, number + 1)

    def close(self) -> None:
        self._limit.value = 0
        self._waiting.clear()
        while self._workers:
            self._workers[-1].end()
            self._workers.pop()


class _PipeControl:
    """What a task has in a worker: a number that says what is to stop, and a pipe for counts."""

    def __init__(self, pipe: Connection, limit: Any, parent: int, number: int) -> None:
        self._pipe, self._limit, self._parent, self._number = pipe, limit, parent, number
        self._counts: dict[str, float] = {}
        self._reported = time.monotonic()

    def check(self) -> None:
        if self._number >= self._limit.value or os.getppid() != self._parent:
            raise CancelledError("The job was stopped.")

    def count(self, counts: Mapping[str, float]) -> None:
        add_counts(self._counts, counts)
        if time.monotonic() - self._reported >= _REPORT_SECONDS:
            self.report()

    def report(self) -> None:
        self._reported = time.monotonic()
        if self._counts:
            self._pipe.send(self._counts)
            self._counts = {}


def _work(pipe: Connection, limit: Any, parent: int) -> None:
    """Do the tasks that come through a pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while True:
            number, packed = pipe.recv()
            control = _PipeControl(pipe, limit, parent, number)
            outcome = run_packed(number, packed, control)
            control.report()
            pipe.send(outcome)
