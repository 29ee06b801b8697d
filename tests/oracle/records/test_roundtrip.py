"""Files written by tfrkit are read by TensorFlow, and the other way round."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.frames import frames, make_records
from tests.oracle.support.oracle import (
    COMPRESSIONS,
    assert_same,
    our_results,
    tensorflow,
    tf_iterator,
    tf_results,
    tf_writer,
)
from tests.support.rules import tf_rule

RECORDS = make_records(random.Random("round trip"), 60, 3000)
OPTIONS: list[dict[str, int]] = [
    {},
    *({"flush_mode": mode} for mode in (0, 1, 2, 3, 5)),
    *({"flush_mode": mode, "input_buffer_size": 100} for mode in (1, 2, 3, 5)),
    *({"input_buffer_size": size} for size in (1, 1000)),
    *({"output_buffer_size": size} for size in (16, 1000)),
    *({"compression_level": level} for level in range(10)),
    {"compression_method": 8},
    *({"mem_level": level} for level in range(1, 10)),
    *({"compression_strategy": strategy} for strategy in range(5)),
]
ZLIB_BITS = [{"window_bits": bits} for bits in range(9, 16)]
GZIP_BITS = [{"window_bits": bits} for bits in range(25, 32)]
CASES = [("ZLIB", options) for options in OPTIONS + ZLIB_BITS] + [
    ("GZIP", options) for options in OPTIONS + GZIP_BITS
]


def _read_by_tensorflow(path: Path, compression: str) -> list[bytes]:
    return list(tf_iterator(str(path), compression))


def _write(writer: Any, records: list[bytes]) -> None:
    with writer:
        for record in records:
            writer.write(record)


@tf_rule("1.4 every option")
@pytest.mark.parametrize(("compression", "options"), CASES, ids=str)
def test_every_option(tmp_path: Path, compression: str, options: dict[str, int]) -> None:
    """tfrkit's file with each option, under its own policy, is read by TensorFlow, and TensorFlow's by tfrkit."""
    path = tmp_path / "file"
    _write(tfr.TFRecordWriter(path, tfr.TFRecordOptions(compression, **options)), RECORDS)
    assert_same(_read_by_tensorflow(path, compression), RECORDS, "TensorFlow")
    assert list(tfr.read_records(path)) == RECORDS
    _write(tf_writer(str(path), tensorflow().io.TFRecordOptions(compression, **options)), RECORDS)
    assert list(tfr.read_records(path)) == RECORDS
    assert_same(our_results(path, compression, quiet=False), RECORDS)


@tf_rule("1.1 layout")
@pytest.mark.parametrize(
    "records", [[], [b""], [b""] * 5, [b"x"], RECORDS], ids=["none", "empty", "empties", "one", "many"]
)
@pytest.mark.parametrize("how", [{}, {"members": True}, {"members": False}, {"atomic": True}], ids=str)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_ways_of_writing(
    tmp_path: Path, compression: str, how: dict[str, bool], records: list[bytes]
) -> None:
    if how.get("members") and compression != "GZIP":
        how = {}
    path = tmp_path / "file"
    _write(tfr.TFRecordWriter(path, compression, **how), records)
    assert _read_by_tensorflow(path, compression) == records
    with tfr.TFRecordWriter(path, compression, **how) as writer:
        writer.write_many(records)
    assert tf_results(path, compression) == records


@tf_rule("1.3 gzip members")
def test_member_files_of_many_megabytes(tmp_path: Path) -> None:
    """Large enough for several members of about 1 MB each."""
    rng = random.Random("megabytes")
    words = [rng.randbytes(8) for _ in range(5000)]
    records = [b"".join(rng.choices(words, k=rng.randrange(400))) for _ in range(4000)]
    path = tmp_path / "a.tfrecord.gz"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(records)
    assert path.read_bytes().count(b"\x1f\x8b\x08\x04") > 2
    assert _read_by_tensorflow(path, "GZIP") == records
    assert list(tfr.read_records(path)) == records


@tf_rule("1.3 gzip members")
@pytest.mark.parametrize("first", ["tfrkit", "TensorFlow", "plain stream"])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_appended(tmp_path: Path, compression: str, first: str) -> None:
    path = tmp_path / "file"
    if first == "TensorFlow":
        _write(tf_writer(str(path), compression), RECORDS[:20])
    else:
        _write(
            tfr.TFRecordWriter(path, compression, members=False if first == "plain stream" else None),
            RECORDS[:20],
        )
    for start, end in ((20, 21), (21, 21), (21, 60)):
        _write(tfr.TFRecordWriter(path, compression, append=True), RECORDS[start:end])
    assert _read_by_tensorflow(path, compression) == RECORDS
    assert list(tfr.read_records(path)) == RECORDS


@tf_rule("1.3 gzip members")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_appended_to_an_empty_file(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    _write(tf_writer(str(path), compression), [])
    _write(tfr.TFRecordWriter(path, compression, append=True), RECORDS)
    assert _read_by_tensorflow(path, compression) == RECORDS
    assert_same(our_results(path, compression, quiet=False), RECORDS)


@tf_rule("1.2 truncated data")
@pytest.mark.parametrize("cut", [1, 5, 30])
def test_appended_to_a_torn_file(tmp_path: Path, cut: int) -> None:
    """The torn frame is cut off, so that TensorFlow reads what stands before and after it."""
    path = tmp_path / "file"
    records = [b"a" * 100, b"b" * 100, b"c" * 100]
    path.write_bytes(frames(records)[:-cut])
    with pytest.warns(tfr.errors.DataLossWarning):
        _write(tfr.TFRecordWriter(path, "", append=True), [b"new"])
    assert _read_by_tensorflow(path, "") == [*records[:2], b"new"]


@tf_rule("1.1 layout")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("count", [0, 1, 3, 60])
def test_shards(tmp_path: Path, compression: str, count: int) -> None:
    with tfr.ShardWriter(tmp_path / "out" / "train", shards=4, compression=compression) as writer:
        for record in RECORDS[:count]:
            writer.write(record)
    paths = sorted((tmp_path / "out").glob("train-*"))
    assert [path.name.split(".")[0] for path in paths] == [
        f"train-{number:05}-of-00004" for number in range(4)
    ]
    given = [_read_by_tensorflow(path, compression) for path in paths]
    assert given == [RECORDS[number:count:4] for number in range(4)]
    assert sorted(tfr.read_records(paths)) == sorted(RECORDS[:count])


@tf_rule("1.1 zero-length record")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_zero_length_records_only(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    _write(tfr.TFRecordWriter(path, compression), [b""] * 1000)
    assert _read_by_tensorflow(path, compression) == [b""] * 1000


@tf_rule("1.1 layout")
@pytest.mark.slow
def test_record_over_2_gb(tmp_path: Path) -> None:
    """2 GB and a few bytes of zeros with a mark at both ends; never more than three copies in memory."""
    path = tmp_path / "large"
    size = (1 << 31) + 5
    record = bytearray(size)
    record[0], record[-1] = 1, 2
    try:
        for make in (tfr.TFRecordWriter, tf_writer):
            _write(make(str(path)), [record, b"behind"])  # type: ignore[list-item]
            assert path.stat().st_size == size + 32 + 6
            reader = tf_iterator(str(path)) if make is tfr.TFRecordWriter else tfr.read_records(str(path))
            read = next(reader)
            assert (len(read), read[0], read[-1]) == (size, 1, 2)
            assert np.count_nonzero(np.frombuffer(read, np.uint8)) == 2
            del read
            assert list(reader) == [b"behind"]
            del reader
    finally:
        path.unlink(missing_ok=True)
