"""TensorFlow reads GZIP in windows of 256 kB, and takes some ends of members for the end of the file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.oracle.support.frames import frames, member, put
from tests.oracle.support.oracle import (
    WINDOW,
    assert_same,
    our_block_results,
    our_results,
    tf_iterator,
    tf_results,
)
from tests.support.rules import tf_rule

_RNG = random.Random(1)
FIRST, SECOND, THIRD = ([_RNG.randbytes(1000) for _ in range(100)] for _ in range(3))
SMALL = [b"a", b"b" * 50]
EMPTY = member(b"")


def _check(path: Path, expected: list[bytes], *, lost: bool) -> None:
    """TensorFlow gives these records; so does tfrkit, and says so if the file holds more."""
    assert_same(tf_results(path, "GZIP"), expected, "TensorFlow itself")
    assert_same(our_block_results(path, "GZIP"), expected)
    if lost:
        with pytest.warns(tfr.errors.DataLossWarning):
            assert_same(our_results(path, "GZIP", quiet=False), expected)
    else:
        assert_same(our_results(path, "GZIP", quiet=False), expected)


def _ending_at(end: int) -> bytes:
    """Two members with 200 records that together are `end` bytes long."""
    second = member(frames(SECOND))
    plain = len(member(frames(FIRST)))
    file = member(frames(FIRST), padding=end - plain - len(second)) + second
    assert len(file) == end
    return file


@tf_rule("1.3 empty member")
@pytest.mark.parametrize("count", [1, 2, 5])
def test_empty_member_ends_a_small_file(tmp_path: Path, count: int) -> None:
    begin, rest = member(frames(SMALL)), member(frames([b"lost"]))
    _check(put(tmp_path / "a", begin + count * EMPTY + rest), SMALL, lost=True)
    _check(put(tmp_path / "a", count * EMPTY + rest), [], lost=True)


@tf_rule("1.3 empty member")
def test_empty_member_at_the_end_loses_nothing(tmp_path: Path) -> None:
    _check(put(tmp_path / "a", member(frames(SMALL)) + EMPTY), SMALL, lost=False)


@tf_rule("1.3 empty member")
@pytest.mark.parametrize("extra", [-1, 0, 1, 19, 20, 21, 1000])
def test_empty_member_is_passed_where_more_can_be_read(tmp_path: Path, extra: int) -> None:
    """The file's length decides: what is behind the first window keeps it going."""
    path = put(tmp_path / "a", EMPTY + _ending_at(WINDOW + extra - len(EMPTY)))
    theirs = tf_results(path, "GZIP")
    assert len(theirs) == (200 if extra > 0 else 0)
    _check(path, theirs, lost=extra <= 0)


@tf_rule("1.3 empty member")
@pytest.mark.parametrize("shift", [-1, 0, 1, 8, 9, 19, 20, 21, 28, 29])
def test_empty_member_moves_the_windows(tmp_path: Path, shift: int) -> None:
    """Behind a passed empty member the windows begin elsewhere, so that other trailers are cut."""
    file = EMPTY + _ending_at(WINDOW + shift - len(EMPTY)) + member(frames(THIRD))
    path = put(tmp_path / "a", file)
    theirs = tf_results(path, "GZIP")
    _check(path, theirs, lost=len(theirs) < 300)


@tf_rule("1.3 window in a trailer")
@pytest.mark.parametrize("behind", [-3, -1, 0, 1, 2, 4, 7, 8, 9, 10, 12, 32])
def test_member_that_ends_behind_a_window(tmp_path: Path, behind: int) -> None:
    path = put(tmp_path / "a", _ending_at(WINDOW + behind) + member(frames(THIRD)))
    lost = 1 <= behind <= 8
    _check(path, FIRST + SECOND + ([] if lost else THIRD), lost=lost)


