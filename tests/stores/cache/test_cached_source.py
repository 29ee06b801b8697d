"""Reading through the cache: the same bytes as without, and the second time without requests for them."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import warnings

import pytest

import tfrkit as tfr
from tfrkit.stores.cache import chunks as chunks_module
from tfrkit.stores.cache.chunks import CHUNK_BYTES
from tfrkit.stores.files import open_source, read_bytes, write_bytes
from tfrkit.stores.object_config import configure_store

DATA = os.urandom(3 * CHUNK_BYTES + 12_345)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TFRKIT_CACHE_BYTES", raising=False)
    forget()
    return tmp_path / "cache"


def forget():
    """Know as little as a process that has just begun."""
    chunks_module._open.clear()
    chunks_module._sound.clear()
    chunks_module._stopped.clear()


@pytest.fixture
def url(http_server):
    http_server.files["a.bin"] = DATA
    return f"{http_server.url}/a.bin"


def scan(url, *, cache=True, step=1 << 21):
    source = open_source(url, cache=cache)
    source.read_ahead(0)
    found = bytearray(len(DATA))
    for at in range(0, len(DATA), step):
        source.read_into(memoryview(found)[at : at + step], at)
    return bytes(found)


def asked(server):
    """How many requests there were since the last call."""
    count = len(server.requests)
    server.requests.clear()
    return count


def test_a_second_scan_makes_one_request(http_server, url, cache):
    assert scan(url) == DATA
    assert asked(http_server) == 1 + 4
    assert scan(url) == DATA
    assert asked(http_server) == 1
    forget()
    assert scan(url, step=1_000_003) == DATA
    assert asked(http_server) == 1
    assert read_through(open_source(url, cache=True)) == DATA
    assert scan(url, cache=False) == DATA
    assert asked(http_server) == 1 + 1 + 4


def read_through(source):
    parts = []
    while part := source.read(1 << 20):
        parts.append(part)
    return b"".join(parts)


def test_chunks_that_are_missing_are_fetched_and_kept_again(http_server, url, cache):
    scan(url)
    asked(http_server)
    for number in (1, 3):
        (path,) = cache.glob(f"ranges/*/{number}")
        path.unlink()
    forget()
    assert scan(url) == DATA
    assert asked(http_server) == 1 + 2
    assert scan(url) == DATA
    assert asked(http_server) == 1


def test_damaged_chunks_are_fetched_again(http_server, url, cache):
    scan(url)
    asked(http_server)
    for number, size in ((0, 10), (2, CHUNK_BYTES)):
        (path,) = cache.glob(f"ranges/*/{number}")
        os.truncate(path, size)
    (path,) = cache.glob("ranges/*/1")
    with path.open("r+b") as file:
        file.seek(77)
        file.write(b"damage")
    forget()
    assert scan(url) == DATA
    assert asked(http_server) == 1 + 3
    forget()
    assert scan(url) == DATA
    assert asked(http_server) == 1


def test_a_changed_object_is_another_one(http_server, url):
    scan(url)
    http_server.files["a.bin"] = bytes(reversed(DATA))
    assert scan(url) == bytes(reversed(DATA))
    http_server.files["a.bin"] = DATA
    asked(http_server)
    assert scan(url) == DATA
    assert asked(http_server) == 1


def test_without_the_store_nothing_is_read(http_server, url):
    scan(url)
    del http_server.files["a.bin"]
    with pytest.raises(tfr.errors.NotFoundError):
        open_source(url, cache=True)


def test_what_has_no_version_is_not_kept(http_server, url, cache):
    http_server.manners.etag = http_server.manners.modified = False
    assert scan(url) == DATA
    assert not cache.exists()
    http_server.manners.modified = True
    assert scan(url) == DATA
    assert cache.exists()


def test_signatures_do_not_make_another_file_but_other_parameters_do(http_server, url):
    http_server.manners.signature = "first"
    scan(f"{url}?id=5&sig=first&se=2026")
    http_server.manners.signature = "signature-number-2"
    asked(http_server)
    assert scan(f"{url}?id=5&sig=signature-number-2&se=2027") == DATA
    assert asked(http_server) == 1
    scan(f"{url}?id=6&sig=signature-number-2")
    assert asked(http_server) == 1 + 4


def test_single_random_reads_fetch_what_they_need(http_server, url, cache):
    source = open_source(url, cache=True)
    asked(http_server)
    at = CHUNK_BYTES + 1000
    assert source.read_at(at, 100) == DATA[at : at + 100]
    assert [request.range for request in http_server.requests] == [f"bytes={at}-{at + 99}"]
    assert not cache.exists()


def test_many_random_reads_of_a_chunk_keep_it(http_server, url):
    source = open_source(url, cache=True)
    asked(http_server)
    places = random.Random(1).sample(range(2 * CHUNK_BYTES, 3 * CHUNK_BYTES - 100), 50)
    for at in places:
        assert source.read_at(at, 100) == DATA[at : at + 100]
    assert asked(http_server) == 4
    assert [bytes(found) for found in source.read_ranges(sorted(places), [100] * 50)] == [
        DATA[at : at + 100] for at in sorted(places)
    ]
    assert asked(http_server) == 0


def test_ranges_over_the_ends_of_chunks(http_server, url, cache):
    scan(url)
    (path,) = cache.glob("ranges/*/1")
    path.unlink()
    forget()
    source = open_source(url, cache=True)
    asked(http_server)
    starts = [CHUNK_BYTES - 10, 2 * CHUNK_BYTES - 10, len(DATA) - 5]
    found = source.read_ranges(starts, [20, 20, 20])
    assert [bytes(each) for each in found] == [DATA[start : start + 20] for start in starts]
    assert source.read_at(CHUNK_BYTES - 10, CHUNK_BYTES + 20) == DATA[CHUNK_BYTES - 10 : 2 * CHUNK_BYTES + 10]


def test_a_large_read_keeps_its_chunk(http_server, url):
    source = open_source(url, cache=True)
    assert source.read_at(CHUNK_BYTES, CHUNK_BYTES) == DATA[CHUNK_BYTES : 2 * CHUNK_BYTES]
    asked(http_server)
    assert source.read_at(CHUNK_BYTES + 5, 5) == DATA[CHUNK_BYTES + 5 : CHUNK_BYTES + 10]
    assert asked(http_server) == 0


def test_reading_continues_where_nothing_can_be_kept(url, cache):
    cache.write_bytes(b"a file in the place of the folder")
    with pytest.warns(RuntimeWarning, match="nothing more is kept in the cache"):
        assert scan(url) == DATA
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scan(url) == DATA


def test_a_limit_smaller_than_the_file_is_kept_to(http_server, url, cache, monkeypatch):
    monkeypatch.setenv("TFRKIT_CACHE_BYTES", "20M")
    for _ in range(3):
        assert scan(url) == DATA
        assert sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) <= 20 << 20


def test_a_limit_that_is_no_size_is_an_error(url, monkeypatch):
    monkeypatch.setenv("TFRKIT_CACHE_BYTES", "lots")
    with pytest.raises(tfr.errors.InvalidArgumentError, match="TFRKIT_CACHE_BYTES"):
        open_source(url, cache=True)


def test_configure_store_says_what_is_kept(http_server, url, cache):
    scan(url, cache=None)
    assert not cache.exists()
    configure_store(http_server.url, cache=True)
    try:
        scan(url, cache=False)
        assert not cache.exists()
        scan(url, cache=None)
        assert cache.exists()
    finally:
        configure_store(http_server.url)


@pytest.mark.parametrize("read", ["blocks", "records", "examples", "table", "dataset"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_every_reader_takes_cache(http_server, tmp_path, cache, read, suffix):
    path = tmp_path / f"a.tfrecord{suffix}"
    with tfr.TFRecordWriter(str(path)) as writer:
        for number in range(20_000):
            writer.write_example({"number": number, "noise": random.Random(number).randbytes(100)})
    http_server.files["a.tfrecord"] = path.read_bytes()
    url = f"{http_server.url}/a.tfrecord"
    readers = {
        "blocks": lambda: sum(len(block) for block in tfr.read_blocks(url, cache=True)),
        "records": lambda: sum(1 for _ in tfr.read_records(url, cache=True)),
        "examples": lambda: sum(1 for _ in tfr.read_examples(url, cache=True)),
        "table": lambda: tfr.read_table(url, cache=True).num_rows,
        "dataset": lambda: sum(1 for _ in tfr.TFRecordDataset(url, cache=True)),
    }
    assert readers[read]() == 20_000
    asked(http_server)
    assert readers[read]() == 20_000
    assert asked(http_server) == 1


READER = """
import hashlib, sys
from tfrkit.stores.files import open_source
for _ in range(2):
    source = open_source(sys.argv[1], cache=True)
    digest = hashlib.sha256()
    while part := source.read(1 << 20):
        digest.update(part)
