"""The process of a fault proxy: `python proxy_process.py UPSTREAM_PORT`. Use it by `fault_proxy.FaultProxy`.

A thread per connection relays requests and answers between a client and the server at UPSTREAM_PORT, headers unchanged,
as Host is part of S3's signature. Commands come as lines of JSON by standard input, and each is answered by one line;
the first line says the port. The process ends when standard input does. Imports the standard library only, to start
quickly.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import socket
import struct
import sys
import threading
import time
from collections import Counter
from typing import Any

HOST = "127.0.0.1"
BUFFER = 1 << 18
PIPE = 1 << 20
HEAD_LIMIT = 1 << 20
NO_BODY = {204, 304}
REASONS = {429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable"}


class GoneError(Exception):
    """One of the two sides has hung up, or a fault has ended the connection."""


class Rules:
    """The faults in force, and what has been done so far. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[dict[str, Any]] = []
        self.counts: Counter[str] = Counter()
        self.requests: list[tuple[str, str, str | None, int, str]] = []

    def replace(self, faults: list[dict[str, Any]]) -> None:
        """Put other faults into force, counted from the next request on."""
        rules = [{**fault, "seen": 0, "done": 0, "random": random.Random(fault["seed"])} for fault in faults]
        with self._lock:
            self._rules = rules

    def choose(self, method: str, target: str) -> tuple[float, dict[str, Any] | None]:
        """Return by how many seconds to delay this request, and which fault happens to it, with its random number."""
        delay, chosen = 0.0, None
        with self._lock:
            for rule in self._rules:
                if (method == "CONNECT") != (rule["kind"] == "refuse"):
                    continue
                if method != "CONNECT" and rule["methods"] and method not in rule["methods"]:
                    continue
                if rule["path"] not in target:
                    continue
                rule["seen"] += 1
                due = rule["seen"] % rule["every"] == 0 and (
                    rule["limit"] is None or rule["done"] < rule["limit"]
                )
                if not due or (chosen is not None and rule["kind"] != "delay"):
                    continue
                rule["done"] += 1
                if rule["kind"] == "delay":
                    delay += rule["seconds"]
                else:
                    chosen = {**rule, "at": rule["random"].random()}
        return delay, chosen

    def count(self, name: str, by: int = 1) -> None:
        """Add to one of the counters."""
        with self._lock:
            self.counts[name] += by

    def record(self, head: Head, status: int, fault: str) -> None:
        """Note a request and how it was answered; status 0 is no answer."""
        with self._lock:
            self.counts[head.method] += 1
            if fault:
                self.counts[fault] += 1
            self.requests.append((head.method, head.target, head.fields.get("range"), status, fault))

    def report(self, *, clear: bool) -> dict[str, Any]:
        """Return the counters and requests since the last call with `clear`."""
        with self._lock:
            answer = {"counts": dict(self.counts), "requests": self.requests}
            if clear:
                self.counts, self.requests = Counter(), []
            return answer


class Pipe:
    """Moves bytes between two sockets: within the kernel where that can be done, which halves the work."""

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(BUFFER))
        self.ends: tuple[int, int] | None = None
        if hasattr(os, "splice"):
            self.ends = os.pipe()
            with contextlib.suppress(OSError):  # a user may have too many of them
                fcntl.fcntl(self.ends[1], fcntl.F_SETPIPE_SZ, PIPE)

    def move(self, source: socket.socket, target: socket.socket | None, size: int) -> int:
        """Send at most `size` bytes that one socket receives to another, or drop them; 0 at the end."""
        if target is None or self.ends is None:
            count = source.recv_into(self.buffer, min(size, BUFFER))
            if target is not None:
                target.sendall(self.buffer[:count])
            return count
        count = left = os.splice(source.fileno(), self.ends[1], min(size, PIPE))
        while left:
            left -= os.splice(self.ends[0], target.fileno(), left)
        return count

    def close(self) -> None:
        """Close the pipe."""
        for end in self.ends or ():
            os.close(end)


