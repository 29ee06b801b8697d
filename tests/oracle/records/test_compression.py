"""Compressed files: which bytes TensorFlow writes, and what it reads from whole, odd and damaged containers."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.oracle.support.frames import compress, flip, frame, frames, header, make_records, member, put
from tests.oracle.support.oracle import (
    WINDOW,
    Failure,
    assert_same,
    our_block_results,
    our_results,
    our_writer,
    tensorflow,
    tf_results,
    tf_writer,
)
from tests.support.rules import tf_rule

RECORDS = [b"one", b"", b"the third record " * 20]
PLAIN = frames(RECORDS)
BOTH = pytest.mark.parametrize("compression", ["ZLIB", "GZIP"])
BAD_HEADER = Failure("DataLossError", "inflate() failed with error -3: incorrect header check")


def _lost(message: str) -> Failure:
    return Failure("DataLossError", message)


def _check(path: Path, compression: str, expected: list[Any]) -> None:
    """TensorFlow gives what is expected, and tfrkit the same, record by record and in blocks."""
    assert_same(tf_results(path, compression), expected, "TensorFlow itself")
    assert_same(our_results(path, compression), expected)
    assert_same(our_block_results(path, compression), expected)


def _write(path: Path, make: Callable[..., Any], records: list[bytes], options: Any) -> bytes:
    with make(str(path), options) as writer:
        for record in records:
            writer.write(record)
    return path.read_bytes()


def _written(folder: Path, records: list[bytes], compression: str, **options: Any) -> tuple[bytes, bytes]:
    """The bytes that tfrkit and TensorFlow write with the same options."""
    ours = _write(folder / "ours", our_writer, records, tfr.TFRecordOptions(compression, **options))
    their_options = tensorflow().io.TFRecordOptions(compression, **options)
    return ours, _write(folder / "theirs", tf_writer, records, their_options)


@tf_rule("1.3 type strings")
@pytest.mark.parametrize("name", ["", "NONE", "gzip", "Zlib", "GZIP ", "zstd", "?"])
def test_any_other_type_string_means_none(tmp_path: Path, name: str) -> None:
    _check(put(tmp_path / "a", PLAIN), name, RECORDS)


@tf_rule("1.3 type strings")
@BOTH
def test_type_strings(tmp_path: Path, compression: str) -> None:
    path = put(tmp_path / "a", compress(PLAIN, compression))
    _check(path, compression, RECORDS)
    _check(path, compression.lower(), [_lost("corrupted record at 0 (Is this even a TFRecord file?)")])


@tf_rule("1.3 containers")
@pytest.mark.parametrize("level", range(10))
@BOTH
def test_containers(tmp_path: Path, compression: str, level: int) -> None:
    ours, theirs = _written(tmp_path, RECORDS, compression, compression_level=level)
    flags = {0: 4, 1: 4, 9: 2}.get(level, 0)
    if compression == "GZIP":
        assert theirs[:10] == b"\x1f\x8b\x08\0\0\0\0\0" + bytes([flags, 3])
    else:
        assert theirs[0] == 0x78
    assert ours == theirs


@tf_rule("1.3 defaults")
@BOTH
def test_default_bytes(tmp_path: Path, compression: str) -> None:
    ours, theirs = _written(tmp_path, RECORDS, compression)
    assert ours == theirs == compress(PLAIN, compression)


@tf_rule("1.3 defaults")
@pytest.mark.parametrize("size", [100, 20_000, WINDOW - 16, WINDOW, WINDOW + 1, 3 * WINDOW + 77])
@BOTH
def test_default_bytes_of_larger_files(tmp_path: Path, compression: str, size: int) -> None:
    rng = random.Random(size)
    words = [rng.randbytes(rng.randrange(2, 9)) for _ in range(200)]
    text = b"".join(rng.choice(words) for _ in range(size // 5 + 9))
    records = [
        text[: size // 3],
        rng.randbytes(size // 4),
        text[size // 3 : size],
        b"",
        *make_records(rng, 20, 500),
    ]
    ours, theirs = _written(tmp_path, records, compression)
    assert ours == theirs == compress(frames(records), compression)


@tf_rule("1.3 empty stream")
@BOTH
def test_file_without_records(tmp_path: Path, compression: str) -> None:
    ours, theirs = _written(tmp_path, [], compression)
    empty = {"ZLIB": "789c030000000001", "GZIP": "1f8b080000000000000303000000000000000000"}
    assert ours == theirs == bytes.fromhex(empty[compression])
    _check(put(tmp_path / "a", theirs), compression, [])


@tf_rule("1.3 flush")
@BOTH
def test_flush_makes_readable_and_twice_adds_nothing(tmp_path: Path, compression: str) -> None:
    states: list[list[bytes]] = []
    for make in (our_writer, tf_writer):
        path = tmp_path / make.__name__
        seen = []
        with make(str(path), compression) as writer:
            writer.flush()
            seen.append(path.read_bytes())
            for record in RECORDS:
                writer.write(record)
                writer.flush()
                seen.append(path.read_bytes())
                assert tf_results(path, compression) == RECORDS[: len(seen) - 1]
                writer.flush()
                seen.append(path.read_bytes())
                assert seen.pop() == seen[-1]
        states.append([*seen, path.read_bytes()])
    assert states[0] == states[1]
    assert tf_results(tmp_path / "our_writer", compression) == RECORDS


@tf_rule("1.3 buffered until flush")
@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_small_writes_stay_in_memory(tmp_path: Path, compression: str) -> None:
    for make in (our_writer, tf_writer):
        path = tmp_path / make.__name__
        with make(str(path), compression) as writer:
            assert path.read_bytes() == b""
            writer.write(b"x" * 100)
            assert path.read_bytes() == b""
            writer.flush()
            assert path.read_bytes() != b""


@tf_rule("1.3 reader ignores options")
@pytest.mark.parametrize(
    ("compression", "bits", "readable"),
    [
        ("ZLIB", 9, True),
        ("ZLIB", 8, True),
        ("ZLIB", 12, True),
        ("ZLIB", -15, False),
        ("ZLIB", -9, False),
        ("ZLIB", 31, False),
        ("GZIP", 31, True),
        ("GZIP", 25, True),
        ("GZIP", 9, False),
        ("GZIP", 15, False),
        ("GZIP", -15, False),
    ],
)
def test_window_bits_of_another_container(
    tmp_path: Path, compression: str, bits: int, readable: bool
) -> None:
    ours, theirs = _written(tmp_path, RECORDS, compression, window_bits=bits)
    assert ours == theirs
    _check(put(tmp_path / "a", theirs), compression, RECORDS if readable else [BAD_HEADER])


@tf_rule("1.3 options without compression")
def test_options_without_compression_have_no_effect(tmp_path: Path) -> None:
    odd = {
        "window_bits": 99,
        "mem_level": 77,
        "compression_level": -50,
        "input_buffer_size": 0,
        "flush_mode": 9,
    }
    ours, theirs = _written(tmp_path, RECORDS, "", **odd)
    assert ours == theirs == PLAIN


@tf_rule("1.3 gzip members")
@pytest.mark.parametrize("cut", [1, 11, 12, 15, 19, 20, 35, 60, len(PLAIN) - 1])
def test_members_may_split_records_anywhere(tmp_path: Path, cut: int) -> None:
    _check(put(tmp_path / "a", member(PLAIN[:cut]) + member(PLAIN[cut:])), "GZIP", RECORDS)


@tf_rule("1.3 gzip members")
def test_many_members(tmp_path: Path) -> None:
    path = put(tmp_path / "a", b"".join(member(PLAIN[i : i + 1]) for i in range(len(PLAIN))))
    _check(path, "GZIP", RECORDS)


@tf_rule("1.3 zlib streams")
def test_only_the_first_zlib_stream_is_read(tmp_path: Path) -> None:
    path = put(tmp_path / "a", 2 * compress(PLAIN, "ZLIB"))
    _check(path, "ZLIB", RECORDS)
    with pytest.warns(tfr.errors.DataLossWarning):
        our_results(path, "ZLIB", quiet=False)


@tf_rule("1.3 zlib streams")
def test_zlib_streams_do_not_join(tmp_path: Path) -> None:
    path = put(tmp_path / "a", compress(PLAIN[:20], "ZLIB") + compress(PLAIN[20:], "ZLIB"))
    _check(path, "ZLIB", [b"one"])


@tf_rule("1.3 garbage behind zlib")
@pytest.mark.parametrize("garbage", [b"\0", b"\xff" * 100, PLAIN], ids=["1", "100", "frames"])
def test_garbage_behind_zlib(tmp_path: Path, garbage: bytes) -> None:
    _check(put(tmp_path / "a", compress(PLAIN, "ZLIB") + garbage), "ZLIB", RECORDS)


@tf_rule("1.3 garbage behind gzip")
@pytest.mark.parametrize(
    "garbage",
    [
        b"\0",
        b"\x1f",
        b"\x1f\x8b",
        b"\0\0",
        b"\0" * 9,
        b"\xff" * 100,
        b"\x1f\x8b\x08\xff" + bytes(20),
        b"\x1f\x8b\x07",
    ],
    ids=bytes.hex,
)
def test_garbage_behind_gzip(tmp_path: Path, garbage: bytes) -> None:
    path = put(tmp_path / "a", compress(PLAIN, "GZIP") + garbage)
    theirs = tf_results(path, "GZIP")
    assert theirs[:3] == RECORDS
    if garbage[1:2] not in (b"", b"\x8b"):
        assert theirs[3:] == [BAD_HEADER]
    _check(path, "GZIP", theirs)


def _gzip_with(flags: int, fields: bytes, checksum: bool | None = None) -> bytes:
    head = b"\x1f\x8b\x08" + bytes([flags]) + b"\x01\x02\x03\x04\x00\xff" + fields
    if checksum is not None:
        head += struct.pack("<H", (zlib.crc32(head) & 0xFFFF) ^ (0 if checksum else 1))
    return head + compress(PLAIN, "GZIP")[10:]


@tf_rule("1.3 gzip headers")
@pytest.mark.parametrize(
    ("file", "error"),
    [
        (_gzip_with(0x01, b""), ""),
        (_gzip_with(0x08, b"name\0"), ""),
        (_gzip_with(0x10, b"a comment\0"), ""),
        (_gzip_with(0x04, b"\x06\x00AB\x02\x00xy"), ""),
        (_gzip_with(0x1E, b"\x02\x00zznn\0cc\0", checksum=True), ""),
        (_gzip_with(0x02, b"", checksum=False), "header crc mismatch"),
        (_gzip_with(0x20, b""), "unknown header flags set"),
        (_gzip_with(0x80, b""), "unknown header flags set"),
        (flip(compress(PLAIN, "GZIP"), 2), "unknown compression method"),
        (flip(compress(PLAIN, "GZIP"), 1), "incorrect header check"),
    ],
    ids=["text", "name", "comment", "extra", "all", "checksum", "flag 20", "flag 80", "method", "magic"],
)
def test_gzip_headers(tmp_path: Path, file: bytes, error: str) -> None:
    expected = [_lost(f"inflate() failed with error -3: {error}")] if error else RECORDS
    _check(put(tmp_path / "a", file), "GZIP", expected)


@tf_rule("1.3 preset dictionary")
def test_preset_dictionary(tmp_path: Path) -> None:
    engine = zlib.compressobj(zdict=b"the third record")
    path = put(tmp_path / "a", engine.compress(PLAIN) + engine.flush())
    _check(path, "ZLIB", [_lost("inflate() failed with error 2")])


@tf_rule("1.3 truncated container")
@BOTH
def test_every_cut_of_a_container(tmp_path: Path, compression: str) -> None:
    whole = compress(PLAIN, compression, level=0)
    kinds: set[str] = set()
    paths = [put(tmp_path / f"{cut}", whole[:cut]) for cut in range(len(whole))]
    for path, theirs in zip(paths, _separately(paths, compression), strict=True):
        assert_same(our_results(path, compression), theirs, path.name)
        kinds |= {item.message for item in theirs if isinstance(item, Failure)}
    assert kinds == {f"truncated record at {at}' failed with EOF reached" for at in (0, 19, 35)}


def _separately(paths: list[Path], compression: str) -> list[list[Any]]:
    """TensorFlow's outcomes of each file, read by one dataset (each costs 16 ms) with a mark behind every file."""
    mark = put(paths[0].parent / "mark", compress(frame(b"--mark--"), compression))
    given: list[list[Any]] = [[]]
    for outcome in tf_results([part for path in paths for part in (path, mark)], compression):
        if outcome == b"--mark--":
            given.append([])
        else:
            given[-1].append(outcome)
    return given[:-1]


