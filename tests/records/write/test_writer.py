from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.made import GOLDEN, GOLDEN_RECORDS, frames
from tfrkit.codecs.member import parse_member_header
from tfrkit.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
)
from tfrkit.records.access.index import index_path

KINDS = ("none", "GZIP", "ZLIB", "XZ", "ZSTD")


def read(path: object) -> list[bytes]:
    return list(tfr.read_records(path))  # type: ignore[arg-type]


def names(folder) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_plain_file_has_the_golden_bytes(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        for record in GOLDEN_RECORDS:
            writer.write(record)
    assert (tmp_path / "a").read_bytes() == GOLDEN
    assert writer.records == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    groups=st.lists(st.lists(st.binary(max_size=200), max_size=8), max_size=6),
    kind=st.sampled_from(KINDS),
    members=st.booleans(),
    run_bytes=st.sampled_from([1, 100, 1 << 20]),
    flush=st.booleans(),
)
def test_what_is_written_is_read(groups, kind, members, run_bytes, flush, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a", compression=kind, members=members) as writer:
        writer.set_run_bytes(run_bytes)
        for number, group in enumerate(groups):
            if number % 2:
                writer.write_many(group)
            else:
                for record in group:
                    writer.write(record)
            if flush:
                writer.flush()
    records = [record for group in groups for record in group]
    assert read(tmp_path / "a") == records
    assert writer.records == len(records)


def inflate(kind: str, data: bytes) -> bytes:
    if kind == "ZSTD":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()
    return {"none": bytes, "GZIP": gzip.decompress, "ZLIB": zlib.decompress, "XZ": lzma.decompress}[kind](
        data
    )


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [("", "none"), (".gz", "GZIP"), (".zlib", "ZLIB"), (".zz", "ZLIB"), (".xz", "XZ"), (".zst", "ZSTD")],
)
def test_suffix_chooses_the_compression(suffix, kind, tmp_path):
    path = tmp_path / f"a.tfrecord{suffix}"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(GOLDEN_RECORDS)
    assert inflate(kind, path.read_bytes()) == GOLDEN


