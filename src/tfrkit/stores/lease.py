"""Lease: a lock in a store that has none, as a small object that its holder renews.

The object is made only if it is absent, and replaced only at the version that was seen, so that of several processes
one wins. The object of a process that dies stays: on the same machine that is seen at once, elsewhere by an object
that is not renewed for some seconds. Clocks of different machines are never compared. A holder that was suspended for
longer finds out at `check`, which everything that must not be done twice calls first. A lease that is released stays as
an object that says so: removing has no condition, so that a late request could remove the lease of the next holder.

Where a store cannot make a name only if it is absent, the object is read again some time after it was written, and the
last writer wins: two processes that begin at the same moment are told apart unless a request takes longer than that.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tfrkit.errors import AbortedError, OpError
from tfrkit.stores.files import read_version, traits_of, write_bytes
from tfrkit.stores.files import remove as remove_file
from tfrkit.stores.json_file import json_line, parse_json
from tfrkit.stores.store import ABSENT
from tfrkit.threads import exiting, spawn

__all__ = ["Lease", "held"]

RENEW_SECONDS: Final = 4.0
STALE_SECONDS: Final = 20.0  # without a renewal: the holder is dead
STUCK_SECONDS: Final = 120.0  # the same of a process that is still there, on this machine
SETTLE_SECONDS: Final = 1.0  # where two may believe to be first
POLL_SECONDS: Final = 0.5
_SLICE_SECONDS: Final = 0.25
_CLOCK: Final = getattr(
    time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC
)  # which runs on while the machine sleeps
_held: set[str] = set()  # tokens of what this process holds or is about to
_blocks: dict[tuple[int, int, str], Lease] = {}  # of `held`, by process, thread and path


class Lease:
    """A lock named by a path. Not for several threads at once; `check` is thread-safe.

    In a forked process it is not held: `release` does nothing there.

    Args:
        path: of the object.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._token = secrets.token_hex(8)
        self._version = ABSENT  # while it is not held
        self._count = 0
        self._renewed = 0.0
        self._lost = False
        self._process = os.getpid()
        self._stop = threading.Event()
        self._lock = threading.Lock()  # round requests of the holder

    def acquire(self, *, wait: bool) -> bool:
        """Take it; see whether a holder is alive if there is one, which may take some seconds.

        Args:
            wait: wait for a holder that is alive.

        Returns:
            Whether it was taken; False only if another process holds it and `wait` is not set.

        Raises:
            OpError: the store's reason; it is not held then.
        """
        self._process = os.getpid()
        _held.add(self._token)
        try:
            version = self._take(wait=wait)
            if version is None:
                _held.discard(self._token)
                return False
            self._version, self._lost, self._renewed = version, False, _now()
            self._stop = threading.Event()
            spawn(self._keep, self._stop, threading.get_ident())
        except BaseException:
            self._abandon()
            raise
        return True

    def is_held(self) -> bool:
        """Tell whether a process holds it, and change nothing; one elsewhere is watched until it renews it."""
        first, since = read_version(self.path), _now()
        if first is None or _is_free(_parse(first[0])):
            return False
        if _is_here(_parse(first[0])):
            return True
        while _now() - since <= STALE_SECONDS:
            now = read_version(self.path)
            if now is None or now[0] != first[0]:
                return now is not None and not _is_free(_parse(now[0]))
            time.sleep(POLL_SECONDS)
        return False

    def check(self) -> None:
        """Make sure that it is still held.

        Raises:
            AbortedError: it was not renewed in time, and another process has taken it.
            OpError: it is to be renewed, and the store does not answer.
        """
        if self._process != os.getpid():
            return
        if not self._lost and _now() - self._renewed > STALE_SECONDS / 2:
            with self._lock:  # the thread that renews may not have run since
                if self._version != ABSENT and not self._lost:
                    self._renew()
        if self._lost:
            raise AbortedError(
                f"{self.path}; this process was suspended, or cut off from the store, for so long that another one has "
                "taken its work over. Nothing more is written; let the other one finish.",
                path=self.path,
            )

    def release(self, *, remove: bool = False) -> None:
        """Let go of it; one that was lost is left to its new holder. A store that does not answer is no error.

        Args:
            remove: leave no object. Only for what nobody will want again: see above.
        """
        if self._process != os.getpid():
            return
        self._stop.set()
        with self._lock, contextlib.suppress(OpError):  # it goes stale by itself
            if self._version != ABSENT and not self._lost:
                self._renew(free=not remove)
                if remove and not self._lost:
                    remove_file(self.path)
        self._version = ABSENT
        _held.discard(self._token)

    def _take(self, *, wait: bool) -> str | None:
        """Write the object once it may be; return its version, None if another holds it."""
        seen, since = b"", _now()
        while True:
            found, version = read_version(self.path), None
            if found is None:
                version = self._write(ABSENT)
            else:
                content, current = found
                holder = _parse(content)
                if content != seen and not _is_free(holder):
                    if seen and not wait:
                        return None  # renewed, or taken by another
                    seen, since = content, _now()
                here = _is_here(holder)
                if _is_free(holder) or _now() - since > (STUCK_SECONDS if here else STALE_SECONDS):
                    version = self._write(current)
                elif here and not wait:
                    return None
            if version is not None:
                return version
            time.sleep(POLL_SECONDS)

    def _write(self, expected: str) -> str | None:
        """Take the place of a version; return the new one, None if another came first."""
        version = write_bytes(self.path, self._content(), expected=expected)
        if version is None or traits_of(self.path).atomic_create:
            return version
        time.sleep(SETTLE_SECONDS)
        return self._own()

    def _own(self) -> str | None:
        """Return the version of the object if this is its holder."""
        found = read_version(self.path)
        return found[1] if found is not None and _parse(found[0]).get("token") == self._token else None

    def _renew(self, *, free: bool = False) -> None:
        """Write it again, or find out that it is another's; the caller has the lock."""
        version: str | None = self._version
        if not traits_of(self.path).atomic_create:
            version = self._own()
        if version is not None:
            version = write_bytes(self.path, self._content(free), expected=version)
        if version is None and (version := self._own()) is not None:  # an attempt whose answer was lost
            version = write_bytes(self.path, self._content(free), expected=version)
        if version is None:
            self._lost = True
        else:
            self._version, self._renewed = version, _now()

    def _keep(self, stop: threading.Event, owner: int) -> None:
        """Renew it at intervals, in a thread of its own; where no thread can be started, `check` does."""
        while threading.get_ident() != owner:
            due = _now() + RENEW_SECONDS
            while _now() < due:
                if stop.wait(min(_SLICE_SECONDS, RENEW_SECONDS)) or exiting():
                    return
            with self._lock:
                if stop.is_set() or self._lost:
                    return
                with contextlib.suppress(OpError):  # the store may answer again
                    self._renew()

    def _abandon(self) -> None:
        """After an interruption: let go of what may have been taken."""
        _held.discard(self._token)
        self._stop.set()
        self._version = ABSENT
        with contextlib.suppress(OpError):
            if (version := self._own()) is not None:
                write_bytes(self.path, self._content(free=True), expected=version)

    def _content(self, free: bool = False) -> bytes:
        self._count += 1
        holder = {"free": True} if free else _identity()
        return json_line({"token": self._token, "count": self._count, **holder})