class Side:
    """A socket with what was received from it too early."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connection
        self.early = b""

    def read_head(self) -> Head | None:
        """Read up to the empty line; None if there is nothing more to read."""
        while (end := self.early.find(b"\r\n\r\n")) < 0:
            data = self.socket.recv(BUFFER)
            if not data or len(self.early) > HEAD_LIMIT:
                if self.early:
                    raise GoneError
                return None
            self.early += data
        raw, self.early = self.early[: end + 4], self.early[end + 4 :]
        return Head(raw)

    def read_line(self) -> bytes:
        """Read up to the end of a line, which is included."""
        while (end := self.early.find(b"\n")) < 0:
            data = self.socket.recv(BUFFER)
            if not data:
                raise GoneError
            self.early += data
        line, self.early = self.early[: end + 1], self.early[end + 1 :]
        return line

    def copy(self, other: Side | None, size: int, pipe: Pipe) -> None:
        """Send the next `size` bytes to the other side; None drops them."""
        early, self.early = self.early[:size], self.early[size:]
        if early and other is not None:
            other.socket.sendall(early)
        size -= len(early)
        while size:
            count = pipe.move(self.socket, other.socket if other is not None else None, size)
            if not count:
                raise GoneError
            size -= count

    def read_chunked(self) -> bytes:
        """Read a body in chunks, as it is on the wire."""
        parts = []
        while True:
            parts.append(line := self.read_line())
            size = int(line.split(b";")[0], 16)
            while not size:  # trailers, up to an empty line
                parts.append(line := self.read_line())
                if not line.strip():
                    return b"".join(parts)
            while len(self.early) < size + 2:
                data = self.socket.recv(BUFFER)
                if not data:
                    raise GoneError
                self.early += data
            parts.append(self.early[: size + 2])
            self.early = self.early[size + 2 :]

    def read_all(self) -> bytes:
        """Read a body that the end of the connection ends."""
        parts, self.early = [self.early], b""
        while data := self.socket.recv(BUFFER):
            parts.append(data)
        return b"".join(parts)

    def hold(self) -> None:
        """Wait until the other end hangs up."""
        while self.socket.recv(BUFFER):
            pass
        raise GoneError

    def close(self, *, reset: bool = False) -> None:
        """Hang up, orderly or not."""
        with contextlib.suppress(OSError):
            if reset:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Head:
    """The first line and the fields of a request or an answer; names of fields are in lower case."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        first, *lines = raw.decode("latin-1").split("\r\n")[:-2]
        self.first = first.split(" ", 2)
        self.fields = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
        }

    @property
    def method(self) -> str:
        return self.first[0]

    @property
    def target(self) -> str:
        return self.first[1]

    @property
    def status(self) -> int:
        return int(self.first[1])

    @property
    def length(self) -> int | None:
        value = self.fields.get("content-length")
        return None if value is None else int(value)

    @property
    def chunked(self) -> bool:
        return "chunked" in self.fields.get("transfer-encoding", "").lower()

    @property
    def last(self) -> bool:
        """Whether the connection ends after this answer."""
        return self.first[0] == "HTTP/1.0" or self.fields.get("connection", "").lower() == "close"

    def with_field(self, name: str, value: str) -> bytes:
        """Return the bytes with another value of one field."""
        lines = self.raw.split(b"\r\n")
        prefix = name.lower().encode() + b":"
        return b"\r\n".join(
            f"{name}: {value}".encode() if line.lower().startswith(prefix) else line for line in lines
        )


