"""A disk that is full: the error tells how many records are in the file, and so many are."""

from __future__ import annotations

import hashlib
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tfrkit as tfr
from tfrkit.errors import DataLossWarning, OpError

ROOM = 1 << 20
RECORDS = [b"%d:" % number + bytes([number % 251]) * 900 for number in range(3000)]  # 2.7 MB
NOISE = [hashlib.shake_128(b"%d" % number).digest(900) for number in range(3000)]  # cannot be compressed


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Give a folder with room for a megabyte: a small file system, or a limit on the size of files."""
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", folder], capture_output=True
    )
    if mount.returncode == 0:
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    try:
        yield folder
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "small") as small:
        yield small


def fill(path: Path, how: str, records: list[bytes] = RECORDS, **options: object) -> OpError:
    writer = tfr.TFRecordWriter(path, **options)  # type: ignore[arg-type]
    try:
        if how == "write_many":
            writer.write_many(records)
        elif how == "block":
            writer.write_many(tfr.Block.from_records(records))
        else:
            for record in records:
                writer.write(record)
        writer.close()
    except OpError as error:
        writer.discard()
        return error
    raise AssertionError("the disk is not full")


@pytest.mark.parametrize("how", ["write", "write_many", "block"])
def test_plain_file_holds_what_the_error_says(how, folder):
    path = folder / "a.tfrecord"
    error = fill(path, how)
    found = list(tfr.read_records(path))
    assert found == RECORDS[: len(found)]
    assert f". {len(found)} records are in the file; those from number {len(found)} on are not." in str(error)
    assert (error.record, error.path) == (len(found), str(path))
    assert tfr.verify(path).ok


@pytest.mark.parametrize("how", ["write", "write_many"])
@pytest.mark.parametrize("threads", [1, 2])
def test_gzip_members_hold_what_the_error_says(how, threads, folder):
    path = folder / "a.tfrecord.gz"
    error = fill(path, how, level=0, threads=threads)
    found = list(tfr.read_records(path))
    assert found == RECORDS[: len(found)]
    assert f". {len(found)} records are in the file; those from number {len(found)} on are not." in str(error)
    assert tfr.verify(path).ok


@pytest.mark.parametrize(
    "options", [{"members": False}, {"compression": "ZLIB"}, {"compression": "XZ"}, {"compression": "ZSTD"}]
)
def test_one_stream_is_an_error_and_what_it_says_can_be_saved(options, folder):
    path = folder / "a.gz"
    error = fill(path, "write", NOISE, **options)
    found = list(tfr.read_records(path, compression=options.get("compression", "GZIP"), on_corrupt="skip"))
    assert found == NOISE[: len(found)]
    assert found
    assert error.record is None  # what is still in the encoder cannot be known
    assert str(error).endswith(
        " records before this are not in the file, and its container has no end. "
        "append=True keeps those that are whole and reports their number in .records."
    )


def test_one_stream_goes_on_where_append_says(folder):
    path = folder / "a.gz"
    filler = folder / "filler"
    filler.write_bytes(bytes(ROOM * 3 // 4))
    fill(path, "write", NOISE, members=False)
    filler.unlink()
    with pytest.warns(DataLossWarning, match="a torn record at byte"):
        writer = tfr.TFRecordWriter(path, members=False, append=True)
    with writer:
        done = writer.records
        writer.write_many(NOISE[done : done + 10])
    assert done > 100
    assert list(tfr.read_records(path)) == NOISE[: done + 10]


def test_rest_can_be_appended_when_there_is_room(folder, tmp_path):
    path = folder / "a.tfrecord"
    filler = folder / "filler"
    filler.write_bytes(bytes(ROOM // 2))
    error = fill(path, "write_many")
    assert error.record is not None
    filler.unlink()
    with tfr.TFRecordWriter(path, append=True) as writer:
        writer.write_many(RECORDS[error.record : error.record + 100])
    found = list(tfr.read_records(path))
    assert found == RECORDS[: error.record + 100]


def write_all(writer: tfr.TFRecordWriter, records: list[bytes]) -> None:
    for record in records:
        writer.write(record)


def test_writer_that_failed_writes_no_more(folder):
    path = folder / "a.tfrecord"
    filler = folder / "filler"
    filler.write_bytes(bytes(ROOM // 2))
    writer = tfr.TFRecordWriter(path)
    with pytest.raises(OpError, match="records are in the file"):
        writer.write_many(RECORDS)
    filler.unlink()
    with pytest.raises(OpError, match="records are in the file"):
        write_all(writer, RECORDS)
    writer.discard()
    found = list(tfr.read_records(path))
    assert found == RECORDS[: len(found)]


@pytest.mark.parametrize("compression", ["none", "GZIP"])
def test_atomic_file_leaves_nothing(compression, folder):
    fill(
        folder / "a",
        "write",
        atomic=True,
        compression=compression,
        level=0 if compression == "GZIP" else None,
    )
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_shards_leave_nothing(folder):
    def write() -> None:
        with tfr.ShardWriter(folder / "train", shards=1) as writer:
            for record in RECORDS:
                writer.write(record)

    with pytest.raises(OpError, match=r"No space left on device|File too large"):
        write()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_index_without_room_is_an_error_and_the_file_stays(folder):
    path = folder / "a.tfrecord"
    room = [b""] * (ROOM // 16 - 2000)  # the file just fits; its index, half as large, does not
    writer = tfr.TFRecordWriter(path, index=True)
    writer.write_many(room)
    if folder.is_mount():
        with pytest.raises(OpError, match="No space left on device"):
            writer.close()
    else:
        writer.close()
    assert len(list(tfr.read_records(path))) == len(room)
    assert list(folder.rglob("*.tmp")) == []


@pytest.mark.parametrize("form", ["webdataset", "array_record"])
def test_exports_leave_whole_files_only_and_continue_when_there_is_room(form, folder, tmp_path):
    if not folder.is_mount():
        pytest.skip("needs a file system of its own")
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch({"a": [record[:20] for record in NOISE[:250]], "b": NOISE[:250]})
    export = getattr(tfr.build, f"export_{form}")
    export(tmp_path / "a.tfrecord", tmp_path / "wanted" / "t", shards=3)
    wanted = {path.name: path.read_bytes() for path in (tmp_path / "wanted").glob("t-*")}
    filler = folder / "filler"
    filler.write_bytes(bytes(ROOM - sum(map(len, wanted.values())) * 2 // 3))
    with pytest.raises(OpError, match=r"run the same job again"):
        export(tmp_path / "a.tfrecord", folder / "t", shards=3, workers=1)
    there = {path.name: path.read_bytes() for path in folder.glob("t-*")}
    assert 0 < len(there) < 3
    assert there.items() < wanted.items()
    filler.unlink()
    assert export(tmp_path / "a.tfrecord", folder / "t", shards=3, workers=1).resumed == len(there)
    assert {path.name: path.read_bytes() for path in folder.glob("t-*")} == wanted
