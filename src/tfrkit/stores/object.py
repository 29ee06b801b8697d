"""ObjectStore: S3, Google Cloud Storage, Azure and web servers, through obstore.

A name in an object store is a whole key; a folder is a beginning of keys that ends in "/". Objects are read at the
version that was seen first, and written as a whole: what is not complete is not there.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from tfrkit import _core
from tfrkit.errors import NotFoundError, UnimplementedError
from tfrkit.optional import require
from tfrkit.stores.cache.source import with_cache
from tfrkit.stores.object_config import ObjectPlace, check_process, client_of, identity_of, is_cached, locate
from tfrkit.stores.object_output import MOST_AT_ONCE, UploadOutput
from tfrkit.stores.object_requests import Attempts, head, is_error
from tfrkit.stores.output import WholeOutput
from tfrkit.stores.remote_source import Pieces, RemoteSource, changed, deleted
from tfrkit.stores.source import ByteSource, wrap_file
from tfrkit.stores.spool_output import SpoolOutput
from tfrkit.stores.store import ABSENT, FileInfo, Traits
from tfrkit.stores.url import display_name

__all__ = ["ObjectStore", "WebStore", "make_store", "make_web_store"]

_HEAD_BYTES: Final = 1 << 16  # of the request that opens an object, and brings its size and version
_STREAM_BYTES: Final = 1 << 18  # of a body at once: stays in the cache of the core
_PIECE_BYTES: Final = 1 << 21  # what is kept of a body that ends too early
_COPY_BYTES: Final = 5 << 30  # the most that a store copies in one request
_LIST_ROWS: Final = 1000
_NEAR_SECONDS: Final = 0.01  # to open an object in a store on this machine or beside it; others take longer
_NO_TAG: Final = " bytes of "  # in versions of objects without ETag
_NO_RANGES: Final = "non-partial response when range requested"
_EMPTY: Final = ("416 Range Not Satisfiable", "Wanted range starting at 0", "CONTENT_RANGE header")


class ObjectStore:
    """Buckets and containers: keys with bytes, versions, listings and conditional writes."""

    traits = Traits(tagged=True)

    def stat(self, path: str) -> FileInfo | None:
        place, attempts = locate(path), Attempts("HEAD", display_name(path))
        while True:
            with attempts:
                client = client_of(place)
                if place.key and not place.key.endswith("/"):
                    try:
                        return _info(path, head(client, place.key))
                    except FileNotFoundError as error:
                        if "NoSuchBucket" in str(error):
                            raise
                return self._folder_info(client, place, path)

    def _folder_info(self, client: Any, place: ObjectPlace, path: str) -> FileInfo | None:
        for rows in client.list(_prefix(place.key), chunk_size=1):
            if rows:
                return FileInfo(path, 0, ABSENT, is_folder=True)
        return None if place.key.strip("/") else FileInfo(path, 0, ABSENT, is_folder=True)

    def list(self, folder: str, *, recursive: bool = False) -> Iterator[FileInfo]:
        place, name = locate(folder), display_name(folder)
        prefix = _prefix(place.key)
        if recursive:
            for row in _list_all(place, name):
                yield _info(f"{place.base}/{row['path']}", row)
            return
        attempts = Attempts("LIST", name)
        found: Any = None
        while found is None:
            with attempts:
                found = client_of(place).list_with_delimiter(prefix)
        for row in found["objects"]:
            if row["path"] != place.key.rstrip("/"):  # some tools make an empty object for the folder itself
                yield _info(f"{place.base}/{row['path']}", row)
        for child in found["common_prefixes"]:
            yield FileInfo(f"{place.base}/{child.rstrip('/')}", 0, ABSENT, is_folder=True)

    def open(self, path: str, *, cache: bool | None = None) -> ByteSource:
        place = locate(path)
        if self.traits.lists and not place.key.strip("/"):  # the answer would be a listing
            raise NotFoundError(f"{display_name(path)}; No such file or directory", path=display_name(path))
        source = open_object(place, display_name(path))
        if is_cached(place.base, cache) and isinstance(source, RemoteSource) and _is_certain(source.version):
            return with_cache(source, identity_of(place))
        return source

    def create(self, path: str, *, durable: bool = True, at_once: int = 1) -> WholeOutput:
        if at_once > MOST_AT_ONCE:
            return SpoolOutput(path, self)
        return UploadOutput(locate(path), path, self, at_once)

    def write(self, path: str, data: bytes, *, expected: str | None = None) -> str | None:
        place, kinds = locate(path), _exceptions()
        mode: Any = (
            "overwrite"
            if expected is None
            else "create"
            if expected == ABSENT
            else {"e_tag": f'"{expected}"'}
        )
        attempts = Attempts("PUT", display_name(path))
        while True:
            with attempts:
                client = client_of(place)
                try:
                    made = client.put(place.key, data, mode=mode, use_multipart=False)
                except (kinds.AlreadyExistsError, kinds.PreconditionError):
                    return self._own(client, place.key, data)  # the answer to an earlier attempt may be lost
                return str(made["e_tag"] or made["version"] or ABSENT).strip('"')

    def _own(self, client: Any, key: str, data: bytes) -> str | None:
        """Return the version of an object that holds just what was to be written: an attempt of ours has made it."""
        try:
            found = client.get(key)
            return _version(found.meta) if data and bytes(found.bytes()) == data else None
        except FileNotFoundError:
            return None

    def remove(self, path: str) -> bool:
        place, attempts = locate(path), Attempts("DELETE", display_name(path))
        while True:
            with attempts:
                try:
                    client_of(place).delete(place.key)
                except FileNotFoundError:
                    return False
                return True

    def move(self, source: str, target: str) -> None:
        old, new = locate(source), locate(target)
        attempts = Attempts("COPY", display_name(source))
        copied = False
        while not copied:
            with attempts:
                client = client_of(old)
                if head(client, old.key)["size"] <= _COPY_BYTES:
                    client.copy(old.key, new.key)
                else:
                    self._copy_through(source, target)
                copied = True
        self.remove(source)

    def _copy_through(self, source: str, target: str) -> None:
        """Copy what is too large for one request: download and upload."""
        file, output = self.open(source), self.create(target)
        try:
            while data := file.read(_PIECE_BYTES):
                output.write(data)
            output.close()
        except BaseException:
            output.discard()
            raise

    def make_folder(self, path: str) -> None:
        """Do nothing: a folder is there as soon as a name begins with it."""

    def remove_tree(self, path: str) -> None:
        place, name = locate(path), display_name(path)
        rows = _list_all(place, name)
        while keys := [row["path"] for row in itertools.islice(rows, _LIST_ROWS)]:
            attempts = Attempts("DELETE", name)
            while keys:
                with attempts:
                    try:
                        client_of(place).delete(keys)
                    except FileNotFoundError:  # the answer to an earlier attempt was lost
                        for key in keys:
                            with suppress(FileNotFoundError):
                                client_of(place).delete(key)
                    keys = []

    def open_known(self, info: FileInfo) -> ByteSource:
        """Open an object of which a listing has said everything: no request is made before it is read."""
        tag = None if _NO_TAG in info.version or info.version.startswith("W/") else f'"{info.version}"'
        meta = {"size": info.size, "e_tag": tag, "last_modified": None}
        file = ObjectFile(locate(info.path), display_name(info.path), meta)
        file.version = info.version
        return RemoteSource(file)


def _list_all(place: ObjectPlace, name: str) -> Iterator[Any]:
    """Yield what obstore says of all objects below a key; a listing that is cut continues after the last one seen."""
    attempts = Attempts("LIST", name)
    last: str | None = None
    while True:
        with attempts:
            for rows in client_of(place).list(_prefix(place.key), offset=last, chunk_size=_LIST_ROWS):
                for row in rows:
                    last = row["path"]
                    yield row
                attempts.progress()
            return


class WebStore(ObjectStore):
    """Web servers: files that are named in full, to read."""

    traits = Traits(lists=False, writes=False, atomic_create=False)

    def stat(self, path: str) -> FileInfo | None:
        place, name = locate(path), display_name(path)
        try:
            source = open_object(place, name, 1)  # HEAD is not answered by every server
        except NotFoundError:
            return None
        if source.regular:
            return FileInfo(path, source.size() or 0, source.version)
        attempts = Attempts("GET", name)
        while True:
            with attempts:  # without ranges, the answer that brings the whole says what it is
                return replace(_info(path, client_of(place).get(place.key).meta), regular=False)

    def list(self, folder: str, *, recursive: bool = False) -> Iterator[FileInfo]:
        raise UnimplementedError(
            f"{display_name(folder)}; a web server cannot list files. Name each file, for example in a list.",
            path=display_name(folder),
        )

    def create(self, path: str, *, durable: bool = True, at_once: int = 1) -> WholeOutput:
        raise _read_only(path)

    def write(self, path: str, data: bytes, *, expected: str | None = None) -> str | None:
        raise _read_only(path)

    def remove(self, path: str) -> bool:
        raise _read_only(path)

    def move(self, source: str, target: str) -> None:
        raise _read_only(source)


def _read_only(path: str) -> UnimplementedError:
    name = display_name(path)
    return UnimplementedError(
        f"{name}; web servers are read only here. Write to a local folder or an object store.", path=name
    )


class ObjectFile:
    """One version of one object."""

    def __init__(self, place: ObjectPlace, name: str, meta: Any) -> None:
        self.name = name
        self.size: int = meta["size"]
        self.version = _version(meta)
        self._place = place
        self._tag: str | None = meta["e_tag"]

    def fetch(self, start: int, stop: int) -> Pieces:
        """Return the bytes of a range of this version; a body that ends too early is continued at the right byte."""
        attempts = Attempts(f"GET of bytes {start}-{stop - 1}", self.name)
        # Memory of the pool is warm. That of a whole body in one piece is new to obstore each time, and clearing its
        # pages costs more than copying small pieces while they are in the cache (benchmarks/remote_read.py).
        whole = memoryview(_core.Buffer(stop - start))
        at = start
        while at < stop:
            with attempts, self._same_version():  # obstore itself continues a body that is cut
                result = client_of(self._place).get(self._place.key, options=self._options(at, stop))
                if _version(result.meta) != self.version:
                    raise changed(self.name, self.version, _version(result.meta))
                for piece in result.stream(min_chunk_size=_STREAM_BYTES):
                    body = memoryview(piece)[: stop - at]
                    whole[at - start : at - start + len(body)] = body
                    at += len(body)
                    attempts.progress()
                if at < stop:
                    attempts.failed(f"the answer ends {stop - at} bytes too early")
        return [whole.toreadonly()]

    def _options(self, start: int, stop: int) -> dict[str, Any]:
        condition = (
            {"if_match": self._tag} if self._tag is not None and not self._tag.startswith("W/") else {}
        )
        return {"range": (start, stop), **condition}

    @contextmanager
    def _same_version(self) -> Iterator[None]:
        """Say what has happened to an object that is no longer there, or no longer the same."""
        try:
            yield
        except FileNotFoundError as error:
            if not is_error(error):
                raise
            raise deleted(self.name, self.version) from None
        except _exceptions().PreconditionError:
            now = "another one"
            try:
                now = _version(client_of(self._place).head(self._place.key))
            except (
                FileNotFoundError
            ):  # of one that is missing, Azure says the same as of one that has changed
                raise deleted(self.name, self.version) from None
            except _exceptions().BaseError:
                pass
            raise changed(self.name, self.version, now) from None


def open_object(place: ObjectPlace, name: str, head_bytes: int = _HEAD_BYTES) -> ByteSource:
    """Open an object with one request, which also brings its first bytes.

    Raises:
        NotFoundError: there is none.
    """
    attempts = Attempts("GET", name)
    while True:
        with attempts:
            client = client_of(place)
            began = time.monotonic()
            try:
                result = client.get(place.key, options={"range": (0, head_bytes)})
            except _exceptions().NotSupportedError:  # a server without ranges
                return wrap_file(BodyFile(place, name))
            except _exceptions().GenericError as error:
                if _NO_RANGES in str(error):  # the same, of those that speak the protocol of S3
                    return wrap_file(BodyFile(place, name))
                if not any(text in str(error) for text in _EMPTY):
                    raise
                result = client.get(place.key)  # an empty object has no range
            file = ObjectFile(place, name, result.meta)
            head = memoryview(result.bytes())
            if len(head) >= min(head_bytes, file.size):
                return RemoteSource(file, head, near=time.monotonic() - began < _NEAR_SECONDS)
            attempts.failed("the answer ends too early")


class BodyFile:
    """The body of one answer as a file object, for servers that do not know ranges.

    A body that ends too early is asked for again from its beginning, and passed over up to where it ended.
    """

    def __init__(self, place: ObjectPlace, name: str) -> None:
        self.name = name
        self._place = place
        self._attempts = Attempts("GET", name)
        self._meta: Any = None  # of the first answer
        self._body: Iterator[Any] | None = None
        self._came = 0  # bytes of this body
        self._at = 0  # bytes returned
        self._rest = memoryview(b"")

    def read(self, count: int) -> bytes:
        """Return the next bytes, at most `count`; none at the end."""
        while not self._rest and (self._meta is None or self._at < self._meta["size"]):
            with self._attempts:
                self._receive()
        data = bytes(self._rest[:count])
        self._rest = self._rest[count:]
        self._at += len(data)
        return data

    def _receive(self) -> None:
        """Take the next piece of the body, beginning anew where there is none."""
        check_process(self.name)
        if self._body is None:
            result = client_of(self._place).get(self._place.key)
            if self._meta is not None and _version(self._meta) != _version(result.meta):
                raise changed(self.name, _version(self._meta), _version(result.meta))
            self._meta, self._came = result.meta, 0
            self._body = iter(result.stream(min_chunk_size=_PIECE_BYTES // 8))
        body, self._body = self._body, None  # after an error it begins anew
        piece = next(body, None)
        if piece is None:
            self._attempts.failed(f"the answer ends after {self._came} of {self._meta['size']} bytes")
            return
        self._body = body
        before, self._came = self._came, self._came + len(piece)
        if self._came > self._at:
            self._rest = memoryview(piece)[self._at - before :]
            self._attempts.progress()


def _exceptions() -> Any:
    return require("obstore.exceptions", "Access to object stores and web servers")


def _prefix(key: str) -> str | None:
    return key.rstrip("/") + "/" if key.strip("/") else None


def _version(meta: Any) -> str:
    """Return what changes with the content: ETag, else size and time. Pure: no I/O."""
    if meta["e_tag"]:
        return str(meta["e_tag"]).strip('"')  # a listing of Azure's has no quotes
    return f"{meta['size']}{_NO_TAG}{meta['last_modified'].isoformat()}" if meta["last_modified"] else ABSENT


def _is_certain(version: str) -> bool:
    """Tell whether a version changes with the content: of some web servers nothing but the size is known."""
    return not version.endswith(" of 1970-01-01T00:00:00+00:00")


def _info(path: str, meta: Any) -> FileInfo:
    modified: datetime = meta["last_modified"]
    return FileInfo(path, meta["size"], _version(meta), modified_ns=int(modified.timestamp() * 1e9))


def make_store() -> ObjectStore:
    """Make the store of buckets and containers."""
    return ObjectStore()


def make_web_store() -> WebStore:
    """Make the store of web servers."""
    return WebStore()
