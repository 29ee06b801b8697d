"""Damaged plain files: what TensorFlow makes of them, tfrkit makes of them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.oracle.support.frames import compress, flip, frame, frames, header, put
from tests.oracle.support.oracle import (
    COMPRESSIONS,
    Failure,
    Outcome,
    assert_same,
    drain,
    our_block_results,
    our_results,
    signal_of,
    tf_iterator,
    tf_results,
)
from tests.support.rules import tf_rule

ONE, TWO = frame(b"one"), frame(b"the second record")  # 19 and 33 bytes
CUT = "truncated record at {}' failed with Read less bytes than requested"


def _lost(message: str) -> Failure:
    return Failure("DataLossError", message)


def _check(path: Path, expected: list[Outcome]) -> None:
    """TensorFlow gives what is expected, and tfrkit the same, record by record and in blocks."""
    assert tf_results(path) == expected
    assert_same(our_results(path), expected)
    assert_same(our_block_results(path), expected)


@tf_rule("1.2 empty file")
def test_empty_file(tmp_path: Path) -> None:
    _check(put(tmp_path / "a", b""), [])


@tf_rule("1.2 truncated header")
@pytest.mark.parametrize("left", range(1, 12))
@pytest.mark.parametrize("before", [b"", ONE], ids=["alone", "after a record"])
def test_truncated_header_ends_the_file(tmp_path: Path, before: bytes, left: int) -> None:
    path = put(tmp_path / "a", before + TWO[:left])
    _check(path, [b"one"] if before else [])
    with pytest.warns(tfr.errors.DataLossWarning):
        our_results(path, quiet=False)


@tf_rule("1.2 truncated header")
@pytest.mark.parametrize("left", [1, 7, 8, 11])
def test_short_garbage_ends_the_file(tmp_path: Path, left: int) -> None:
    _check(put(tmp_path / "a", ONE + b"\xee" * left), [b"one"])


@tf_rule("1.2 truncated data")
@pytest.mark.parametrize("kept", range(12, len(TWO)))
def test_truncated_record(tmp_path: Path, kept: int) -> None:
    _check(put(tmp_path / "a", ONE + TWO[:kept]), [b"one", _lost(CUT.format(19))])
    _check(put(tmp_path / "a", TWO[:kept]), [_lost(CUT.format(0))])


@tf_rule("1.2 corrupted length")
@pytest.mark.parametrize("position", range(12))
def test_damaged_header(tmp_path: Path, position: int) -> None:
    path = put(tmp_path / "a", ONE + flip(TWO, position) + ONE)
    _check(path, [b"one", _lost("corrupted record at 19")])


@tf_rule("1.2 corrupted length at 0")
@pytest.mark.parametrize("position", range(12))
def test_damaged_first_header(tmp_path: Path, position: int) -> None:
    path = put(tmp_path / "a", flip(TWO, position, 0x80) + ONE)
    _check(path, [_lost("corrupted record at 0 (Is this even a TFRecord file?)")])


@tf_rule("1.2 corrupted data")
@pytest.mark.parametrize("position", range(12, len(TWO)))
def test_damaged_data(tmp_path: Path, position: int) -> None:
    _check(put(tmp_path / "a", ONE + flip(TWO, position) + ONE), [b"one", _lost("corrupted record at 31")])
    _check(put(tmp_path / "a", flip(TWO, position) + ONE), [_lost("corrupted record at 12")])


@tf_rule("1.2 trailing garbage")
@pytest.mark.parametrize("size", [12, 13, 100, 70_000])
def test_trailing_garbage(tmp_path: Path, size: int) -> None:
    path = put(tmp_path / "a", ONE + TWO + b"\xee" * size)
    _check(path, [b"one", b"the second record", _lost("corrupted record at 52")])


@tf_rule("1.2 length beyond file")
@pytest.mark.parametrize("length", [4, 1000, 1 << 20, 1 << 26])
def test_length_beyond_the_file(tmp_path: Path, length: int) -> None:
    _check(put(tmp_path / "a", ONE + header(length) + b"abc"), [b"one", _lost(CUT.format(19))])


@tf_rule("1.2 length beyond memory")
@pytest.mark.parametrize("length", [1 << 50, (1 << 63) - 5])
def test_length_beyond_memory(tmp_path: Path, length: int) -> None:
    path = put(tmp_path / "a", ONE + header(length) + b"abc")
    records = tf_iterator(str(path))
    next(records)
    assert signal_of(lambda: next(records)) in (signal.SIGSEGV, signal.SIGABRT)
    assert_same(our_results(path), [b"one", _lost(CUT.format(19))])


@tf_rule("1.2 length too large")
@pytest.mark.parametrize("length", [(1 << 64) - 5, (1 << 64) - 4, (1 << 64) - 1])
def test_length_too_large(tmp_path: Path, length: int) -> None:
    _check(put(tmp_path / "a", ONE + header(length) + b"abc"), [b"one", _lost("record size too large")])


NEGATIVE = [(1 << 63) - 4, (1 << 63) - 1, 1 << 63, (1 << 64) - 6]


@tf_rule("1.2 negative length")
@pytest.mark.parametrize("length", NEGATIVE)
def test_negative_length(tmp_path: Path, length: int) -> None:
    text = f"Can't read a negative number of bytes: {length + 4 - (1 << 64)}"
    path = put(tmp_path / "a", ONE + header(length) + b"abc")
    _check(path, [b"one", Failure("InvalidArgumentError", text)])


@tf_rule("1.2 negative length unbuffered")
@pytest.mark.parametrize("length", NEGATIVE)
def test_negative_length_unbuffered(tmp_path: Path, length: int) -> None:
    path = put(tmp_path / "a", ONE + header(length) + b"abc")
    theirs = tf_results(path, buffer_size=0)
    assert theirs == [b"one", Failure("InvalidArgumentError", "Cannot read negative number of bytes")]
    ours = our_results(path)
    assert [item.name if isinstance(item, Failure) else item for item in ours] == [
        b"one",
        "InvalidArgumentError",
    ]


@tf_rule("1.2 missing file")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_missing_file(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "missing"
    expected = Failure("NotFoundError", f"{path}; No such file or directory")
    assert tf_results(path, compression) == [expected] * 4
    assert_same(our_results(path, compression), [expected] * 4)


@tf_rule("1.2 directory")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_directory(tmp_path: Path, compression: str) -> None:
    expected = [Failure("FailedPreconditionError", f"{tmp_path}; Is a directory")]
    assert tf_results(tmp_path, compression) == expected
    assert_same(our_results(tmp_path, compression), expected)


DAMAGED = {
    "cut header": ONE + TWO[:11],
    "cut data": ONE + TWO[:20],
    "cut footer": ONE + TWO[:-1],
    "length": ONE + flip(TWO, 0) + ONE,
    "length checksum": flip(TWO, 8),
    "data": ONE + flip(TWO, 14) + ONE,
    "data checksum": flip(ONE, -1) + TWO,
    "garbage": ONE + b"\xee" * 30,
    "beyond": ONE + header(9999),
    "too large": header((1 << 64) - 1),
}


@tf_rule("1.2 every reader")
@pytest.mark.parametrize("kind", DAMAGED)
def test_every_reader_sees_the_same(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "a", DAMAGED[kind])
    expected = tf_results(path)
    for size in (0, 1, 16, 256):
        assert tf_results(path, buffer_size=size) == expected
    polled = tf_iterator(str(path))
    assert drain(lambda: next(polled))[: len(expected)] == expected
    assert_same(our_results(path), expected)
    assert_same(our_results(path, threads=1), expected)
    assert_same(our_results(path, threads=3), expected)
    assert_same(our_block_results(path), expected)


GOOD = [b"g1", b"g2", b"g3"]
NEXT = frames(GOOD)


def _check_skip(
    tmp_path: Path, data: bytes, compression: str, counts: tuple[int, ...]
) -> dict[int, list[Outcome]]:
    """Skip in this and the next file, through both; gives TensorFlow's outcomes by count."""
    first = put(tmp_path / "a", compress(data, compression))
    second = put(tmp_path / "b", compress(NEXT, compression))
    given = {count: tf_results([first, second], compression, skip=count) for count in counts}
    for count, expected in given.items():
        assert_same(our_results([first, second], compression, skip=count), expected, f"skip({count})")
    return given


