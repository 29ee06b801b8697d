"""The fixtures of the servers. A server starts when the first test of a session asks for it, once per worker."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.support.servers.azurite import AzureServer
from tests.support.servers.fault_proxy import Fault, FaultProxy
from tests.support.servers.ftp import FtpServer
from tests.support.servers.gcs import GoogleServer
from tests.support.servers.http_files import HttpServer
from tests.support.servers.seaweed import S3Server
from tfrkit.stores.object_config import configure_store


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """An S3 server."""
    with S3Server() as server:
        yield server


@pytest.fixture(scope="session")
def s3_bucket(s3_server: S3Server) -> str:
    """A bucket that all tests share: keep below a prefix of your own, `unique_prefix`."""
    return s3_server.bucket()


@pytest.fixture
def s3_folder(s3_server: S3Server, s3_bucket: str, unique_prefix: str) -> str:
    """The URL of a folder of its own in the shared bucket, which tfrkit knows the way to; no slash at the end."""
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    return f"s3://{s3_bucket}/{unique_prefix}".rstrip("/")


@pytest.fixture(params=["memory", "s3"])
def remote_folder(request: pytest.FixtureRequest, unique_prefix: str) -> str:
    """The URL of a folder of its own: in memory, then in the S3 server; no slash at the end."""
    if request.param == "memory":
        return f"memory://{unique_prefix}".rstrip("/")
    folder: str = request.getfixturevalue("s3_folder")
    return folder


@pytest.fixture(scope="session")
def azure_server() -> Iterator[AzureServer]:
    """An Azure blob server."""
    with AzureServer() as server:
        yield server


@pytest.fixture(scope="session")
def azure_container(azure_server: AzureServer) -> str:
    """A container that all tests share: keep below a prefix of your own, `unique_prefix`."""
    return azure_server.container()


@pytest.fixture(scope="session")
def google_server() -> Iterator[GoogleServer]:
    """A Google Cloud Storage server, for reading."""
    with GoogleServer() as server:
        yield server


@pytest.fixture(scope="session")
def ftp_server() -> Iterator[FtpServer]:
    """An FTP server."""
    with FtpServer() as server:
        yield server


@pytest.fixture
def http_server() -> Iterator[HttpServer]:
    """An HTTP server without files: put some into its `files`, and change its `manners`."""
    with HttpServer() as server:
        yield server


@pytest.fixture
def fault_proxy() -> Iterator[Callable[..., FaultProxy]]:
    """Make a proxy in front of a port, `fault_proxy(port, Fault(...), ...)`; it ends with the test."""
    with ExitStack() as stack:

        def make(upstream: int, *faults: Fault) -> FaultProxy:
            return stack.enter_context(FaultProxy(upstream, *faults))

        yield make


@pytest.fixture
def unique_prefix() -> str:
    """A prefix of names that no other test has, with a slash at the end."""
    return f"test-{secrets.token_hex(6)}/"
