from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit.stores import ranges
from tfrkit.stores.ranges import MOST_BYTES, WantedRanges, fetch_ranges, join_ranges


@given(st.lists(st.tuples(st.integers(0, 1 << 26), st.integers(1, 1 << 24)), max_size=60))
def test_joined_ranges_hold_all_that_was_wanted_once_each(spans):
    spans.sort()
    starts, stops = [start for start, _ in spans], [start + size for start, size in spans]
    joined = list(join_ranges(starts, stops))
    assert [number for _, _, numbers in joined for number in numbers] == list(range(len(spans)))
    for begin, end, numbers in joined:
        assert begin == starts[numbers.start]
        assert end == max(stops[number] for number in numbers)
        assert end - begin <= max(MOST_BYTES, *(stops[number] - starts[number] for number in numbers))


def test_near_ranges_are_joined_and_far_ones_are_not(monkeypatch):
    monkeypatch.setattr(ranges, "_JOIN_BYTES", 100)
    monkeypatch.setattr(ranges, "MOST_BYTES", 1000)
    assert list(join_ranges([], [])) == []
    assert list(join_ranges([0, 0, 50], [10, 10, 60])) == [(0, 60, range(3))]
    assert list(join_ranges([0, 200, 301], [100, 300, 400])) == [(0, 400, range(3))]
    assert list(join_ranges([0, 201], [100, 300])) == [(0, 100, range(1)), (201, 300, range(1, 2))]
    many = join_ranges(range(0, 5000, 100), range(100, 5100, 100))
    assert [end - begin for begin, end, _ in many] == [1000] * 5


def test_ranges_of_several_files_are_fetched_joined_and_used_once():
    contents = [bytes(range(256)) * 4096, b"abc" * 400_000]
    requests: list[tuple[int, int, int]] = []
    found: dict[tuple[int, int], bytes] = {}

    def wanted(file: int, starts: list[int], size: int) -> WantedRanges:
        def fetch(start: int, stop: int) -> list[bytes | memoryview]:
            requests.append((file, start, stop))
            middle = (start + stop) // 2
            return [contents[file][start:middle], memoryview(contents[file])[middle:stop]]

        def use(numbers: range, begin: int, data: memoryview) -> None:
            for number in numbers:
                at = starts[number] - begin
                found[file, starts[number]] = bytes(data[at : at + size])

        return WantedRanges(fetch, starts, [start + size for start in starts], use)

    fetch_ranges([wanted(0, [0, 50, 50, 1_000_000], 100), wanted(1, [7], 9), wanted(1, [], 9)])
    assert sorted(requests) == [(0, 0, 150), (0, 1_000_000, 1_000_100), (1, 7, 16)]
    assert found == {(file, at): contents[file][at : at + (9 if file else 100)] for file, at in found}
    assert len(found) == 4


def test_requests_run_at_once_and_the_number_of_their_bytes_is_bounded(monkeypatch):
    monkeypatch.setattr(ranges, "_AT_ONCE", 8)
    lock, active, most = threading.Lock(), 0, 0

    def fetch(start: int, stop: int) -> list[bytes | memoryview]:
        nonlocal active, most
        with lock:
            active += 1
            most = max(most, active)
        time.sleep(0.02)
        with lock:
            active -= 1
        return [b"x"]

    far = [number << 24 for number in range(40)]
    fetch_ranges([WantedRanges(fetch, far, [start + 1 for start in far], lambda *_: None)])
    assert most == 8
    most = 0
    monkeypatch.setattr(ranges, "_BYTES_AT_ONCE", 3 << 23)
    fetch_ranges([WantedRanges(fetch, far, [start + (1 << 23) for start in far], lambda *_: None)])
    assert most == 3


def test_the_first_failure_ends_it():
    begun: list[int] = []

    def fetch(start: int, stop: int) -> list[bytes | memoryview]:
        begun.append(start)
        time.sleep(0.01)
        raise OSError(start)

    far = [number << 24 for number in range(1000)]
    with pytest.raises(OSError, match=r"^0$"):
        fetch_ranges([WantedRanges(fetch, far, [start + 1 for start in far], lambda *_: None)])
    assert len(begun) <= 64
