"""DamageCounts: how much damage reads of a session have passed over, file by file.

Spark gives sources in Python no way to report a number from a task. So tasks that pass damage over connect to the
driver and say how much: a part that is read again, by another attempt or another query, replaces what it said before.
Where executors cannot connect, the warning in their log is all there is.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import socketserver
import threading
from typing import Any, Final

from tfrkit.engines.worker_channel import ChannelAddress

__all__ = ["DamageCounts", "report_damage"]

_SECONDS: Final = 5.0
_LINE_BYTES: Final = 1 << 20


class DamageCounts:
    """What the reads of a session have passed over since the format was registered. Thread-safe."""

    def __init__(self, host: str, bind: str | None = None) -> None:
        """Use `register`."""
        self._seen: dict[tuple[str, str], dict[str, int]] = {}
        self._lock = threading.Lock()
        secret = secrets.token_hex(16)
        counts = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = _SECONDS

            def handle(self) -> None:
                with contextlib.suppress(ValueError, TypeError, OSError):
                    given, read, part, found = json.loads(self.rfile.readline(_LINE_BYTES))
                    if hmac.compare_digest(str(given).encode(), secret.encode()):
                        counts.add(
                            str(read), str(part), {str(path): int(count) for path, count in found.items()}
                        )
                        self.wfile.write(b"\n")

        self._server = socketserver.ThreadingTCPServer((bind or host, 0), Handler)
        self._server.daemon_threads = True
        self.address = ChannelAddress(host, self._server.server_address[1], secret)
        threading.Thread(target=self._server.serve_forever, name="tfrkit-damage", daemon=True).start()

    def add(self, read: str, part: str, found: dict[str, int]) -> None:
        """Note what a part of a read has passed over."""
        with self._lock:
            self._seen[read, part] = found

    @property
    def skipped(self) -> dict[str, int]:
        """Damages that were passed over, by file; those of a file that several queries have read count for each."""
        totals: dict[str, int] = {}
        with self._lock:
            for found in self._seen.values():
                for path, count in found.items():
                    totals[path] = totals.get(path, 0) + count
        return totals

    def clear(self) -> None:
        """Begin at zero, such as before the next query."""
        with self._lock:
            self._seen.clear()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def __repr__(self) -> str:
        return f"<DamageCounts: {self.skipped}>"


def report_damage(address: ChannelAddress | None, read: str, part: str, found: dict[str, int]) -> None:
    """Tell the driver what was passed over, in a task."""
    if address is None:
        return
    line: list[Any] = [address.secret, read, part, found]
    with (
        contextlib.suppress(OSError),
        socket.create_connection((address.host, address.port), _SECONDS) as made,
    ):
        made.sendall(json.dumps(line).encode() + b"\n")
        made.recv(1)  # so that it has arrived when the task ends
