"""The limit of the cache: what was used longest ago goes first, and nothing that others need is touched."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tfrkit.stores.cache import chunks as chunks_module
from tfrkit.stores.cache import room
from tfrkit.stores.cache.chunks import CHUNK_BYTES, ChunkFiles
from tfrkit.stores.cache.room import kept_files, room_for

COUNT = 12


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TFRKIT_CACHE_BYTES", str(5 * (CHUNK_BYTES + 48) + 2000))
    room._seen.clear()
    return tmp_path / "cache"


def files_of(name="file"):
    return ChunkFiles(name, f"s3://bucket/{name}", "1", COUNT * CHUNK_BYTES)


def keep(files, number):
    files.keep(number, [bytes(CHUNK_BYTES)])
    path = files._path(number)
    age = 10_000 - 100 * number  # as if time passed
    if os.path.exists(path):
        os.utime(path, (time.time() - age,) * 2)


def total(cache):
    return sum(each.size for each in kept_files(str(cache)))


def numbers(files):
    return [number for number in range(COUNT) if files.has(number)]


def test_the_limit_is_never_exceeded(cache):
    files = files_of()
    for number in range(COUNT):
        keep(files, number)
        assert total(cache) <= 5 * (CHUNK_BYTES + 48) + 2000
        assert files.has(number)


def test_what_was_used_longest_ago_goes_first():
    files = files_of()
    for number in range(4):
        keep(files, number)
    chunks_module._open.clear()
    assert files.get(1) is not None  # used just now
    for number in range(4, 7):
        keep(files, number)
    chunks_module._open.clear()
    assert 1 in numbers(files)
    assert 0 not in numbers(files)
    assert 2 not in numbers(files)
    assert numbers(files)[-1] == 6


def test_use_is_noted_at_most_once_a_minute():
    files = files_of()
    keep(files, 0)
    chunks_module._open.clear()
    before = os.stat(files._path(0)).st_mtime
    files.get(0)
    noted = os.stat(files._path(0)).st_mtime
    assert noted > before + 5_000
    os.utime(files._path(0), (before, before))
    files.get(0)
    assert os.stat(files._path(0)).st_mtime == pytest.approx(before)


def test_files_of_others_go_too_and_their_empty_folders(cache):
    old = files_of("old")
    keep(old, 0)
    files = files_of()
    for number in range(1, 7):
        keep(files, number)
    assert not old.has(0)
    assert len(list(cache.glob("ranges/*"))) == 1


def test_a_limit_below_one_chunk_keeps_nothing(cache, monkeypatch):
    monkeypatch.setenv("TFRKIT_CACHE_BYTES", "1M")
    files = files_of()
    keep(files, 0)
    assert not files.has(0)
    assert not cache.exists()


def test_what_killed_processes_left_half_written_is_removed_after_an_hour(cache):
    files = files_of()
    keep(files, 0)
    folder = os.path.dirname(files._path(0))
    old, new = os.path.join(folder, ".tmp-1-old"), os.path.join(folder, ".tmp-1-new")
    for path in (old, new):
        with open(path, "wb") as file:
            file.write(b"x" * 1000)
    os.utime(old, (time.time() - 4000,) * 2)
    room._seen.clear()
    keep(files, 1)
    assert not os.path.exists(old)
    assert os.path.exists(new)


def test_other_files_of_the_folder_are_left_alone(cache):
    (cache / "indexes").mkdir(parents=True)
    (cache / "indexes" / "7").write_bytes(bytes(1 << 20))
    files = files_of()
    for number in range(COUNT):
        keep(files, number)
    assert (cache / "indexes" / "7").exists()


def test_several_processes_together_stay_near_the_limit(cache):
    code = f"""
import os, sys
from tfrkit.stores.cache.chunks import ChunkFiles, CHUNK_BYTES
files = ChunkFiles(sys.argv[1], "s3://bucket/" + sys.argv[1], "1", {COUNT} * CHUNK_BYTES)
for number in range({COUNT}):
    files.keep(number, [bytes(CHUNK_BYTES)])
"""
    both = [subprocess.Popen([sys.executable, "-W", "error", "-c", code, name]) for name in ("a", "b")]
    assert [each.wait(60) for each in both] == [0, 0]
    assert total(cache) <= 5 * (CHUNK_BYTES + 48) + 2000 + CHUNK_BYTES + 48


def test_what_threads_write_at_once_stays_below_the_limit(tmp_path):
    cache, folder = str(tmp_path), str(tmp_path / "ranges")
    with room_for(cache, folder, 60, 100) as first, room_for(cache, folder, 60, 100) as second:
        assert (first, second) == (True, False)
        with room_for(cache, folder, 40, 100) as third:
            assert third
    with room_for(cache, folder, 60, 100) as later:
        assert later
