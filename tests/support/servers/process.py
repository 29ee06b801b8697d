"""A server in a process of its own: ports, readiness, and an end that nothing can prevent.

The server is started by a keeper, a tiny process that waits on a pipe whose other end is held here. When this process
closes the pipe, or ends in any way (also by SIGKILL), the keeper kills the server and removes its files. Knows no
protocol.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

HOST = "127.0.0.1"
READY_SECONDS = 60.0  # a busy machine: on a quiet one every server here is up within four seconds
STOP_SECONDS = 10.0
LOG_TAIL = 4000

# Each process begins elsewhere: two that start servers at the same time do not choose the same ports.
CANDIDATES = itertools.cycle([10_000 + (os.getpid() * 37 + step) % 20_000 for step in range(20_000)])

# The keeper, as text for `python -c`: it must start quickly, so it imports next to nothing. The server is the leader of
# a new session: it does not see the terminal's interrupt, and its children are killed with it.
KEEPER = """
import ctypes, os, select, shutil, signal, subprocess, sys
files, command = sys.argv[1].split(os.pathsep), sys.argv[2:]
signal.signal(signal.SIGINT, signal.SIG_IGN)
prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux: a server whose keeper is killed gets SIGKILL
server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                          preexec_fn=(lambda: prctl(1, 9)) if prctl else None)
while server.poll() is None:
    if select.select([0], [], [], 0.2)[0]:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        for path in files:
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            elif os.path.exists(path):
                os.unlink(path)
        sys.exit(0)
sys.exit(server.returncode & 0xFF)
"""


def free_ports(count: int) -> list[int]:
    """Return `count` different ports that nothing listens on, and none twice in a while.

    They are below the range from which the system gives ports to outgoing connections, so that no client of another
    test can take one before the server does.
    """
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        for port in itertools.islice(CANDIDATES, 20_000):
            held = stack.enter_context(socket.socket())
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                held.bind((HOST, port))
            except OSError:
                continue
            ports.append(port)
            if len(ports) == count:
                return ports
    raise RuntimeError(f"fewer than {count} free ports between 10000 and 30000")


class ServerProcess:
    """One running server with a folder of its own, which is removed when it stops.

    Attributes:
        folder: For its data, its settings and its log; in memory where TMPDIR is.
        leftovers: Files that it makes elsewhere, to be removed too.
    """

    def __init__(self, name: str, leftovers: Sequence[str] = ()) -> None:
        self.name = name
        self.leftovers = leftovers
        self.folder = Path(tempfile.mkdtemp(prefix=f"tfrkit-{name}-"))
        self._keeper: subprocess.Popen[bytes] | None = None

    def start(
        self,
        command: Sequence[str | os.PathLike[str]],
        ready: Callable[[], bool],
        *,
        environment: Mapping[str, str] | None = None,
        seconds: float = READY_SECONDS,
    ) -> None:
        """Start it and wait until `ready()`, which may raise OSError as long as nothing listens.

        Raises:
            RuntimeError: It ended or was not ready in time; with the end of its log.
        """
        files = [str(self.folder), *self.leftovers]
        with (self.folder / "log").open("wb") as log:
            self._keeper = subprocess.Popen(
                [sys.executable, "-S", "-E", "-c", KEEPER, os.pathsep.join(files), *map(os.fspath, command)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, "TMPDIR": str(self.folder), **(environment or {})},
                start_new_session=True,
            )
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if ready():
                    return
            if self._keeper.poll() is not None:
                raise self._failed(f"ended with status {self._keeper.returncode}")
            time.sleep(0.05)
        raise self._failed(f"was not ready within {seconds:.0f} s")

    @property
    def log(self) -> str:
        """The end of what the server printed."""
        path = self.folder / "log"
        return path.read_text("utf-8", "replace")[-LOG_TAIL:] if path.exists() else ""

    def stop(self) -> None:
        """Kill the server, wait for its end and remove its folder; harmless if it has ended."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            assert keeper.stdin is not None
            with contextlib.suppress(OSError):  # a byte, as a forked process may hold the pipe open
                keeper.stdin.write(b"q")
                keeper.stdin.close()
            try:
                keeper.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(keeper.pid, signal.SIGKILL)
                keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _failed(self, how: str) -> RuntimeError:
        log = self.log
        self.stop()
        return RuntimeError(f"the server {self.name!r} {how}. The end of its log:\n{log}")


class Server:
    """What all servers share: a process, which ends with the block or with `stop`."""

    _process: ServerProcess

    @property
    def log(self) -> str:
        """The end of what the server printed."""
        return self._process.log

    def stop(self) -> None:
        """Kill the server and remove its data."""
        self._process.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
