"""A small file cut at every byte and with every bit flipped: no crash, no stranger, no silence about a loss."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

import tfrkit as tfr
from tests.records.support.made import contain, flip, frames, members, put
from tfrkit.errors import DataLossError, OpError

RECORDS = [b"first record", b"", b"third " * 9, b"\x00\xff" * 5, b"last"]
STREAM = frames(RECORDS)
KINDS = {
    "plain": STREAM,
    "members": members([RECORDS[:2], RECORDS[2:3], RECORDS[3:]]),
    **{kind: contain(STREAM, kind) for kind in ("GZIP", "ZLIB", "XZ", "ZSTD")},
}
# Where a cut leaves a whole file with fewer records, which nobody can notice.
BOUNDARIES = {
    "plain": {len(frames(RECORDS[:count])) for count in range(len(RECORDS))},
    "members": {0, len(members([RECORDS[:2]])), len(members([RECORDS[:2], RECORDS[2:3]]))},
}


def is_part(found: list[bytes]) -> bool:
    """Whether these are records that were written, in order and none twice."""
    rest: Iterator[bytes] = iter(RECORDS)
    return all(record in rest for record in found)


def were_written(found: list[bytes]) -> bool:
    """Whether these are records that were written. A flipped bit in deflated data may repeat an earlier frame."""
    return set(found) <= set(RECORDS)


def read_up_to_error(path: object, threads: int) -> tuple[list[bytes], OpError | None]:
    reader = tfr.read_records(path, threads=threads)  # type: ignore[arg-type]
    found: list[bytes] = []
    try:
        for record in reader:
            found.append(record)
    except OpError as error:
        return found, error
    return found, None


def check(path: object, *, may_be_shorter: bool = False, repeats: bool = False) -> None:
    for threads in (1, 2):
        found, error = read_up_to_error(path, threads)
        assert found == RECORDS[: len(found)]
        if error is None:
            assert may_be_shorter or found == RECORDS
        else:
            assert isinstance(error, DataLossError)
            assert error.path == str(path)
    reader = tfr.read_records(path, on_corrupt="skip")  # type: ignore[arg-type]
    saved = list(reader)
    assert were_written(saved) if repeats else is_part(saved)
    assert saved[: len(found)] == found
    assert saved == RECORDS or reader.skipped or may_be_shorter
    report = tfr.verify(path)  # type: ignore[arg-type]
    assert report.records == len(saved)
    assert report.ok == (error is None)


@pytest.mark.parametrize("kind", KINDS)
def test_cut_at_every_byte(kind, tmp_path):
    data = KINDS[kind]
    for size in range(len(data)):
        path = put(tmp_path / "a", data[:size])
        check(path, may_be_shorter=size in BOUNDARIES.get(kind, {0}))


@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_flipped(kind, tmp_path):
    data = KINDS[kind]
    for at in range(len(data)):
        for bit in range(8):
            check(put(tmp_path / "a", flip(data, at, 1 << bit)), repeats=kind != "plain")


def test_no_flip_of_a_plain_file_goes_unnoticed(tmp_path):
    for at in range(len(STREAM)):
        assert read_up_to_error(put(tmp_path / "a", flip(STREAM, at, 0x10)), 1)[1] is not None


@pytest.mark.parametrize("kind", ["plain", "members", "GZIP"])
def test_random_access_to_a_flipped_file(kind, tmp_path):
    data = KINDS[kind]
    for at in range(len(data)):
        path = put(tmp_path / "a", flip(data, at, 0x04))
        try:
            file = tfr.RecordFile(path)
        except OpError:
            continue
        assert len(file) == len(RECORDS)
        for number, record in enumerate(RECORDS):
            with contextlib.suppress(DataLossError):
                assert file[number] == record
