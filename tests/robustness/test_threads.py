"""Many threads and forked processes read and write at once."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.records.support.made import put

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forks with threads
RECORDS = [b"%d:" % number * (number % 50) for number in range(5000)]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for suffix in ("", ".gz", ".zst", "-one.gz"):
        paths.append(folder / f"a{suffix}")
        with tfr.TFRecordWriter(paths[-1], members=suffix != "-one.gz") as writer:
            writer.set_run_bytes(20_000)
            for start in range(0, 5000, 500):
                writer.write_many(RECORDS[start : start + 500])
                writer.flush()
    return paths


def run_threads(work, count: int = 8) -> list[object]:
    wrong: list[object] = []

    def guarded(number: int) -> None:
        try:
            if not work(number):
                wrong.append(number)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    return wrong


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_many_threads_read_the_same_and_different_files(files, threads):
    def work(number: int) -> bool:
        some = [files[number % 4], files[(number + 1) % 4]] * 2
        found = list(tfr.read_records(some, threads=threads, block_bytes=30_000))
        return found == RECORDS * 4

    assert run_threads(work) == []


def test_many_threads_write_and_verify(tmp_path):
    def work(number: int) -> bool:
        path = tmp_path / f"{number}.tfrecord{'.gz' if number % 2 else ''}"
        with tfr.TFRecordWriter(path, index=True) as writer:
            writer.write_many(RECORDS)
        return tfr.verify([path, path]).records == 10_000 and tfr.RecordFile(path)[4999] == RECORDS[4999]

    assert run_threads(work) == []


def test_one_reader_shared_by_threads_gives_every_record_once(files):
    # Sharing needs a lock, as with any iterator; what is behind it must not mind the change of threads.
    reader, lock, found = tfr.read_blocks(files[0], block_bytes=10_000), threading.Lock(), []

    def work(number: int) -> bool:
        while True:
            with lock:
                block = next(reader, None)
                if block is None:
                    return True
                found.append(block)

    assert run_threads(work) == []
    assert [record for block in found for record in block] == RECORDS


def in_child(work) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_forked_child_reads_and_writes_after_the_parent_used_its_pool(files, tmp_path):
    assert list(tfr.read_records(files)) == RECORDS * 4

    def work() -> bool:
        with tfr.TFRecordWriter(tmp_path / "child.gz") as writer:
            writer.write_many(RECORDS * 3)
        return list(tfr.read_records([*files, tmp_path / "child.gz"])) == RECORDS * 7

    assert in_child(work) == 0
    assert list(tfr.read_records(tmp_path / "child.gz")) == RECORDS * 3


def test_fork_while_a_reader_is_at_work(files):
    reader = tfr.read_records(files * 3, block_bytes=10_000)
    first = [next(reader) for _ in range(100)]
    assert in_child(lambda: list(tfr.read_records(files)) == RECORDS * 4) == 0
    assert first + list(reader) == RECORDS * 12


def test_fork_while_other_threads_read(files):
    stop = threading.Event()

    def read() -> bool:
        while not stop.is_set():
            list(tfr.read_records(files[1]))
        return True

    reading = [threading.Thread(target=read) for _ in range(2)]
    for thread in reading:
        thread.start()
    try:
        for _ in range(10):
            assert in_child(lambda: list(tfr.read_records(files[0])) == RECORDS) == 0
    finally:
        stop.set()
        for thread in reading:
            thread.join()


def test_forked_children_share_a_record_file(files):
    for path in files:
        file = tfr.RecordFile(path)
        assert file[17] == RECORDS[17]
        work = lambda file=file: file.take([4999, 0]).to_list() == [RECORDS[4999], RECORDS[0]]  # noqa: E731
        assert in_child(work) == 0


def _count(path: str) -> int:
    return sum(len(block) for block in tfr.read_blocks(path))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_pool(files, method):
    list(tfr.read_records(files[0]))
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_count, [str(path) for path in files]) == [5000] * 4


def test_file_that_shrinks_while_it_is_read_is_an_error_or_shorter(tmp_path):
    data = tfr.Block.from_records(RECORDS).data.tobytes()
    for keep in (0, 1, 1000, 123_457, len(data) - 3):
        for policy in ("raise", "skip"):
            path = put(tmp_path / "a", data)
            reader = tfr.read_records(path, block_bytes=5000, on_corrupt=policy)
            found = [next(reader) for _ in range(10)]
            os.truncate(path, keep)
            with contextlib.suppress(tfr.errors.OpError):
                for record in reader:
                    found.append(record)
            assert found == RECORDS[: len(found)]


def test_file_that_shrinks_under_random_access_is_an_error(files, tmp_path):
    for source in files[:2]:
        path = put(tmp_path / source.name, source.read_bytes())
        file = tfr.RecordFile(path)
        os.truncate(path, 40)
        for use in (lambda file=file: file[4000], lambda file=file: file[3000:4000]):
            with pytest.raises(tfr.errors.DataLossError, match=r"of '|; "):
                use()


def test_file_that_grows_while_it_is_read_gives_whole_records(tmp_path):
    path = tmp_path / "a"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(RECORDS[:1000])
        writer.flush()
        reader = tfr.read_records(path, block_bytes=3000)
        found = [next(reader) for _ in range(10)]
        writer.write_many(RECORDS[1000:])
        writer.flush()
        found += list(reader)
    assert found == RECORDS[: len(found)]
    assert len(found) >= 1000
