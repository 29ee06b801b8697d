"""Reading that begins in the middle, and single records from many places."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.records.support.made import CONTAINERS, contain, flip, frames, member, put
from tests.records.support.strategies import damaged_files
from tfrkit import TENSORFLOW, TFRKIT, Block, ReadPolicy
from tfrkit.errors import DataLossError, DataLossWarning, OpError
from tfrkit.records.access.fetch import fetch
from tfrkit.records.access.fingerprint import file_fingerprint
from tfrkit.records.read.position import Places, Position
from tfrkit.records.read.reader import BlockReader
from tfrkit.stores.files import write_bytes
from tfrkit.stores.memory import _MemoryFile

IN_TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
FILES = st.lists(
    st.tuples(damaged_files(), st.sampled_from([kind for kind in CONTAINERS if kind != "ZLIB"])),
    min_size=1,
    max_size=3,
)
POLICIES = {
    "raise": TFRKIT,
    "skip": TFRKIT.with_options(on_corrupt="skip"),
    "stop": TFRKIT.with_options(on_corrupt="stop"),
}


def follow(reader: BlockReader) -> list[tuple[object, Position]]:
    """Everything that comes, each with the position behind it."""
    found: list[tuple[object, Position]] = []
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataLossWarning)
                block = next(reader)
        except StopIteration:
            return found
        except OpError as error:
            found.append((str(error), Position(reader.file)))
            continue
        for row in range(len(block)):
            found.append(((block[row], *block.place(row)), Position.after(reader.file, block[row : row + 1])))


@IN_TMP
@given(
    files=FILES,
    how=st.sampled_from(list(POLICIES)),
    sizes=st.tuples(*[st.sampled_from([1, 13, 100, 1 << 20])] * 2),
    threads=st.tuples(*[st.sampled_from([1, 3])] * 2),
    choice=st.data(),
)
def test_reading_goes_on_from_every_position(files, how, sizes, threads, choice, tmp_path):
    paths = [str(put(tmp_path / str(i), contain(data, kind))) for i, (data, kind) in enumerate(files)]
    policy = POLICIES[how]
    events = follow(BlockReader(paths, policy, threads[0], sizes[0]))
    at = choice.draw(st.integers(0, len(events)))
    start = events[at - 1][1] if at else Position()
    assert follow(BlockReader(paths, policy, threads[1], sizes[1], start)) == events[at:]


@pytest.mark.parametrize("kind", ["", "GZIP", "MEMBERS", "ZLIB"])
def test_tensorflow_policy_goes_on_too(kind, tmp_path):
    records = [bytes([i]) * i for i in range(60)]
    path = str(put(tmp_path / "a", contain(frames(records), kind)))
    policy = TENSORFLOW.with_options(compression="GZIP" if kind == "MEMBERS" else kind)
    events = follow(BlockReader([path], policy, 1, 100))
    for at, (_, position) in enumerate(events):
        assert follow(BlockReader([path], policy, 1, 100, position)) == events[at + 1 :]


def test_missing_file_that_repeats_stays_the_next_one(tmp_path):
    reader = BlockReader([str(tmp_path / "none")], TENSORFLOW, 1, 100)
    for _ in range(2):
        with pytest.raises(OpError):
            next(reader)
        assert reader.file == 0


def test_members_before_the_position_are_not_inflated(tmp_path):
    group = frames([b"x" * 100] * 10)
    whole = member(group, 10)
    broken = flip(whole, len(whole) // 2)
    path = str(put(tmp_path / "a", broken + whole + whole))
    reader = BlockReader([path], TFRKIT, 1, 1 << 20, Position(0, 2 * len(group) - 116, 19))
    assert [block.first_record for block in reader] == [19, 20]


def test_stream_without_positions_is_read_and_dropped():
    records = [b"one", b"two", b"three"]
    reader = BlockReader([io.BytesIO(frames(records))], TFRKIT, 1, 100, Position(0, 19, 1))
    assert [record for block in reader for record in block] == records[1:]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_file_that_ends_before_the_position_is_an_error(kind, tmp_path):
    path = str(put(tmp_path / "a", contain(frames([b"abc"]), kind)))
    policy = TFRKIT.with_options(compression="GZIP" if kind == "MEMBERS" else kind)
    with pytest.raises(
        DataLossError, match=r"truncated record at 1000' failed with .* the file ends 981 bytes before"
    ):
        next(BlockReader([path], policy, 1, 100, Position(0, 1000, 7)))


# ---- fetch


def places_of(events: list[tuple[object, Position]], files: list[int]) -> Places:
    given = [event for event, _ in events]
    return Places(
        np.array(files, np.int64),
        np.array([event[2] for event in given], np.int64),
        np.array([event[1] for event in given], np.int64),
    )


def taken(blocks: list[Block], which, rows) -> list[tuple[object, ...]]:
    pairs = zip(which.tolist(), rows.tolist(), strict=True)
    return [(blocks[number][row], *blocks[number].place(row)) for number, row in pairs]


@IN_TMP
@given(files=FILES, how=st.sampled_from(["raise", "skip"]), choice=st.data())
def test_fetch_gives_the_records_at_any_places_in_any_order(files, how, choice, tmp_path):
    paths = [str(put(tmp_path / str(i), contain(data, kind))) for i, (data, kind) in enumerate(files)]
    policy = POLICIES[how]
    events = [pair for pair in follow(BlockReader(paths, policy, 1, 100)) if not isinstance(pair[0], str)]
    wanted = choice.draw(st.lists(st.sampled_from(events), max_size=20)) if events else []
    numbers = [position.file for _, position in wanted]
    found = fetch(paths, policy, places_of(wanted, numbers))
    assert taken(*found) == [event for event, _ in wanted]


def distant(tmp_path, policy: ReadPolicy = TFRKIT) -> tuple[str, list[tuple[object, Position]]]:
    path = str(put(tmp_path / "a", frames([bytes([i]) * 300_000 for i in range(20)])))
    return path, follow(BlockReader([path], policy, None, 1 << 21))


def test_fetch_keeps_little_more_than_what_was_asked_for(tmp_path):
    path, events = distant(tmp_path)
    wanted = [events[19], events[2], events[4], events[2]]
    blocks, which, rows = fetch([path], TFRKIT, places_of(wanted, [0] * 4))
    assert taken(blocks, which, rows) == [event for event, _ in wanted]
    assert sum(block.data.nbytes for block in blocks) < 1.5 * 3 * 300_016


@pytest.mark.parametrize("kind", ["", "GZIP", "MEMBERS"])
def test_fetch_from_a_remote_file(kind, monkeypatch):
    records = [bytes([i % 256]) * (40_000 if i % 9 == 0 else i) for i in range(300)]
    url = "memory://fetch/a"
    write_bytes(url, contain(frames(records), kind))
    events = follow(BlockReader([url], TFRKIT, 1, 1 << 16))
    wanted = [events[number] for number in (299, 7, 0, 9, 7, 150)]
    asked: list[int] = []
    plain = _MemoryFile.fetch
    monkeypatch.setattr(
        _MemoryFile, "fetch", lambda file, start, stop: asked.append(stop - start) or plain(file, start, stop)
    )
    blocks, which, rows = fetch([url], TFRKIT, places_of(wanted, [0] * 6))
    assert taken(blocks, which, rows) == [event for event, _ in wanted]
    assert kind or sum(asked) < 400_000


def test_fetch_from_a_remote_file_refuses_what_is_no_longer_there():
    url = "memory://fetch/a"
    write_bytes(url, frames([b"x" * 100] * 100))
    events = follow(BlockReader([url], TFRKIT, 1, 1 << 16))
    for other in (frames([b"y" * 99] * 100), frames([b"x" * 100] * 50)):
        write_bytes(url, other)
        with pytest.raises(
            DataLossError, match=r"corrupted record at 5800: no intact frame begins there any more"
        ):
            fetch([url], TFRKIT, places_of([events[0], events[50]], [0] * 2))


def test_fetch_refuses_what_is_no_longer_there(tmp_path):
    path, events = distant(tmp_path)
    put(tmp_path / "a", frames([b"x" * 10] * 600_000))
    with pytest.raises(DataLossError, match=r"corrupted record at .*"):
        fetch([path], TFRKIT, places_of([events[3]], [0]))


def test_fetch_says_that_no_frame_begins_at_a_place(tmp_path):
    path, _ = distant(tmp_path)
    places = Places(np.zeros(2, np.int64), np.array([0, 300_000]), np.array([0, 1]))
    with pytest.raises(
        DataLossError, match="corrupted record at 300000: no intact frame begins there any more"
    ):
        fetch([path], TFRKIT, places)


def test_fetch_of_nothing_is_nothing():
    none = np.zeros(0, np.int64)
    blocks, which, rows = fetch([], TFRKIT, Places(none, none, none))
    assert (blocks, len(which), len(rows)) == ([], 0, 0)


# ---- fingerprints


def test_fingerprint_sees_size_and_tail(tmp_path):
    path = put(tmp_path / "a", b"x" * 100_000)
    first = file_fingerprint(str(path))
    assert first is not None
    assert first[0] == 100_000
    put(path, b"x" * 99_999 + b"y")
    assert file_fingerprint(str(path)) != first
    assert file_fingerprint(str(tmp_path / "none")) is None
    assert file_fingerprint(str(tmp_path)) is None
