"""Remote places for the tests of random access."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.records.support.remote import RemotePlace, memory_place, s3_place


def _place(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[RemotePlace]:
    prefix = request.getfixturevalue("unique_prefix")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TFRKIT_CACHE", str(folder / "cache"))
        if kind == "memory":
            yield from memory_place(patch, prefix)
        else:
            server = request.getfixturevalue("s3_server")
            proxy = request.getfixturevalue("fault_proxy")(server.port)
            yield from s3_place(server, proxy, request.getfixturevalue("s3_bucket"), prefix)


@pytest.fixture(params=["memory", "s3"])
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RemotePlace]:
    """A folder in memory, and one on an S3 server; each test has a cache folder of its own."""
    yield from _place(request.param, request, tmp_path)


@pytest.fixture
def s3_remote(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RemotePlace]:
    """The one on an S3 server."""
    yield from _place("s3", request, tmp_path)
