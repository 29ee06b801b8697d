"""Places for remote files in tests: this process's memory, or a real S3 server behind a proxy that counts requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.support.servers.fault_proxy import FaultProxy
from tests.support.servers.seaweed import S3Server
from tfrkit.stores.files import remove_tree, write_bytes
from tfrkit.stores.memory import _MemoryFile
from tfrkit.stores.object_config import configure_store

__all__ = ["RemotePlace", "memory_place", "s3_place"]


class RemotePlace:
    """A folder by its URL, and how many requests were made for what is in it."""

    def __init__(self, url: str, requests: Callable[[], int], sizes: Sequence[int] = ()) -> None:
        self.url = url
        self._requests = requests
        self._sizes = sizes
        self._before = 0

    def put(self, name: str, data: bytes) -> str:
        """Write a file; return its URL."""
        write_bytes(f"{self.url}/{name}", data)
        return f"{self.url}/{name}"

    def requests(self) -> int:
        """Return how many there were since the last call."""
        before, self._before = self._before, self._requests()
        return self._before - before

    def bytes(self) -> int:
        """Return how many bytes came from memory in all."""
        return sum(self._sizes)


def memory_place(monkeypatch: pytest.MonkeyPatch, prefix: str) -> Iterator[RemotePlace]:
    """Yield a place in memory; opening a file there is no request."""
    sizes: list[int] = []
    fetch = _MemoryFile.fetch

    def counted(file: _MemoryFile, start: int, stop: int) -> object:
        sizes.append(stop - start)
        return fetch(file, start, stop)

    monkeypatch.setattr(_MemoryFile, "fetch", counted)
    url = f"memory://{prefix.rstrip('/')}"
    yield RemotePlace(url, lambda: len(sizes), sizes)
    remove_tree(url)


def s3_place(server: S3Server, proxy: FaultProxy, bucket: str, prefix: str) -> Iterator[RemotePlace]:
    """Yield a place on the server; every request goes through the proxy."""
    configure_store(f"s3://{bucket}", **server.options(endpoint=proxy.endpoint))
    yield RemotePlace(f"s3://{bucket}/{prefix.rstrip('/')}", lambda: len(proxy.requests()))
    configure_store(f"s3://{bucket}")
