from __future__ import annotations

import gzip
import json
import os
import pickle
import threading
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.data.sources.test_records_source import pull_all
from tests.records.support.made import contain, flip, put
from tfrkit import TENSORFLOW, TFRKIT
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Context
from tfrkit.data.sources import text_lines
from tfrkit.data.sources.text_lines import TextLineDataset, TextLinesNode
from tfrkit.errors import DataLossWarning, FailedPreconditionError, InvalidArgumentError

IN_TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
PIECES = st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\r\n", b"\0", b"x" * 40]), max_size=30)


def lines_of(data: bytes) -> list[bytes]:
    """The rule, byte by byte."""
    found, line, pending = [], b"", False
    for byte in data:
        if byte == 10:
            found.append(line)
            line, pending = b"", False
        elif byte != 13:
            line, pending = line + bytes([byte]), True
    return [*found, line] if pending else found


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\nb", [b"a", b"b"]),
        (b"a\rb\nc\r", [b"ab", b"c"]),
        (b"", []),
        (b"\n\n", [b"", b""]),
        (b"a\n\r", [b"a"]),
        (b"\r", []),
        (b"x\r\r\r\ny\r\r", [b"x", b"y"]),
    ],
)
def test_lines_are_cut_by_the_rule(data, expected, tmp_path):
    assert lines_of(data) == expected
    assert list(TextLineDataset(str(put(tmp_path / "a", data)))) == expected


@IN_TMP
@given(
    files=st.lists(st.tuples(PIECES, st.sampled_from(["", "GZIP", "XZ"])), min_size=1, max_size=3),
    pulls=st.lists(st.integers(1, 5), max_size=6),
    piece=st.sampled_from([1, 7, 1 << 20]),
)
def test_state_goes_on_exactly(files, pulls, piece, tmp_path):
    paths = tuple(
        str(put(tmp_path / str(number), contain(b"".join(pieces), kind)))
        for number, (pieces, kind) in enumerate(files)
    )
    expected = [line for pieces, _ in files for line in lines_of(b"".join(pieces))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "_PIECE_BYTES", piece)
        for module in ("inflate", "stream_decoder", "none"):
            patch.setattr(f"tfrkit.codecs.{module}.CHUNK_BYTES", 1 << 18 if piece > 7 else 16)
        node = TextLinesNode(paths, TFRKIT)
        iterator = node.begin(Context())
        given = 0
        for n in pulls:
            run = iterator.pull(n)
            given += 0 if run is None else len(run.chunk)
        state = json.loads(json.dumps(iterator.save()))
        rest = pull_all(iterator)
        assert rest == expected[given:]
        assert pull_all(pickle.loads(pickle.dumps(node)).begin(Context(), state), 2) == rest


def test_runs_are_columns_that_span_files(tmp_path):
    paths = [str(put(tmp_path / name, name.encode() * 2 + b"\n" + b"end")) for name in "abc"]
    dataset = TextLineDataset(paths)
    run = dataset.node.begin(Context()).pull(100)
    assert run is not None
    assert run.chunk.objects() == [b"aa", b"end", b"bb", b"end", b"cc", b"end"]
    assert type(run.chunk).__name__ == "ColumnChunk"
    assert dataset.cardinality() == UNKNOWN_CARDINALITY
    assert dataset.node.pure
    assert dataset.node.label == f"TextLineDataset({paths[0]!r}, 2 more)"


def test_compression_is_found_or_given(tmp_path):
    packed = put(tmp_path / "a", gzip.compress(b"one\ntwo"))
    assert list(TextLineDataset(packed)) == [b"one", b"two"]
    deflated = put(tmp_path / "b", zlib.compress(b"one\ntwo"))
    assert list(TextLineDataset(deflated, "ZLIB")) == [b"one", b"two"]
    assert list(TextLineDataset(deflated, compression_type=b"zlib")) == [b"one", b"two"]


