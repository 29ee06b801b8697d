"""The engine of a Ray cluster: each attempt at a task is a task of Ray's, on any machine that sees the files.

Ray does not retry: an attempt whose worker or machine is lost is begun again here, a few times, so that what it had
counted can be taken back. A small actor is the board on which tasks write their counts and read what is to stop. All
of it is said again with every report, so that a board that was lost and made anew loses nothing.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from tfrkit.engines.engine import (
    MAX_ATTEMPTS,
    TICK_SECONDS,
    Outcome,
    Running,
    Task,
    add_counts,
    pack_task,
    run_packed,
    unpack_outcome,
)
from tfrkit.errors import CancelledError, InvalidArgumentError, UnavailableError
from tfrkit.optional import require

__all__ = ["RayEngine", "connect_ray"]

_Result = TypeVar("_Result")
_Key = tuple[str, int, int]  # name of a run, number of a task in it, and of an attempt at it
_WHAT: Final = "the engine 'ray'"
_MAX_ATTEMPTS: Final = 24  # of a task whose worker is lost: machines of a cluster come and go
_REPORT_SECONDS: Final = 0.2
_ASK_SECONDS: Final = 5.0
_CONNECT_SECONDS: Final = 5.0
_STOP_SECONDS: Final = 10.0  # that a task may take to end after it was stopped, before it is cancelled
_KILL_SECONDS: Final = 20.0  # before its worker is killed
_ADDRESS: Final = "Start the cluster with `ray start --head`, or check the address (--address)."


class RayEngine:
    """The machines of a Ray cluster, or this one if there is none."""

    name = "ray"
    shares_memory = False

    def __init__(self, address: str | None = None) -> None:
        self._ray = connect_ray(address, _WHAT)
        self._board: Any = None  # a process of its own: all runs share it

    @property
    def cores(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def start(self, tasks: Sequence[Task[_Result]], workers: int) -> Running[_Result]:
        if self._board is None:
            here = self._ray.get_runtime_context().get_node_id()
            affinity = require("ray.util.scheduling_strategies", _WHAT).NodeAffinitySchedulingStrategy
            actor = self._ray.remote(_Board).options(
                num_cpus=0, max_restarts=-1, scheduling_strategy=affinity(here, soft=True)
            )
            self._board = actor.remote()
        return _RayRun(self._ray, self._board, tasks, workers)


def connect_ray(address: str | None, what: str) -> Any:
    """Return the package ray, connected to a cluster; a connection that there is already is used.

    Args:
        address: `host:port`, `ray://host:port`, "auto", or None: what `RAY_ADDRESS` says, a cluster that runs on this
            machine, or one that is started for this process.
        what: who needs it, for the error if it is missing.

    Raises:
        MissingExtraError: the package is not installed.
        UnavailableError: there is no cluster at the address.
        InvalidArgumentError: this process is connected to another cluster.
    """
    ray = require("ray", what)
    if ray.is_initialized():
        there = ray.get_runtime_context().gcs_address
        if (
            address not in (None, "auto", there)
            and "://" not in str(address)
            and not _same(str(address), there)
        ):
            raise InvalidArgumentError(
                f"Expected the address {there!r} of the cluster that this process is connected to but got {address!r}. "
                "Call ray.shutdown() first."
            )
        return ray
    given = address or os.environ.get("RAY_ADDRESS")
    _knock(given)
    try:
        ray.init(address=address, log_to_driver=False, include_dashboard=None if given else False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise UnavailableError(
            f"There is no Ray cluster at the address {given!r}: {error}. {_ADDRESS}"
        ) from error
    return ray


def _same(one: str, other: str) -> bool:
    """Say whether two addresses, as host:port, are the same place."""
    (host, _, port), (other_host, _, other_port) = one.rpartition(":"), other.rpartition(":")
    if port != other_port:
        return False
    try:
        return socket.gethostbyname(host) == socket.gethostbyname(other_host) or host in (
            "localhost",
            "127.0.0.1",
        )
    except OSError:
        return False


def _knock(address: str | None) -> None:
    """Raise if nothing answers at an address, for which Ray would wait for minutes."""
    if address is None or ":" not in address:
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS):
            return
    except (OSError, ValueError) as error:
        raise UnavailableError(
            f"There is no Ray cluster at the address {address!r}: {error}. {_ADDRESS}"
        ) from error


class _RayRun(Generic[_Result]):
    """Tasks on a cluster."""

    def __init__(self, ray: Any, board: Any, tasks: Sequence[Task[_Result]], workers: int) -> None:
        self._ray, self._board, self._tasks = ray, board, tasks
        self._name = secrets.token_hex(4)
        self._folder = os.getcwd()  # that relative paths are relative to
        self._most = min(max(1, workers), len(tasks))
        self._limit = len(tasks)  # tasks from this number on are to stop
        self._waiting = deque(range(len(tasks)))
        self._attempts = [0] * len(tasks)
        self._under_way: dict[Any, _Key] = {}
        self._known: dict[
            _Key, dict[str, float]
        ] = {}  # what attempts under way have counted, as far as was told
        self._changes: dict[str, float] = {}
        self._ended: list[Outcome[_Result]] = []
        self._asked: Any = None
        self._asked_at = 0.0
        if tasks:
            self._function = ray.remote(_attempt).options(
                num_cpus=1, max_retries=0, scheduling_strategy="SPREAD", name="tfrkit"
            )

    def wait(self) -> list[Outcome[_Result]]:
        self._hand_out()
        if not self._ended and self._under_way:
            refs = list(self._under_way)
            ready, _ = self._ray.wait(refs, num_returns=1, timeout=TICK_SECONDS)
            if ready:
                ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
            for ref in ready:
                self._finish(ref)
        self._ask()
        self._hand_out()
        ended, self._ended = self._ended, []
        return ended

    def _hand_out(self) -> None:
        while self._waiting and self._waiting[0] >= self._limit:
            self._ended.append(Outcome(self._waiting.popleft(), None, CancelledError("The job was stopped.")))
        while self._waiting and len(self._under_way) < self._most:
            number = self._waiting.popleft()
            self._attempts[number] += 1
            key = self._name, number, self._attempts[number]
            packed = pack_task(self._tasks[number], self._ray.cloudpickle.dumps)
            self._under_way[self._function.remote(key, packed, self._board, self._folder)] = key

    def _finish(self, ref: Any) -> None:
        """Take what an attempt has returned, or begin another one if its worker is lost."""
        exceptions = self._ray.exceptions
        key = self._under_way.pop(ref)
        number = key[1]
        try:
            packed, counts = self._ray.get(ref)
        except exceptions.TaskCancelledError:
            self._ended.append(Outcome(number, None, CancelledError("The job was stopped.")))
            counts = {}
        except exceptions.RayTaskError as error:
            self._ended.append(Outcome(number, None, error))
            counts = {}
        except exceptions.RayError as error:
            self._lost(number, error)
            counts = {}
        else:
            self._ended.append(unpack_outcome(packed))
        self._count(key, counts)
        del self._known[key]

    def _lost(self, number: int, error: Exception) -> None:
        if number >= self._limit:
            self._ended.append(Outcome(number, None, CancelledError("The job was stopped.")))
        elif self._attempts[number] < self._most_attempts(error):
            self._waiting.appendleft(number)
        else:
            said = str(error).strip().splitlines()[0]
            lost = UnavailableError(
                f"{self._tasks[number].name}; the worker that made it was lost, {self._attempts[number]} times: {said} "
                "If memory was short, pass fewer workers (--workers)."
            )
            self._ended.append(Outcome(number, None, lost))

    def _most_attempts(self, error: Exception) -> int:
        """Return how often a task is begun that was lost in some way: want of memory rarely goes away."""
        is_memory = isinstance(error, self._ray.exceptions.OutOfMemoryError)
        return min(MAX_ATTEMPTS, _MAX_ATTEMPTS) if is_memory else _MAX_ATTEMPTS

    def _count(self, key: _Key, counts: Mapping[str, float]) -> None:
        """Note all that an attempt has counted."""
        known = self._known.get(key, {})
        add_counts(
            self._changes, {name: counts.get(name, 0) - known.get(name, 0) for name in {*counts, *known}}
        )
        self._known[key] = dict(counts)

    def _ask(self) -> None:
        """Ask the board for counts, and say what is to stop, without waiting for the answer."""
        if self._asked is not None and self._ray.wait([self._asked], timeout=0)[0]:
            with contextlib.suppress(self._ray.exceptions.RayError):  # a board that was lost
                under_way = set(self._under_way.values())
                for key, counts in self._ray.get(self._asked).items():
                    if key in under_way:
                        self._count(key, counts)
            self._asked = None
        if self._asked is None and self._tasks and time.monotonic() - self._asked_at >= _REPORT_SECONDS:
            self._asked_at = time.monotonic()
            self._asked = self._board.look.remote(self._name, self._limit)

    def counts(self) -> Mapping[str, float]:
        counts, self._changes = self._changes, {}
        return counts

    def stop_after(self, number: int) -> None:
        self._limit = min(self._limit, number + 1)
        self._asked_at = 0.0

    def close(self) -> None:
        self._limit = 0
        self._waiting.clear()
        begun = time.monotonic()
        while self._under_way and time.monotonic() - begun < _KILL_SECONDS:
            self._asked_at = min(self._asked_at, begun)
            self._ask()
            for ref in self._ray.wait(list(self._under_way), timeout=TICK_SECONDS)[0]:
                del self._under_way[ref]
            if time.monotonic() - begun > _STOP_SECONDS:
                self._cancel(force=False)
        self._cancel(force=True)
        self._under_way.clear()

    def _cancel(self, *, force: bool) -> None:
        for ref in self._under_way:
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.cancel(ref, force=force)
        if force and self._under_way:
            self._ray.wait(list(self._under_way), num_returns=len(self._under_way), timeout=_STOP_SECONDS)


class _Board:
    """What tasks have counted, and what is to stop, by run: an actor."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[_Key, dict[str, float]]] = {}
        self._limits: dict[str, int] = {}

    def report(self, key: _Key, counts: dict[str, float]) -> bool:
        """Note what an attempt has counted so far; return whether it is to stop."""
        run, number, _ = key
        if counts:
            self._counts.setdefault(run, {})[key] = counts
        return number >= self._limits.get(run, number + 1)

    def look(self, run: str, limit: int) -> dict[_Key, dict[str, float]]:
        """Say what is to stop of a run; return what attempts have counted since the last time, each all of it."""
        self._limits[run] = limit
        return self._counts.pop(run, {})