@contextlib.contextmanager
def held(path: str) -> Iterator[Callable[[], None]]:
    """Hold a lease during a block, waiting for it; yields its `check`."""
    mine = (os.getpid(), threading.get_ident(), path)
    if (left := _blocks.pop(mine, None)) is not None:
        left.release()  # Ctrl-C came when it was held and the block had not begun, or had ended
    lease = _blocks[mine] = Lease(path)
    lease.acquire(wait=True)
    try:
        yield lease.check
    finally:
        lease.release()
        _blocks.pop(mine, None)


def _now() -> float:
    return time.clock_gettime(_CLOCK)


def _parse(content: bytes) -> dict[str, Any]:
    """Return what the object says of its holder; nothing if it cannot be read. Pure: no I/O."""
    try:
        found = parse_json(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _identity() -> dict[str, Any]:
    """Return what tells this process from all others on this machine; nothing where that cannot be known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
        space = os.stat("/proc/self/ns/pid").st_ino
        began = _began(os.getpid())
    except (OSError, IndexError, ValueError):
        return {}
    machine = hashlib.blake2b(boot + b"%d" % space, digest_size=8).hexdigest()  # no name of a machine is kept
    return {"machine": machine, "process": os.getpid(), "began": began}


def _began(process: int) -> int:
    """Return when a process began, in ticks since the machine's start.

    Raises:
        FileNotFoundError: it has ended, also if its parent has not asked for its end yet.
    """
    text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    fields = text.rpartition(")")[2].split()
    if fields[0] in "ZX":
        raise FileNotFoundError(process)
    return int(fields[19])


def _is_here(holder: dict[str, Any]) -> bool:
    machine = _identity().get("machine")
    return machine is not None and holder.get("machine") == machine


def _is_free(holder: dict[str, Any]) -> bool:
    """Tell whether nobody holds it any more.

    Either that is what it says, or its holder was a process of this machine that has ended, or this one and has
    forgotten it.
    """
    process = holder.get("process")
    if holder.get("free") is True:
        return True
    if not _is_here(holder) or not isinstance(process, int):
        return False
    try:
        if _began(process) != holder.get("began"):
            return True
    except (FileNotFoundError, ProcessLookupError):
        return True
    except (OSError, IndexError, ValueError):
        return False
    return process == os.getpid() and holder.get("token") not in _held