def test_unknown_compression_is_refused(tmp_path):
    path = put(tmp_path / "a", b"x")
    with pytest.raises(InvalidArgumentError, match="Unknown compression"):
        TextLineDataset(path, "FOO")
    with pytest.raises(InvalidArgumentError, match=r"^Unsupported compression_type\."):
        TextLineDataset(path, "FOO", policy=TENSORFLOW)


def test_error_is_followed_by_the_next_file(tmp_path):
    files = [str(put(tmp_path / "a", b"one\n")), str(tmp_path / "none"), str(put(tmp_path / "b", b"two"))]
    found = pull_all(TextLineDataset(files).node.begin(Context()), 10)
    assert found == [b"one", f"{files[1]}; No such file or directory", b"two"]


def test_error_repeats_under_the_tensorflow_policy(tmp_path):
    files = [str(put(tmp_path / "a", b"one\n")), str(tmp_path), str(put(tmp_path / "b", b"two"))]
    iterator = TextLineDataset(files, policy=TENSORFLOW).node.begin(Context())
    run = iterator.pull(5)
    assert run is not None
    assert run.chunk.objects() == [b"one"]
    for _ in range(3):
        run = iterator.pull(5)
        assert run is not None
        assert "Is a directory" in str(run.error)


def test_damaged_container_gives_the_lines_before_it(tmp_path):
    noise = os.urandom(600_000).replace(b"\n", b"").replace(b"\r", b"")
    data = gzip.compress(b"one\ntwo\n" + noise, 1)
    path = str(put(tmp_path / "a", flip(data, -6, 0xFF)))
    found = pull_all(TextLineDataset([path, path]).node.begin(Context()), 10)
    assert found[:2] == [b"one", b"two"]
    assert f"in {path!r}. Copy the file again." in str(found[2])
    assert len(found) == 6


def test_cut_container_is_an_error_or_the_end(tmp_path):
    data = gzip.compress(b"one\ntwo\n" + os.urandom(1000))
    path = str(put(tmp_path / "a", data[:-300]))
    found = pull_all(TextLineDataset(path).node.begin(Context()), 10)
    assert found[:2] == [b"one", b"two"]
    assert str(found[-1]).startswith(f"EOF reached: the compressed container of {path!r} has no end.")
    with pytest.warns(DataLossWarning, match="ignored, as TensorFlow does: EOF reached"):
        assert list(TextLineDataset(path, "GZIP", policy=TENSORFLOW))[:2] == [b"one", b"two"]


def test_pipe_is_given_line_by_line(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    node = TextLineDataset(path).node
    assert not node.pure
    iterator = node.begin(Context())
    opened, go = [], threading.Event()

    def write() -> None:
        with open(path, "wb", buffering=0) as file:
            opened.append(file.write(b"one\ntw"))
            go.wait(10)
            file.write(b"o\n")

    writer = threading.Thread(target=write)
    writer.start()
    first = iterator.pull(1)
    assert first is not None
    assert first.chunk.objects() == [b"one"]
    state = iterator.save()
    go.set()
    assert pull_all(iterator) == [b"two"]
    writer.join()
    with pytest.raises(FailedPreconditionError, match="cannot resume in the middle of a pipe"):
        node.begin(Context(), state)


def test_bad_arguments_are_refused(tmp_path):
    path = put(tmp_path / "a", b"x")
    with pytest.raises(InvalidArgumentError, match=r"^`buffer_size` must be >= 0 \(0 == default\)"):
        TextLineDataset(path, buffer_size=-1)
    with pytest.raises(TypeError, match="Expected string, but got 3 of type 'int'"):
        TextLineDataset(path, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Got `tf\.int32` elements"):
        TextLineDataset(7)


def test_batches_are_columns(tmp_path):
    path = put(tmp_path / "a", b"one\r\ntwo\nthree")
    (batch,) = TextLineDataset(path).batch(5)
    assert isinstance(batch, tfr.BytesColumn)
    assert batch.to_list() == [b"one", b"two", b"three"]
