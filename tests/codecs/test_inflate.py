from __future__ import annotations

import gzip
import io
import lzma
import os
import random
import zlib

import pytest
import zstandard

from tests.records.support.made import contain, flip, put
from tfrkit.codecs import inflate
from tfrkit.codecs.codec import CHUNK_BYTES, Decoder
from tfrkit.codecs.inflate import inflate_raw, zlib_text
from tfrkit.codecs.table import open_decoder
from tfrkit.errors import DataLossError, ResourceExhaustedError
from tfrkit.records.read.reader import read_records
from tfrkit.stores.files import open_source

KINDS = ("", "GZIP", "ZLIB", "XZ", "ZSTD")
RANDOM = random.Random(1)
STREAM = b"".join(RANDOM.randbytes(50) + b"repeated " * 20 for _ in range(9000))  # 2 MB


@pytest.fixture(scope="module", params=[kind for kind in KINDS if kind])
def packed(request) -> tuple[str, bytes]:
    return request.param, contain(STREAM, request.param)


def read_all(target: object, kind: str) -> bytes:
    decoder = open_decoder(open_source(target), kind)
    parts = []
    while chunk := decoder.read():
        parts.append(chunk)
        assert len(chunk) <= 65 * CHUNK_BYTES
    assert not decoder.lost
    return b"".join(parts)


@pytest.mark.parametrize("kind", KINDS)
def test_stream_comes_back(kind, tmp_path):
    data = contain(STREAM, kind)
    assert read_all(str(put(tmp_path / "a", data)), kind) == STREAM
    assert read_all(io.BytesIO(data), kind) == STREAM


@pytest.mark.parametrize("kind", KINDS)
def test_empty_stream(kind, tmp_path):
    assert read_all(str(put(tmp_path / "a", contain(b"", kind))), kind) == b""


