"""Places for inputs and outputs of builds that are no local folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.support.servers.fault_proxy import Fault, FaultProxy
from tests.support.servers.seaweed import S3Server
from tfrkit.stores.files import remove_tree
from tfrkit.stores.object_config import configure_store


@pytest.fixture
def memory(unique_prefix: str) -> Iterator[str]:
    """A URL in this process's memory."""
    url = f"memory://{unique_prefix}".rstrip("/")
    yield url
    remove_tree(url)


def _reach(server: S3Server, bucket: str, endpoint: str) -> None:
    configure_store(
        f"s3://{bucket}",
        endpoint=endpoint,
        region="us-east-1",
        access_key_id=server.key,
        secret_access_key=server.secret,
    )


@pytest.fixture
def bucket(s3_server: S3Server, s3_bucket: str, unique_prefix: str) -> str:
    """A URL below which nothing is, in a bucket of a server."""
    _reach(s3_server, s3_bucket, s3_server.endpoint)
    return f"s3://{s3_bucket}/{unique_prefix}".rstrip("/")


@pytest.fixture
def bad_connection(
    bucket: str, s3_server: S3Server, s3_bucket: str, fault_proxy: Callable[..., FaultProxy]
) -> Callable[..., AbstractContextManager[None]]:
    """Reach the bucket with faults, `with bad_connection(Fault(...), ...):`."""

    @contextmanager
    def connection(*faults: Fault) -> Iterator[None]:
        _reach(s3_server, s3_bucket, fault_proxy(s3_server.port, *faults).endpoint)
        try:
            yield
        finally:
            _reach(s3_server, s3_bucket, s3_server.endpoint)

    return connection


@pytest.fixture(params=["memory", "bucket"])
def remote(request: pytest.FixtureRequest) -> str:
    """A URL in memory, and one in a bucket."""
    url: str = request.getfixturevalue(request.param)
    return url
