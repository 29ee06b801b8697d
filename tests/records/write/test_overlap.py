"""Work on other threads: it never uses a descriptor that may belong to another file, however often Ctrl-C comes."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tfrkit import _core
from tfrkit.build.job.file_journal import FileJournal
from tfrkit.build.job.journal import Header
from tfrkit.build.job.report import Finished
from tfrkit.errors import AbortedError, FailedPreconditionError, OpError, ResourceExhaustedError
from tfrkit.records.access import file_frames, gather
from tfrkit.records.write import overlap as behind
from tfrkit.records.write.overlap import WriteOverlap
from tfrkit.stores import output
from tfrkit.stores.output import AtomicOutput, FileOutput, ObjectOutput
from tfrkit.threads import spawn

RECORDS = [
    b"%d:" % number + bytes(990) for number in range(6000)
]  # 6 MB: two runs on another thread, one here
OTHERS = [b"other %d" % number for number in range(100)]


@pytest.fixture(autouse=True)
def two_cores(monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(behind, "default_threads", lambda: 2)
    before = signal.signal(signal.SIGINT, lambda *_: None)  # those that come late do no harm
    yield
    signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def interrupted() -> Iterator[None]:
    """Expect KeyboardInterrupt; SIGINT raises it in here only."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGINT, before)