@pytest.mark.parametrize("kind", KINDS)
def test_streams_one_after_another_are_one(kind, tmp_path):
    data = b"".join(contain(part, kind) for part in (b"one", b"", b"two", STREAM[:100_000], b"three"))
    assert read_all(str(put(tmp_path / "a", data)), kind) == b"onetwo" + STREAM[:100_000] + b"three"


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_output_that_is_left_when_all_input_is_taken_comes_back(kind, tmp_path):
    # isal takes the last bytes of a file before it has given what they stand for.
    for size in range(118_000, 132_000, 1_500):
        stream = b"".join(b"%04d" % (number // 100) for number in range(size // 4))
        assert read_all(str(put(tmp_path / "a", contain(stream, kind))), kind) == stream


def test_xz_padding_between_streams_is_passed_over(tmp_path):
    data = lzma.compress(b"one") + bytes(4) + lzma.compress(b"two") + bytes(8)
    assert read_all(str(put(tmp_path / "a", data)), "XZ") == b"onetwo"


def test_zstd_skippable_frame_is_passed_over(tmp_path):
    data = b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstandard.compress(b"one")
    assert read_all(str(put(tmp_path / "a", data)), "ZSTD") == b"one"


def test_gzip_header_with_name_comment_and_extra_field(tmp_path):
    raw = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = raw.compress(b"content") + raw.flush()
    head = b"\x1f\x8b\x08\x1c\0\0\0\0\0\x03" + b"\x04\0" + b"abcd" + b"name\0" + b"comment\0"
    trailer = zlib.crc32(b"content").to_bytes(4, "little") + (7).to_bytes(4, "little")
    assert read_all(str(put(tmp_path / "a", head + body + trailer)), "GZIP") == b"content"


def test_cut_container_is_noticed_at_every_length(packed, tmp_path):
    kind, _ = packed
    small = contain(STREAM[:300], kind)
    for size in range(1, len(small)):
        decoder = open_decoder(open_source(str(put(tmp_path / "a", small[:size]))), kind)
        got = b""
        while chunk := decoder.read():
            got += chunk
        assert decoder.truncated, size
        assert STREAM.startswith(got)


def test_large_cut_container_gives_what_is_there(packed, tmp_path):
    kind, data = packed
    decoder = open_decoder(open_source(str(put(tmp_path / "a", data[: len(data) // 2]))), kind)
    got = b"".join(iter(decoder.read, b""))
    assert decoder.truncated
    assert STREAM.startswith(got)
    assert len(got) > len(STREAM) // 3


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("GZIP", "inflate() failed with error -3: incorrect header check"),
        ("ZLIB", "inflate() failed with error -3: incorrect header check"),
        ("XZ", "xz decompression failed: Input format not supported by decoder"),
        ("ZSTD", "zstd decompression failed: zstd decompressor error: Unknown frame descriptor"),
    ],
)
def test_what_is_no_container_raises_the_decoders_text(kind, text, tmp_path):
    path = str(put(tmp_path / "a", b"no container at all, of any kind"))
    with pytest.raises(DataLossError) as caught:
        open_decoder(open_source(path), kind).read()
    assert str(caught.value) == text
    assert caught.value.path == path


def xz_of_window(window: int) -> bytes:
    """Make an XZ file whose header claims a window: an encoder of that would take ten times as much memory."""
    data = bytearray(
        lzma.compress(STREAM, filters=[{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 4096}])
    )
    end = 12 + 4 * data[12]  # of the block's header, where its checksum is
    at = data.index(b"\x21\x01", 12, end) + 2  # behind the filter and the size of its properties
    data[at] = next(code for code in range(41) if (2 | code & 1) << (code // 2 + 11) >= window)
    data[end : end + 4] = zlib.crc32(data[12:end]).to_bytes(4, "little")
    return bytes(data)


def zstd_of_window(bits: int) -> bytes:
    options = zstandard.ZstdCompressionParameters.from_level(1, window_log=bits)
    engine = zstandard.ZstdCompressor(compression_params=options).compressobj()
    return bytes(engine.compress(STREAM) + engine.flush())


def test_windows_of_the_usual_tools_are_read(tmp_path):
    for kind, data in (
        ("XZ", xz_of_window(1 << 26)),
        ("XZ", xz_of_window(1 << 27)),
        ("ZSTD", zstd_of_window(27)),
    ):
        decoder = open_decoder(open_source(str(put(tmp_path / "a", data))), kind)
        assert b"".join(iter(decoder.read, b"")) == STREAM


@pytest.mark.parametrize("kind", ["XZ", "ZSTD"])
def test_a_window_of_gigabytes_is_refused_with_advice(kind, tmp_path):
    data = xz_of_window(3 << 29) if kind == "XZ" else zstd_of_window(28)
    path = str(put(tmp_path / "a", data))
    advice = "xz -9 or less" if kind == "XZ" else "zstd --long=27 or less"
    text = f"{kind.lower()} decompression of '{path}' needs more than 128 MiB to look back. "
    # A header of XZ has a checksum; one of ZSTD may say so because it is damaged.
    error = ResourceExhaustedError if kind == "XZ" else DataLossError
    with pytest.raises(error) as caught:
        open_decoder(open_source(path), kind).read()
    assert str(caught.value).startswith(f"{text}Compress the file again, with {advice}.")
    assert caught.value.path == path
    with pytest.raises(error, match="to look back"):
        list(read_records(path, compression=kind))


def read_to_error(decoder: Decoder) -> tuple[bytes, str]:
    got = b""
    try:
        while chunk := decoder.read():
            got += chunk
    except DataLossError as error:
        return got, str(error)
    return got, ""


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB", "ZSTD"])
def test_damage_is_raised_after_what_stands_before_it(kind, tmp_path):
    data = bytearray(contain(STREAM, kind))
    middle = len(data) // 2
    data[middle : middle + 50] = bytes(50)
    got, text = read_to_error(open_decoder(open_source(str(put(tmp_path / "a", bytes(data)))), kind))
    assert text.startswith(
        "zstd decompression failed" if kind == "ZSTD" else "inflate() failed with error -3"
    )
    assert len(got) > len(STREAM) // 3
    assert got[: len(STREAM) // 3] == STREAM[: len(STREAM) // 3]


@pytest.mark.parametrize("regular", [True, False])
def test_gzip_recovers_at_the_next_member(regular, tmp_path):
    good = [gzip.compress(text, mtime=0) for text in (b"one" * 50, b"two" * 50, b"three" * 50)]
    data = good[0] + flip(good[1], 15, 0xFF) + good[2]
    target = str(put(tmp_path / "a", data)) if regular else io.BytesIO(data)
    decoder = open_decoder(open_source(target), "GZIP")
    got, text = read_to_error(decoder)
    assert got.startswith(b"one" * 50)
    assert text
    assert decoder.recover()
    assert read_to_error(decoder) == (b"three" * 50, "")


@pytest.mark.parametrize("kind", ["ZLIB", "XZ", "ZSTD"])
def test_other_containers_do_not_recover(kind):
    decoder = open_decoder(open_source(io.BytesIO(b"no container at all")), kind)
    with pytest.raises(DataLossError):
        decoder.read()
    assert not decoder.recover()


def test_garbage_behind_a_zlib_stream_is_damage():
    decoder = open_decoder(open_source(io.BytesIO(zlib.compress(b"content") + b"garbage")), "ZLIB")
    assert decoder.read() == b"content"
    with pytest.raises(DataLossError, match=r"^garbage after the end of the ZLIB stream$"):
        decoder.read()


def test_inflate_raw_wants_exactly_the_promised_size():
    engine = zlib.compressobj(6, zlib.DEFLATED, -15)
    raw = engine.compress(b"x" * 1000) + engine.flush()
    assert inflate_raw(raw, 1000) == b"x" * 1000
    for size in (0, 999, 1001):
        with pytest.raises(ValueError, match=f"^expected {size} bytes but got"):
            inflate_raw(raw, size)
    with pytest.raises(ValueError, match=r"^expected 1000 bytes but got 1000$"):
        inflate_raw(raw + b"much more", 1000)
    with pytest.raises(ValueError, match=r"^inflate\(\) failed with error -3"):
        inflate_raw(b"\xff" * 20, 1000)


def test_zlib_text_is_tensorflows():
    text = "Error -3 while decompressing data: invalid block type"
    assert zlib_text(zlib.error(text)) == "inflate() failed with error -3: invalid block type"
    assert (
        zlib_text(zlib.error("Error -5 while compressing data"), "deflate")
        == "deflate() failed with error -5"
    )


@pytest.mark.parametrize(
    ("name", "value", "size"),
    [
        ("PATH", "", 256 << 10),
        ("MALLOC_MMAP_THRESHOLD_", "131072", 120 << 10),
        ("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=131072", 120 << 10),
        ("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=512", 256 << 10),
    ],
)
def test_pieces_are_large_where_malloc_keeps_them_on_its_heap(name, value, size, monkeypatch):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    for other in [each for each in os.environ if each.startswith("MALLOC_")]:
        monkeypatch.delenv(other)
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "confstr", lambda _: "glibc 2.36", raising=False)
    assert inflate._out_bytes.__wrapped__() == size


def test_malloc_is_led_to_keep_members_on_its_heap_too(monkeypatch):
    led = []
    monkeypatch.setattr(inflate, "_out_bytes", lambda: led.append(1) or 1)
    inflate_raw(zlib.compress(b"x" * 1000, wbits=-15), 1000)
    assert led == [1]


def test_pieces_are_small_with_other_c_libraries(monkeypatch):
    def refuse(_: str) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "confstr", refuse, raising=False)
    assert inflate._out_bytes.__wrapped__() == 120 << 10
