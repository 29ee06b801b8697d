from __future__ import annotations

import errno
import os
import random
import warnings

import pytest

import tfrkit as tfr
from tests.records.support.made import (
    CONTAINERS,
    GOLDEN,
    GOLDEN_RECORDS,
    contain,
    flip,
    frame,
    frames,
    header,
    members,
    put,
)
from tfrkit.codecs.member import EMPTY_MEMBER
from tfrkit.errors import DataLossError, DataLossWarning, FailedPreconditionError
from tfrkit.records.access.index import index_path
from tfrkit.records.write.append import AppendPlan, kept_blocks, plan_append

KINDS = ("none", "GZIP", "ZLIB", "XZ", "ZSTD")
MORE = [b"more", b"", b"and more"]
MANY = [b"%d" % number * 9 for number in range(500)]


def append(path, kind: str = "none", **options: object) -> tfr.TFRecordWriter:
    with tfr.TFRecordWriter(path, compression=kind, append=True, **options) as writer:  # type: ignore[arg-type]
        writer.write_many(MORE)
    return writer


def read(path) -> list[bytes]:
    return list(tfr.read_records(path))


@pytest.mark.parametrize("kind", KINDS)
def test_file_that_does_not_exist_is_made(kind, tmp_path):
    append(tmp_path / "a", kind)
    assert read(tmp_path / "a") == MORE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [1, 3])
