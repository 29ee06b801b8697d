"""The process of a Google Cloud Storage server: `python gcs_process.py PORT`. Use it by `gcs.GoogleServer`.

The objects, the buckets and Google's JSON interface are gcp-storage-emulator's. obstore speaks the XML interface, of
which the emulator has only GET and PUT of an object, without versions. What is added here: ETag, Last-Modified and
x-goog-generation in answers, If-Match and x-goog-if-generation-match, HEAD, DELETE, a status 416, listings, connections
that stay open, and a thread for each. Multipart uploads, copies and ranges from the end are not there.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import sys
import urllib.parse
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Any
from xml.sax.saxutils import escape

from gcp_storage_emulator import server as emulator
from gcp_storage_emulator.exceptions import NotFound
from gcp_storage_emulator.storage import Storage

HOST = "127.0.0.1"
PAGE = 100  # a tenth of Google's, as the emulator is slow to take many objects
OTHER_INTERFACES = ("storage", "upload", "download", "b", "batch", "wipe", "")


class Handler(emulator.RequestHandler):
    """The emulator's handler, with the XML interface as obstore needs it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        path, mark, query = self.path.partition("?")
        bucket, slash, name = path[1:].partition("/")
        self.bucket, self.name = urllib.parse.unquote(bucket), urllib.parse.unquote(name)
        self.query = urllib.parse.parse_qs(query)
        self.path = f"/{self.bucket}{slash}{name}{mark}{query}"  # obstore escapes the bucket's hyphens
        return True

    @property
    def is_xml(self) -> bool:
        """Whether the request is of the XML interface, in which a path starts with the name of a bucket."""
        return self.bucket not in OTHER_INTERFACES

    def found(self) -> dict[str, Any] | None:
        """Return what is known of the object, if it is there."""
        try:
            return self.storage.get_file_obj(self.bucket, self.name)  # type: ignore[no-any-return]
        except NotFound:
            return None

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, message)
        if self.is_xml and self.name and code < 300 and (known := self.found()):
            changed = dt.datetime.fromisoformat(known["updated"])
            self.send_header("ETag", f'"{known["etag"]}"')
            self.send_header("Last-Modified", email.utils.format_datetime(changed, usegmt=True))
            self.send_header("x-goog-generation", str(known["generation"]))

    def answer(self, status: HTTPStatus, body: bytes = b"") -> None:
        """Answer without the emulator."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:  # noqa: N802
        if not self.is_xml:
            return super().do_GET()
        if not self.name:
            return self.list_objects()
        known = self.found()
        wanted = self.headers.get("If-Match")
        if known and wanted not in (None, "*", f'"{known["etag"]}"'):
            return self.answer(HTTPStatus.PRECONDITION_FAILED)
        start = self.headers.get("Range", "").removeprefix("bytes=").partition("-")[0]
        if known and start and int(start) >= int(known["size"]):
            return self.answer(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
        return super().do_GET()

    def do_HEAD(self) -> None:  # noqa: N802
        known = self.found()
        self.send_response(HTTPStatus.OK if known else HTTPStatus.NOT_FOUND)
        self.send_header("Content-Length", str(known["size"]) if known else "0")
        self.end_headers()

    def do_PUT(self) -> None:  # noqa: N802
        if "x-goog-copy-source" in self.headers:
            return self.answer(HTTPStatus.NOT_IMPLEMENTED)
        wanted = self.headers.get("x-goog-if-generation-match")
        known = self.found() if wanted is not None else None
        if wanted is not None and wanted != str(known["generation"] if known else 0):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            return self.answer(HTTPStatus.PRECONDITION_FAILED)
        return super().do_PUT()

    def do_DELETE(self) -> None:  # noqa: N802
        if not self.is_xml:
            return super().do_DELETE()
        try:
            self.storage.delete_file(self.bucket, self.name)
        except NotFound:
            return self.answer(HTTPStatus.NOT_FOUND)
        return self.answer(HTTPStatus.NO_CONTENT)

    def list_objects(self) -> None:
        """Answer with a page of the names of a bucket, as XML."""

        def asked(name: str) -> str | None:
            return self.query.get(name, [None])[0]

        try:
            files, prefixes = self.storage.get_file_list(self.bucket, asked("prefix"), asked("delimiter"))
        except NotFound:
            return self.answer(HTTPStatus.NOT_FOUND, b"<Error><Code>NoSuchBucket</Code></Error>")
        after = max(asked("start-after") or "", asked("continuation-token") or "")
        files = sorted((known for known in files if known["name"] > after), key=lambda known: known["name"])
        page, more = files[:PAGE], len(files) > PAGE
        parts = [
            f"<Contents><Key>{escape(known['name'])}</Key><Size>{known['size']}</Size><ETag>&quot;{known['etag']}"
            f"&quot;</ETag><LastModified>{known['updated']}</LastModified></Contents>"
            for known in page
        ]
        parts += [
            f"<CommonPrefixes><Prefix>{escape(prefix)}</Prefix></CommonPrefixes>" for prefix in prefixes
        ]
        if more:
            parts.append(f"<NextContinuationToken>{escape(page[-1]['name'])}</NextContinuationToken>")
        return self.answer(HTTPStatus.OK, f"<ListBucketResult>{''.join(parts)}</ListBucketResult>".encode())


def read_data(handler: Handler, query: dict[str, list[str]]) -> Any:
    """Read the body of a request; the emulator takes an empty one for none, and fails."""
    data = READ_DATA(handler, query)
    return b"" if data is None else data


READ_DATA, emulator._read_data = emulator._read_data, read_data


def main() -> None:
    """Serve at the port that is given, for ever."""
    storage = Storage(use_memory_fs=True)

    class Bound(Handler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(storage, *arguments)

    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer((HOST, int(sys.argv[1])), Bound).serve_forever()


if __name__ == "__main__":
    main()
