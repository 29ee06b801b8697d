"""Readers and writers that nobody finishes leave no descriptors, threads or temporary files."""

from __future__ import annotations

import gc
import os
import threading
import time
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.records.support.made import flip, put

RECORDS = [b"%d:" % number * (number % 50) for number in range(3000)]
FDS = Path("/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd")


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"a{suffix}" for suffix in ("", ".gz", ".xz", ".zst", "-one.gz")]
    for path in paths:
        with tfr.TFRecordWriter(path, members="one" not in path.name) as writer:
            for start in range(0, 3000, 300):
                writer.write_many(RECORDS[start : start + 300])
                if "one" not in path.name:
                    writer.flush()
    return paths


def open_files(folder: Path) -> list[str]:
    """Name the files under `folder` that this process holds open."""
    found = []
    for fd in os.listdir(FDS):
        try:
            target = os.readlink(FDS / fd)
        except OSError:
            continue
        if target.startswith(str(folder)):
            found.append(target)
    return found


def wait_until_closed(folder: Path) -> list[str]:
    """Steps that were under way end by themselves, soon."""
    for _ in range(200):
        if not open_files(folder):
            return []
        time.sleep(0.01)
    return open_files(folder)


def test_abandoned_readers_close_their_files(files):
    gc.disable()  # references alone must do it
    try:
        for _ in range(20):
            for path in files:
                reader = tfr.read_records([path, *files], threads=3, block_bytes=4000)
                next(reader)
                del reader
        assert wait_until_closed(files[0].parent) == []
    finally:
        gc.enable()


@pytest.mark.parametrize("close", [True, False])
def test_closed_and_finished_readers_close_their_files(files, close):
    reader = tfr.read_blocks(files, block_bytes=4000)
    first = next(reader)
    if close:
        reader.close()
    else:
        list(reader)
    assert wait_until_closed(files[0].parent) == []
    assert first.to_list() == RECORDS[: len(first)]


def test_reader_that_fails_closes_its_files(files, tmp_path):
    data = files[0].read_bytes()
    path = put(tmp_path / "bad", flip(data, len(data) // 2))
    for _ in range(10):
        with pytest.raises(tfr.errors.DataLossError, match=r"bad'"):
            list(tfr.read_records([path, path], block_bytes=1000, threads=4))
    assert wait_until_closed(tmp_path) == []


def test_threads_do_not_grow(files):
    list(tfr.read_records(files))
    before = threading.active_count()
    for _ in range(50):
        reader = tfr.read_records(files, block_bytes=2000, threads=8)
        next(reader)
    del reader
    list(tfr.read_records(files, threads=8))
    assert threading.active_count() <= max(before, len(os.sched_getaffinity(0)) + 1, 3)


def test_record_files_close_their_files(files):
    for path in files:
        file = tfr.RecordFile(path)
        assert file[2999] == RECORDS[2999]
        del file
    assert open_files(files[0].parent) == []


def test_verify_and_repair_close_their_files(files, tmp_path):
    assert tfr.verify(files).ok
    tfr.repair(files[0], tmp_path / "good")
    assert wait_until_closed(files[0].parent) == []
    assert open_files(tmp_path) == []


def test_blocks_do_not_keep_a_file_open(files):
    blocks = list(tfr.read_blocks(files[0], block_bytes=4000))
    assert wait_until_closed(files[0].parent) == []
    assert sum(len(block) for block in blocks) == 3000


def test_writers_close_their_files(tmp_path):
    for number, options in enumerate([{}, {"atomic": True}, {"compression": "GZIP"}, {"append": True}]):
        writer = tfr.TFRecordWriter(tmp_path / str(number), **options)
        writer.write(b"x")
        del writer
    with pytest.raises(ValueError, match="LZ4"):
        tfr.TFRecordWriter(tmp_path / "5", compression="LZ4")
    shards = tfr.ShardWriter(tmp_path / "train", shards=3)
    shards.write(b"x")
    del shards
    assert open_files(tmp_path) == []
    assert list(tmp_path.rglob("*.tmp")) == []


def test_atomic_writer_that_is_dropped_leaves_nothing(tmp_path):
    writer = tfr.TFRecordWriter(tmp_path / "a", atomic=True)
    writer.write(b"only half of what was to come")
    del writer
    assert list(tmp_path.iterdir()) == []