@tf_rule("1.3 missing trailer")
@BOTH
def test_missing_trailer(tmp_path: Path, compression: str) -> None:
    whole = compress(PLAIN, compression)
    for cut in range(1, 9 if compression == "GZIP" else 5):
        _check(put(tmp_path / "a", whole[:-cut]), compression, RECORDS)


@tf_rule("1.3 container checksum")
@pytest.mark.parametrize(
    ("compression", "position", "error"),
    [
        ("ZLIB", -1, "incorrect data check"),
        ("ZLIB", -4, "incorrect data check"),
        ("GZIP", -5, "incorrect data check"),
        ("GZIP", -8, "incorrect data check"),
        ("GZIP", -1, "incorrect length check"),
        ("GZIP", -4, "incorrect length check"),
    ],
)
def test_wrong_container_checksum(tmp_path: Path, compression: str, position: int, error: str) -> None:
    path = put(tmp_path / "a", flip(compress(PLAIN, compression), position))
    _check(path, compression, [_lost(f"inflate() failed with error -3: {error}")])


@tf_rule("1.3 container checksum")
@pytest.mark.parametrize("noise", [True, False], ids=["incompressible", "compressible"])
@pytest.mark.parametrize("count", [200, 259, 260, 300, 600, 1040])
@BOTH
def test_wrong_checksum_loses_one_window(tmp_path: Path, compression: str, count: int, noise: bool) -> None:
    rng = random.Random(count)
    records = [
        rng.randbytes(992) if noise else bytes([i & 0xFF]) * 992 for i in range(count)
    ]  # frames of 1008 bytes
    path = put(tmp_path / "a", flip(compress(frames(records), compression), -1))
    theirs = tf_results(path, compression)
    assert len(theirs) <= count
    assert isinstance(theirs[-1], Failure)
    assert_same(theirs[:-1], records[: len(theirs) - 1])
    _check(path, compression, theirs)