@pytest.mark.parametrize("compression", COMPRESSIONS)
class TestSkip:
    @tf_rule("1.2 skip leaves data unchecked")
    def test_data_of_skipped_records_is_not_checked(self, tmp_path: Path, compression: str) -> None:
        given = _check_skip(tmp_path, ONE + flip(TWO, 14) + ONE, compression, (1, 2, 3, 4, 5))
        assert given[1] == [_lost("corrupted record at 31"), b"g1", b"g2", b"g3"]
        assert given[2] == [b"one", b"g1", b"g2", b"g3"]
        assert given[4] == [b"g2", b"g3"]

    @tf_rule("1.2 skip checks length")
    @pytest.mark.parametrize("position", [0, 7, 8, 11])
    def test_length_of_skipped_records_is_checked(
        self, tmp_path: Path, compression: str, position: int
    ) -> None:
        given = _check_skip(tmp_path, ONE + flip(TWO, position) + ONE, compression, (1, 2, 3, 9))
        assert given[2] == [_lost("corrupted record at 19"), b"g3"]
        assert given[9] == [_lost("corrupted record at 19")]

    @tf_rule("1.2 skip truncated")
    @pytest.mark.parametrize("kept", [12, 13, 28, len(TWO) - 1])
    def test_cut_record_is_skipped(self, tmp_path: Path, compression: str, kept: int) -> None:
        given = _check_skip(tmp_path, ONE + TWO[:kept], compression, (1, 2, 3, 9))
        text = "EOF reached" if compression else "reached end of file"
        assert given[2] == [_lost(f"truncated record at 19' failed with {text}"), b"g3"]

    @tf_rule("1.2 skip truncated")
    def test_skip_past_the_end(self, tmp_path: Path, compression: str) -> None:
        given = _check_skip(tmp_path, ONE + TWO + ONE[:5], compression, (1, 2, 3, 4, 5, 6, 100))
        assert given[4] == [b"g3"]
        assert given[5] == given[100] == []


