"""The engine of Spark: each task is a job of one task in a Spark application.

The tasks are those of every other engine, and so are their bytes. Spark finds a place for each and does it again
elsewhere when an executor is lost; `worker_channel.py` brings counts while it runs. The executors need tfrkit and its
extras installed, and all inputs and outputs must be where they can read and write: in an object store, or on a file
system that all machines share.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from tfrkit.engines.engine import (
    MAX_ATTEMPTS,
    Control,
    Outcome,
    Running,
    Task,
    pack_task,
    run_packed,
    unpack_outcome,
)
from tfrkit.engines.local import ThreadRun
from tfrkit.engines.spark_session import check_installed, first_line, listening_at, spark_session
from tfrkit.engines.worker_channel import ChannelAddress, CoordinatorChannel, WorkerControl
from tfrkit.errors import CancelledError, UnavailableError
from tfrkit.optional import require

__all__ = ["SparkEngine"]

_FEATURE: Final = "The engine 'spark'"
_MOST_WORKERS: Final = 512  # threads of the driver that wait for a task each
_ENDED: Final = ("SparkContext was shut down", "stopped SparkContext", "Cannot call methods on a stopped")

_Result = TypeVar("_Result")


class SparkEngine:
    """A Spark application: the active one, or one that is started at an address."""

    name = "spark"
    shares_memory = False

    def __init__(self, address: str | None = None) -> None:
        self._session = spark_session(_FEATURE, address)

    @property
    def cores(self) -> int:
        return int(self._session.sparkContext.defaultParallelism)

    def start(self, tasks: Sequence[Task[_Result]], workers: int) -> Running[_Result]:
        return _SparkRun(self._session, tasks, workers)


@dataclass(frozen=True, slots=True)
class _Order:
    """What an executor gets: a task, where the coordinator stands, and how to reach it."""

    number: int
    packed: bytes
    folder: str
    channel: ChannelAddress | None


class _SparkRun(Generic[_Result]):
    """Tasks in Spark, each waited for by a thread of this process."""

    def __init__(self, session: Any, tasks: Sequence[Task[_Result]], workers: int) -> None:
        context = session.sparkContext
        self._channel = _open_channel(context)
        folder = os.getcwd()
        prefix = f"tfrkit-{os.urandom(6).hex()}"
        # One of each task, as it sets the very object of properties that it copied.
        inherit = require("pyspark", _FEATURE).inheritable_thread_target
        remote = [
            _Remote(task, number, context, self._channel, folder, f"{prefix}-{number}", inherit(session))
            for number, task in enumerate(tasks)
        ]
        try:
            self._run: ThreadRun[_Result] = ThreadRun(remote, min(workers, _MOST_WORKERS))
        except BaseException:
            self._close_channel()
            raise
        self.counts, self.stop_after = self._run.counts, self._run.stop_after

    def wait(self) -> list[Outcome[_Result]]:
        return self._run.wait()

    def close(self) -> None:
        try:
            self._run.close()
        finally:
            self._close_channel()

    def _close_channel(self) -> None:
        if self._channel is not None:
            self._channel.close()


@dataclass(frozen=True, slots=True)
class _Remote(Generic[_Result]):
    """A task that is done in Spark; here a thread waits for it."""

    task: Task[_Result]
    number: int
    context: Any
    channel: CoordinatorChannel | None
    folder: str
    group: str
    inherit: Any

    @property
    def name(self) -> str:
        return self.task.name

    def run(self, control: Control) -> _Result:
        address = None if self.channel is None else self.channel.address
        order = _Order(self.number, self._pack(), self.folder, address)
        counts = None
        if self.channel is not None:
            self.channel.watch(self.number, control, lambda: self.context.cancelJobGroup(self.group))
        try:
            outcome, counts = self._attempt(order, control)
        finally:
            if self.channel is not None:
                self.channel.finish(self.number, counts)
        if self.channel is None:
            control.count(counts)
        if outcome.error is not None:
            raise outcome.error
        return outcome.result  # type: ignore[return-value]  # without an error there is one

    def _pack(self) -> bytes:
        return pack_task(
            self.task, require("pyspark.cloudpickle", _FEATURE).dumps
        )  # functions of __main__, too

    def _attempt(self, order: _Order, control: Control) -> tuple[Outcome[Any], dict[str, float]]:
        """Have Spark do it; again, if that fails without an outcome."""
        tries = 0
        while True:
            try:
                [(packed, counts)] = self.inherit(self._submit)(order)
                outcome = unpack_outcome(packed)
                if not isinstance(outcome.error, CancelledError):
                    return outcome, counts
                raise outcome.error  # a worker whose connection is cut stops as if it had been told to
            except Exception as error:
                control.check()  # the job was cancelled because it is to stop
                tries += _tries_of_spark(self.context)
                _check_fatal(error, self.name)
                if tries >= MAX_ATTEMPTS:
                    raise UnavailableError(
                        f"{self.name}; Spark could not run the task, {tries} times: {first_line(error)} If memory was "
                        "short, pass fewer workers (--workers), or give executors more memory."
                    ) from error

    def _submit(self, order: _Order) -> Any:
        self.context.setJobGroup(self.group, f"tfrkit: {self.name}", interruptOnCancel=True)
        return self.context.parallelize([order], 1).mapPartitions(_work).collect()


def _work(orders: Iterator[_Order]) -> Iterator[tuple[bytes, dict[str, float]]]:
    """Do tasks, in an executor. Relative paths mean what they mean to the coordinator, if that folder is here."""
    for order in orders:
        control = WorkerControl(order.channel, order.number)
        here = order.folder if os.path.isdir(order.folder) else "."
        try:
            with contextlib.chdir(here):
                packed = run_packed(order.number, order.packed, control)
        finally:
            control.close()
        yield packed, control.totals


def _open_channel(context: Any) -> CoordinatorChannel | None:
    """Listen where executors reach the driver; None where that is not possible."""
    try:
        return CoordinatorChannel(*listening_at(dict(context.getConf().getAll())))
    except OSError:
        return None


def _tries_of_spark(context: Any) -> int:
    """Return how often Spark itself runs a task before it gives up."""
    master = context.master
    if master.startswith("local") and not master.startswith("local-cluster"):
        given = master.partition(",")[2].strip("]")
        return int(given) if given.isdecimal() else 1
    return int(context.getConf().get("spark.task.maxFailures", "4"))


def _check_fatal(error: Exception, name: str) -> None:
    """Raise what no further attempt can change."""
    text = str(error)
    if any(sign in text for sign in _ENDED) or isinstance(error, ConnectionError):
        raise UnavailableError(f"{name}; the Spark application has ended: {first_line(error)}") from error
    check_installed(error, name)
