from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.made import (
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
from tfrkit.errors import DataLossError, FailedPreconditionError
from tfrkit.records.access.index import (
    Index,
    build_index,
    index_path,
    load_index,
    read_text_index,
    save_index,
    write_text_index,
)
from tfrkit.stores.files import open_source
from tfrkit.testing.reference import crc32c

# The index of the golden file: magic, kind 0, CRC of the tail, 53 bytes, 3 frames, no members, places, CRC.
FIELDS = struct.pack("<8sIIQQQ4Q", b"TFRKIDX1", 0, crc32c(GOLDEN), 53, 3, 0, 0, 19, 35, 53)
GOLDEN_INDEX = FIELDS + struct.pack("<I", crc32c(FIELDS))


def test_file_is_as_defined(tmp_path):
    assert build_index(str(put(tmp_path / "a", GOLDEN))).to_bytes() == GOLDEN_INDEX


def test_file_comes_back():
    index = Index.from_bytes(GOLDEN_INDEX)
    assert (index.compression, index.frames.tolist(), index.shard_bytes) == ("", [0, 19, 35, 53], 53)
    assert (index.tail_crc, len(index), len(index.member_file)) == (crc32c(GOLDEN), 3, 0)


def test_no_bit_of_the_file_may_change():
    for at in range(len(GOLDEN_INDEX)):
        for bit in range(8):
            with pytest.raises(ValueError, match=r"^bad index: "):
                Index.from_bytes(flip(GOLDEN_INDEX, at, 1 << bit))


def test_no_byte_of_the_file_may_be_missing():
    for size in range(len(GOLDEN_INDEX)):
        with pytest.raises(
            ValueError, match=r"^bad index: (expected at least 52 bytes|its size of \d+ bytes)"
        ):
            Index.from_bytes(GOLDEN_INDEX[:size])


def test_huge_counts_are_not_believed():
    fields = struct.pack("<8sIIQQQQ", b"TFRKIDX1", 0, 0, 53, 2**60, 2**60, 0)
    with pytest.raises(ValueError, match=r"^bad index: "):
        Index.from_bytes(fields + struct.pack("<I", crc32c(fields)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(st.binary(max_size=100), max_size=40))
def test_frames_are_where_they_are(records, tmp_path):
    index = build_index(str(put(tmp_path / "a", frames(records))))
    places = [len(frames(records[:i])) for i in range(len(records) + 1)]
    assert index.frames.tolist() == places


def test_large_payloads_are_skipped_not_read(tmp_path, monkeypatch):
    records = [b"small"] * 10 + [bytes(3 << 20)] * 5 + [b"small"] * 10
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_many(records)
    got = 0
    source = open_source(str(tmp_path / "a"))

    class Counting:
        def __getattr__(self, name: str) -> object:
            return getattr(source, name)

        def read_into(self, view: memoryview, position: int) -> int:
            nonlocal got
            got += len(view)
            return source.read_into(view, position)

    monkeypatch.setattr("tfrkit.records.access.index.ByteSource", Counting)
    index = build_index(Counting())  # type: ignore[arg-type]
    assert np.diff(index.frames).tolist() == [len(record) + 16 for record in records]
    assert got < 5 << 20


@pytest.mark.parametrize("size", [65535, 65536, 65537, (1 << 20) - 16, 1 << 20, (1 << 20) + 1])
def test_payloads_of_every_size_are_found(size, tmp_path):
    records = [b"a", bytes(size), b"b", bytes(size), bytes(size)]
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_many(records)
    assert np.diff(build_index(str(tmp_path / "a")).frames).tolist() == [
        len(record) + 16 for record in records
    ]


def test_members_are_found(tmp_path):
    groups = [[b"a", b"b"], [b"c"], [b"d", b"e", b"f"]]
    path = str(put(tmp_path / "a", members(groups)))
    index = build_index(path)
    assert index.compression == "GZIP"
    assert index.frames.tolist() == [0, 17, 34, 51, 68, 85, 102]
    assert index.member_stream.tolist() == [0, 34, 51]
    assert index.member_file.tolist() == [0, len(members(groups[:1])), len(members(groups[:2]))]
    assert Index.from_bytes(index.to_bytes()).member_file.tolist() == index.member_file.tolist()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (GOLDEN[:-1], "truncated record at 35' failed with Read less bytes than requested"),
        (GOLDEN + b"xyz", "truncated record at 53' failed with Read less bytes than requested"),
        (flip(GOLDEN, 19), "corrupted record at 19: length checksum stored"),
        (GOLDEN + header(1 << 20), "truncated record at 53'"),
        (GOLDEN + header(1 << 40) + bytes(99), "truncated record at 53'"),
    ],
)
def test_damaged_file_is_refused_with_the_usual_error(data, text, tmp_path):
    path = str(put(tmp_path / "a", data))
    with pytest.raises(DataLossError) as caught:
        build_index(path)
    assert str(caught.value).startswith(text)
    assert caught.value.path == path