class Connection:
    """One client's connection, and the one to the server that belongs to it."""

    def __init__(self, client: socket.socket, upstream: int, rules: Rules) -> None:
        self.client = Side(client)
        self.server: Side | None = None
        self.upstream = upstream
        self.rules = rules
        self.pipe = Pipe()

    def run(self) -> None:
        """Relay until one side hangs up."""
        with contextlib.suppress(OSError, GoneError):
            while head := self.client.read_head():
                self.serve(head)
        self.client.close()
        if self.server is not None:
            self.server.close()
        self.pipe.close()

    def serve(self, head: Head) -> None:
        """Relay one request and its answer, or do to it what the rules say."""
        delay, fault = self.rules.choose(head.method, head.target)
        kind = fault["kind"] if fault else ""
        if delay:
            time.sleep(delay)
        if kind == "black_hole":
            self.rules.record(head, 0, kind)
            self.client.hold()
        if fault and kind == "error":
            self.pass_body(head, None)
            self.rules.record(head, fault["status"], kind)
            return self.client.socket.sendall(error_answer(fault))
        if self.server is None:
            self.server = Side(socket.create_connection((HOST, self.upstream)))
        self.server.socket.sendall(head.raw)
        if fault and kind == "cut_upload":
            return self.cut_upload(head, fault["at"])
        self.pass_body(head, self.server)
        answer = self.server.read_head()
        while answer is not None and answer.status == 100:
            answer = self.server.read_head()
        if answer is None:
            raise GoneError
        self.rules.record(head, answer.status, kind)
        self.answer(head, answer, fault)
        if answer.last:
            raise GoneError
        return None

    def pass_body(self, head: Head, other: Side | None) -> None:
        """Relay the body of a request, or drop it."""
        if head.fields.get("expect"):
            self.client.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if head.chunked:
            body = self.client.read_chunked()
            if other is not None:
                other.socket.sendall(body)
            return
        self.client.copy(other, head.length or 0, self.pipe)
        self.rules.count("bytes_up", head.length or 0)

    def cut_upload(self, head: Head, at: float) -> None:
        """Relay a part of the body of a request, then reset both connections."""
        assert self.server is not None
        self.rules.record(head, 0, "cut_upload")
        self.client.copy(self.server, int((head.length or 0) * at), self.pipe)
        self.server.close(reset=True)
        self.client.close(reset=True)
        raise GoneError

    def answer(self, head: Head, answer: Head, fault: dict[str, Any] | None) -> None:
        """Relay an answer, whole or as the fault says."""
        assert self.server is not None
        empty = head.method == "HEAD" or answer.status in NO_BODY
        if empty or not (answer.chunked or answer.length is None):
            size = 0 if empty else (answer.length or 0)
            if fault is not None:
                return self.damage(answer, size, fault)
            self.client.socket.sendall(answer.raw)
            self.server.copy(self.client, size, self.pipe)
        else:
            body = self.server.read_chunked() if answer.chunked else self.server.read_all()
            size = len(body)
            if fault is not None:
                self.server.early = body
                return self.damage(answer, size, fault)
            self.client.socket.sendall(answer.raw + body)
            if not answer.chunked:
                raise GoneError
        self.rules.count("bytes_down", size)
        return None

    def damage(self, answer: Head, size: int, fault: dict[str, Any]) -> None:
        """Relay a part of an answer; an answer without a body is lost altogether."""
        assert self.server is not None
        kind, part = fault["kind"], int(size * fault["at"])
        if kind in ("shrunk", "shrunk_range") and answer.length:
            raw = answer.with_field("Content-Length", str(part))
            if kind == "shrunk_range" and (span := answer.fields.get("content-range")):
                start = int(span.split()[1].split("-")[0])
                value = f"bytes {start}-{max(start + part - 1, start)}/{span.split('/')[1]}"
                raw = Head(raw).with_field("Content-Range", value)
            self.client.socket.sendall(raw)
            self.server.copy(self.client, part, self.pipe)
            return self.server.copy(None, size - part, self.pipe)
        if size:
            self.client.socket.sendall(answer.raw)
            self.server.copy(self.client, part, self.pipe)
        self.rules.count("bytes_down", part)
        if kind == "stall":
            self.client.hold()
        self.client.close(reset=kind == "cut")
        raise GoneError


def error_answer(fault: dict[str, Any]) -> bytes:
    """Return the bytes of an answer that reports an error, in the form that S3 has."""
    status = fault["status"]
    body = (
        f"<?xml version='1.0'?><Error><Code>Fault{status}</Code><Message>by the fault proxy</Message></Error>"
    )
    lines = [
        f"HTTP/1.1 {status} {REASONS.get(status, 'Fault')}",
        "Content-Type: application/xml",
        f"Content-Length: {len(body)}",
    ]
    if fault["retry_after"] is not None:
        lines.append(f"Retry-After: {fault['retry_after']}")
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def accept(listener: socket.socket, upstream: int, rules: Rules) -> None:
    """Take connections for ever, a thread each."""
    while True:
        client, _ = listener.accept()
        rules.count("connections")
        if rules.choose("CONNECT", "")[1] is not None:
            rules.count("refuse")
            Side(client).close(reset=True)
            continue
        connection = Connection(client, upstream, rules)
        threading.Thread(target=connection.run, daemon=True).start()


def main() -> None:
    """Listen, say where, and do what standard input says until it ends."""
    rules = Rules()
    listener = socket.create_server((HOST, 0), backlog=512)
    threading.Thread(target=accept, args=(listener, int(sys.argv[1]), rules), daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "set":
            rules.replace(command["faults"])
            print("{}", flush=True)
        else:
            print(json.dumps(rules.report(clear=command["do"] == "clear")), flush=True)
    os._exit(0)  # whatever the connections are doing


if __name__ == "__main__":
    main()
