"""The fault proxy does what it is told, and tells what it did."""

from __future__ import annotations

import datetime as dt
import os
import socket
import time

import pytest
from obstore.exceptions import GenericError
from obstore.store import HTTPStore, S3Store

from tests.data.support.outcomes import wait_for
from tests.support.servers.fault_proxy import Fault, FaultProxy

ONCE = {"max_retries": 0}
QUICK = {
    "max_retries": 8,
    "retry_timeout": dt.timedelta(seconds=30),
    "backoff": {
        "init_backoff": dt.timedelta(milliseconds=5),
        "max_backoff": dt.timedelta(milliseconds=20),
        "base": 2,
    },
}
DATA = os.urandom(100_000)


@pytest.fixture
def proxy(http_server, fault_proxy) -> FaultProxy:
    """A proxy in front of a server that has DATA as `a`."""
    http_server.files["a"] = DATA
    return fault_proxy(http_server.port)


def through(proxy: FaultProxy, retry: dict[str, object] = ONCE, **options: object) -> HTTPStore:
    return HTTPStore.from_url(
        proxy.endpoint, retry_config=retry, client_options={"allow_http": True, **options}
    )


def test_without_faults_everything_passes(proxy):
    assert through(proxy).get("a").bytes() == DATA
    assert through(proxy).get("a", options={"range": (5, 10)}).bytes() == DATA[5:10]
    assert [(seen.method, seen.target, seen.range, seen.status, seen.fault) for seen in proxy.requests()] == [
        ("GET", "/a", None, 200, ""),
        ("GET", "/a", "bytes=5-9", 206, ""),
    ]
    counts = {"connections": 2, "GET": 2, "bytes_up": 0, "bytes_down": len(DATA) + 5}
    assert wait_for(lambda: proxy.counts() == counts)  # bytes are counted after they were sent


def test_delay_is_added_to_each_request(proxy):
    proxy.set(Fault("delay", seconds=0.1))
    begin = time.monotonic()
    through(proxy).get("a").bytes()
    assert time.monotonic() - begin > 0.1


@pytest.mark.parametrize("status", [500, 503, 429])
def test_error_comes_every_nth_time(proxy, status):
    proxy.set(Fault("error", every=3, status=status))
    store = through(proxy)
    for number in range(1, 7):
        if number % 3:
            store.get("a").bytes()
        else:
            with pytest.raises(GenericError, match=str(status)):
                store.get("a")
    assert proxy.counts()["error"] == 2


def test_fault_is_limited_in_number(proxy):
    proxy.set(Fault("error", limit=2))
    assert through(proxy, QUICK).get("a").bytes() == DATA
    assert [seen.status for seen in proxy.requests()] == [503, 503, 200]


@pytest.mark.parametrize("kind", ["cut", "short"])
def test_body_ends_too_early(proxy, kind):
    proxy.set(Fault(kind, limit=1))
    with pytest.raises(GenericError, match="body error"):
        through(proxy).get("a").bytes()
    proxy.set(Fault(kind, limit=1))
    assert through(proxy, QUICK).get("a").bytes() == DATA
    assert proxy.counts()[kind] == 2


def test_bodies_are_cut_at_random_bytes_that_the_seed_decides(proxy):
    def received(seed: int) -> list[int]:
        proxy.set(Fault("short", seed=seed))
        sizes = []
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", proxy.port)) as plain:
                plain.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
                answer = b"".join(iter(lambda: plain.recv(1 << 16), b""))
            sizes.append(len(answer.partition(b"\r\n\r\n")[2]))
        return sizes

    first = received(1)
    assert len(set(first)) == 5
    assert max(first) < len(DATA)
    assert received(1) == first
    assert received(2) != first


def test_shrunk_body_has_a_length_that_fits_it(proxy):
    proxy.set(Fault("shrunk"))
    got = through(proxy).get("a", options={"range": (0, 50_000)})
    assert got.range == (0, 50_000)
    assert 0 < len(got.bytes()) < 50_000
    proxy.set(Fault("shrunk_range"))
    with pytest.raises(GenericError, match=r"Requested 0\.\.50000, got 0\.\."):
        through(proxy).get("a", options={"range": (0, 50_000)})
    proxy.set()
    assert through(proxy).get("a").bytes() == DATA


@pytest.mark.parametrize("kind", ["black_hole", "stall"])
def test_silence_runs_into_the_timeout(proxy, kind):
    proxy.set(Fault(kind))
    with pytest.raises(GenericError):
        through(proxy, timeout="300ms").get("a").bytes()
    assert proxy.counts()[kind] == 1


def test_connections_are_refused(proxy):
    proxy.set(Fault("refuse", limit=2))
    assert through(proxy, QUICK).get("a").bytes() == DATA
    assert (proxy.counts()["refuse"], proxy.counts()["connections"]) == (2, 3)


def test_faults_are_for_the_methods_and_paths_named(http_server, proxy):
    http_server.files["b"] = b"b"
    proxy.set(Fault("error", methods=("PUT",)), Fault("error", path="/b"))
    assert through(proxy).get("a").bytes() == DATA
    with pytest.raises(GenericError, match="503"):
        through(proxy).get("b")


def test_signed_requests_and_uploads_pass(s3_server, s3_bucket, unique_prefix, fault_proxy):
    proxy = fault_proxy(s3_server.port)
    store = S3Store(
        s3_bucket, prefix=unique_prefix, retry_config=QUICK, **s3_server.options(endpoint=proxy.endpoint)
    )
    data = os.urandom(11 << 20)
    proxy.set(Fault("error", every=3), Fault("cut", every=4), Fault("cut_upload", methods=("PUT",), limit=1))
    store.put("big", data, use_multipart=True, chunk_size=5 << 20)
    assert store.get("big").bytes() == data
    proxy.set(Fault("cut", methods=("PUT",), limit=1))
    with pytest.raises(GenericError, match="error sending request"):
        store.put("claim", b"x", mode="create")  # made, but the answer is lost
    assert store.get("claim").bytes() == b"x"
    counts = proxy.counts()
    assert min(counts["error"], counts["cut"], counts["cut_upload"]) >= 1
    assert counts["bytes_up"] >= len(data)


def test_proxy_ends_with_its_input(http_server):
    proxy = FaultProxy(http_server.port)
    proxy.stop()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", proxy.port), timeout=5)
    with pytest.raises((RuntimeError, ValueError)):
        proxy.counts()