def test_records_are_added(kind, times, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a", compression=kind) as writer:
        writer.write_many(GOLDEN_RECORDS)
    for number in range(times):
        assert append(tmp_path / "a", kind).records == 3 + 3 * (number + 1)
    assert read(tmp_path / "a") == GOLDEN_RECORDS + MORE * times
    assert tfr.verify(tmp_path / "a").ok


@pytest.mark.parametrize("kind", [kind for kind in CONTAINERS if kind])
def test_files_of_other_writers_are_continued(kind, tmp_path):
    path = put(tmp_path / "a", contain(GOLDEN, kind))
    append(path, "GZIP" if kind == "MEMBERS" else kind)
    assert read(path) == GOLDEN_RECORDS + MORE


@pytest.mark.parametrize("kind", KINDS)
def test_empty_file_is_continued(kind, tmp_path):
    path = put(tmp_path / "a", b"")
    append(path, kind)
    assert read(path) == MORE


def test_empty_gzip_file_is_replaced(tmp_path):
    # TensorFlow would not look behind an empty member.
    path = put(tmp_path / "a", EMPTY_MEMBER)
    append(path, "GZIP")
    assert not path.read_bytes().startswith(EMPTY_MEMBER)
    assert read(path) == MORE


@pytest.mark.parametrize("missing", range(1, len(frame(b"last one"))))
def test_torn_frame_is_cut_off_wherever_it_is_torn(missing, tmp_path):
    whole = frames([b"first", b"second"])
    path = put(tmp_path / "a", (whole + frame(b"last one"))[:-missing])
    with pytest.warns(DataLossWarning) as caught:
        writer = append(path)
    text = f"{path}: a torn record at byte {len(whole)} was cut off before appending (truncated)."
    assert [str(warning.message) for warning in caught] == [text]
    assert read(path) == [b"first", b"second", *MORE]
    assert writer.records == 5


@pytest.mark.parametrize("size", [12, 15, 20])
def test_only_a_torn_frame_is_cut_off_too(size, tmp_path):
    path = put(tmp_path / "a", frame(b"first")[:size])
    with pytest.warns(DataLossWarning, match="a torn record at byte 0 was cut off"):
        append(path)
    assert read(path) == MORE


NO_RECORDS = [
    *(b"some text\n"[:size] for size in range(1, 10)),
    b"precious text that is no TFRecord file, longer than a header",
    frame(b"first")[:11],  # nothing shows that it is one
    b"\x05",
    bytes(5),
    bytes(5000),
    b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
]


@pytest.mark.parametrize("content", NO_RECORDS)
@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("kind", ["none", "GZIP", "ZLIB", "XZ", "ZSTD"])
def test_file_that_is_no_tfrecord_file_is_refused_whatever_its_size(content, atomic, kind, tmp_path):
    data = contain(content, "" if kind == "none" else kind)
    path = put(tmp_path / "a", data)
    with pytest.raises(FailedPreconditionError, match="cannot append"):
        append(path, kind, atomic=atomic)
    assert path.read_bytes() == data
    with warnings.catch_warnings(
        record=True
    ) as caught:  # torn: the same, unless nothing at all is left of it
        warnings.simplefilter("always")
        for cut in range(1, len(data)) if len(data) < 100 else (len(data) - 9, len(data) - 1):
            put(path, data[:cut])
            try:
                append(path, kind, atomic=atomic)
            except FailedPreconditionError:
                assert path.read_bytes() == data[:cut]
            else:
                assert kind != "none"
                assert not list(tfr.read_records(put(path, data[:cut]), compression=kind, on_corrupt="skip"))
    assert {warning.category for warning in caught} <= {DataLossWarning}


def test_refusal_says_what_the_file_looks_like(tmp_path):
    path = put(tmp_path / "a", b"some text")
    with pytest.raises(FailedPreconditionError) as caught:
        append(path)
    assert str(caught.value) == (
        f"{path}; cannot append to a file that is not a TFRecord file: its 9 bytes do not begin with a frame's header. "
        "It looks like text. TFRecord files are binary; is this the right file? Choose another name, or delete the "
        "file if it is not needed."
    )


COPIED = [("none", True), ("GZIP", True), ("ZLIB", False), ("ZLIB", True), ("XZ", True), ("ZSTD", True)]


@pytest.mark.parametrize(("kind", "atomic"), COPIED)
@pytest.mark.parametrize("number", [0, 3, 8])
def test_copying_never_drops_a_record_with_a_bad_checksum(kind, atomic, number, tmp_path):
    parts = [frame(bytes([i]) * 50) for i in range(9)]
    parts[number] = flip(parts[number], 20)
    data = contain(b"".join(parts), "" if kind == "none" else kind)
    path = put(tmp_path / "a", data)
    if (kind, number) == ("none", 8):
        with pytest.warns(DataLossWarning, match="a torn record at byte 528 was cut off"):
            append(path, kind, atomic=atomic)
        return
    with pytest.raises((DataLossError, FailedPreconditionError)) as caught:
        append(path, kind, atomic=atomic)
    assert f"cannot append to a damaged file: corrupted record at {number * 66 + 12}" in str(caught.value)
    assert str(caught.value).endswith("Repair it first with tfrkit.repair.")
    error = caught.value
    assert (error.path, error.record, error.offset) == (str(path), number, number * 66)
    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB", "XZ", "ZSTD"])
def test_copying_a_torn_container_never_drops_a_record_with_a_bad_checksum(kind, tmp_path):
    parts = [frame(random.Random(i).randbytes(204)) for i in range(3000)]
    parts[3] = flip(parts[3], 20)
    path = put(tmp_path / "a", contain(b"".join(parts), kind)[:-20])
    torn = path.read_bytes()
    with (
        pytest.warns(DataLossWarning, match="torn"),
        pytest.raises(DataLossError, match="cannot append to a damaged file: corrupted record at 672"),
    ):
        append(path, kind)
    assert path.read_bytes() == torn


def test_file_that_changes_before_it_is_copied_is_noticed(tmp_path):
    path = put(tmp_path / "a", GOLDEN)
    plan = plan_append(str(path), "")
    assert plan is not None
    put(path, frames(GOLDEN_RECORDS[:1]))
    with pytest.raises(DataLossError, match="expected 3 records to copy but got 1: the file has changed"):
        list(kept_blocks(str(path), "", plan))


def test_last_record_with_a_wrong_crc_is_torn(tmp_path):
    path = put(tmp_path / "a", GOLDEN + flip(frame(b"last"), 14))
    with pytest.warns(DataLossWarning, match=r"at byte 53 was cut off before appending \(bad data CRC\)\.$"):
        append(path)
    assert read(path) == GOLDEN_RECORDS + MORE


def test_zero_bytes_at_the_end_are_torn(tmp_path):
    path = put(tmp_path / "a", GOLDEN + bytes(5000))
    with pytest.warns(
        DataLossWarning, match=r"at byte 53 was cut off before appending \(bad length CRC\)\.$"
    ):
        append(path)
    assert read(path) == GOLDEN_RECORDS + MORE


@pytest.mark.parametrize("kind", [kind for kind in CONTAINERS if kind])
def test_torn_container_keeps_every_whole_record(kind, tmp_path):
    whole = contain(frames([bytes([i]) * 50 for i in range(9)]), kind)
    name = "GZIP" if kind == "MEMBERS" else kind
    for size in {*range(12, len(whole), 7), *range(len(whole) - 10, len(whole))}:
        path = put(tmp_path / "a", whole[:size])
        before = list(tfr.read_records(path, compression=name, on_corrupt="skip"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            append(path, name)
        assert [warning.category for warning in caught] == [DataLossWarning], size
        assert read(path) == before + MORE, size
        assert tfr.verify(path).ok


@pytest.mark.parametrize(
    ("damaged", "kind", "record", "offset"),
    [
        (flip(GOLDEN, 0), "corrupted record at 0", 0, 0),
        (frame(b"x") + flip(GOLDEN, 0), "corrupted record at 17", 1, 17),
        (GOLDEN + b"garbage that is no frame", "corrupted record at 53", 3, 53),
        (GOLDEN + header(2**64 - 1) + bytes(30), "record size too large", 3, 53),
    ],
    ids=["first", "middle", "garbage", "too large"],
)
def test_file_that_is_damaged_before_its_end_is_refused(damaged, kind, record, offset, tmp_path):
    path = put(tmp_path / "a", damaged)
    with pytest.raises(FailedPreconditionError) as caught:
        append(path)
    assert str(caught.value).startswith(f"{path}; cannot append to a damaged file: {kind}")
    assert str(caught.value).endswith("Repair it first with tfrkit.repair.")
    assert (caught.value.path, caught.value.record, caught.value.offset) == (str(path), record, offset)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_damaged_container_is_refused(kind, tmp_path):
    data = flip(contain(frames([b"x" * 1000]), kind), -3, 0xFF)
    path = put(tmp_path / "a", data)
    with pytest.raises(
        FailedPreconditionError, match=r"; cannot append to a damaged file: inflate\(\) failed"
    ):
        append(path, kind)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("content", "given", "text"),
    [
        (
            GOLDEN,
            "GZIP",
            "cannot append GZIP records to a file that is uncompressed. Pass compression='none'.",
        ),
        (
            contain(GOLDEN, "GZIP"),
            "none",
            "cannot append uncompressed records to a file that is GZIP. Pass compression='GZIP'.",
        ),
        (
            contain(GOLDEN, "ZLIB"),
            "GZIP",
            "cannot append GZIP records to a file that is ZLIB. Pass compression='ZLIB'.",
        ),
    ],
)
def test_another_compression_is_refused(content, given, text, tmp_path):
    path = put(tmp_path / "a", content)
    with pytest.raises(FailedPreconditionError) as caught:
        append(path, given)
    assert str(caught.value) == f"{path}; {text}"
    assert path.read_bytes() == content


@pytest.mark.parametrize("kind", KINDS)
def test_atomic_append_keeps_what_was_there(kind, tmp_path):
    path = put(tmp_path / "a", contain(GOLDEN, "" if kind == "none" else kind))
    append(path, kind, atomic=True)
    assert read(path) == GOLDEN_RECORDS + MORE
    assert not list((tmp_path / ".tfrkit").glob("*"))


def test_zlib_is_rewritten_through_a_temporary_file(tmp_path):
    path = put(tmp_path / "a", contain(GOLDEN, "ZLIB"))
    writer = tfr.TFRecordWriter(path, compression="ZLIB", append=True)
    writer.write_many(MORE)
    writer.flush()
    assert path.read_bytes() == contain(GOLDEN, "ZLIB")
    writer.close()
    assert read(path) == GOLDEN_RECORDS + MORE


@pytest.mark.parametrize("kind", ["none", "GZIP"])
def test_index_covers_old_and_new_records(kind, tmp_path):
    path = put(
        tmp_path / "a", GOLDEN if kind == "none" else members([GOLDEN_RECORDS[:1], GOLDEN_RECORDS[1:]])
    )
    append(path, kind, index=True)
    with tfr.RecordFile(path, index=index_path(str(path))) as file:
        assert list(file) == GOLDEN_RECORDS + MORE


def test_plan_tells_where_to_go_on(tmp_path):
    path = put(tmp_path / "a", GOLDEN)
    assert plan_append(str(path), "") == AppendPlan(53, 3, False)
    assert plan_append(str(tmp_path / "missing"), "") is None
    zlib = put(tmp_path / "z", contain(GOLDEN, "ZLIB"))
    assert plan_append(str(zlib), "ZLIB") == AppendPlan(zlib.stat().st_size, 3, True)


def test_file_that_cannot_be_cut_is_not_written_over(tmp_path, monkeypatch):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(MANY)
    before = path.read_bytes()

    def fail(fd: int, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(tfr.errors.OpError, match=r"a\.tfrecord; Input/output error"):
        tfr.TFRecordWriter(path, append=True)
    assert path.read_bytes() == before


def test_records_that_were_copied_are_counted_before_anything_is_written(tmp_path):
    path = tmp_path / "a.tfrecord.gz"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(MANY)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.warns(DataLossWarning, match="torn"):
        writer = tfr.TFRecordWriter(path, append=True)
    with writer:
        kept = writer.records
        writer.write_many(MANY[kept:])
    assert list(tfr.read_records(path)) == MANY