class _BoardControl:
    """What an attempt has in a worker of Ray's."""

    def __init__(self, ray: Any, board: Any, key: _Key) -> None:
        self._ray, self._board, self._key = ray, board, key
        self._stopped = False
        self._answer: Any = None
        self._reported = 0.0
        self.counts: dict[str, float] = {}

    def ask(self) -> None:
        """Find out, before the task begins, whether it is to stop."""
        errors = self._ray.exceptions.RayError, self._ray.exceptions.GetTimeoutError
        with contextlib.suppress(*errors):
            self._stopped = self._ray.get(self._board.report.remote(self._key, {}), timeout=_ASK_SECONDS)

    def check(self) -> None:
        self._exchange()
        if self._stopped:
            raise CancelledError("The job was stopped.")

    def count(self, counts: Mapping[str, float]) -> None:
        add_counts(self.counts, counts)
        self._exchange()

    def _exchange(self) -> None:
        """Report, and take the answer to the last report, some times a second."""
        if time.monotonic() - self._reported < _REPORT_SECONDS:
            return
        if self._answer is not None:
            if not self._ray.wait([self._answer], timeout=0)[0]:
                return
            with contextlib.suppress(self._ray.exceptions.RayError):  # a board that was lost is made anew
                self._stopped = self._ray.get(self._answer)
        self._reported = time.monotonic()
        self._answer = self._board.report.remote(self._key, dict(self.counts))


def _attempt(key: _Key, packed: bytes, board: Any, folder: str) -> tuple[bytes, dict[str, float]]:
    """Make one attempt at a task, in a worker of Ray's, which is in another folder than who has sent it."""
    control = _BoardControl(require("ray", _WHAT), board, key)
    control.ask()
    here = folder if os.path.isdir(folder) else "."  # not on this machine: then its paths are not, either
    with contextlib.chdir(here):
        return run_packed(key[1], packed, control), control.counts
