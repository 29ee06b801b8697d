from __future__ import annotations

import io
import os

import pytest

from tfrkit.errors import FailedPreconditionError, NotFoundError, PermissionDeniedError
from tfrkit.stores.files import open_source
from tfrkit.stores.source import ByteSource, is_stream

DATA = bytes(range(256)) * 4


@pytest.fixture(params=["file", "object", "pipe"])
def source(request, tmp_path):
    if request.param == "file":
        path = tmp_path / "a"
        path.write_bytes(DATA)
        return open_source(str(path))
    if request.param == "object":
        return open_source(io.BytesIO(DATA))
    reader, writer = os.pipe()
    os.write(writer, DATA)
    os.close(writer)
    return ByteSource("pipe", reader, None, owned=True)


def test_read_gives_everything_in_order(source):
    parts = []
    while data := source.read(100):
        parts.append(data)
    assert b"".join(parts) == DATA
    assert source.position == len(DATA)
    assert max(map(len, parts)) == 100


def test_peek_does_not_move(source):
    assert source.peek(7) == DATA[:7]
    assert source.peek(3) == DATA[:3]
    assert source.position == 0
    assert source.read(2) == DATA[:2]
    assert source.peek(2) == DATA[2:4]


def test_peek_beyond_the_end_gives_what_there_is(source):
    assert source.peek(9999) == DATA


def test_only_regular_files_have_a_size_and_positions(tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    file, stream = open_source(str(tmp_path / "a")), open_source(io.BytesIO(DATA))
    assert (file.regular, file.size(), stream.regular, stream.size()) == (True, 1024, False, None)
    file.seek(1000)
    assert (file.read(10), file.read_at(5, 3)) == (DATA[1000:1010], DATA[5:8])
    with pytest.raises(FailedPreconditionError, match="cannot seek in a pipe or stream"):
        stream.seek(3)


def test_read_into_fills_as_far_as_the_file_goes(tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    buffer = bytearray(2000)
    assert open_source(str(tmp_path / "a")).read_into(memoryview(buffer), 24) == 1000
    assert buffer[:1000] == DATA[24:]


def test_file_object_is_read_from_where_it_stands_and_left_open():
    file = io.BytesIO(DATA)
    file.seek(1000)
    source = open_source(file)
    assert source.read(99) == DATA[1000:]
    del source
    assert not file.closed


def test_descriptor_is_closed_with_the_last_reference(tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    source = open_source(str(tmp_path / "a"))
    fd = source.fd
    assert fd is not None
    os.fstat(fd)
    del source
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_name_is_that_of_the_file_object(tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    with (tmp_path / "a").open("rb") as file:
        assert open_source(file).name == str(tmp_path / "a")
    assert open_source(io.BytesIO()).name.startswith("<_io.BytesIO object")


def test_missing_file_is_not_found(tmp_path):
    path = str(tmp_path / "missing")
    with pytest.raises(NotFoundError) as caught:
        open_source(path)
    assert str(caught.value) == f"{path}; No such file or directory"
    assert (caught.value.path, caught.value.errno, caught.value.filename) == (path, 2, path)
    assert isinstance(caught.value, FileNotFoundError)


def test_folder_is_refused_with_advice(tmp_path):
    with pytest.raises(FailedPreconditionError) as caught:
        open_source(str(tmp_path))
    advice = f"Name the files in it, for example {str(tmp_path / '*.tfrecord')!r}."
    assert str(caught.value) == f"{tmp_path}; Is a directory. {advice}"


def test_error_of_the_operating_system_keeps_its_class(monkeypatch):
    def refuse(*args: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionDeniedError, match=r"^secret; Permission denied$"):
        open_source("secret")


def test_text_file_object_is_a_type_error(tmp_path):
    with pytest.raises(
        TypeError, match=r"expected a file opened in binary mode but .* returns str; open it with 'rb'"
    ):
        open_source(io.StringIO("text")).read(3)


def test_non_blocking_file_object_is_refused():
    class Dry:
        name = "dry"

        def read(self, count: int) -> None:
            return None

    with pytest.raises(
        FailedPreconditionError, match=r"^dry; the file object is in non-blocking mode\. Open it"
    ):
        open_source(Dry()).read(1)


def test_stream_is_what_can_be_read_only_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    assert is_stream(str(tmp_path / "pipe"))
    assert not any(is_stream(str(path)) for path in (tmp_path / "file", tmp_path, tmp_path / "none"))
    assert not is_stream("nul\0")
