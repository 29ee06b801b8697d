"""An HTTP server of our own: bytes by path, with the manners and the bad manners that servers of files have.

Runs in threads of this process, so that a test can change what it serves and see what was asked for.
"""

from __future__ import annotations

import email.utils
import functools
import hashlib
import http.server
import mmap
import os
import re
import threading
import urllib.parse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.support.servers.process import HOST

RANGE = re.compile(r"bytes=(\d*)-(\d*)$")
MODIFIED, MODIFIED_SPAN = 1_700_000_000, 10_000_000  # Last-Modified: that of other bytes is another


@dataclass(frozen=True, slots=True)
class Request:
    """One request that the server saw; names of headers are in lower case."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    status: int

    @property
    def range(self) -> str | None:
        """The header Range, or None."""
        return self.headers.get("range")


@dataclass(slots=True)
class Manners:
    """How the server answers; may be changed between requests.

    Attributes:
        ranges: Whether Range is understood; else the whole file comes, with status 200.
        etag: Whether answers have an ETag, and If-Match is understood.
        modified: Whether answers have Last-Modified.
        length: Whether answers have Content-Length; else the end of the connection ends the body.
        head: Whether HEAD is understood; else the answer is 405.
        signature: What `?sig=` has to be; else the answer is 403. Empty: nothing is asked for.
        signed: The only path that the signature is good for; empty: all.
        redirects: Paths that are answered with 302 to another path or URL.
    """

    ranges: bool = True
    etag: bool = True
    modified: bool = True
    length: bool = True
    head: bool = True
    signature: str = ""
    signed: str = ""
    redirects: dict[str, str] = field(default_factory=dict)


class HttpServer:
    """Serves `files` by path without the leading slash, percent-decoded; values may be bytes or paths of files.

    Attributes:
        url: Where it listens, without a slash at the end.
        port: The same, as a number.
        files: What it serves; may be changed at any time.
        manners: How it answers; may be changed at any time.
        requests: All that was asked, in order of the answers.
    """

    def __init__(self, files: dict[str, bytes | Path] | None = None, **manners: object) -> None:
        self.files = dict(files or {})
        self.manners = Manners(**manners)  # type: ignore[arg-type]
        self.requests: list[Request] = []
        server = self

        class Bound(_Handler):
            owner = server

        self._httpd = _Threading((HOST, 0), Bound)
        self.port: int = self._httpd.server_address[1]
        self.url = f"http://{HOST}:{self.port}"
        self._thread = threading.Thread(target=self._httpd.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def counts(self) -> Counter[str]:
        """Return how many requests of each method there were."""
        return Counter(request.method for request in list(self.requests))

    def stop(self) -> None:
        """Stop listening; requests under way are not waited for."""
        self._httpd.shutdown()
        self._httpd.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Threading(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is not worth a traceback."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    owner: HttpServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: what was asked for is in `requests`."""

    def do_HEAD(self) -> None:
        if self.owner.manners.head:
            self.do_GET()
        else:
            self._answer(405)

    def do_GET(self) -> None:
        manners = self.owner.manners
        path, _, query = self.path.partition("?")
        if manners.signature and urllib.parse.parse_qs(query).get("sig") != [manners.signature]:
            return self._answer(403)
        if manners.signed and urllib.parse.unquote(path) != manners.signed:
            return self._answer(403)
        if path in manners.redirects:
            return self._answer(302, {"Location": manners.redirects[path]})
        found = self.owner.files.get(urllib.parse.unquote(path.removeprefix("/")))
        if found is None:
            return self._answer(404)
        if isinstance(found, bytes):
            return self._answer_with(memoryview(found), _version(found))
        if not found.stat().st_size:  # which cannot be mapped
            return self._answer_with(memoryview(b""), found.stat().st_mtime_ns)
        with found.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            view = memoryview(mapped)
            try:
                return self._answer_with(view, os.fstat(file.fileno()).st_mtime_ns)
            finally:
                view.release()

    def _answer_with(self, data: memoryview, version: int) -> None:
        manners = self.owner.manners
        headers = {"Content-Type": "application/octet-stream"}
        if manners.ranges:
            headers["Accept-Ranges"] = "bytes"
        if manners.modified:
            headers["Last-Modified"] = email.utils.formatdate(MODIFIED + version % MODIFIED_SPAN, usegmt=True)
        if manners.etag:
            headers["ETag"] = f'"{version:x}"'
            wanted = self.headers.get("If-Match")
            if wanted not in (None, "*", headers["ETag"]):
                return self._answer(412, headers)
        asked = RANGE.match(self.headers.get("Range", "")) if manners.ranges else None
        if not asked:
            return self._answer(200, headers, data)
        start, end = _resolve(asked[1], asked[2], len(data))
        if start >= end:
            return self._answer(416, {**headers, "Content-Range": f"bytes */{len(data)}"})
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
        return self._answer(206, headers, data[start:end])

    def _answer(
        self, status: int, headers: dict[str, str] | None = None, data: memoryview | bytes = b""
    ) -> None:
        path, _, query = self.path.partition("?")
        lower = {name.lower(): value for name, value in self.headers.items()}
        self.owner.requests.append(Request(self.command, urllib.parse.unquote(path), query, lower, status))
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.owner.manners.length or not data:
            self.send_header("Content-Length", str(len(data)))
        else:
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD" and data:
            self.wfile.write(data)
            self.wfile.flush()


@functools.lru_cache(maxsize=64)
def _version(data: bytes) -> int:
    """Return a number that other bytes do not have; computed once, as files may be large. Pure: no I/O."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())


def _resolve(first: str, last: str, size: int) -> tuple[int, int]:
    """Turn `first-last` of a Range into start and end; empty if it is outside. Pure: no I/O."""
    if not first:
        return (max(size - int(last), 0), size) if last else (0, 0)
    return int(first), min(int(last) + 1, size) if last else size
