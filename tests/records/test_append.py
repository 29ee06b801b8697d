from __future__ import annotations

import warnings

import pytest

import tfrkit as tfr
from tests.records.made import (
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
from tfrkit.errors import DataLossWarning, FailedPreconditionError
from tfrkit.records.append import AppendPlan, plan_append
from tfrkit.records.index import index_path
from tfrkit.storage.member import EMPTY_MEMBER

KINDS = ("none", "GZIP", "ZLIB", "XZ", "ZSTD")
MORE = [b"more", b"", b"and more"]


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


def test_only_a_torn_frame_is_cut_off_too(tmp_path):
    path = put(tmp_path / "a", frame(b"first")[:5])
    with pytest.warns(DataLossWarning, match="a torn record at byte 0 was cut off"):
        append(path)
    assert read(path) == MORE


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
    assert str(caught.value).endswith("Mend it first with tfrkit.repair.")
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
