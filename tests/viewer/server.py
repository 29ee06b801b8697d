"""A viewer's server on the loopback address, and a client that may say anything to it."""

from __future__ import annotations

import contextlib
import http.client
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, urlencode

import tfrkit
from tfrkit import _core
from tfrkit.records.read.decoded_message import MessageType
from tfrkit.viewer.serve import Listener, listen, running
from tfrkit.viewer.session import Session


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(slots=True)
class Client:
    """Asks one server."""

    listener: Listener
    session: Session
    cookie: str = ""

    @property
    def host(self) -> str:
        """What the Host header says."""
        return f"127.0.0.1:{self.listener.gate.port}"

    def send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: str | None = None
    ) -> Reply:
        """Send a request with just these headers, and Host if it is not among them."""
        connection = http.client.HTTPConnection("127.0.0.1", self.listener.gate.port, timeout=30)
        with contextlib.closing(connection):
            given = {"Host": self.host, **(headers or {})}
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(None if body is None else body.encode())
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())

    def enter(self) -> None:
        """Exchange the token for the cookie."""
        reply = self.send("GET", f"/?token={self.listener.gate.token}")
        assert reply.status == 303, reply
        self.cookie = reply.headers["Set-Cookie"].partition(";")[0]

    def get(self, path: str, **parameters: Any) -> Reply:
        """Ask as the page does."""
        query = f"?{urlencode(parameters, quote_via=quote)}" if parameters else ""
        return self.send("GET", path + query, {"Cookie": self.cookie})

    def json(self, path: str, **parameters: Any) -> Any:
        """Ask as the page does, and expect an answer."""
        reply = self.get(path, **parameters)
        assert reply.status == 200, reply.body
        return reply.json


@contextlib.contextmanager
def client_of(
    paths: Sequence[str | Path],
    compare: Sequence[str | Path] | None = None,
    message: MessageType | None = None,
) -> Iterator[Client]:
    """Serve files, and give a client that may enter."""
    listener = listen()
    others = [str(path) for path in compare] if compare else None
    session = Session([str(path) for path in paths], others, message)
    with running(session, listener) as server:
        thread = Thread(target=server.run, args=([listener.socket],), daemon=True)
        thread.start()
        try:
            client = Client(listener, session)
            client.enter()
            yield client
        finally:
            server.should_exit = True
            thread.join(20)
    assert not thread.is_alive()


def write_examples(path: Path, examples: Sequence[Mapping[str, Any]]) -> Path:
    """Write Examples."""
    with tfrkit.TFRecordWriter(path) as writer:
        for example in examples:
            writer.write(tfrkit.make_example(dict(example)).SerializeToString())
    return path


def frame(payload: bytes) -> bytes:
    """Return the frame of a record."""
    head = struct.pack("<Q", len(payload))
    return (
        head
        + struct.pack("<I", _core.crc32c_masked(head))
        + payload
        + struct.pack("<I", _core.crc32c_masked(payload))
    )
