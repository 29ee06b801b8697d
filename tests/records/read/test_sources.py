"""What may be given as `paths`: the reader on names, patterns, open files, pipes and standard input."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.records.support.made import CONTAINERS, GOLDEN, GOLDEN_RECORDS, SUFFIX, contain, frames, put
from tfrkit.errors import FailedPreconditionError, NotFoundError

NAME = "训练数据-00000.tfrecord"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return put(tmp_path / NAME, GOLDEN)


def read(paths: object, **options: object) -> list[bytes]:
    return list(tfr.read_records(paths, **options))  # type: ignore[arg-type]


def test_str_bytes_and_pathlike_with_a_name_that_is_not_ascii(path):
    assert read(str(path)) == read(os.fsencode(path)) == read(path) == GOLDEN_RECORDS


def test_name_that_is_no_unicode(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\xfe.tfrecord"
    with open(name, "wb") as file:
        file.write(GOLDEN)
    assert read(name) == GOLDEN_RECORDS


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_pattern_reads_the_files_in_order(tmp_path, threads):
    for number in range(20):
        put(tmp_path / f"train-{number:05d}.tfrecord", frames([b"%d-%d" % (number, i) for i in range(7)]))
    put(tmp_path / "manifest.json", b"{}")
    put(tmp_path / ".train-hidden.tfrecord", b"hidden")
    (tmp_path / "train-folder").mkdir()
    found = read(str(tmp_path / "*"), threads=threads, block_bytes=64)
    assert found == [b"%d-%d" % (number, i) for number in range(20) for i in range(7)]


def test_pattern_without_a_match_is_an_error_at_once(tmp_path):
    with pytest.raises(
        NotFoundError, match=r"^No files matched pattern: .*x\*\. Check the folder and the spelling;"
    ):
        tfr.read_records(str(tmp_path / "x*"))


def test_nested_lists_and_generators(path):
    assert read([path, [str(path), (io.BytesIO(GOLDEN),)], (p for p in [path])]) == GOLDEN_RECORDS * 4


def test_no_files_are_no_records():
    assert read([]) == []


def test_the_same_file_twice(path):
    assert read([path, path], threads=2) == GOLDEN_RECORDS * 2


@pytest.mark.parametrize("kind", CONTAINERS)
def test_open_binary_file_and_bytesio(kind, tmp_path):
    data = contain(GOLDEN, kind)
    target = put(tmp_path / f"a{SUFFIX[kind]}", data)
    with target.open("rb") as file:
        assert read(file) == GOLDEN_RECORDS
        assert not file.closed
    with target.open("rb", buffering=0) as file:
        assert read(file) == GOLDEN_RECORDS
    assert read(io.BytesIO(data)) == GOLDEN_RECORDS


def test_open_file_is_read_from_where_it_stands(path):
    with path.open("rb") as file:
        file.seek(19)
        assert read(file) == GOLDEN_RECORDS[1:]


def test_file_opened_as_text_is_a_type_error(path):
    with path.open(encoding="latin-1") as file, pytest.raises(TypeError, match=r"open it with 'rb'$"):
        read(file)


def feed(fd: int, data: bytes) -> threading.Thread:
    def write() -> None:
        with os.fdopen(fd, "wb") as file:
            file.write(data)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("kind", CONTAINERS)
def test_pipe(kind):
    expected = [bytes([i % 256]) * 1000 for i in range(500)]
    reader, writer = os.pipe()
    thread = feed(writer, contain(frames(expected), kind))
    with os.fdopen(reader, "rb") as file:
        assert read(file) == expected
    thread.join()


@pytest.mark.parametrize("kind", CONTAINERS)
def test_fifo(kind, tmp_path):
    expected = [bytes([i % 256]) * 1000 for i in range(500)]
    os.mkfifo(tmp_path / "fifo")

    def write() -> None:
        (tmp_path / "fifo").write_bytes(contain(frames(expected), kind))

    thread = threading.Thread(target=write)
    thread.start()
    put(tmp_path / "after", GOLDEN)
    assert read([tmp_path / "fifo", tmp_path / "after"]) == expected + GOLDEN_RECORDS
    thread.join()


def test_record_of_an_unbuffered_pipe_comes_before_the_pipe_ends():
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as file, os.fdopen(writer, "wb", buffering=0) as out:
        out.write(frames([b"x" * 600]))
        records = tfr.read_records(file)
        assert next(records) == b"x" * 600
        out.write(frames([b"later"]))
        assert next(records) == b"later"


@pytest.mark.parametrize("kind", CONTAINERS)
def test_standard_input(kind):
    code = "import tfrkit, sys; print([r.hex() for r in tfrkit.read_records('-')])"
    run = subprocess.run([sys.executable, "-c", code], input=contain(GOLDEN, kind), capture_output=True)
    assert run.stdout.decode().strip() == str([record.hex() for record in GOLDEN_RECORDS]), (
        run.stderr.decode()
    )


def test_missing_file_is_an_error_in_its_place(tmp_path, path):
    missing = str(tmp_path / "missing")
    records = tfr.read_records([path, missing, path])
    found = [next(records) for _ in GOLDEN_RECORDS]
    with pytest.raises(NotFoundError) as caught:
        next(records)
    assert str(caught.value) == f"{missing}; No such file or directory"
    assert caught.value.path == missing
    assert found + list(records) == GOLDEN_RECORDS * 2


def test_folder_is_an_error_with_advice(tmp_path):
    with pytest.raises(
        FailedPreconditionError, match=r"; Is a directory\. Name the files in it, for example"
    ):
        read(tmp_path)
