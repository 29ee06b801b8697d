"""serve: listen on an address, say which URL to open, and answer until the user ends it."""

from __future__ import annotations

import contextlib
import socket
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Any, Final
from urllib.parse import quote

from tfrkit.errors import from_os_error
from tfrkit.optional import require
from tfrkit.records.read.decoded_message import MessageType
from tfrkit.viewer.app import make_app
from tfrkit.viewer.jobs import Jobs
from tfrkit.viewer.security import Gate, allowed_hosts, is_loopback, is_wildcard
from tfrkit.viewer.session import Session

__all__ = ["Listener", "listen", "serve"]

_FEATURE: Final = "tfr view"
_CLOSE_SECONDS: Final = 2  # for requests that are under way when the server ends
_WAITING: Final = 128  # connections that are not accepted yet
LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that listens, and what may come through it.

    Attributes:
        socket: where connections come.
        host: the name to reach it by.
        gate: what requests need.
    """

    socket: socket.socket
    host: str
    gate: Gate

    def url(self, where: str | None = None) -> str:
        """Return what to open: the page with its secret, and a condition to begin with."""
        query = f"token={self.gate.token}" + (f"&where={quote(where, safe='')}" if where else "")
        return f"http://{self.host}:{self.gate.port}/?{query}"


def listen(host: str = LOOPBACK, port: int = 0) -> Listener:
    """Bind an address.

    Args:
        host: an address of this machine, or its name.
        port: 0 for any that is free.

    Raises:
        OpError: it cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol by name, asyncio sends answers at once: else each waits 40 ms for an acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(_WAITING)
    except OSError as error:
        bound.close()
        raise from_os_error(error, f"{host}:{port}") from error
    number = bound.getsockname()[1]
    gate = Gate(number, allowed_hosts(host, number), any_address=is_wildcard(host))
    shown = socket.gethostname() if is_wildcard(host) else f"[{host}]" if ":" in host else host
    return Listener(bound, shown, gate)


def serve(
    paths: Sequence[str],
    compare: Sequence[str] | None = None,
    *,
    class_names: Mapping[str, Sequence[str]] | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    open_browser: bool = True,
    where: str | None = None,
    message: MessageType | None = None,
    show: Callable[[str], object],
    warn: Callable[[str], object],
) -> None:
    """Show files in a browser until Ctrl-C.

    Args:
        paths: of files of records, local or remote.
        compare: others to compare with.
        class_names: what numbers stand for, by feature.
        host: the address to listen on. With any but the loopback address others on the network reach the viewer, with
            the printed URL, and what they see is not encrypted.
        port: 0 for any that is free.
        open_browser: open the page in the user's browser.
        where: a condition to begin with.
        message: which messages the records are, if they are not Examples.
        show: takes the address of the page, which has a secret.
        warn: takes a warning.

    Raises:
        MissingExtraError: starlette or uvicorn is not installed.
        OpError: the address cannot be bound.
    """
    require("starlette.applications", _FEATURE)
    require("uvicorn", _FEATURE)
    listener = listen(host, port)
    if not is_loopback(host):
        warn(
            f"warning: others on the network can reach {host}:{listener.gate.port}, and read along: nothing is "
            "encrypted. Who has the address below sees all files that it shows; give it to nobody else."
        )
    url = listener.url(where)
    show(url)
    if open_browser:
        Thread(target=_open_page, args=(url,), daemon=True).start()
    with (
        contextlib.suppress(KeyboardInterrupt),
        running(Session(paths, compare, message, class_names), listener) as server,
    ):
        server.run([listener.socket])


@contextlib.contextmanager
def running(session: Session, listener: Listener) -> Iterator[Any]:
    """Return the server for a session, which is closed in the end."""
    uvicorn = require("uvicorn", _FEATURE)
    jobs = Jobs()
    config = uvicorn.Config(
        make_app(session, jobs, listener.gate),
        log_level="warning",
        access_log=False,  # its lines would have the token
        server_header=False,
        timeout_graceful_shutdown=_CLOSE_SECONDS,
        lifespan="off",
        ws="none",
    )
    session.start()
    try:
        yield uvicorn.Server(config)
    finally:
        jobs.close()
        session.close()
        listener.socket.close()


def _open_page(url: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(url)
