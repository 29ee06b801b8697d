"""The suite over every store, each on a real server; what only one of them does is in a file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from obstore.store import AzureStore, S3Store

from tests.stores.support.reading_suite import ListingSuite, Place, ReadingSuite
from tests.stores.support.suite import StoreSuite
from tests.support.servers.fault_proxy import Fault
from tests.support.weak_store import weak_url
from tfrkit.stores.files import write_bytes
from tfrkit.stores.object_config import configure_store


def into_folder(folder: Path, name: str, data: bytes) -> None:
    """Put a file into a local folder as most programs do: another one gets its name."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_bytes(data)
    new.replace(path)


class TestLocal(StoreSuite):
    @pytest.fixture
    def place(self, tmp_path):
        folder = tmp_path / "here"
        return Place(str(folder), lambda name, data: into_folder(folder, name, data))


class TestMemory(StoreSuite):
    @pytest.fixture
    def place(self, unique_prefix):
        folder = f"memory://{unique_prefix}".rstrip("/")
        return Place(folder, lambda name, data: write_bytes(f"{folder}/{name}", data))


class TestS3(StoreSuite):
    @pytest.fixture
    def place(self, s3_server, s3_bucket, s3_folder, unique_prefix):
        client = S3Store(s3_bucket, prefix=unique_prefix, **s3_server.options())
        return Place(s3_folder, client.put)


class TestS3WithFaults(StoreSuite):
    """Every fifth answer is cut, every seventh is an error, and every sixth upload is cut."""

    @pytest.fixture
    def place(self, s3_server, s3_bucket, s3_folder, unique_prefix, fault_proxy):
        proxy = fault_proxy(
            s3_server.port,
            Fault("cut", every=5, methods=("GET",)),
            Fault("error", every=7, status=503),
            Fault("cut_upload", every=6, methods=("PUT",)),
        )
        configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
        client = S3Store(s3_bucket, prefix=unique_prefix, **s3_server.options())
        yield Place(s3_folder, client.put)
        configure_store(f"s3://{s3_bucket}", **s3_server.options())


class TestAzure(StoreSuite):
    @pytest.fixture
    def place(self, azure_server, azure_container, unique_prefix):
        configure_store(f"az://{azure_container}", **azure_server.options())
        client = AzureStore(azure_container, prefix=unique_prefix, **azure_server.options())
        return Place(f"az://{azure_container}/{unique_prefix}".rstrip("/"), client.put)


class TestGoogle(ListingSuite):
    """Reading only: the server has no multipart uploads and no copies."""

    @pytest.fixture
    def place(self, google_server, unique_prefix):
        bucket = google_server.bucket()
        configure_store(f"gs://{bucket}", **google_server.options())
        return Place(
            f"gs://{bucket}/{unique_prefix}".rstrip("/"),
            lambda name, data: google_server.put(bucket, unique_prefix + name, data),
        )


class TestHttp(ReadingSuite):
    @pytest.fixture
    def place(self, http_server):
        def put(name: str, data: bytes) -> None:
            http_server.files[f"d/{name}"] = data

        return Place(f"{http_server.url}/d", put, quoted=True)


class TestHttpWithoutETag(ReadingSuite):
    @pytest.fixture
    def place(self, http_server):
        def put(name: str, data: bytes) -> None:
            http_server.files[f"d/{name}"] = data

        http_server.manners.etag = False
        return Place(f"{http_server.url}/d", put, quoted=True)


class TestFtp(StoreSuite):
    """What goes through fsspec to a server."""

    @pytest.fixture
    def place(self, ftp_server, unique_prefix):
        folder = ftp_server.folder / unique_prefix
        return Place(
            f"{ftp_server.url}/{unique_prefix}".rstrip("/"),
            lambda name, data: into_folder(folder, name, data),
        )


class TestWeak(StoreSuite):
    """What goes through fsspec to local files."""

    @pytest.fixture
    def place(self, tmp_path):
        folder = tmp_path / "here"
        return Place(weak_url(folder), lambda name, data: into_folder(folder, name, data))