@tf_rule("1.3 wrong type")
@pytest.mark.parametrize(
    ("written", "read"), [("ZLIB", "GZIP"), ("GZIP", "ZLIB"), ("", "GZIP"), ("", "ZLIB")]
)
def test_wrong_type(tmp_path: Path, written: str, read: str) -> None:
    _check(put(tmp_path / "a", compress(PLAIN, written)), read, [BAD_HEADER])


@tf_rule("1.3 compressed read as none")
@BOTH
def test_compressed_read_as_none(tmp_path: Path, compression: str) -> None:
    path = put(tmp_path / "a", compress(PLAIN, compression))
    _check(path, "", [_lost("corrupted record at 0 (Is this even a TFRecord file?)")])


@tf_rule("1.3 uncompressed offsets")
@BOTH
def test_offsets_count_uncompressed_bytes(tmp_path: Path, compression: str) -> None:
    size = 16 + 5000
    broken = frame(bytes(5000)) + flip(frame(bytes(5000)), 400) + frame(b"x")
    path = put(tmp_path / "a", compress(broken, compression))
    _check(path, compression, [bytes(5000), _lost(f"corrupted record at {size + 12}")])
    path = put(tmp_path / "b", compress(frame(bytes(5000)) + flip(frame(b"y"), 3), compression))
    _check(path, compression, [bytes(5000), _lost(f"corrupted record at {size}")])


@tf_rule("1.3 huge lengths")
@pytest.mark.parametrize(
    "length", [1 << 40, (1 << 63) - 5, (1 << 63) - 4, (1 << 63) - 2, 1 << 63, (1 << 64) - 6]
)
@BOTH
def test_huge_lengths(tmp_path: Path, compression: str, length: int) -> None:
    paths = [
        put(tmp_path / f"{rest}", compress(frame(b"ab") + header(length) + bytes(rest), compression))
        for rest in (0, 1, 2, 3, 40)
    ]
    for path, theirs in zip(paths, _separately(paths, compression), strict=True):
        assert theirs[0] == b"ab"
        assert theirs[1].message.startswith("truncated record at ")
        assert_same(our_results(path, compression), theirs, path.name)


@tf_rule("1.3 huge lengths")
@BOTH
def test_largest_lengths(tmp_path: Path, compression: str) -> None:
    for length in ((1 << 64) - 5, (1 << 64) - 1):
        path = put(tmp_path / "a", compress(frame(b"ab") + header(length) + b"zzz", compression))
        _check(path, compression, [b"ab", _lost("record size too large")])
