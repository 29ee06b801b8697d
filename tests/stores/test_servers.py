"""The servers that tests of stores rely on do what is relied on: shown by obstore, which is how tfrkit reads them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import obstore
import pytest
from obstore.exceptions import (
    AlreadyExistsError,
    GenericError,
    NotSupportedError,
    PermissionDeniedError,
    PreconditionError,
)
from obstore.store import AzureStore, GCSStore, HTTPStore, S3Store

from tests.support.servers.gcs import GoogleServer
from tests.support.servers.http_files import HttpServer
from tests.support.servers.process import ServerProcess

ONCE = {"max_retries": 0}
NAMES = ["a b", "ü.tfrecord", "p%20q", "q?x=1#y", "p+q&r"]


@pytest.fixture(params=["s3", "azure"])
def store(request) -> S3Store | AzureStore:
    """A store that can do all; below a prefix of its own."""
    prefix = request.getfixturevalue("unique_prefix")
    if request.param == "s3":
        server, place = request.getfixturevalue("s3_server"), request.getfixturevalue("s3_bucket")
        return S3Store(place, prefix=prefix, retry_config=ONCE, **server.options())
    server, place = request.getfixturevalue("azure_server"), request.getfixturevalue("azure_container")
    return AzureStore(place, prefix=prefix, retry_config=ONCE, **server.options())


def http(server: HttpServer, path: str = "") -> HTTPStore:
    return HTTPStore.from_url(server.url + path, retry_config=ONCE, client_options={"allow_http": True})


def test_object_is_read_whole_and_in_ranges(store):
    store.put("a", b"0123456789")
    assert store.get("a").bytes() == b"0123456789"
    got = store.get("a", options={"range": (2, 5)})
    assert (got.bytes(), got.range, got.meta["size"]) == (b"234", (2, 5), 10)
    assert [bytes(part) for part in store.get_ranges("a", starts=[0, 8], ends=[2, 10])] == [b"01", b"89"]


def test_multipart_upload_is_one_object(store):
    data = os.urandom(11 << 20)
    store.put("big", data, use_multipart=True, chunk_size=5 << 20)
    assert store.get("big").bytes() == data


def test_listing_has_every_name_as_it_was_given(store):
    for name in NAMES:
        store.put(f"names/{name}", name.encode())
    assert sorted(found["path"] for found in store.list("names").collect()) == sorted(
        f"names/{n}" for n in NAMES
    )
    assert all(store.get(f"names/{name}").bytes() == name.encode() for name in NAMES)


def test_create_refuses_what_exists(store):
    store.put("claim", b"mine", mode="create")
    with pytest.raises(AlreadyExistsError):
        store.put("claim", b"theirs", mode="create")
    assert store.get("claim").bytes() == b"mine"


def test_changed_object_fails_the_precondition(store):
    old = store.put("a", b"old")["e_tag"]
    store.put("a", b"new")
    with pytest.raises(PreconditionError):
        store.get("a", options={"if_match": old, "range": (0, 2)})
    with pytest.raises(PreconditionError):
        store.put("a", b"newer", mode={"e_tag": old})


def test_missing_object_is_not_found(store):
    with pytest.raises(FileNotFoundError):
        store.get("missing")


def test_wrong_secret_is_refused_by_s3(s3_server, s3_bucket):
    wrong = S3Store(s3_bucket, retry_config=ONCE, **{**s3_server.options(), "secret_access_key": "wrong"})
    with pytest.raises(PermissionDeniedError, match="SignatureDoesNotMatch"):
        wrong.put("a", b"")


def test_wrong_key_is_refused_by_azure(azure_server, azure_container):
    wrong = AzureStore(
        azure_container, retry_config=ONCE, **{**azure_server.options(), "account_key": "d3Jvbmc="}
    )
    with pytest.raises(PermissionDeniedError):
        wrong.put("a", b"")


def test_reader_may_not_write(s3_server, s3_bucket, unique_prefix):
    S3Store(s3_bucket, **s3_server.options()).put(unique_prefix + "a", b"x")
    reader = S3Store(s3_bucket, retry_config=ONCE, **s3_server.options(reader=True))
    assert reader.get(unique_prefix + "a").bytes() == b"x"
    with pytest.raises(PermissionDeniedError, match="AccessDenied"):
        reader.put(unique_prefix + "a", b"y")


def test_missing_bucket_is_not_made(s3_server):
    nowhere = S3Store("no-such-bucket", retry_config=ONCE, **s3_server.options())
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match="NoSuchBucket"):
            nowhere.put("a", b"")


def test_unfinished_uploads_are_seen(s3_server, unique_prefix):
    bucket = s3_server.bucket()
    store = S3Store(bucket, retry_config=ONCE, **s3_server.options())
    assert s3_server.uploads(bucket) == []
    writer = obstore.open_writer(store, unique_prefix + "a", buffer_size=5 << 20)
    writer.write(bytes(6 << 20))
    assert s3_server.uploads(bucket) == [unique_prefix + "a"]
    writer.close()
    assert s3_server.uploads(bucket) == []


def test_environment_is_enough_to_find_s3(s3_server, s3_bucket, unique_prefix, monkeypatch):
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    S3Store(s3_bucket).put(unique_prefix + "a", b"x")
    assert S3Store(s3_bucket, **s3_server.options()).get(unique_prefix + "a").bytes() == b"x"


@pytest.mark.parametrize("anonymous", [False, True], ids=["account", "anonymous"])
def test_google_server_is_read(google_server: GoogleServer, anonymous):
    bucket = google_server.bucket()
    for name in NAMES:
        google_server.put(bucket, f"names/{name}", b"0123456789")
    google_server.put(bucket, "empty", b"")
    store = GCSStore(bucket, retry_config=ONCE, **google_server.options(anonymous=anonymous))
    assert sorted(found["path"] for found in store.list("names").collect()) == sorted(
        f"names/{n}" for n in NAMES
    )
    got = store.get("names/a b", options={"range": (2, 50), "if_match": store.head("names/a b")["e_tag"]})
    assert (got.bytes(), got.range, got.meta["size"]) == (b"23456789", (2, 10), 10)
    assert store.get("empty").bytes() == b""
    with pytest.raises(FileNotFoundError):
        store.get("missing")
    with pytest.raises(PreconditionError):
        store.get("names/a b", options={"if_match": '"other"'})


def test_google_server_takes_small_objects(google_server: GoogleServer):
    store = GCSStore(google_server.bucket(), retry_config=ONCE, **google_server.options())
    store.put("a", b"x", mode="create")
    with pytest.raises(AlreadyExistsError):
        store.put("a", b"y", mode="create")
    assert store.get("a").bytes() == b"x"
    store.delete("a")
    with pytest.raises(FileNotFoundError):
        store.head("a")


def test_google_server_lists_in_pages(google_server: GoogleServer):
    bucket = google_server.bucket()
    names = [f"n/{number:04}" for number in range(201)]
    for name in names:
        google_server.put(bucket, name, b"")
    store = GCSStore(bucket, retry_config=ONCE, **google_server.options())
    assert [found["path"] for found in store.list("n").collect()] == names


def test_http_server_with_ranges(http_server):
    http_server.files["d/a b"] = b"0123456789"
    got = http(http_server).get("d/a b", options={"range": (2, 5)})
    assert (got.bytes(), got.meta["size"]) == (b"234", 10)
    assert [(seen.method, seen.range, seen.status) for seen in http_server.requests] == [
        ("GET", "bytes=2-4", 206)
    ]
    with pytest.raises(PreconditionError):
        http(http_server).get("d/a b", options={"if_match": '"other"'})
    with pytest.raises(GenericError, match="416"):
        http(http_server).get("d/a b", options={"range": (10, 12)})
    assert http_server.counts() == {"GET": 3}


def test_http_server_without_ranges(http_server, tmp_path):
    path, empty = tmp_path / "a", tmp_path / "empty"
    path.write_bytes(b"0123456789")
    empty.touch()
    http_server.files |= {"a": path, "empty": empty}
    http_server.manners.ranges = False
    assert http(http_server).get("empty").bytes() == b""
    assert http(http_server).get("a").bytes() == b"0123456789"
    with pytest.raises(NotSupportedError):
        http(http_server).get("a", options={"range": (2, 5)})


def test_http_server_without_etag(http_server):
    http_server.files["a"] = b"x"
    http_server.manners.etag = False
    assert http(http_server).get("a").meta["e_tag"] is None


def test_http_server_redirects(http_server):
    http_server.files["a"] = b"0123456789"
    http_server.manners.redirects["/moved"] = "/a"
    assert http(http_server).get("moved", options={"range": (2, 5)}).bytes() == b"234"
    assert [seen.status for seen in http_server.requests] == [302, 206]


def test_http_server_asks_for_a_signature(http_server):
    http_server.files["a"] = b"x"
    http_server.manners.signature = "s3cret"
    with pytest.raises(PermissionDeniedError):
        http(http_server, "/a").get("")
    assert http(http_server, "/a?sig=s3cret").get("").bytes() == b"x"


def test_server_that_does_not_start_is_an_error_with_its_log():
    with pytest.raises(RuntimeError, match=r"(?s)'bad' ended with status 3\. The end of its log:\n.*no luck"):
        ServerProcess("bad").start(
            [sys.executable, "-c", "print('no luck'); raise SystemExit(3)"], lambda: False
        )


def test_server_that_is_never_ready_is_an_error():
    server = ServerProcess("slow")
    with pytest.raises(RuntimeError, match="was not ready within 0 s"):
        server.start([sys.executable, "-c", "import time; time.sleep(60)"], lambda: False, seconds=0.2)
    assert not server.folder.exists()


def test_server_ends_with_a_killed_owner():
    code = (
        "import time; from tests.support.servers.azurite import AzureServer;"
        "server = AzureServer(); print(server.endpoint, server._process.folder, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        address, folder = owner.stdout.readline().split()
        assert os.path.isdir(folder)
        with pytest.raises(
            urllib.error.HTTPError
        ):  # it answers: no such account operation without a signature
            urllib.request.urlopen(address, timeout=10)
        owner.send_signal(signal.SIGKILL)
    end = time.monotonic() + 10
    while os.path.exists(folder) and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(folder)
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(address, timeout=1)
