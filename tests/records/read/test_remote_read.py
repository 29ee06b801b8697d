"""Records from real servers: in order, complete, and at one version, whatever the network does."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.support.servers.azurite import AzureServer
from tests.support.servers.fault_proxy import Fault, FaultProxy
from tests.support.servers.http_files import HttpServer
from tests.support.servers.seaweed import S3Server
from tfrkit.errors import FailedPreconditionError, NotFoundError, UnavailableError
from tfrkit.stores.object_config import configure_store
from tfrkit.stores.remote_source import RANGE_BYTES

MakeProxy = Callable[..., FaultProxy]


def record(number: int) -> bytes:
    return b"%d:" % number + hashlib.sha256(b"%d" % number).digest() * (number % 23)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100,000 records in some 37 MB."""
    path = tmp_path_factory.mktemp("shards") / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([record(number) for number in range(100_000)])
    return path


@pytest.fixture(scope="module")
def gzip_shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shards") / "a.tfrecord.gz"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([record(number) for number in range(100_000)])
    return path


def put(server: S3Server, bucket: str, key: str, data: bytes) -> str:
    from obstore.store import S3Store

    S3Store(bucket, **server.options()).put(key, data)
    return f"s3://{bucket}/{key}"


def reach(bucket: str, server: S3Server, endpoint: str | None = None) -> None:
    configure_store(f"s3://{bucket}", **server.options(endpoint=endpoint))