IN_ORDER = (
    ' on_corrupt="skip" leaves out records by their numbers, which those after this damage do not have: only iterating '
    "in order can skip it, without global_shuffle(), len() and elements by number. `tfr repair` makes a file of the "
    "records that are whole."
)
REPAIR = "opy the file again, or repair it with tfrkit.repair: no index can be made of it as it is."
TWO = members([[b"a", b"b"], [b"c"]])


@pytest.mark.parametrize(
    "data", [GOLDEN[:-1], flip(GOLDEN, 19), flip(TWO, 45), contain(flip(GOLDEN, 19), "GZIP")], ids=len
)
def test_an_index_is_not_advised_to_skip_damage(data, tmp_path):
    path = put(tmp_path / "a", data)
    os.utime(path, (1, 1))
    dataset = tfr.TFRecordDataset(path, compression_type="auto", on_corrupt="skip")
    calls = {lambda: tfr.RecordFile(path): "", lambda: dataset.at([0]): IN_ORDER}
    for call, more in {**calls, lambda: dataset.global_shuffle(1)[0]: IN_ORDER}.items():
        with pytest.raises(DataLossError) as caught:
            call()
        assert str(caught.value).endswith(f"'{path}'. C{REPAIR}{more}")
        assert caught.value.path == str(path)
        assert caught.value.repairable
    assert len(list(iter(dataset))) <= 3  # which needs no index


def test_a_file_that_is_still_written_has_no_index_yet(tmp_path):
    path = str(put(tmp_path / "a", GOLDEN[:-1]))
    with pytest.raises(DataLossError) as caught:
        build_index(path)
    assert str(caught.value).endswith(
        f"seconds. Open it again when it is finished. If no program is writing it, c{REPAIR}"
    )
    assert not caught.value.repairable


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB", "XZ", "ZSTD"])
def test_one_stream_has_no_index(kind, tmp_path):
    path = str(put(tmp_path / "a", contain(GOLDEN, kind)))
    with pytest.raises(FailedPreconditionError) as caught:
        build_index(path)
    assert str(caught.value).startswith(
        f"{path}; one {kind} stream can only be read from the start. Rewrite it seekable with"
    )


def test_index_is_kept_in_the_sidecar_folder(tmp_path):
    path = str(put(tmp_path / "a.tfrecord", GOLDEN))
    saved = save_index(path, build_index(path))
    assert saved == index_path(path) == str(tmp_path / ".tfrkit" / "a.tfrecord.idx")
    assert Path(saved).read_bytes() == GOLDEN_INDEX
    loaded = load_index(path, open_source(path))
    assert loaded is not None
    assert loaded.frames.tolist() == [0, 19, 35, 53]


