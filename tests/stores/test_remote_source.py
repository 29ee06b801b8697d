"""Reading by requests: the window of ranges, joined ranges, and what is held at a time."""

from __future__ import annotations

import contextlib
import gc
import random
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tfrkit.errors import UnavailableError
from tfrkit.stores import remote_source
from tfrkit.stores.remote_source import RANGE_BYTES, Pieces, RemoteSource
from tfrkit.stores.source import SourceFile
from tfrkit.threads import spawn


class Recorded:
    """A file in memory that notes what is asked for."""

    name, version = "memory://file", "1"

    def __init__(self, data: bytes, *, fail_at: int | None = None) -> None:
        self.data, self.size = data, len(data)
        self.asked: list[tuple[int, int]] = []
        self.running = self.most = 0
        self._fail_at = fail_at
        self._lock = threading.Lock()

    def fetch(self, start: int, stop: int) -> Pieces:
        assert 0 <= start < stop <= self.size
        with self._lock:
            self.asked.append((start, stop))
            self.running += 1
            self.most = max(self.most, self.running)
        try:
            if self._fail_at is not None and start <= self._fail_at < stop:
                raise UnavailableError("memory://file; gone", path=self.name)
            middle = (start + stop) // 2
            return [part for part in (self.data[start:middle], memoryview(self.data)[middle:stop]) if part]
        finally:
            with self._lock:
                self.running -= 1


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_source, "RANGE_BYTES", 1000)
    monkeypatch.setattr(remote_source, "_WINDOW_BYTES", 8000)


@pytest.fixture
def data() -> bytes:
    return random.Random(1).randbytes(50_321)


def test_reading_in_order_asks_for_every_byte_once(data: bytes) -> None:
    file = Recorded(data)
    source = RemoteSource(file)
    parts = []
    while part := source.read(777):
        parts.append(part)
    assert b"".join(parts) == data
    assert sorted(file.asked) == [(at, min(at + 1000, len(data))) for at in range(0, len(data), 1000)]
    assert source.position == len(data)


def test_no_more_is_held_than_the_limit_says(data: bytes) -> None:
    file = Recorded(data)
    source = RemoteSource(file)
    source.read_ahead(0)
    assert source.read_at(0, 10) == data[:10]
    assert 2 <= len(file.asked) <= 8
    assert remote_source._budget.held <= 8000
    del source
    assert remote_source._budget.held == 0


def test_nothing_is_held_after_an_error_that_nobody_keeps(data: bytes) -> None:
    source = RemoteSource(Recorded(data, fail_at=500))
    gc.disable()  # the error must not be part of a cycle, which only a collection would find
    try:
        with contextlib.suppress(UnavailableError):  # which keeps no error, as pytest.raises would
            source.read(10)
        assert remote_source._budget.held > 0
        del source
        deadline = time.monotonic() + 5  # the thread that failed may still be about to end
        while remote_source._budget.held and time.monotonic() < deadline:
            time.sleep(0.001)
        assert remote_source._budget.held == 0
    finally:
        gc.enable()


def test_several_sources_share_the_limit_and_each_may_read(data: bytes) -> None:
    files = [Recorded(data) for _ in range(6)]
    sources = [RemoteSource(file) for file in files]
    for source in sources:
        source.read_ahead(0)
    for at in range(0, len(data), 500):
        assert {source.read_at(at, 500) for source in sources} == {data[at : at + 500]}
    assert all(len(file.asked) == len(set(file.asked)) for file in files)
    assert remote_source._budget.held == 0


def test_threads_read_blocks_out_of_order_and_nothing_is_asked_for_twice(data: bytes) -> None:
    file = Recorded(data)
    source = RemoteSource(file)
    source.read_ahead(0)
    blocks = [data[at : at + 250] for at in range(0, len(data), 250)]

    def read(number: int) -> bytes:
        borrowed = source.borrow(number * 250, 250)
        if borrowed is not None:
            return bytes(borrowed)
        view = memoryview(bytearray(250))
        return bytes(view[: source.read_into(view, number * 250)])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(len(blocks)))) == blocks
    assert len(file.asked) == len(set(file.asked))


def test_who_waits_for_a_range_that_another_thread_passes_over_reads_it(
    data: bytes, monkeypatch: Any
) -> None:
    def spawn_later(function: Any, start: int, stop: int) -> Any:
        return Future() if start == 0 else spawn(function, start, stop)  # the machine is busy

    monkeypatch.setattr(remote_source, "spawn", spawn_later)
    source, found = RemoteSource(Recorded(data)), list[bytes]()
    source.read_ahead(0)
    reader = threading.Thread(target=lambda: found.append(source.read_at(10, 100)), daemon=True)
    reader.start()
    time.sleep(0.05)
    assert source.read_at(9000, 100) == data[9000:9100]
    reader.join(10)
    assert found == [data[10:110]]


def test_bytes_that_are_passed_over_are_not_needed(data: bytes) -> None:
    file = Recorded(data)
    source = RemoteSource(file)
    source.read_ahead(0)
    for at in (0, 20_500, 40_100, 50_000, 300):
        assert source.read_at(at, 400) == data[at : at + 400]


def test_looking_does_not_use_bytes_up(data: bytes) -> None:
    file = Recorded(data)
    source = RemoteSource(file)
    source.read_ahead(0)
    for at in range(0, 5000, 100):
        assert source.look_at(at, 30) == data[at : at + 30]
        assert source.read_at(at, 100) == data[at : at + 100]
    assert len(file.asked) == len(set(file.asked))


def test_the_head_that_opening_brought_is_not_asked_for_again_without_a_scan(data: bytes) -> None:
    file = Recorded(data)
    source = RemoteSource(file, data[:500])
    assert source.peek(100) == data[:100]
    assert source.read_at(400, 100) == data[400:500]
    assert file.asked == []
    assert source.read_at(450, 100) == data[450:550]
    assert file.asked == [(500, 550)]


@pytest.mark.parametrize(("at", "count"), [(50_321, 10), (60_000, 10), (50_320, 10), (0, 0)])
def test_reading_beyond_the_end_gives_what_there_is(data: bytes, at: int, count: int) -> None:
    source = RemoteSource(Recorded(data))
    assert source.read_at(at, count) == data[at : at + count]
    assert source.borrow(at, count) is None


def test_an_error_of_a_range_is_raised_where_it_is_read(data: bytes) -> None:
    source = RemoteSource(Recorded(data, fail_at=7500))
    assert source.read(7000) == data[:7000]
    with pytest.raises(UnavailableError, match="gone"):
        source.read(1000)


def test_ranges_come_in_their_order_whatever_is_joined(data: bytes) -> None:
    file = Recorded(data)
    source = RemoteSource(file)
    chance = random.Random(2)
    starts = sorted(chance.randrange(len(data)) for _ in range(300))
    sizes = [chance.randrange(200) for _ in starts]
    found = source.read_ranges(starts, sizes)
    expected = [data[start : start + size] for start, size in zip(starts, sizes, strict=True)]
    assert [bytes(part) for part in found] == expected


def test_a_source_is_a_file_object_for_libraries(data: bytes) -> None:
    file = SourceFile(RemoteSource(Recorded(data)))
    assert file.seekable()
    assert file.seek(-10, 2) == len(data) - 10
    assert file.read() == data[-10:]
    assert file.seek(100) == 100
    assert file.read(5) == data[100:105]
    assert file.tell() == 105
    with pytest.raises(ValueError, match="negative"):
        file.seek(-1)


def test_the_range_is_what_object_stores_serve_best(request: Any) -> None:
    assert RANGE_BYTES == 8 << 20
