"""Chunk files: what is kept comes back, what is damaged does not, and nothing fails because of the cache."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tfrkit.stores.cache import chunks as chunks_module
from tfrkit.stores.cache.chunks import CHUNK_BYTES, ChunkFiles

SIZE = 2 * CHUNK_BYTES + 1000
DATA = [os.urandom(CHUNK_BYTES), os.urandom(CHUNK_BYTES), os.urandom(1000)]


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


def kept(version="1"):
    made = ChunkFiles("store/file", "s3://bucket/file", version, SIZE)
    for number, data in enumerate(DATA):
        made.keep(number, [data[:10], memoryview(data)[10:]])
    return made


def content(files, number):
    chunk = files.get(number)
    return None if chunk is None else chunk.read(0, chunk.size)


def flip(path, at):
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 4]))


def path_of(cache, number):
    (found,) = cache.glob(f"ranges/*/{number}")
    return found


def test_what_is_kept_comes_back():
    kept()
    forget()
    again = ChunkFiles("store/file", "s3://bucket/file", "1", SIZE)
    assert [content(again, number) for number in range(3)] == DATA
    chunk = again.get(2)
    assert chunk.read(990, 10) == DATA[2][990:]
    view = memoryview(bytearray(5))
    assert chunk.read_into(view, 3)
    assert bytes(view) == DATA[2][3:8]


@pytest.mark.parametrize(
    "other", [("store/other", "1", SIZE), ("store/file", "2", SIZE), ("store/file", "1", SIZE + 1)]
)
def test_another_file_version_or_size_is_not_found(other):
    kept()
    identity, version, size = other
    assert ChunkFiles(identity, "s3://bucket/file", version, size).get(0) is None


@pytest.mark.parametrize("at", [0, 500, (1 << 20) - 1, 1 << 20, CHUNK_BYTES - 1])
def test_a_flipped_bit_is_noticed_by_whoever_reads_its_mebibyte(cache, at):
    kept()
    flip(path_of(cache, 1), at)
    forget()
    chunk = ChunkFiles("store/file", "s3://bucket/file", "1", SIZE).get(1)
    assert chunk.read(0, CHUNK_BYTES) is None
    forget()
    assert chunk.read(at >> 20 << 20, 1 << 20) is None
    assert chunk.read(max(0, at - 2), 1) in (None, DATA[1][max(0, at - 2) : max(0, at - 2) + 1])
    assert chunk.read(at, 1) is None
    assert not chunk.read_into(memoryview(bytearray(CHUNK_BYTES)), 0)
    other = (at >> 20 ^ 3) << 20
    assert chunk.read(other + 5, 1000) == DATA[1][other + 5 : other + 1005]


@pytest.mark.parametrize("at", [0, 15, 31, 32, 40, 47])
def test_a_flipped_bit_of_the_checksums_is_noticed_and_the_file_removed(cache, at):
    kept()
    path = path_of(cache, 1)
    flip(path, CHUNK_BYTES + at)
    forget()
    files = ChunkFiles("store/file", "s3://bucket/file", "1", SIZE)
    assert files.get(1) is None
    assert not path.exists()
    assert content(files, 0) == DATA[0]


@pytest.mark.parametrize("size", [0, 1, 1000, CHUNK_BYTES, CHUNK_BYTES + 47, CHUNK_BYTES + 49])
def test_a_cut_file_is_noticed_and_removed(cache, size):
    kept()
    os.truncate(path_of(cache, 0), size)
    forget()
    files = ChunkFiles("store/file", "s3://bucket/file", "1", SIZE)
    assert files.get(0) is None
    assert not list(cache.glob("ranges/*/0"))


def test_a_file_of_zeros_is_noticed(cache):
    kept()
    path = path_of(cache, 0)
    path.write_bytes(bytes(path.stat().st_size))
    forget()
    assert ChunkFiles("store/file", "s3://bucket/file", "1", SIZE).get(0) is None


def test_a_chunk_in_anothers_place_is_noticed(cache):
    kept()
    os.replace(path_of(cache, 0), path_of(cache, 1))
    forget()
    assert ChunkFiles("store/file", "s3://bucket/file", "1", SIZE).get(1) is None


def test_a_chunk_that_is_removed_while_it_is_read_can_be_read_on(cache):
    files = kept()
    chunk = files.get(0)
    path_of(cache, 0).unlink()
    assert chunk.read(0, 100) == DATA[0][:100]
    forget()
    assert files.get(0) is None


def test_pieces_of_a_wrong_size_are_not_kept():
    files = ChunkFiles("store/file", "s3://bucket/file", "1", SIZE)
    files.keep(2, [b"short"])
    assert not files.has(2)


def test_files_belong_to_the_user_alone_and_say_what_they_are(cache):
    kept()
    assert all(path.stat().st_mode & 0o077 == 0 for path in cache.rglob("*"))
    (about,) = cache.glob("ranges/*/about.json")
    assert "s3://bucket/file" in about.read_text()


def test_few_descriptors_are_open(monkeypatch):
    monkeypatch.setattr(chunks_module, "_MOST_OPEN", 32)
    files = ChunkFiles("store/large", "s3://bucket/large", "1", 50 * CHUNK_BYTES)
    for number in range(50):
        files.keep(number, [bytes(CHUNK_BYTES)])
    before = len(os.listdir("/dev/fd"))
    for number in range(50):
        assert files.get(number) is not None
    assert len(os.listdir("/dev/fd")) <= before + 32


def test_a_full_disk_stops_the_cache_with_one_warning(cache):
    """The limit of the size of files is what a test can have of a full disk: writes end in the middle."""
    code = f"""