@pytest.mark.parametrize("data", [GOLDEN + frame(b"x"), GOLDEN[:35], flip(GOLDEN, 12), b""])
def test_index_of_another_content_is_not_used(data, tmp_path):
    path = put(tmp_path / "a", GOLDEN)
    save_index(str(path), build_index(str(path)))
    path.write_bytes(data)
    assert load_index(str(path), open_source(str(path))) is None


@pytest.mark.parametrize("content", [b"", b"garbage", GOLDEN_INDEX[:-1]])
def test_damaged_index_is_not_used(content, tmp_path):
    path = str(put(tmp_path / "a", GOLDEN))
    Path(save_index(path, build_index(path))).write_bytes(content)
    assert load_index(path, open_source(path)) is None


def test_text_index_is_written_as_lines_of_offset_and_size(tmp_path):
    path = str(put(tmp_path / "a", GOLDEN))
    write_text_index(str(tmp_path / "a.idx"), build_index(path))
    assert (tmp_path / "a.idx").read_text() == "0 19\n19 16\n35 18\n"


def test_text_index_is_read(tmp_path):
    path = str(put(tmp_path / "a", GOLDEN))
    put(tmp_path / "a.idx", b"0 19\n19 16\n35 18\n")
    index = read_text_index(str(tmp_path / "a.idx"), open_source(path))
    assert index.frames.tolist() == [0, 19, 35, 53]
    assert index.to_bytes() == GOLDEN_INDEX


def test_text_index_of_an_empty_file_is_empty(tmp_path):
    path = str(put(tmp_path / "a", b""))
    write_text_index(str(tmp_path / "a.idx"), build_index(path))
    assert (tmp_path / "a.idx").read_bytes() == b""
    assert len(read_text_index(str(tmp_path / "a.idx"), open_source(path))) == 0


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("0 19\n19\n", "expected two numbers a line, offset and size. Make the index again."),
        ("zero 19\n", "expected two numbers a line, offset and size. Make the index again."),
        ("0 19\n19 16\n", "the lines do not cover the 53 bytes of"),
        ("0 19\n20 15\n35 18\n", "the lines do not cover the 53 bytes of"),
        ("0 19\n19 5\n24 29\n", "a frame has at least 16 bytes. Make the index again."),
        ("-19 19\n0 53\n", "the lines do not cover the 53 bytes of"),
    ],
)
def test_text_index_that_does_not_fit_is_refused(lines, text, tmp_path):
    path = str(put(tmp_path / "a", GOLDEN))
    index = str(put(tmp_path / "a.idx", lines.encode()))
    with pytest.raises(DataLossError) as caught:
        read_text_index(index, open_source(path))
    assert str(caught.value).startswith(f"{index}; {text}")


def test_text_index_that_fits_and_is_wrong_is_noticed_by_reading(tmp_path):
    path = str(put(tmp_path / "a", GOLDEN))
    file = tfr.RecordFile(path, index=str(put(tmp_path / "a.idx", b"0 35\n35 18\n")))
    with pytest.raises(DataLossError, match=r"^corrupted record at 12: the frame is not what the index"):
        file[0]
    with pytest.raises(DataLossError, match=r"^corrupted record at 12: the frame is not what the index"):
        file[:]
    assert file[1] == b"\xff\x00"


def test_text_index_of_a_compressed_file_cannot_be_written(tmp_path):
    index = build_index(str(put(tmp_path / "a", members([GOLDEN_RECORDS]))))
    with pytest.raises(FailedPreconditionError, match=r"; a text index can only describe a plain shard\.$"):
        write_text_index(str(tmp_path / "a.idx"), index)


def test_damage_is_reported_with_its_record_number(tmp_path):
    path = put(tmp_path / "a", frames([b"x" * 100] * 25) + frame(b"y" * 100)[:50])
    with pytest.raises(DataLossError, match=r"in record 25 \(frame at byte 2900\)") as caught:
        build_index(str(path))
    assert caught.value.record == 25
