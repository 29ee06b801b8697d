from __future__ import annotations

import itertools
import random
import zlib

import pytest

from tfrkit.codecs import deflate as module
from tfrkit.codecs.deflate import DeflateStream
from tfrkit.errors import DataLossError

DATA = b"some data " * 1000
GZIP = (-1, zlib.DEFLATED, 31, 9, zlib.Z_DEFAULT_STRATEGY)  # TensorFlow's default


def deflate(
    pieces: list[bytes], flush_mode: int = zlib.Z_NO_FLUSH, *, size: int = 262144, room: int = 262144
) -> bytes:
    out: list[bytes] = []
    stream = DeflateStream(lambda data: out.append(bytes(data)), "name", GZIP, flush_mode, size, room)
    for piece in pieces:
        stream.append(memoryview(piece))
    stream.finish()
    return b"".join(out)


def test_bytes_are_zlibs_own():
    expected = zlib.compressobj(*GZIP)
    assert deflate([DATA]) == expected.compress(DATA) + expected.flush()


def test_empty_gzip_stream_is_tensorflows_twenty_bytes():
    assert deflate([]).hex() == "1f8b080000000000000303000000000000000000"


@pytest.mark.parametrize(
    "flush_mode", [zlib.Z_NO_FLUSH, zlib.Z_PARTIAL_FLUSH, zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH]
)
@pytest.mark.parametrize(("size", "room"), [(0, 2), (1, 7), (100, 100), (10_000, 1 << 20)])
def test_every_flush_mode_and_buffer_size_reads_back(flush_mode, size, room):
    pieces = [DATA[:12], DATA[12:90], DATA[90:], b"", b"end"]
    assert zlib.decompress(deflate(pieces, flush_mode, size=size, room=room), 31) == DATA + b"end"


def test_flush_makes_everything_so_far_readable():
    out: list[bytes] = []
    stream = DeflateStream(lambda data: out.append(bytes(data)), "name", GZIP, 0, 262144, 262144)
    stream.append(memoryview(DATA))
    assert out == []
    stream.flush()
    assert zlib.decompressobj(31).decompress(b"".join(out)) == DATA


def test_finish_as_flush_mode_with_more_to_come_is_an_error():
    with pytest.raises(DataLossError) as caught:
        deflate([b"12345", b"67890"], zlib.Z_FINISH, size=7)
    assert str(caught.value).startswith(
        "deflate() failed with error -5: flush_mode 4 (Z_FINISH) ends the stream"
    )
    assert caught.value.path == "name"


needs_libz = pytest.mark.skipif(module._libz() is None, reason="there is no libz to load")


def run(engine, arguments, room: int, steps: list[bytes | None]) -> list[bytes]:
    """Drive one engine, with a flush for each None; give what is written after each flush and at the end."""
    out = bytearray()
    stream = DeflateStream(out.extend, "name", arguments, zlib.Z_NO_FLUSH, 1000, room)
    stream._engine = engine(out.extend, "name", arguments, room)
    seen = []
    for step in steps:
        if step is None:
            stream.flush()
            seen.append(bytes(out))
        else:
            stream.append(memoryview(step))
    stream.finish()
    return [*seen, bytes(out)]


@needs_libz
@pytest.mark.parametrize("seed", range(100))
def test_both_engines_flush_alike_in_small_output_buffers(seed):
    rng = random.Random(seed)
    arguments = (rng.choice((-1, 1, 4, 9)), 8, rng.choice((31, 15, -9)), rng.randint(1, 9), rng.randint(0, 4))
    steps = [
        rng.choice((None, rng.randbytes(rng.choice((3, 60, 5000))), bytes(rng.randrange(5000))))
        for _ in range(40)
    ]
    room = rng.choice((64, 65, 100, 300))
    given = [run(engine, arguments, room, steps) for engine in (module._PythonEngine, module._LibzEngine)]
    assert given[0] == given[1]