class Slow:
    """Stands in for a function that uses a descriptor: on other threads it interrupts the main one, and takes long."""

    def __init__(self, function: Callable[..., Any], interrupts: int = 2) -> None:
        self._function = function
        self._interrupts = interrupts
        self.begun = self.ended = 0
        self._entered = threading.Lock()
        self._entered.acquire()
        self.strange: list[str] = []  # what went wrong: the number means another file now, or none

    def __call__(self, fd: int, *args: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            return self._function(fd, *args)
        self.begun += 1
        before = os.fstat(fd).st_ino
        if self.begun == 1:
            self._entered.release()
        while self._interrupts:
            time.sleep(0.1)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            self._interrupts -= 1
        time.sleep(0.1)
        try:
            if os.fstat(fd).st_ino != before:
                self.strange.append("another file")
        except OSError as error:
            self.strange.append(str(error))
        try:
            return self._function(fd, *args)
        finally:
            self.ended += 1

    def submit(self, task: Callable[[], None]) -> Future[None]:
        """Stand in for the pool: with the first task, the function begins on another thread before this returns."""
        future = spawn(task)
        if not self.begun:
            self._entered.acquire()
        return future


def write_other(path: Path) -> None:
    """Open some more files: the first gets the lowest number that is free."""
    with tfr.TFRecordWriter(path) as writer:
        time.sleep(0.25)  # whoever still writes to that number writes into this file
        writer.write_many(OTHERS)


def in_place(folder: Path) -> None:
    with tfr.TFRecordWriter(folder / "a.tfrecord") as writer:
        writer.write_many(RECORDS)


def one_by_one(folder: Path) -> None:
    with tfr.TFRecordWriter(folder / "a.tfrecord") as writer:
        writer.set_run_bytes(1 << 23)
        for record in RECORDS:
            writer.write(record)


def atomic(folder: Path) -> None:
    with tfr.TFRecordWriter(folder / "a.tfrecord", atomic=True) as writer:
        writer.write_many(RECORDS)


def shards(folder: Path) -> None:
    with tfr.ShardWriter(folder / "a", shards=1) as writer:
        writer.write_many(RECORDS)


@pytest.mark.parametrize("write", [in_place, one_by_one, atomic, shards])
@pytest.mark.parametrize("interrupts", [1, 2, 3])
def test_interrupted_writer_never_writes_into_the_next_file(write, interrupts, tmp_path, monkeypatch):
    slow = Slow(os.write, interrupts)
    monkeypatch.setattr(os, "write", slow)
    monkeypatch.setattr(behind, "thread_pool", lambda: slow)
    with interrupted():
        write(tmp_path)
    write_other(tmp_path / "b.tfrecord")
    assert slow.begun
    assert slow.strange == []
    assert list(tfr.read_records(tmp_path / "b.tfrecord")) == OTHERS
    if write in (in_place, one_by_one):
        found = list(tfr.read_records(tmp_path / "a.tfrecord"))
        assert found == RECORDS[: len(found)]
    else:
        assert os.listdir(tmp_path) == ["b.tfrecord"]


def test_interrupted_huge_records_never_go_into_the_next_file(tmp_path, monkeypatch):
    slow = Slow(os.writev)
    monkeypatch.setattr(os, "writev", slow)
    monkeypatch.setattr(behind, "thread_pool", lambda: slow)
    with interrupted(), tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many([bytes(5_000_000)] * 10)
    write_other(tmp_path / "b.tfrecord")
    assert (slow.begun, slow.strange) == (1, [])
    assert list(tfr.read_records(tmp_path / "b.tfrecord")) == OTHERS


@pytest.mark.parametrize("end", [AtomicOutput.close, AtomicOutput.discard])
def test_descriptor_stays_open_while_another_thread_syncs_it(end, tmp_path, monkeypatch):
    slow = Slow(os.fsync)
    monkeypatch.setattr(output, "_sync_data", slow)
    file = AtomicOutput(str(tmp_path / "a"))
    with interrupted():
        file.write(bytes(output._SYNC_BYTES))
        end(file)
    file.discard()
    write_other(tmp_path / "b.tfrecord")
    assert (slow.begun, slow.strange) == (1, [])
    assert os.listdir(tmp_path) == ["b.tfrecord"]


def test_record_file_stays_open_while_another_thread_reads_it(tmp_path, monkeypatch):
    in_place(tmp_path)
    slow = Slow(_core.read_frames, 1)
    monkeypatch.setattr(_core, "read_frames", slow)
    monkeypatch.setattr(gather, "default_threads", lambda: 2)
    monkeypatch.setattr(file_frames, "_map_frames", lambda *_: None)
    with interrupted(), tfr.RecordFile(tmp_path / "a.tfrecord") as file:
        file.take(range(len(RECORDS)))
    write_other(tmp_path / "b.tfrecord")
    while slow.begun > slow.ended:
        time.sleep(0.01)
    assert (slow.begun, slow.strange) == (1, [])


def test_closed_output_refuses_threads_that_come_late(tmp_path):
    file = FileOutput(str(tmp_path / "a"))
    file.close()
    with open(tmp_path / "b", "wb") as other:
        for use in (
            lambda: file.write(b"late"),
            lambda: file.write_pieces([b"late"]),
            file.sync,
        ):
            with pytest.raises(FailedPreconditionError, match="a; the file is closed"):
                use()
        file.rollback(7)
        assert os.fstat(other.fileno()).st_size == 0


def test_files_of_the_user_and_pipes_are_written_in_the_calling_thread(tmp_path, monkeypatch):
    writes = Slow(os.write, 0)
    monkeypatch.setattr(os, "write", writes)
    threads = set()

    class File:
        def write(self, data: Any) -> int:
            threads.add(threading.current_thread())
            return len(data)

        def flush(self) -> None:
            pass

    with tfr.TFRecordWriter(File()) as writer:  # type: ignore[arg-type]
        writer.write_many(RECORDS)
    with tfr.TFRecordWriter("/dev/null") as writer:
        writer.write_many(RECORDS)
    assert threads == {threading.main_thread()}
    assert writes.begun == 0
    assert ObjectOutput(AtomicOutput(str(tmp_path / "a"))).background


def test_child_process_neither_waits_for_threads_of_its_parent_nor_removes_its_file(tmp_path):
    file = AtomicOutput(str(tmp_path / "a"))
    with file._file._writing, file._file._syncing:
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            file.discard()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    file.write(b"x")
    file.close()
    assert (tmp_path / "a").read_bytes() == b"x"


# -- WriteOverlap itself ----------------------------------------------------------------------------------------------


def test_work_that_no_thread_has_begun_is_done_here_and_in_order(monkeypatch):
    monkeypatch.setattr(behind, "thread_pool", Deaf)
    done: list[int] = []
    with WriteOverlap(enabled=True) as work:
        for number in range(5):
            work.do(lambda number=number: done.append(number), last=number == 4)
    assert done == [0, 1, 2, 3, 4]


def test_work_that_no_thread_has_begun_is_called_off_by_an_interruption(monkeypatch):
    pool = Deaf()
    monkeypatch.setattr(behind, "thread_pool", lambda: pool)
    done: list[int] = []
    work = WriteOverlap(enabled=True)
    work.do(lambda: done.append(1), last=False)
    work.__exit__(KeyboardInterrupt, None, None)
    for task in pool.tasks:
        thread = threading.Thread(target=task)
        thread.start()
        thread.join()
    assert done == []


class Deaf:
    """A pool whose threads are all busy."""

    def __init__(self) -> None:
        self.tasks: list[Callable[[], None]] = []

    def submit(self, task: Callable[[], None]) -> None:
        self.tasks.append(task)


def test_error_on_the_other_thread_comes_with_the_next_call():
    def fail() -> None:
        raise ResourceExhaustedError("full")

    work = WriteOverlap(enabled=True)
    work.do(fail, last=False)
    with pytest.raises(ResourceExhaustedError, match="full"):
        work.do(fail, last=True)


# -- interruptions between two steps ----------------------------------------------------------------------------------


def interrupt_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, left = _core.frame_records, [1]

    def interrupted(*args: Any) -> Any:
        if left:
            left.pop()
            raise KeyboardInterrupt
        return frame(*args)

    monkeypatch.setattr(_core, "frame_records", interrupted)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zlib", ".zst"])
def test_writer_tells_of_accepted_records_that_an_interruption_has_lost(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"a{suffix}"
    writer = tfr.TFRecordWriter(path)
    writer.write(b"first")
    writer.flush()
    interrupt_once(monkeypatch)
    writer.write(b"accepted")
    with pytest.raises(KeyboardInterrupt):
        writer.flush()
    with pytest.raises(AbortedError, match="writing was interrupted"):
        writer.flush()
    with pytest.raises(AbortedError, match="writing was interrupted"):
        writer.write_many([b"later"])
    with pytest.raises(AbortedError, match="writing was interrupted"):
        writer.close()
    assert list(tfr.read_records(path)) == [b"first"]


def test_interrupted_writer_ends_its_container(tmp_path, monkeypatch):
    def write() -> None:
        with tfr.TFRecordWriter(tmp_path / "a.zst") as writer:
            writer.write_many([b"first"])
            interrupt_once(monkeypatch)
            writer.write_many([b"second"])

    with pytest.raises(KeyboardInterrupt):
        write()
    assert list(tfr.read_records(tmp_path / "a.zst")) == [b"first"]


def test_atomic_file_that_lacks_accepted_records_is_not_published(tmp_path, monkeypatch):
    interrupt_once(monkeypatch)
    writer = tfr.TFRecordWriter(tmp_path / "a", atomic=True)
    with pytest.raises(KeyboardInterrupt):
        writer.write_many([b"accepted"])
    with pytest.raises(AbortedError, match="0 records are in the file"):
        writer.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("records", [[b"a", b"b"], iter([bytes(1 << 20)] * 10)])
def test_shards_that_lack_accepted_records_are_not_published(records, tmp_path, monkeypatch):
    interrupt_once(monkeypatch)
    writer = tfr.ShardWriter(tmp_path / "a", shards=2)
    with pytest.raises(KeyboardInterrupt):
        writer.write_many(records)
    with pytest.raises(AbortedError, match="interrupted"):
        writer.close()
    assert os.listdir(tmp_path) == []


def test_shards_that_lack_records_after_an_error_are_not_published(tmp_path, monkeypatch):
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    writer = tfr.ShardWriter(tmp_path / "a", shards=2)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(ResourceExhaustedError):
            writer.write_many([b"a", b"b"])
    writer.write(b"c")
    with pytest.raises(ResourceExhaustedError, match="0 records are in the file"):
        writer.close()
    assert os.listdir(tmp_path) == []


def test_journal_stays_open_while_another_thread_adds_to_it(tmp_path, monkeypatch):
    (tmp_path / ".tfrkit").mkdir()
    journal = FileJournal.begin(str(tmp_path), Header("0123456789abcdef", {}, {}, {}, staged=False))
    slow = Slow(os.write, 0)
    monkeypatch.setattr(os, "write", slow)
    slow.submit(lambda: journal.add(Finished("a-00000-of-00001.tfrecord", 1, 17, 0, {}, (), (), ())))
    journal.close()
    write_other(tmp_path / "b.tfrecord")
    while slow.begun > slow.ended:
        time.sleep(0.01)
    assert (slow.begun, slow.strange) == (1, [])
    assert list(tfr.read_records(tmp_path / "b.tfrecord")) == OTHERS
    with pytest.raises(OpError):
        journal.add_ready()
