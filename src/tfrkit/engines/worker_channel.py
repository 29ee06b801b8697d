"""What workers on other machines say to the coordinator while they run, and hear from it: counts, and to stop.

Engines whose clusters report a task only when it has ended use it. A worker connects, shows the secret that came with
its task, and sends lines of JSON with all that its attempt has counted; a byte from the coordinator, or the end of the
connection, means stop. Without a connection, as behind a firewall, tasks run all the same and count when they end.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tfrkit.engines.engine import TICK_SECONDS, Control
from tfrkit.errors import CancelledError

__all__ = ["ChannelAddress", "CoordinatorChannel", "WorkerControl"]

_REPORT_SECONDS: Final = 0.1
_CONNECT_SECONDS: Final = 5.0
_GRACE_SECONDS: Final = 10.0  # that a worker may take to stop before its engine is asked to end it
_ARRIVAL_SECONDS: Final = (
    1.0  # in which a worker that has begun is heard of, before the engine ends what may wait
)
_LINE_BYTES: Final = 64 << 10
_FIRST_BYTES: Final = 200  # of the line with the secret


@dataclass(frozen=True, slots=True)
class ChannelAddress:
    """Where the coordinator listens, and what shows that a worker is its own. Plain data that pickles."""

    host: str
    port: int
    secret: str = field(repr=False)


@dataclass(slots=True)
class _Watched:
    """A task that is somewhere: what it has counted so far, and whether it was told to stop."""

    control: Control
    cancel: Callable[[], None]
    reported: dict[str, float] = field(default_factory=dict)
    workers: list[socket.socket] = field(default_factory=list)
    stopped: float | None = None
    cancelled: bool = False


class CoordinatorChannel:
    """The coordinator's end. Tasks are watched from any thread; one thread of its own listens."""

    def __init__(self, host: str, bind: str | None = None) -> None:
        self._server = socket.create_server((bind or host, 0), family=_family(bind or host))
        self._server.setblocking(False)
        self.address = ChannelAddress(host, self._server.getsockname()[1], secrets.token_hex(16))
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._server, selectors.EVENT_READ)
        self._received: dict[socket.socket, bytes] = {}
        self._numbers: dict[socket.socket, int] = {}  # of those that have shown the secret
        self._watched: dict[int, _Watched] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._listen, name="tfrkit-channel", daemon=True)
        self._thread.start()

    def watch(self, number: int, control: Control, cancel: Callable[[], None]) -> None:
        """Pass on what workers count for a task, and stop them when it is to stop.

        Args:
            number: of the task.
            control: takes the counts, and says when to stop.
            cancel: makes the cluster end the task, if no worker listens.
        """
        with self._lock:
            self._watched[number] = _Watched(control, cancel)

    def finish(self, number: int, counts: Mapping[str, float] | None) -> None:
        """Note that a task has ended, and what the attempt has counted that was successful; None: nothing counts."""
        with self._lock:
            watched = self._watched.pop(number)
            _settle(watched, counts or {})

    def close(self) -> None:
        """Stop listening; workers that are still there stop."""
        self._closed = True
        self._thread.join()

    def _listen(self) -> None:
        try:
            while not self._closed:
                for key, _ in self._selector.select(TICK_SECONDS):
                    if key.fileobj is self._server:
                        self._accept()
                    else:
                        self._receive(key.fileobj)  # type: ignore[arg-type]  # sockets alone are registered
                self._stop_some()
        finally:
            for worker in list(self._received):
                self._drop(worker)
            self._selector.close()
            self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            worker, _ = self._server.accept()
            worker.setblocking(False)
            self._received[worker] = b""
            self._selector.register(worker, selectors.EVENT_READ)

    def _receive(self, worker: socket.socket) -> None:
        try:
            data = worker.recv(_LINE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *lines, rest = (self._received[worker] + data).split(b"\n")
        self._received[worker] = rest
        if not data or len(rest) > _LINE_BYTES or not all(self._take(worker, line) for line in lines):
            self._drop(worker)

    def _take(self, worker: socket.socket, line: bytes) -> bool:
        """Take a line; return whether it is as it should be."""
        try:
            if worker not in self._numbers and len(line) > _FIRST_BYTES:
                return False
            message: Any = json.loads(line)
            if worker not in self._numbers:
                number, secret = message
                if not hmac.compare_digest(str(secret).encode(), self.address.secret.encode()):
                    return False
                self._numbers[worker] = int(number)
                with self._lock:
                    if (watched := self._watched.get(self._numbers[worker])) is not None:
                        watched.workers.append(worker)
                        watched.stopped = None
                return watched is not None
            counts = {str(name): float(value) for name, value in message.items()}
        except (ValueError, TypeError, AttributeError, RecursionError):
            return False
        with self._lock:
            if (watched := self._watched.get(self._numbers[worker])) is not None:
                _settle(watched, counts)
        return True

    def _drop(self, worker: socket.socket) -> None:
        self._selector.unregister(worker)
        self._received.pop(worker)
        number = self._numbers.pop(worker, None)
        worker.close()
        with self._lock:
            watched = None if number is None else self._watched.get(number)
            if watched is not None and worker in watched.workers:
                watched.workers.remove(worker)

    def _stop_some(self) -> None:
        with self._lock:
            stopped = [watched for watched in self._watched.values() if _is_stopped(watched.control)]
            calls = [watched.cancel for watched in stopped if self._tell(watched)]
        for call in calls:  # may take a while
            with contextlib.suppress(Exception):  # the cluster may have ended; other tasks still report
                call()

    def _tell(self, watched: _Watched) -> bool:
        """Tell the workers of a task to stop; return whether the cluster has to end it."""
        now = time.monotonic()
        if watched.stopped is None:
            watched.stopped = now
            for worker in watched.workers:
                with contextlib.suppress(OSError):
                    worker.send(b"s")
        late = now - watched.stopped > (_GRACE_SECONDS if watched.workers else _ARRIVAL_SECONDS)
        if watched.cancelled or not late:
            return False
        watched.cancelled = True
        return True


def _settle(watched: _Watched, counts: Mapping[str, float]) -> None:
    """Make what was counted for a task what its latest attempt says."""
    names = watched.reported.keys() | counts.keys()
    more = {name: counts.get(name, 0) - watched.reported.get(name, 0) for name in names}
    if any(more.values()):
        watched.control.count(more)
    watched.reported = dict(counts)


def _is_stopped(control: Control) -> bool:
    try:
        control.check()
    except CancelledError:
        return True
    return False


def _family(host: str) -> socket.AddressFamily:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return found[0][0]


class WorkerControl:
    """The worker's end: what a task has while it runs."""

    def __init__(self, address: ChannelAddress | None, number: int) -> None:
        self.totals: dict[str, float] = {}
        self._socket = None if address is None else _connect(address, number)
        self._reported = time.monotonic()
        self._pid = os.getpid()

    def check(self) -> None:
        if self._socket is None:
            return
        try:
            self._socket.recv(1)
        except BlockingIOError:
            return
        except OSError:
            pass
        raise CancelledError("The job was stopped.")

    def count(self, counts: Mapping[str, float]) -> None:
        for name, number in counts.items():
            self.totals[name] = self.totals.get(name, 0) + number
        if self._socket is not None and time.monotonic() - self._reported >= _REPORT_SECONDS:
            self._reported = time.monotonic()
            with contextlib.suppress(OSError):  # `check` notices
                self._socket.send(json.dumps(self.totals).encode() + b"\n")

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def _connect(address: ChannelAddress, number: int) -> socket.socket | None:
    try:
        made = socket.create_connection((address.host, address.port), _CONNECT_SECONDS)
        made.sendall(json.dumps([number, address.secret]).encode() + b"\n")
        made.setblocking(False)
    except OSError:
        return None
    return made
