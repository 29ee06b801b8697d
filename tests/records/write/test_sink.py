from __future__ import annotations

import gzip
import io
import lzma
import zlib
from dataclasses import replace

import pytest
import zstandard

from tests.records.support.made import GOLDEN, frames
from tfrkit import TFRecordOptions
from tfrkit.codecs.member import MEMBERS, parse_member_header
from tfrkit.codecs.xz import XZ
from tfrkit.codecs.zstd import ZSTD
from tfrkit.records.write.sink import MemberSink, PlainSink, Sink, StreamSink, ZlibSink
from tfrkit.stores.output import ObjectOutput

RUNS = [frames([bytes([i]) * 1000] * 20) for i in range(50)]


def make(kind: str, file: io.BytesIO) -> Sink:
    output = ObjectOutput(file)
    return {
        "plain": lambda: PlainSink(output),
        "gzip": lambda: ZlibSink(output, TFRecordOptions("GZIP")),
        "zlib": lambda: ZlibSink(output, TFRecordOptions("ZLIB")),
        "xz": lambda: StreamSink(output, lambda: XZ.encoder(0)),
        "zstd": lambda: StreamSink(output, lambda: ZSTD.encoder(3)),
        "members, 1 thread": lambda: MemberSink(output, MEMBERS, 5, 1),
        "members, 3 threads": lambda: MemberSink(output, MEMBERS, 5, 3),
    }[kind]()


def inflate(kind: str, data: bytes) -> bytes:
    if kind == "zstd":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()
    if kind == "zlib":
        return zlib.decompress(data)
    if kind == "xz":
        return lzma.decompress(data)
    return data if kind == "plain" else gzip.decompress(data)


KINDS = ("plain", "gzip", "zlib", "xz", "zstd", "members, 1 thread", "members, 3 threads")


@pytest.mark.parametrize("kind", KINDS)
def test_runs_come_out_in_order(kind):
    file = io.BytesIO()
    sink = make(kind, file)
    for run in RUNS:
        sink.write(memoryview(run), 20)
    sink.finish()
    assert inflate(kind, file.getvalue()) == b"".join(RUNS)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_written_is_an_empty_container(kind):
    file = io.BytesIO()
    make(kind, file).finish()
    assert inflate(kind, file.getvalue()) == b""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("gzip", "zlib")])
def test_flush_leaves_a_file_that_is_whole(kind):
    file = io.BytesIO()
    sink = make(kind, file)
    for number, run in enumerate(RUNS[:5], 1):
        sink.write(memoryview(run), 20)
        sink.flush()
        assert inflate(kind, file.getvalue()) == b"".join(RUNS[:number])
    size = len(file.getvalue())
    sink.flush()
    sink.finish()
    assert len(file.getvalue()) == size


@pytest.mark.parametrize(("kind", "window"), [("gzip", 31), ("zlib", 15)])
def test_flush_of_one_stream_makes_everything_readable(kind, window):
    file = io.BytesIO()
    sink = make(kind, file)
    sink.write(memoryview(GOLDEN), 3)
    sink.flush()
    assert zlib.decompressobj(window).decompress(file.getvalue()) == GOLDEN


def test_place_of_every_member_is_kept(monkeypatch):
    monkeypatch.setattr("tfrkit.records.write.sink._MEMBER_BYTES", 1)
    file = io.BytesIO()
    sink = MemberSink(ObjectOutput(file), MEMBERS, 5, 2)
    for run in RUNS[:5]:
        sink.write(memoryview(run), 20)
    sink.finish()
    data = file.getvalue()
    assert len(sink.members()[0]) == 5
    assert sink.members()[1].tolist() == [len(RUNS[0]) * i for i in range(5)]
    for place in sink.members()[0].tolist():
        head = parse_member_header(data[place:])
        assert head is not None
        assert head[2:] == (len(RUNS[0]), 20)


def test_small_runs_share_a_member():
    file = io.BytesIO()
    sink = MemberSink(ObjectOutput(file), MEMBERS, 5, 2)
    for run in RUNS[:5]:
        sink.write(memoryview(run), 20)
    sink.finish()
    head = parse_member_header(file.getvalue())
    assert head is not None
    assert head[1:] == (len(file.getvalue()), 5 * len(RUNS[0]), 100)


def test_run_beyond_the_members_limit_is_an_ordinary_member(monkeypatch):
    monkeypatch.setattr("tfrkit.records.write.sink._MEMBER_BYTES", 1)
    file = io.BytesIO()
    sink = MemberSink(ObjectOutput(file), replace(MEMBERS, max_bytes=1000), 5, 2)
    for run in (GOLDEN, RUNS[0], GOLDEN):
        sink.write(memoryview(run), 3)
    sink.finish()
    assert gzip.decompress(file.getvalue()) == GOLDEN + RUNS[0] + GOLDEN
    heads = [parse_member_header(file.getvalue()[place:]) is not None for place in sink.members()[0].tolist()]
    assert heads == [True, False, True]