@needs_libz
@pytest.mark.parametrize("center", [16384, 32768, 262144], ids=["python 3.9", "python", "tensorflow"])
def test_both_engines_flush_alike_where_an_output_buffer_is_just_full(center):
    data = random.Random(0).randbytes(center)
    for size in range(center - 70, center):
        steps = [data[:size], None, b"x", None, None]
        given = [run(engine, GZIP, 262144, steps) for engine in (module._PythonEngine, module._LibzEngine)]
        assert given[0] == given[1], size


@needs_libz
@pytest.mark.parametrize(
    ("size", "room", "pieces", "blocks"),
    [
        (262144, 262144, [100_000], [65_535, 34_465]),  # the largest that a stored block can be
        (262144, 50_000, [100_000], [49_995, 50_005]),  # the first fills the output buffer
        (
            1000,
            262144,
            [1000] * 100,
            [33_000, 33_000, 33_000, 1000],
        ),  # whole pieces, until the window is full
    ],
)
def test_stored_blocks_follow_the_buffers(size, room, pieces, blocks):
    out = bytearray()
    stream = DeflateStream(out.extend, "name", (0, zlib.DEFLATED, -15, 9, 0), zlib.Z_NO_FLUSH, size, room)
    for piece in pieces:
        stream.append(memoryview(bytes(piece)))
    stream.finish()
    lengths, at = [], 0
    while at < len(out):
        lengths.append(int.from_bytes(out[at + 1 : at + 3], "little"))
        at += 5 + lengths[-1]
    assert lengths == blocks


@pytest.mark.parametrize("level", [0, 6])
@pytest.mark.parametrize("libz", [pytest.param(True, marks=needs_libz), False])
def test_every_option_reads_back_with_and_without_libz(monkeypatch, libz, level):
    if not libz:
        monkeypatch.setattr(module, "_libz", lambda: None)
    data = random.Random(1).randbytes(70_000)
    edges = [0, 12, 500, 504, 30_000, 70_000]
    pieces = [data[start:end] for start, end in itertools.pairwise(edges)]
    for flush_mode, room, size in itertools.product((0, 1, 2, 3, 5), (2, 3, 5, 6, 300), (0, 100, 10_000)):
        out = bytearray()
        stream = DeflateStream(out.extend, "name", (level, 8, 15, 9, 0), flush_mode, size, room)
        for piece in pieces:
            stream.append(memoryview(piece))
            stream.flush()
        stream.finish()
        assert zlib.decompress(out) == data, (flush_mode, room, size)


@pytest.mark.parametrize("libz", [pytest.param(True, marks=needs_libz), False])
def test_unknown_flush_mode_is_an_error_when_the_input_buffer_is_full_and_loses_nothing(monkeypatch, libz):
    if not libz:
        monkeypatch.setattr(module, "_libz", lambda: None)
    out = bytearray()
    stream = DeflateStream(out.extend, "name", GZIP, 7, 10, 262144)
    stream.append(memoryview(b"0123456789"))
    for _ in range(2):
        with pytest.raises(DataLossError) as caught:
            stream.append(memoryview(b"x"))
        assert caught.value.message == "deflate() failed with error -2"
    stream.finish()
    assert zlib.decompress(out, 31) == b"0123456789"


@pytest.mark.parametrize("level", [0, 6])
def test_failed_write_can_be_tried_again(level):
    """After a full disk nothing is deflated twice: what was not written is written by the next call."""
    out, fail = bytearray(), [True]

    def write(data):
        if fail:
            raise OSError(fail.pop())
        out.extend(data)

    data = random.Random(2).randbytes(5000)
    stream = DeflateStream(write, "name", (level, 8, 15, 9, 0), zlib.Z_NO_FLUSH, 10_000, 100)
    stream.append(memoryview(data))
    with pytest.raises(OSError, match="True"):
        stream.flush()
    stream.flush()
    stream.finish()
    assert zlib.decompress(out) == data


def test_pieces_beyond_what_zlib_counts_in_one_call_are_cut(monkeypatch):
    monkeypatch.setattr(module, "_MAX_CALL_BYTES", 999)
    assert zlib.decompress(deflate([DATA], zlib.Z_SYNC_FLUSH, size=10), 31) == DATA
