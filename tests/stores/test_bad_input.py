"""What goes wrong with stores and URLs: each is a clear error, or the right result."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from obstore.store import S3Store

import tfrkit as tfr
from tests.support.servers.fault_proxy import Fault
from tests.support.servers.http_files import HttpServer
from tfrkit import _core
from tfrkit.cli.main import run
from tfrkit.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)
from tfrkit.stores import object_requests, remote_source
from tfrkit.stores.files import (
    find_files,
    is_there,
    list_files,
    list_tree,
    open_source,
    remove,
    remove_tree,
    write_bytes,
)
from tfrkit.stores.object_config import configure_store

RECORDS = [b"%d " % number + bytes(number % 250) for number in range(2000)]
SECRET = "s3cretSignature0123456789"


def frames(records: list[bytes], folder: Any, name: str = "a.tfrecord") -> bytes:
    """Return the bytes of a file of records."""
    path = folder / f"made-{name}"
    with tfr.TFRecordWriter(str(path)) as writer:
        writer.write_many(records)
    return path.read_bytes()


def uses(place: str) -> dict[str, Callable[[], Any]]:
    """Return what one does with a bucket."""
    return {
        "read": lambda: list(tfr.read_records(f"{place}/a.tfrecord")),
        "pattern": lambda: list(tfr.read_records(f"{place}/d/*.tfrecord")),
        "random access": lambda: tfr.RecordFile(f"{place}/a.tfrecord"),
        "list": lambda: list(list_files(f"{place}/d")),
        "list all": lambda: list(list_files(place, recursive=True)),
        "stat": lambda: is_there(f"{place}/a.tfrecord"),
        **writes(place),
    }


def writes(place: str) -> dict[str, Callable[[], Any]]:
    """Return what one writes to a bucket."""
    return {
        "small": lambda: write_bytes(f"{place}/a", b"x"),
        "new": lambda: write_bytes(f"{place}/a", b"x", expected=""),
        "remove": lambda: remove(f"{place}/a.tfrecord"),
        "writer": lambda: write_records(f"{place}/a.tfrecord", RECORDS),
        "large": lambda: write_records(f"{place}/a.tfrecord", [os.urandom(1 << 20)] * 17),
        "shards": lambda: tfr.reshard("a.tfrecord", f"{place}/d/x", shards=2),
    }


def write_records(path: str, records: list[bytes]) -> None:
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(records)


def failures(
    actions: dict[str, Callable[[], Any]], folder: Any, monkeypatch: pytest.MonkeyPatch
) -> dict[str, OpError]:
    """Return the error of each action."""
    monkeypatch.chdir(folder)
    write_records("a.tfrecord", RECORDS)
    errors = {}
    for name, action in actions.items():
        with pytest.raises(OpError) as caught:
            action()
        errors[name] = caught.value
    return errors


def kinds(errors: dict[str, OpError]) -> set[type[OpError]]:
    return {type(error) for error in errors.values()}


# -- credentials and buckets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["s3", "az"])
def test_missing_bucket_is_named(request, scheme, tmp_path, monkeypatch):
    server = request.getfixturevalue("s3_server" if scheme == "s3" else "azure_server")
    place = f"{scheme}://no-such-bucket"
    configure_store(place, **server.options())
    actions = uses(place)
    del actions["remove"]  # what is to be gone is not there
    errors = failures(actions, tmp_path, monkeypatch)
    assert kinds(errors) == {NotFoundError}, errors
    for name, error in errors.items():
        assert str(error).startswith("s3://no-such" if scheme == "s3" else "az://no-such"), name
        assert "there is no such bucket (404 Not Found" in str(error), (name, str(error))
        assert "Check its name, region and endpoint." in str(error), name


def test_wrong_secret_is_an_error_that_does_not_show_it(s3_server, s3_bucket, tmp_path, monkeypatch):
    other = f"s3://{s3_bucket}"
    configure_store(other, **{**s3_server.options(), "secret_access_key": SECRET})
    errors = failures(uses(other), tmp_path, monkeypatch)
    assert kinds(errors) == {PermissionDeniedError}, errors
    for name, error in errors.items():
        assert "access denied (" in str(error), name
        assert "Check the key, what it may do in this bucket" in str(error), name
        assert SECRET not in f"{error} {error!r} {error.path}", name
        assert error.__cause__ is None or isinstance(error.__cause__, OpError), (
            name
        )  # obstore's has the request in it
    assert any("SignatureDoesNotMatch" in str(error) for error in errors.values())


def test_wrong_key_of_azure_is_an_error(azure_server, azure_container, tmp_path, monkeypatch):
    place = f"az://{azure_container}"
    configure_store(place, **{**azure_server.options(), "account_key": "d3JvbmcgYnV0IGxvbmc="})
    errors = failures(uses(place), tmp_path, monkeypatch)
    assert kinds(errors) <= {PermissionDeniedError, UnauthenticatedError}, errors
    assert all("d3JvbmcgYnV0IGxvbmc=" not in str(error) for error in errors.values())


def test_reader_reads_and_is_told_that_it_may_not_write(s3_server, s3_folder, tmp_path, monkeypatch):
    write_records(f"{s3_folder}/a.tfrecord", RECORDS)
    bucket = "/".join(s3_folder.split("/")[:3])
    configure_store(bucket, **s3_server.options(reader=True))
    try:
        assert list(tfr.read_records(f"{s3_folder}/*")) == RECORDS
        errors = failures(writes(s3_folder), tmp_path, monkeypatch)
    finally:
        configure_store(bucket, **s3_server.options())
    assert kinds(errors) == {PermissionDeniedError}, errors
    assert all(
        "access denied (" in str(error) and "AccessDenied" in str(error) for error in errors.values()
    ), errors
    assert [info.path for info in list_tree(s3_folder)] == [f"{s3_folder}/a.tfrecord"]
    assert list(tfr.read_records(f"{s3_folder}/a.tfrecord")) == RECORDS


class Refusing(BaseHTTPRequestHandler):
    """Answers all requests with what AWS says of an expired token, or what `code` says."""

    protocol_version = "HTTP/1.1"
    status = 400
    code = "ExpiredToken"
    asked: list[str]

    def answer(self) -> None:
        type(self).asked.append(f"{self.command} {self.path}")
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = (
            f"<?xml version='1.0'?><Error><Code>{self.code}</Code><Message>The provided token has expired."
            f"</Message><Token-0>{SECRET}</Token-0></Error>"
        ).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextlib.contextmanager
def refusing_server(**answer: object) -> Iterator[str]:
    methods = dict.fromkeys(("do_GET", "do_HEAD", "do_PUT", "do_POST", "do_DELETE"), Refusing.answer)
    handler = type("Handler", (Refusing,), {"asked": [], **answer, **methods})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(params=[400, 401, 403])
def refusing(request) -> Iterator[str]:
    with refusing_server(status=request.param) as endpoint:
        yield endpoint


def test_expired_token_is_an_error_that_does_not_show_it(refusing, tmp_path, monkeypatch):
    place = f"s3://expired-{refusing.rpartition(':')[2]}"
    configure_store(
        place, endpoint=refusing, region="us-east-1", access_key_id="AKIAEXPIRED0000",
        secret_access_key="no-such-secret-4711", session_token=SECRET,
    )  # fmt: skip
    errors = failures(uses(place), tmp_path, monkeypatch)
    assert kinds(errors) == {UnauthenticatedError}, errors
    for name, error in errors.items():
        assert "ExpiredToken). Renew keys and tokens, which may have expired" in str(error), (
            name,
            str(error),
        )
        assert SECRET not in f"{error} {error!r}", name


@pytest.mark.parametrize(
    ("status", "code"), [(301, "PermanentRedirect"), (400, "AuthorizationHeaderMalformed")]
)
def test_bucket_in_another_region_is_an_error_at_once(status, code, tmp_path, monkeypatch):
    with refusing_server(status=status, code=code) as endpoint:
        place = f"s3://elsewhere-{endpoint.rpartition(':')[2]}"
        configure_store(
            place, endpoint=endpoint, access_key_id="AKIAELSEWHERE00", secret_access_key="no-such-secret-4711"
        )
        errors = failures(uses(place), tmp_path, monkeypatch)
    assert kinds(errors) == {InvalidArgumentError}, errors
    for name, error in errors.items():
        assert "; the bucket is in another region. Name it: AWS_REGION" in str(error), (name, str(error))


def test_unknown_session_token_is_refused_by_the_server(s3_server, s3_bucket):
    configure_store(f"s3://{s3_bucket}", **s3_server.options(), session_token=SECRET)
    with pytest.raises(
        PermissionDeniedError, match=r"access denied \(403 Forbidden, InvalidAccessKeyId\)"
    ) as caught:
        list(tfr.read_records(f"s3://{s3_bucket}/a"))
    assert SECRET not in str(caught.value)


# -- URLs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["s3", "az", "gs", "https", "ftp", "hdfs"])
def test_password_in_a_url_is_refused_and_not_shown(scheme):
    url = f"{scheme}://me:{SECRET}@host/a.tfrecord"
    for action in (
        lambda: list(tfr.read_records(url)),
        lambda: tfr.TFRecordWriter(url),
        lambda: tfr.RecordFile(url),
        lambda: tfr.verify(url),
        lambda: find_files(url.replace("a.tfrecord", "*")),
    ):
        with pytest.raises((InvalidArgumentError, UnimplementedError)) as caught:
            action()
        if isinstance(caught.value, InvalidArgumentError):
            assert "a password does not belong into a URL, which ends up in logs" in str(caught.value)
        assert SECRET not in f"{caught.value} {caught.value!r} {caught.value.path}"


@pytest.mark.parametrize(
    "url", ["s3://", "s3:///key", "az://", "https:///a", "s3://bucket/a//b", "s3://bucket/../b"]
)
def test_url_without_a_name_is_refused(url):
    with pytest.raises(InvalidArgumentError) as caught:
        list(tfr.read_records(url))
    assert url in str(caught.value)


def test_name_with_a_control_character_is_refused():
    url = "s3://bucket/a\tb.tfrecord"
    for action in (
        lambda: list(tfr.read_records(url)),
        lambda: tfr.TFRecordWriter(url),
        lambda: is_there(url),
        lambda: remove(url),
    ):
        with pytest.raises(InvalidArgumentError, match=r"the control character '\\t', which obstore refuses"):
            action()


@pytest.mark.parametrize("slash", ["", "/"])
def test_bucket_is_a_folder_and_said_to_be_one_at_once(s3_server, s3_bucket, slash):
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    with pytest.raises(
        FailedPreconditionError, match=rf"s3://{s3_bucket}{slash}; Is a directory\. Name the files"
    ):
        list(tfr.read_records(f"s3://{s3_bucket}{slash}"))
    with pytest.raises(NotFoundError):
        list(tfr.read_records("s3://no-such-bucket-anywhere"))


@pytest.mark.parametrize("url", [f"s3://bucket/a?{SECRET}", f"https://me:{SECRET}@host/a?sig={SECRET}"])
def test_url_that_went_through_pathlib_is_refused_without_its_secrets(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for action in (
        lambda: list(tfr.read_records(Path(url))),
        lambda: list(tfr.read_records([Path(url)])),
        lambda: tfr.TFRecordWriter(Path(url)),
        lambda: tfr.ShardWriter(Path(url), shards=2),
    ):
        with pytest.raises(
            InvalidArgumentError, match=r"takes a slash out of a URL\. Pass the URL as"
        ) as caught:
            action()
        if url.startswith("https"):
            assert SECRET not in f"{caught.value} {caught.value!r} {caught.value.path}"
    assert list(tmp_path.iterdir()) == []


class TestSignedUrls:
    """The query of a signed URL is a secret."""

    @pytest.fixture
    def url(self, http_server, tmp_path, monkeypatch):
        monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
        http_server.manners.signature = SECRET
        http_server.files["d/a b.tfrecord"] = frames(RECORDS, tmp_path)
        http_server.files["d/bad.tfrecord"] = http_server.files["d/a b.tfrecord"][:-3]
        return f"{http_server.url}/d/a%20b.tfrecord?sig={SECRET}&v=1"

    def test_it_is_read_and_shown_without_its_query(self, url, http_server):
        assert list(tfr.read_records(url)) == RECORDS
        assert list(tfr.TFRecordDataset(url)) == RECORDS
        blocks = list(tfr.read_blocks(url))
        assert b"".join(b"".join(block) for block in blocks) == b"".join(RECORDS)
        file, dataset = tfr.RecordFile(url), tfr.TFRecordDataset(url)
        assert file[77] == RECORDS[77]
        report, found = tfr.verify(url), tfr.inspect(url)
        assert report.ok
        shown = [block.path for block in blocks]
        shown += [f"{each!r} {each}" for each in (file, dataset, dataset.batch(3), report, found, blocks[0])]
        shown.append(json.dumps(report.to_dict()) if hasattr(report, "to_dict") else "")
        assert all(SECRET not in text for text in shown), shown
        assert "a%20b.tfrecord?***" in shown[0]

    def test_it_is_good_for_one_file_only(self, url, http_server):
        http_server.manners.signed = "/d/a b.tfrecord"
        assert list(tfr.read_records(url)) == RECORDS
        assert tfr.RecordFile(url)[77] == RECORDS[77]
        assert tfr.verify(url).ok
        assert tfr.inspect(url)
        assert run(["count", url]) == 0

    def test_its_errors_are_without_its_query(self, url, http_server):
        missing, bad = url.replace("a%20b", "nothing"), url.replace("a%20b", "bad")
        refused = url.replace(SECRET, SECRET + "no")
        for wrong, kind in ((missing, NotFoundError), (bad, DataLossError), (refused, PermissionDeniedError)):
            with pytest.raises(kind) as caught:
                list(tfr.read_records(wrong))
            error = caught.value
            assert "?***" in str(error), str(error)
            assert SECRET not in f"{error} {error!r} {error.path} {error.__cause__!r}"
        with pytest.raises(UnimplementedError, match="web servers are read only here") as caught:
            tfr.TFRecordWriter(url)
        assert SECRET not in str(caught.value)

    def test_commands_do_not_show_it(self, url, capsys, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        bad = url.replace("a%20b", "bad")
        for arguments, code in (
            (["count", url], 0), (["head", url, "-n", "2"], 0), (["verify", url], 0), (["verify", url, "--json"], 0),
            (["verify", bad], 1), (["count", bad], 1), (["index", url], None), (["schema", url], 0),
            (["stats", url, "--json"], None), (["repair", bad, "mended.tfrecord"], None),
            (["merge", url, url, "out.tfrecord"], 0), (["reshard", url, "many/x", "--shards", "2"], 0),
        ):  # fmt: skip
            done = run(arguments)
            out, err = capsys.readouterr()
            assert SECRET not in out + err, arguments
            assert code is None or done == code, (arguments, err)
        kept = [
            path
            for path in tmp_path.rglob("*")
            if path.is_file() and SECRET.encode() in path.read_bytes() + bytes(path)
        ]
        assert kept == []


# -- servers --------------------------------------------------------------------------------------------------------


def test_redirect_is_followed_with_ranges(http_server, tmp_path):
    big = [os.urandom(1 << 20) for _ in range(20)]
    with HttpServer({"real.tfrecord": frames(big, tmp_path)}) as other:
        http_server.manners.redirects |= {"/moved": "/again", "/again": f"{other.url}/real.tfrecord"}
        url = f"{http_server.url}/moved"
        assert list(tfr.read_records(url)) == big
        file = tfr.RecordFile(url)
        assert [file[19], file[3]] == [big[19], big[3]]
        assert all(seen.range for seen in other.requests)


def test_redirect_that_never_ends_is_an_error(http_server):
    http_server.manners.redirects["/round"] = "/round"
    with pytest.raises(UnavailableError, match="redirect"):
        list(tfr.read_records(f"{http_server.url}/round"))


def test_server_that_is_not_there_is_an_error_that_says_what_was_tried(monkeypatch):
    monkeypatch.setattr(object_requests, "_ATTEMPTS", 1)
    with pytest.raises(
        UnavailableError, match=r"GET was tried 1 times in \d+ s\. Try again later\."
    ) as caught:
        list(tfr.read_records("http://127.0.0.1:1/a.tfrecord"))
    assert str(caught.value).endswith("Check its address and the network.")


@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz"])
def test_server_without_ranges_is_read_as_a_stream(http_server, tmp_path, name):
    http_server.files[name] = frames(RECORDS, tmp_path, name)
    http_server.manners.ranges = False
    url = f"{http_server.url}/{name}"
    assert not open_source(url).regular
    assert list(tfr.read_records(url)) == RECORDS
    assert list(tfr.TFRecordDataset(url)) == RECORDS
    assert tfr.verify(url).ok
    with pytest.raises(FailedPreconditionError, match="random access needs") as caught:
        tfr.RecordFile(url)
    assert "ranges" in str(caught.value)


def test_server_of_s3_without_ranges_is_read_as_a_stream(http_server, tmp_path):
    http_server.manners.ranges = False
    http_server.files["bucket-of-streams/a.tfrecord"] = frames(RECORDS, tmp_path)
    url = "s3://bucket-of-streams/a.tfrecord"
    configure_store("s3://bucket-of-streams", endpoint=http_server.url, anonymous=True, allow_http=True)
    assert list(tfr.read_records(url)) == RECORDS
    with pytest.raises(FailedPreconditionError, match="does not answer requests for ranges, which random"):
        tfr.RecordFile(url)[0]


@pytest.mark.parametrize(
    "manners", [{"modified": False}, {"etag": False, "modified": False}, {"head": False}]
)
def test_server_with_few_headers_is_read(http_server, tmp_path, manners):
    for name, value in manners.items():
        setattr(http_server.manners, name, value)
    http_server.files["a.tfrecord"] = frames(RECORDS, tmp_path)
    url = f"{http_server.url}/a.tfrecord"
    assert list(tfr.read_records(url)) == RECORDS
    assert tfr.RecordFile(url)[1999] == RECORDS[1999]


def test_server_without_content_length_is_an_error_at_once(http_server, tmp_path):
    http_server.files["a.tfrecord"] = frames(RECORDS, tmp_path)
    http_server.manners.length = False
    for ranges in (True, False):
        http_server.manners.ranges = ranges
        http_server.requests.clear()
        with pytest.raises(OpError, match="Content-Length") as caught:
            list(tfr.read_records(f"{http_server.url}/a.tfrecord"))
        assert "Download the file first" in str(caught.value)
        assert len(http_server.requests) <= 3


@pytest.mark.parametrize("kind", ["cut", "short", "shrunk", "shrunk_range"])
@pytest.mark.parametrize("ranges", [True, False])
def test_truncated_body_is_continued(http_server, fault_proxy, tmp_path, kind, ranges):
    http_server.files["a.tfrecord"] = frames(RECORDS * 10, tmp_path)
    http_server.manners.ranges = ranges
    proxy = fault_proxy(http_server.port, Fault(kind, every=1, limit=3))
    if kind.startswith("shrunk") and not ranges:
        with pytest.raises(DataLossError, match="truncated"):  # its length says that this is all
            list(tfr.read_records(f"{proxy.endpoint}/a.tfrecord"))
        return
    assert list(tfr.read_records(f"{proxy.endpoint}/a.tfrecord")) == RECORDS * 10
    assert proxy.counts()[kind] == 3


def test_what_was_cut_is_continued_in_the_same_memory_of_the_pool(http_server, fault_proxy):
    data = os.urandom(1 << 20)
    http_server.files["a"] = data
    proxy = fault_proxy(http_server.port, Fault("cut", every=1, limit=3))
    source = open_source(f"{proxy.endpoint}/a")
    (piece,) = source.file.fetch(10, len(data) - 10)
    assert piece == data[10:-10]
    assert piece.readonly
    assert isinstance(piece.obj, _core.Buffer)


# -- what changes ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "s3", "http"])
def changing(request, tmp_path, monkeypatch) -> tuple[str, Callable[[bytes | None], None]]:
    """A URL, and what replaces or removes its file; little of it is read ahead."""
    monkeypatch.setattr(remote_source, "_WINDOW_BYTES", 1 << 24)
    if request.param == "http":
        server = request.getfixturevalue("http_server")

        def change(data: bytes | None) -> None:
            if data is None:
                del server.files["a.tfrecord"]
            else:
                server.files["a.tfrecord"] = data

        return f"{server.url}/a.tfrecord", change
    if request.param == "memory":
        folder = f"memory://{request.getfixturevalue('unique_prefix')}".rstrip("/")
    else:
        folder = request.getfixturevalue("s3_folder")
    url = f"{folder}/a.tfrecord"
    return url, lambda data: (remove(url), None)[1] if data is None else (write_bytes(url, data), None)[1]


@pytest.mark.parametrize("removed", [False, True])
def test_object_that_changes_in_the_middle_is_an_error(changing, tmp_path, removed):
    url, change = changing
    old = [b"old" + os.urandom(1 << 19) for _ in range(100)]
    change(frames(old, tmp_path))
    reader, got = iter(tfr.read_records(url)), []
    got.append(next(reader))
    change(None if removed else frames([b"new" + record for record in old], tmp_path))
    with pytest.raises(NotFoundError if removed else FailedPreconditionError) as caught:
        got.extend(reader)
    assert got == old[: len(got)]
    assert len(got) < len(old)
    expected = "it was deleted while it was read (version " if removed else " was opened, now it is "
    assert expected in str(caught.value)
    assert caught.value.path == url


# -- many -----------------------------------------------------------------------------------------------------------


def test_hundred_thousand_names_are_listed():
    place = "memory://many"
    for number in range(100_000):
        write_bytes(f"{place}/{number % 100:02}/{number:06}.tfrecord", b"")
    try:
        assert len(find_files(f"{place}/*/*.tfrecord")) == 100_000
        assert len(find_files(f"{place}/07/*.tfrecord")) == 1000
        assert len(list(list_files(place))) == 100
        assert find_files(f"{place}/**/099999.*") == [f"{place}/99/099999.tfrecord"]
    finally:
        remove_tree(place)
    assert not is_there(place)


def test_listing_of_many_pages_has_every_name_once(s3_server, s3_bucket, s3_folder, unique_prefix, tmp_path):
    client = S3Store(s3_bucket, prefix=unique_prefix, **s3_server.options())
    names = [f"d/{number:05} ü.tfrecord" for number in range(3000)]
    data = frames([b"x"], tmp_path)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda name: client.put(name, data), names))
    found = find_files(f"{s3_folder}/d/*.tfrecord")
    assert found == [f"{s3_folder}/{name}" for name in names]
    assert sum(1 for _ in tfr.read_records(f"{s3_folder}/d/0000*")) == 10
    remove_tree(f"{s3_folder}/d")
    assert not is_there(f"{s3_folder}/d")