def test_compression_wins_over_the_suffix(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.gz", compression="none") as writer:
        writer.write_many(GOLDEN_RECORDS)
    assert (tmp_path / "a.gz").read_bytes() == GOLDEN


@pytest.mark.parametrize("options", ["GZIP", 2, tfr.TFRecordOptions("GZIP")], ids=["str", "int", "object"])
def test_options_choose_the_compression(options, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a", options) as writer:
        writer.write_many(GOLDEN_RECORDS)
    assert gzip.decompress((tmp_path / "a").read_bytes()) == GOLDEN


def test_contradicting_options_are_refused(tmp_path):
    with pytest.raises(
        InvalidArgumentError, match=r"^compression='ZLIB' contradicts options of type GZIP\.$"
    ):
        tfr.TFRecordWriter(tmp_path / "a", tfr.TFRecordOptions("GZIP"), compression="ZLIB")
    assert names(tmp_path) == []


@pytest.mark.parametrize("options", ["LZ4", 7])
def test_unknown_compression_is_refused_before_the_file_is_made(options, tmp_path):
    with pytest.raises(ValueError, match=r"LZ4|7"):
        tfr.TFRecordWriter(tmp_path / "a", options)
    assert names(tmp_path) == []


def test_gzip_is_written_as_members(tmp_path):
    records = [os.urandom(1000) for _ in range(3000)]
    with tfr.TFRecordWriter(tmp_path / "a.gz") as writer:
        writer.write_many(records)
    data, at, count = (tmp_path / "a.gz").read_bytes(), 0, 0
    while at < len(data):
        head = parse_member_header(data[at:])
        assert head is not None
        at, count = at + head[1], count + head[3]
    assert count == 3000


@pytest.mark.parametrize(
    "how",
    [{"members": False}, {"options": tfr.TFRecordOptions("GZIP", compression_level=6)}],
    ids=["members", "level"],
)
def test_one_stream_on_request_or_when_zlib_is_tuned(how, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.gz", **how) as writer:
        writer.write_many(GOLDEN_RECORDS)
    engine = zlib.compressobj(6, zlib.DEFLATED, 31, 9)
    assert (tmp_path / "a.gz").read_bytes() == engine.compress(GOLDEN) + engine.flush()


def test_records_may_be_str_and_any_buffer(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        for record in ("ü", bytearray(b"ba"), memoryview(b"abcd")[::2]):
            writer.write(record)
        writer.write_many(["ß", bytearray(b"x"), memoryview(b"y")])
    assert read(tmp_path / "a") == [b"\xc3\xbc", b"ba", b"ac", b"\xc3\x9f", b"x", b"y"]


@pytest.mark.parametrize(
    "make", [list, tuple, iter, tfr.Block.from_records], ids=["list", "tuple", "iter", "Block"]
)
def test_write_many_takes_any_iterable_and_blocks(make, tmp_path):
    records = [bytes([i % 256]) * (i % 50) for i in range(10_000)]
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        writer.write(b"before")
        writer.write_many(make(records))
        writer.write(b"after")
    assert read(tmp_path / "a") == [b"before", *records, b"after"]


def test_large_records_are_written_without_a_copy(tmp_path):
    large = bytes(5 << 20)
    for suffix in ("", ".gz"):
        with tfr.TFRecordWriter(tmp_path / f"a{suffix}") as writer:
            writer.write_many([b"a", large, b"b", bytearray(large)])
            writer.write(large)
        assert read(tmp_path / f"a{suffix}") == [b"a", large, b"b", large, large]


@pytest.mark.parametrize("record", [7, None, 1.5, [b"a"]])
def test_what_is_no_record_is_a_type_error(record, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        writer.write(b"before")
        with pytest.raises(
            TypeError, match=f"^expected a record as bytes or str but got {type(record).__name__}$"
        ):
            writer.write(record)
        with pytest.raises(
            TypeError, match=f"^expected bytes or str but got {type(record).__name__} at index 1$"
        ):
            writer.write_many([b"x", record])
    assert read(tmp_path / "a")[0] == b"before"


def test_str_that_is_no_unicode_is_a_type_error(tmp_path):
    with (
        tfr.TFRecordWriter(tmp_path / "a") as writer,
        pytest.raises(TypeError, match="str that is not valid Unicode"),
    ):
        writer.write("\ud800")


@pytest.mark.parametrize("kind", KINDS)
def test_flush_makes_everything_so_far_readable(kind, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a", compression=kind) as writer:
        writer.write_many(GOLDEN_RECORDS)
        writer.flush()
        reader = tfr.read_records(tmp_path / "a", compression=kind, on_corrupt="skip")
        assert [next(reader) for _ in range(3)] == GOLDEN_RECORDS


@pytest.mark.parametrize("call", ["write", "write_many", "flush"])
def test_closed_writer_refuses(call, tmp_path):
    writer = tfr.TFRecordWriter(tmp_path / "a")
    writer.close()
    writer.close()
    with pytest.raises(FailedPreconditionError, match=r"^Writer is closed\.$"):
        getattr(writer, call)(*([b"x"] if call != "flush" else []))


def test_file_in_a_missing_folder_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match=r"missing/a; No such file or directory$"):
        tfr.TFRecordWriter(tmp_path / "missing" / "a")


def test_what_is_no_path_is_a_type_error():
    with pytest.raises(TypeError, match=r"^expected a path or an open binary file but got int$"):
        tfr.TFRecordWriter(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_file_object_is_written_and_left_open(kind):
    file = io.BytesIO()
    with tfr.TFRecordWriter(file, compression=kind) as writer:
        writer.write_many(GOLDEN_RECORDS)
    assert not file.closed
    assert inflate(kind, file.getvalue()) == GOLDEN


def test_writer_that_is_dropped_writes_its_file(tmp_path):
    writer = tfr.TFRecordWriter(tmp_path / "a")
    writer.write_many(GOLDEN_RECORDS)
    writer.write(b"kept")
    del writer
    assert read(tmp_path / "a") == [*GOLDEN_RECORDS, b"kept"]


@pytest.mark.parametrize("kind", KINDS)
def test_atomic_file_appears_at_close(kind, tmp_path):
    path = tmp_path / "a"
    with tfr.TFRecordWriter(path, compression=kind, atomic=True) as writer:
        writer.write_many(GOLDEN_RECORDS)
        writer.flush()
        assert not path.exists()
    assert names(tmp_path) == ["a"]
    assert read(path) == GOLDEN_RECORDS


def write_and_fail(writer: tfr.TFRecordWriter) -> None:
    with writer:
        writer.write_many(GOLDEN_RECORDS)
        raise KeyError


def test_exception_leaves_nothing_of_an_atomic_file(tmp_path):
    with pytest.raises(KeyError):
        write_and_fail(tfr.TFRecordWriter(tmp_path / "a", atomic=True, index=True))
    assert list(tmp_path.iterdir()) == []


def test_exception_leaves_the_old_file_under_an_atomic_name(tmp_path):
    (tmp_path / "a").write_bytes(GOLDEN)
    with pytest.raises(KeyError):
        write_and_fail(tfr.TFRecordWriter(tmp_path / "a", atomic=True))
    assert (tmp_path / "a").read_bytes() == GOLDEN
    assert names(tmp_path) == ["a"]


def test_exception_keeps_what_was_written_in_place(tmp_path):
    with pytest.raises(KeyError):
        write_and_fail(tfr.TFRecordWriter(tmp_path / "a"))
    assert read(tmp_path / "a") == GOLDEN_RECORDS


def test_discarded_atomic_writer_leaves_nothing(tmp_path):
    writer = tfr.TFRecordWriter(tmp_path / "a", atomic=True)
    writer.write(b"x")
    writer.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_index_is_kept_beside_the_file(suffix, tmp_path):
    path = str(tmp_path / f"a{suffix}")
    with tfr.TFRecordWriter(path, index=True) as writer:
        writer.write_many(GOLDEN_RECORDS * 100)
    assert os.path.exists(index_path(path))
    index = tfr.Index.from_bytes(Path(index_path(path)).read_bytes())
    assert index.frames.tolist() == tfr.RecordFile(path, index="memory").index.frames.tolist()
    assert len(index) == 300


@pytest.mark.parametrize("how", [{"compression": "XZ"}, {"compression": "GZIP", "members": False}])
def test_index_of_one_stream_is_refused(how, tmp_path):
    text = rf"^There is no index of one {how['compression']} stream\. Write it plain or in GZIP members\.$"
    with pytest.raises(InvalidArgumentError, match=text):
        tfr.TFRecordWriter(tmp_path / "a", index=True, **how)
    assert names(tmp_path) == []


@pytest.mark.parametrize(("kind", "level"), [("GZIP", 10), ("ZLIB", -2), ("XZ", 10), ("ZSTD", 23)])
def test_level_out_of_range_is_refused_before_the_file_is_touched(kind, level, tmp_path):
    (tmp_path / "a").write_bytes(GOLDEN)
    with pytest.raises(
        InvalidArgumentError, match=rf"^Expected a level of {kind} from .* to .* but got {level}\.$"
    ):
        tfr.TFRecordWriter(tmp_path / "a", compression=kind, level=level)
    assert (tmp_path / "a").read_bytes() == GOLDEN


@pytest.mark.parametrize("option", ["append", "atomic", "index", "zones"])
def test_options_that_need_a_path_are_refused_for_a_file_object(option):
    with pytest.raises(
        InvalidArgumentError, match=r"^append, atomic, index and zones need a path, not an open file\.$"
    ):
        tfr.TFRecordWriter(io.BytesIO(), **{option: True})


def test_full_disk_tells_how_many_records_are_in_the_file():
    writer = tfr.TFRecordWriter("/dev/full")
    writer.write(b"x")
    with pytest.raises(ResourceExhaustedError) as caught:
        writer.flush()
    assert str(caught.value) == (
        "/dev/full; No space left on device. 0 records are in the file; those from number 0 on are not. "
        "Make room and write them again, for example with append=True."
    )
    assert (caught.value.path, caught.value.record) == ("/dev/full", 0)
    with pytest.raises(ResourceExhaustedError, match="0 records are in the file"):
        writer.write_many([b"y"])
    writer.discard()


def test_tensorflow_policy_takes_text_paths_and_writes_one_stream(tmp_path):
    path = str(tmp_path / "a.gz")
    with tfr.TFRecordWriter(path, "GZIP", policy=tfr.TENSORFLOW) as writer:
        writer.write_many(GOLDEN_RECORDS)
    engine = zlib.compressobj(-1, zlib.DEFLATED, 31, 9)
    assert Path(path).read_bytes() == engine.compress(frames(GOLDEN_RECORDS)) + engine.flush()
    with pytest.raises(TypeError, match=r"^Expected binary or unicode string, got "):
        tfr.TFRecordWriter(tmp_path / "b", policy=tfr.TENSORFLOW)
