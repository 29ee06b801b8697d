"""URLs as arguments of commands: signed ones are never shown, patterns only where names can be listed, few requests."""

from __future__ import annotations

import io
import json

import pytest

import tfrkit as tfr
from tfrkit.stores import files
from tfrkit.stores.object_config import configure_store

SECRET = "s3cret0signature"


def records(numbers: range) -> bytes:
    made = io.BytesIO()
    with tfr.TFRecordWriter(made) as writer:
        for number in numbers:
            writer.write_example({"label": number, "page": "https://example.org/a?query=stays"})
    return made.getvalue()


@pytest.fixture
def signed(http_server) -> str:
    """The beginning of URLs of a server that wants a signature: put a name between it and `?sig=`."""
    http_server.files.update({"a.tfrecord": records(range(5)), "cut.tfrecord": records(range(5))[:-3]})
    http_server.manners.signature = SECRET
    return f"{http_server.url}/{{}}?sig={SECRET}&expires=1"


@pytest.mark.parametrize(
    "line",
    [
        "head {a}",
        "head {a} --json",
        "head {a} --random",
        "cat {a} --key nothing",
        "count {a} {a}",
        "count {a} --json",
        "count {cut}",
        "schema {a}",
        "schema {a} --json",
        "schema {a} --python",
        "stats {a} --json",
        "verify {a} {cut}",
        "verify {a} {cut} --json",
        "index {a} --check --json",
        "index {a}",
        "repair {cut} {out}",
        "repair {cut} {out} --overwrite --json",
        "merge {a} {out}",
        "merge {cut} {out}",
        "merge {a} {url}",
        "export csv {a} -",
        "export jsonl {a} {out}",
        "build table {a} {out}",
        "head {none}",
        "verify {none}",
        "-v head {cut}",
    ],
)
def test_query_of_a_signed_url_is_never_shown(line, command, signed, folder):
    names = {name: signed.format(f"{name}.tfrecord") for name in ("a", "cut", "none", "url")}
    done = command(*(word.format(**names, out="out.tfrecord") for word in line.split()))
    assert SECRET not in done.out + done.err
    assert "expires=1" not in done.out + done.err
    assert not any(SECRET.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_queries_in_the_data_are_shown(command, signed):
    done = command("head", signed.format("a.tfrecord"), "-n", "1", "--key", "page", "--full")
    assert (done.code, done.err) == (0, "")
    assert "https://example.org/a?query=stays" in done.out


def test_question_mark_of_a_web_server_begins_the_query(command, signed, http_server):
    assert command("count", signed.format("a.tfrecord")).out == "5\n"
    asked = {request.query for request in http_server.requests if "a.tfrecord" in request.path}
    assert asked == {f"sig={SECRET}&expires=1"}


def test_missing_file_has_a_suggestion_from_one_listing(command, remote_folder):
    files.write_bytes(f"{remote_folder}/train.tfrecord", records(range(2)))
    done = command("count", f"{remote_folder}/trian.tfrecord")
    assert done.code == 2
    assert f"error: {remote_folder}/trian.tfrecord: no such file or folder" in done.err
    assert f"hint: did you mean '{remote_folder}/train.tfrecord'?" in done.err


def test_missing_file_of_a_web_server_has_no_suggestion(command, http_server):
    done = command("count", f"{http_server.url}/none.tfrecord")
    assert (done.code, done.out) == (2, "")
    assert f"error: {http_server.url}/none.tfrecord: no such file or folder" in done.err


def test_missing_bucket_is_said(command, s3_server):
    configure_store("s3://no-such-bucket", **s3_server.options())
    done = command("count", "s3://no-such-bucket/a.tfrecord")
    assert done.code == 2
    assert "no-such-bucket" in done.err
    assert "no such bucket" in done.err


@pytest.mark.parametrize("name", ["count", "stats", "verify", "schema"])
def test_many_files_take_few_requests(name, command, s3_server, s3_bucket, s3_folder, fault_proxy):
    for number in range(40):
        files.write_bytes(f"{s3_folder}/a-{number:02}.tfrecord", records(range(number, number + 1)))
    proxy = fault_proxy(s3_server.port)
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    done = command(name, f"{s3_folder}/a-*.tfrecord", "--json")
    assert done.code == 0
    assert json.loads(done.out)
    asked = [request.method for request in proxy.requests()]
    assert asked.count("HEAD") <= 4
    assert len(asked) <= 40 * 3 + 20