def test_every_tenth_connection_cut_and_every_twentieth_answer_an_error(
    shard: Path,
    s3_server: S3Server,
    unique_prefix: str,
    fault_proxy: MakeProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bucket = s3_server.bucket()
    urls = [
        put(s3_server, bucket, f"{unique_prefix}{number}.tfrecord", shard.read_bytes()) for number in range(3)
    ]
    monkeypatch.setattr("tfrkit.stores.remote_source.RANGE_BYTES", 1 << 18)  # some 450 requests
    faults = Fault("error", every=20, status=503), Fault("cut", every=10, seed=3)
    proxy = fault_proxy(s3_server.port, *faults)
    reach(bucket, s3_server, proxy.endpoint)
    found = 0
    for got in tfr.read_records(urls):
        assert got == record(found % 100_000)
        found += 1
    assert found == 300_000
    counts = proxy.counts()
    assert counts["cut"] > 20
    assert counts["error"] > 10


@pytest.mark.parametrize("kind", ["cut", "short", "shrunk", "shrunk_range"])
def test_bodies_that_end_too_early_are_continued(
    kind: str, gzip_shard: Path, s3_server: S3Server, unique_prefix: str, fault_proxy: MakeProxy
) -> None:
    bucket = s3_server.bucket()
    url = put(s3_server, bucket, f"{unique_prefix}a.tfrecord.gz", gzip_shard.read_bytes())
    proxy = fault_proxy(s3_server.port, Fault(kind, every=2, seed=5))  # type: ignore[arg-type]
    reach(bucket, s3_server, proxy.endpoint)
    assert sum(len(block) for block in tfr.read_blocks(url)) == 100_000
    assert proxy.counts()[kind] >= 1


def test_a_store_that_never_answers_rightly_is_an_error_that_says_what_was_tried(
    s3_server: S3Server, unique_prefix: str, fault_proxy: MakeProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = s3_server.bucket()
    url = put(s3_server, bucket, f"{unique_prefix}a.tfrecord", b"x" * 1000)
    monkeypatch.setattr("tfrkit.stores.object_config._RETRIES", 1)
    monkeypatch.setattr("tfrkit.stores.object_requests._ATTEMPTS", 3)
    proxy = fault_proxy(s3_server.port, Fault("error", status=503))
    reach(bucket, s3_server, proxy.endpoint)
    with pytest.raises(
        UnavailableError, match=r"503 Service Unavailable.* was tried 3 times in \d+ s"
    ) as caught:
        list(tfr.read_records(url))
    assert caught.value.path == url


def test_an_object_that_changes_while_it_is_read_is_an_error_with_both_versions(
    shard: Path, s3_server: S3Server, unique_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfrkit.stores.remote_source.RANGE_BYTES", 1 << 20)
    monkeypatch.setattr("tfrkit.stores.remote_source._WINDOW_BYTES", 1 << 20)
    bucket = s3_server.bucket()
    reach(bucket, s3_server)
    data = shard.read_bytes()
    url = put(s3_server, bucket, f"{unique_prefix}a.tfrecord", data)
    old = version(url)
    records = tfr.read_records(url, threads=1, block_bytes=1 << 18)
    first = next(records)
    assert first == record(0)
    put(s3_server, bucket, f"{unique_prefix}a.tfrecord", data + data)
    new = version(url)
    with pytest.raises(FailedPreconditionError, match="it changed while it was read") as caught:
        list(records)
    assert old in caught.value.message
    assert new in caught.value.message


def version(url: str) -> str:
    from tfrkit.stores.files import file_info

    info = file_info(url)
    assert info is not None
    return info.version


def test_an_object_that_is_deleted_while_it_is_read_is_named(
    shard: Path, s3_server: S3Server, unique_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tfrkit.stores.files import remove

    monkeypatch.setattr("tfrkit.stores.remote_source.RANGE_BYTES", 1 << 20)
    monkeypatch.setattr("tfrkit.stores.remote_source._WINDOW_BYTES", 1 << 20)
    bucket = s3_server.bucket()
    reach(bucket, s3_server)
    url = put(s3_server, bucket, f"{unique_prefix}a.tfrecord", shard.read_bytes())
    records = tfr.read_records(url, threads=1, block_bytes=1 << 18)
    next(records)
    remove(url)
    with pytest.raises(NotFoundError, match="deleted while it was read"):
        list(records)


def test_a_scan_of_a_file_asks_once_more_than_it_has_ranges(
    shard: Path, s3_server: S3Server, unique_prefix: str, fault_proxy: MakeProxy
) -> None:
    bucket = s3_server.bucket()
    url = put(s3_server, bucket, f"{unique_prefix}a.tfrecord", shard.read_bytes())
    proxy = fault_proxy(s3_server.port)
    reach(bucket, s3_server, proxy.endpoint)
    assert sum(len(block) for block in tfr.read_blocks(url)) == 100_000
    requests = proxy.requests()
    assert len(requests) == 1 + -(-shard.stat().st_size // RANGE_BYTES)
    assert {request.method for request in requests} == {"GET"}


def test_azure_reads_the_same(
    shard: Path, azure_server: AzureServer, azure_container: str, unique_prefix: str
) -> None:
    from obstore.store import AzureStore

    AzureStore(azure_container, **azure_server.options()).put(
        f"{unique_prefix}a b ü.tfrecord", shard.read_bytes()
    )
    configure_store(f"az://{azure_container}", **azure_server.options())
    got = list(tfr.read_records(f"az://{azure_container}/{unique_prefix}*.tfrecord"))
    assert got == [record(number) for number in range(100_000)]


@pytest.mark.parametrize("ranges", [True, False])
def test_web_servers_with_and_without_ranges(ranges: bool, shard: Path, http_server: HttpServer) -> None:
    http_server.files["data/a b ü%.tfrecord"] = shard.read_bytes()
    http_server.manners.ranges = ranges
    url = f"{http_server.url}/data/a%20b%20%C3%BC%25.tfrecord"
    got = list(tfr.read_records(url))
    assert len(got) == 100_000
    assert got[::9999] == [record(number) for number in range(0, 100_000, 9999)]


def test_a_web_server_without_ranges_is_no_place_for_random_access(
    shard: Path, http_server: HttpServer
) -> None:
    http_server.files["a.tfrecord"] = shard.read_bytes()
    http_server.manners.ranges = False
    with pytest.raises(FailedPreconditionError, match="random access"):
        tfr.RecordFile(f"{http_server.url}/a.tfrecord")


def test_memory_stays_bounded(shard: Path, s3_server: S3Server, unique_prefix: str) -> None:
    """600 MB through a process that may hold a window of 96 MiB."""
    bucket = s3_server.bucket()
    for number in range(4):
        put(s3_server, bucket, f"{unique_prefix}{number}.tfrecord", shard.read_bytes() * 4)
    program = f"""
import re, tfrkit as tfr
print(sum(len(block) for block in tfr.read_blocks("s3://{bucket}/{unique_prefix}*.tfrecord")))
print(re.search("VmHWM: *([0-9]+)", open("/proc/self/status").read().replace("\\t", " "))[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **s3_server.environment()},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    count, peak = map(int, done.stdout.split())
    assert count == 1_600_000
    assert peak * 1024 < 300e6
