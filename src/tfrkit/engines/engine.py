"""The engine door: what runs the independent tasks of a plan, and what a task has of it while it runs.

A task is plain data that pickles; its `run` returns plain data and keeps nothing. So any engine may run it, here or on
another machine, once or, after a machine was lost, again. Who plans the tasks (the coordinator) alone decides what
counts: it claims, publishes and notes. Engines are a file each: `local.py` (threads), `processes.py`, `ray.py`,
`spark.py`; `engine_table.py` has all of them by name.
"""

from __future__ import annotations

import contextlib
import pickle
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from tfrkit.errors import CancelledError, InternalError, InvalidArgumentError
from tfrkit.stores.object_config import adopt_settings, all_settings

__all__ = [
    "MAX_ATTEMPTS",
    "TICK_SECONDS",
    "Control",
    "Engine",
    "EngineName",
    "Outcome",
    "Running",
    "Task",
    "add_counts",
    "no_address",
    "outcomes",
    "pack_task",
    "run_packed",
    "unpack_outcome",
]

EngineName: TypeAlias = Literal["threads", "processes", "ray", "spark"]

MAX_ATTEMPTS: Final = 4  # of a task whose worker is lost
TICK_SECONDS: Final = 0.1

_Result_co = TypeVar("_Result_co", covariant=True)
_Result = TypeVar("_Result")


class Control(Protocol):
    """What a running task has of its engine."""

    def check(self) -> None:
        """Raise if the task is to stop.

        Raises:
            CancelledError: it is.
        """

    def count(self, counts: Mapping[str, float]) -> None:
        """Report progress: numbers that are added to what all tasks have counted, by name."""


class Task(Protocol[_Result_co]):
    """One step of a plan: plain data that pickles."""

    @property
    def name(self) -> str:
        """What it is called in messages; no two tasks of a plan share a name."""

    def run(self, control: Control) -> _Result_co:
        """Do it, and return what was done. Several attempts may run, even at once: none disturbs another."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[_Result]):
    """How a task has ended: with a result or with an error.

    Attributes:
        number: of the task in the list that was given to the engine.
        result: what it returned.
        error: what it raised, with its own traceback as a note if that was elsewhere.
    """

    number: int
    result: _Result | None
    error: BaseException | None


class Running(Protocol[_Result]):
    """Tasks that an engine runs. For one thread, which may be interrupted (Ctrl-C) at any moment."""

    def wait(self) -> list[Outcome[_Result]]:
        """Return the tasks that have ended since the last call, each once; waits for a tick at most."""

    def counts(self) -> Mapping[str, float]:
        """Return what tasks have counted since the last call."""

    def stop_after(self, number: int) -> None:
        """Stop all tasks with a greater number; their outcomes are a CancelledError."""

    def close(self) -> None:
        """Stop all tasks, and return when none runs any more."""


class Engine(Protocol):
    """Something that runs tasks.

    Attributes:
        name: by which users choose it.
        shares_memory: tasks run in this process, so that they may hold what does not pickle.
    """

    name: str
    shares_memory: bool

    @property
    def cores(self) -> int:
        """How many tasks can usefully run at once."""

    def start(self, tasks: Sequence[Task[_Result]], workers: int) -> Running[_Result]:
        """Begin to run tasks in their order, `workers` at a time. The caller closes what is returned."""


def outcomes(running: Running[_Result], count: int) -> Iterator[list[Outcome[_Result]]]:
    """Yield the outcomes of `count` tasks, and an empty list several times a second while there is none.

    The caller closes what runs.
    """
    while count:
        ended = running.wait()
        count -= len(ended)
        yield ended


def no_address(engine: str, address: str | None) -> None:
    """Refuse an address for an engine that runs on this machine."""
    if address is not None:
        raise InvalidArgumentError(f"The engine {engine!r} runs on this machine: it takes no address.")


def pack_task(task: Task[Any], dumps: Callable[[Any], bytes] = pickle.dumps) -> bytes:
    """Return a task as bytes, for a worker in another process; what was configured of stores goes along.

    Args:
        task: to be sent.
        dumps: what makes bytes of it that `pickle` reads.

    Raises:
        InvalidArgumentError: it holds something that exists in this process only.
    """
    try:
        return dumps((all_settings(), task))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InvalidArgumentError(
            f"{task.name}; the task cannot be sent to another process: {error}. Use the engine 'threads', or give "
            "files instead of what is in memory."
        ) from error


def run_packed(number: int, packed: bytes, control: Control) -> bytes:
    """Run a task in a worker that is not the coordinator's process; its outcome, errors too, comes as bytes."""
    name = f"task {number}"
    try:
        control.check()
        stores, task = pickle.loads(packed)  # noqa: S301  # of this program's
        adopt_settings(stores)
        name = task.name
        return pickle.dumps(Outcome(number, task.run(control), None))
    except CancelledError as error:
        return pickle.dumps(Outcome(number, None, error))
    except Exception as error:  # noqa: BLE001  # the coordinator raises it
        text = "".join(traceback.format_exception(error)).rstrip()
        error.add_note(f"It was raised in a worker, by {name}:\n{text}")
        return _packed_error(number, error, f"{name}; {text}")


def _packed_error(number: int, error: Exception, text: str) -> bytes:
    """Return an outcome with an error, or with its text if it is a user's that cannot be made again elsewhere."""
    with contextlib.suppress(Exception):
        packed = pickle.dumps(Outcome(number, None, error))
        if type(unpack_outcome(packed).error) is type(error):
            return packed
    return pickle.dumps(Outcome(number, None, InternalError(text)))


def unpack_outcome(packed: bytes) -> Outcome[Any]:
    """Return the outcome that `run_packed` has made."""
    outcome: Outcome[Any] = pickle.loads(packed)  # noqa: S301  # of this program's
    return outcome


def add_counts(totals: dict[str, float], more: Mapping[str, float]) -> None:
    """Add numbers to others of the same names."""
    for name, number in more.items():
        totals[name] = totals.get(name, 0) + number