print(digest.hexdigest())
"""


def test_two_processes_read_at_once(s3_server, s3_bucket, unique_prefix, cache):
    environment = {
        **os.environ,
        **s3_server.environment(),
        "TFRKIT_CACHE_BYTES": "17M",
    }  # they evict each other's
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    url = f"s3://{s3_bucket}/{unique_prefix}a.bin"
    write_bytes(url, DATA)
    both = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", READER, url],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    printed = [each.communicate(timeout=60)[0] for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert printed == [hashlib.sha256(DATA).hexdigest() + "\n"] * 2
    assert list(cache.glob("ranges/*/[0-9]"))


def test_buckets_of_one_name_on_two_servers_are_two_files(s3_server, s3_bucket, unique_prefix, fault_proxy):
    url = f"s3://{s3_bucket}/{unique_prefix}a.bin"
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    write_bytes(url, DATA)
    assert scan(url) == DATA
    proxy = fault_proxy(s3_server.port)
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    assert scan(url) == DATA
    assert len(proxy.requests(clear=True)) == 1 + 4
    assert scan(url) == DATA
    assert len(proxy.requests()) == 1
    assert read_bytes(url) == DATA


def test_files_of_fsspec_are_kept(tmp_path, cache):
    fsspec = pytest.importorskip("fsspec")

    class Slow(fsspec.get_filesystem_class("file")):
        protocol = "slowfile"
        reads = 0

        def cat_file(self, path, start=None, end=None, **options):
            Slow.reads += 1
            return super().cat_file(path, start, end, **options)

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(str(path).removeprefix("slowfile://host"))

    fsspec.register_implementation("slowfile", Slow, clobber=True)
    (tmp_path / "a.bin").write_bytes(DATA)
    url = f"slowfile://host{tmp_path}/a.bin"
    assert scan(url) == DATA
    before = Slow.reads
    assert before >= 4
    assert scan(url) == DATA
    assert Slow.reads == before