import resource, warnings
from tfrkit.stores.cache.chunks import ChunkFiles
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
files = ChunkFiles("store/file", "s3://bucket/file", "1", {SIZE})
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for number in (2, 0, 1):
        files.keep(number, [bytes(files.bytes_of(number))])
print(len(seen), seen[0].category.__name__, seen[0].message)
print(files.has(2), files.has(0), files.has(1), files.keeps)
"""
    first, second = run(code).splitlines()
    assert first.startswith("1 RuntimeWarning ")
    assert "nothing more is kept in the cache, as it cannot be written (File too large)" in first
    assert second == "True False False False"
    assert not list(cache.glob("ranges/*/.tmp-*"))


def test_a_folder_that_cannot_be_written_is_read_from(cache):
    """In a process of a user who may not write there: root may write everywhere."""
    kept()
    for path in (cache.parent, *cache.parent.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    code = f"""
import os, warnings
from tfrkit.stores.cache.chunks import ChunkFiles
if os.getuid() == 0:
    os.setuid(65534)
files = ChunkFiles("store/file", "s3://bucket/file", "1", {SIZE})
other = ChunkFiles("store/file", "s3://bucket/file", "2", {SIZE})
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    other.keep(2, [bytes(1000)])
    other.keep(2, [bytes(1000)])
print(files.get(2) is not None, other.has(2), len(seen), seen[0].message)
"""
    parents = [each for each in cache.parents if each.stat().st_mode & 0o005 != 0o005]
    modes = [each.stat().st_mode for each in parents]
    for each in parents:
        each.chmod(0o755)
    try:
        printed = run(code)
    finally:
        for each, mode in zip(parents, modes, strict=True):
            each.chmod(mode)
        for path in (cache.parent, *cache.parent.rglob("*")):
            path.chmod(0o755)
    assert printed.startswith("True False 1 ")
    assert "Permission denied" in printed


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


WRITER = f"""
import os, sys
from tfrkit.stores.cache.chunks import ChunkFiles, CHUNK_BYTES
print("ready", flush=True)
round = 0
while True:
    files = ChunkFiles("store/file", "s3://bucket/file", str(round % 3), {SIZE})
    for number in range(3):
        files.keep(number, [bytes([round % 3 + 1]) * files.bytes_of(number)])
    round += 1
"""


def test_processes_that_are_killed_while_they_write_leave_nothing_wrong(cache, monkeypatch):
    monkeypatch.setenv(
        "TFRKIT_CACHE_BYTES", str(3 * CHUNK_BYTES)
    )  # so that they remove each other's files, too
    found = 0
    for round_ in range(6):
        writers = [subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE) for _ in range(2)]
        try:
            for writer in writers:
                assert writer.stdout.readline() == b"ready\n"
            time.sleep(0.05 * (round_ + 1))
        finally:
            for writer in writers:
                writer.send_signal(signal.SIGKILL)
                writer.wait()
                writer.stdout.close()
        forget()
        for version in range(3):
            files = ChunkFiles("store/file", "s3://bucket/file", str(version), SIZE)
            for number in range(3):
                data = content(files, number)
                assert data in (None, bytes([version + 1]) * files.bytes_of(number))
                found += data is not None
    assert found


def test_a_forked_child_reads_and_keeps(cache):
    files = kept()
    assert content(files, 0) == DATA[0]
    chunks_module._lock.acquire()  # as if another thread were just using it
    try:
        child = os.fork()
        if child == 0:
            os._exit(content(files, 0) != DATA[0] or content(files, 1) != DATA[1])
    finally:
        chunks_module._lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