@tf_rule("1.2 next file after data loss")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", DAMAGED)
def test_next_file_follows_data_loss(tmp_path: Path, kind: str, compression: str) -> None:
    damaged = put(tmp_path / "a", compress(DAMAGED[kind], compression))
    good = put(tmp_path / "b", compress(NEXT, compression))
    paths = [good, damaged, damaged, good]
    expected = tf_results(paths, compression)
    assert expected[-3:] == GOOD
    assert_same(our_results(paths, compression), expected)
    assert_same(our_block_results(paths, compression), expected)


@tf_rule("1.2 missing file stays")
def test_missing_file_is_not_passed(tmp_path: Path) -> None:
    good = put(tmp_path / "b", NEXT)
    paths = [good, tmp_path / "missing", good]
    expected = [*GOOD, *6 * [Failure("NotFoundError", f"{paths[1]}; No such file or directory")]]
    assert tf_results(paths) == expected
    assert_same(our_results(paths), expected)


@tf_rule("1.2 directory is passed")
def test_directory_is_passed(tmp_path: Path) -> None:
    good = put(tmp_path / "b", NEXT)
    paths = [good, tmp_path, good]
    expected = tf_results(paths)
    assert expected == [*GOOD, Failure("FailedPreconditionError", f"{tmp_path}; Is a directory"), *GOOD]
    assert_same(our_results(paths), expected)