@tf_rule("1.3 window in a trailer")
@pytest.mark.parametrize("behind", [0, 1, 8, 9, 10])
def test_second_window(tmp_path: Path, behind: int) -> None:
    path = put(tmp_path / "a", _long(2 * WINDOW + behind) + member(frames(SMALL)))
    theirs = tf_results(path, "GZIP")
    lost = (
        1 <= behind <= 9
    )  # 9 too: the byte before this trailer holds nothing but the code that ends the block
    assert (theirs[-2:] == SMALL) == (not lost)
    _check(path, theirs, lost=lost)


def _long(end: int) -> bytes:
    """Three members that together are `end` bytes long, the header of the first not longer than 64 kB."""
    rng = random.Random(2)
    parts = [[rng.randbytes(1000) for _ in range(160)] for _ in range(3)]
    rest = b"".join(member(frames(part)) for part in parts[1:])
    return member(frames(parts[0]), padding=end - len(rest) - len(member(frames(parts[0])))) + rest


@tf_rule("1.3 window in a trailer")
@pytest.mark.parametrize("end", [2 * WINDOW - 1, 2 * WINDOW, 2 * WINDOW + 1, 2 * WINDOW + 4, 2 * WINDOW + 5])
def test_cut_trailer_is_harmless_where_more_can_be_read(tmp_path: Path, end: int) -> None:
    """If the rest does not fit into the next window, TensorFlow reads on."""
    begin = _ending_at(WINDOW + 4)
    tail = [_RNG.randbytes(1000) for _ in range(210)]
    room = end - len(begin) - len(member(frames(tail)))
    path = put(tmp_path / "a", begin + member(frames(tail), padding=room))
    assert path.stat().st_size == end
    theirs = tf_results(path, "GZIP")
    assert len(theirs) == (410 if end > 2 * WINDOW else 200)
    _check(path, theirs, lost=end <= 2 * WINDOW)


@tf_rule("1.3 window is safe from tfrkit")
@pytest.mark.parametrize("wanted", [*range(-2, 12), 24, 31, 32, 33])
def test_members_of_tfrkit_end_elsewhere(tmp_path: Path, wanted: int) -> None:
    """Make a member of tfrkit that would end at each place round a window's end; TensorFlow reads all of it."""
    path = tmp_path / "a.tfrecord.gz"
    noise = random.Random(3).randbytes(WINDOW)
    records = [noise[: WINDOW - 400], b"last"]
    low, high = 0, 2000
    for _ in range(
        12
    ):  # the file grows with the first record, byte by byte: find the length that ends as wanted
        size = (low + high) // 2
        records[0] = noise[: WINDOW - 1000 + size]
        _append_twice(path, records[:1], [])
        low, high = (size, high) if path.stat().st_size < WINDOW + wanted else (low, size)
    for size in range(high - 4, high + 5):
        records[0] = noise[: WINDOW - 1000 + size]
        _append_twice(path, records[:1], records[1:])
        assert list(tf_iterator(str(path), "GZIP")) == records
        assert_same(our_results(path, "GZIP", quiet=False), records)


def _append_twice(path: Path, first: list[bytes], second: list[bytes]) -> None:
    with tfr.TFRecordWriter(path, "GZIP", members=True) as writer:
        for record in first:
            writer.write(record)
    if second:
        with tfr.TFRecordWriter(path, "GZIP", members=True, append=True) as writer:
            for record in second:
                writer.write(record)


@tf_rule("1.3 window is safe from tfrkit")
@pytest.mark.parametrize("seed", range(4))
def test_many_members_of_tfrkit(tmp_path: Path, seed: int) -> None:
    """Files of many members, appended in small pieces, flushed, and empty writes between."""
    rng = random.Random(seed)
    path = tmp_path / "a.tfrecord.gz"
    records: list[bytes] = []
    for _ in range(60):
        part = [rng.randbytes(rng.choice((0, 10, 3000, 9000))) for _ in range(rng.choice((0, 1, 4)))]
        with tfr.TFRecordWriter(path, "GZIP", members=True, append=bool(records)) as writer:
            for record in part:
                writer.write(record)
                if rng.random() < 0.2:
                    writer.flush()
        records = records + part
    assert list(tf_iterator(str(path), "GZIP")) == records
    assert list(tfr.read_records(path)) == records
