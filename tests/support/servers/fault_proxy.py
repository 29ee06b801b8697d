"""A proxy that does to HTTP what networks and servers do on a bad day: slow, cut, short, silent, overloaded.

It runs in a process of its own (proxy_process.py), so that its work does not take the interpreter from the code that is
tested or measured.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from tests.support.servers.process import HOST

Kind = Literal[
    "delay",  # wait for `seconds` before the request is passed on
    "error",  # answer with `status`, and with Retry-After if `retry_after` is given; the request is not passed on
    "cut",  # reset the connection at a random byte of the answer's body; an answer without a body is lost
    "short",  # close it orderly there: Content-Length says more than comes
    "shrunk",  # send a part of the body and say so in Content-Length, though Content-Range names all that was asked for
    "shrunk_range",  # the same, with Content-Range naming the part
    "stall",  # send a part of the body, then nothing more
    "black_hole",  # never answer
    "cut_upload",  # reset the connection at a random byte of the request's body
    "refuse",  # reset a connection as soon as it is there; `methods` and `path` mean nothing
]


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to which requests. At most one fault happens to a request, the first that is due; delays add up.

    Attributes:
        kind: What happens.
        every: To every how many-th of the requests that match; 1 is all of them.
        limit: How many times at most; None is for ever. `every=1, limit=2`: the first two.
        methods: Only to requests with these methods; empty is all.
        path: Only to requests whose path and query contain this.
        seconds: Of a delay.
        status: Of an error.
        retry_after: What the header Retry-After of an error says.
        seed: Of the random bytes at which bodies end.
    """

    kind: Kind
    every: int = 1
    limit: int | None = None
    methods: tuple[str, ...] = ()
    path: str = ""
    seconds: float = 0.0
    status: int = 503
    retry_after: str | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Relayed:
    """One request that came by; `status` is 0 and `fault` says why if there was no answer."""

    method: str
    target: str
    range: str | None
    status: int
    fault: str


class FaultProxy:
    """A proxy in front of the server at a port, faultless until `set` is called.

    Attributes:
        port: Where it listens.
        endpoint: The same, as a URL; for AzureStore with `/devstoreaccount1` behind it.
    """

    def __init__(self, upstream: int, *faults: Fault) -> None:
        self._lock = threading.Lock()
        script = Path(__file__).with_name("proxy_process.py")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script), str(upstream)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.endpoint = f"http://{HOST}:{self.port}"
        self.set(*faults)

    def set(self, *faults: Fault) -> None:
        """Put these faults, and no others, into force; every one counts from the next request on."""
        self._ask(do="set", faults=[dataclasses.asdict(fault) for fault in faults])

    def counts(self) -> Counter[str]:
        """Return how many connections, requests of each method, faults of each kind and bytes there were."""
        return Counter(self._ask(do="report")["counts"])

    def requests(self, *, clear: bool = False) -> list[Relayed]:
        """Return the requests so far, in the order of their answers; with `clear`, forget them and the counts."""
        return [Relayed(*request) for request in self._ask(do="clear" if clear else "report")["requests"]]

    def stop(self) -> None:
        """End the proxy and all its connections."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _ask(self, **command: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the fault proxy has ended with status {self._process.wait(10)}")
        return json.loads(answer)
