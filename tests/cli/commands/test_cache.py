from __future__ import annotations

import json
import os

import pytest

import tfrkit as tfr
from tfrkit.stores.cache.chunks import ChunkFiles

SIZE = 5000


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """A cache with three files, of which one has a signed URL."""
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TFRKIT_CACHE_BYTES", "1G")
    for number, name in enumerate(["s3://bucket/a", "s3://bucket/b", "https://host/c?***"]):
        files = ChunkFiles(f"identity of {name}", name, "1", SIZE)
        files.keep(0, [bytes(SIZE)])
        folder = os.path.dirname(files._path(0))
        for file in os.listdir(folder):
            os.utime(os.path.join(folder, file), (1_600_000_000 + number,) * 2)
    (tmp_path / "cache" / "indexes").mkdir()
    (tmp_path / "cache" / "indexes" / "x.idx").write_bytes(b"1234")
    (tmp_path / "cache" / "jobs").mkdir()
    (tmp_path / "cache" / "jobs" / "under-way").write_bytes(b"12345")
    return tmp_path / "cache"


def test_each_url_with_its_bytes_and_last_use(command, kept):
    done = command("cache")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].split() == ["kept", "of", "used", "file"]
    assert [line.split()[-1] for line in lines[1:4]] == [
        "https://host/c?***",
        "s3://bucket/b",
        "s3://bucket/a",
    ]
    assert lines[1].split()[:4] == ["5.1", "kB", "5.0", "kB"]
    assert "days ago" in lines[1]
    assert lines[4].startswith(f"{kept}: 15.")
    assert lines[4].endswith("kB of 1.1 GB in 6 files")
    assert lines[5:] == ["indexes: 4 B in 1 file", "jobs: 5 B in 1 file"]


def test_json_has_the_same(command, kept):
    found = json.loads(command("cache", "--json").out)
    assert (found["folder"], found["limit"], found["files"]) == (str(kept), 1 << 30, 6)
    assert found["bytes"] == sum(each["bytes"] for each in found["urls"])
    first = found["urls"][0]
    assert (first["name"], first["version"], first["file_bytes"], first["files"], first["used"]) == (
        "https://host/c?***",
        "1",
        SIZE,
        2,
        1_600_000_002.0,
    )
    assert found["others"] == {"indexes": {"files": 1, "bytes": 4}, "jobs": {"files": 1, "bytes": 5}}


def test_an_empty_cache(command, monkeypatch, tmp_path):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "none"))
    monkeypatch.delenv("TFRKIT_CACHE_BYTES", raising=False)
    assert command("cache") == (0, f"{tmp_path}/none: 0 B of 10.7 GB in 0 files\n", "")
    assert command("cache", "clear") == (0, "removed 0 files, 0 B\n", "")
    assert not (tmp_path / "none").exists()


def test_clear_removes_what_begins_with_a_url(command, kept):
    assert command("cache", "clear", "s3://bucket/b").out.startswith("removed 2 files, 5.")
    names = [each["name"] for each in json.loads(command("cache", "--json").out)["urls"]]
    assert names == ["https://host/c?***", "s3://bucket/a"]
    assert json.loads(command("cache", "clear", "https://host/c?sig=another", "--json").out)["files"] == 2
    assert (kept / "indexes" / "x.idx").exists()


def test_clear_removes_all_but_the_work_of_jobs(command, kept):
    assert command("cache", "clear").out.startswith("removed 7 files, 15.")
    assert [path.name for path in kept.rglob("*") if path.is_file()] == ["under-way"]


def test_a_damaged_description_is_shown_without_a_name(command, kept):
    for about in kept.glob("ranges/*/about.json"):
        about.write_bytes(b'{"name": [')
    done = command("cache")
    assert done.code == 0
    assert [line.split()[-1] for line in done.out.splitlines()[1:4]] == ["?"] * 3
    assert command("cache", "clear", "s3://").out == "removed 0 files, 0 B\n"


def test_a_limit_that_is_no_size_is_an_error(command, kept, monkeypatch):
    monkeypatch.setenv("TFRKIT_CACHE_BYTES", "much")
    done = command("cache")
    assert done.code != 0
    assert "TFRKIT_CACHE_BYTES" in done.err


def test_what_a_reader_keeps_is_shown(command, http_server, words, monkeypatch, tmp_path):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    with tfr.TFRecordWriter("large.tfrecord") as writer:
        writer.write_many([os.urandom(1000)] * 1000)
    http_server.files["large.tfrecord"] = (tmp_path / "large.tfrecord").read_bytes()
    url = f"{http_server.url}/large.tfrecord"
    assert len(list(tfr.read_records(url + "?sig=secret-signature", cache=True))) == 1000
    (found,) = json.loads(command("cache", "--json").out)["urls"]
    assert found["name"] == url + "?***"
    assert found["file_bytes"] == (tmp_path / "large.tfrecord").stat().st_size
