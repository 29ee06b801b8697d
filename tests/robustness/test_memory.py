"""Memory stays bounded, whatever a file says of itself: measured in processes of their own."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard

import tfrkit as tfr
from tests.records.support.made import frame, header, put

MB = 1 << 20
ZEROS = bytes(MB)

CHILD = """
import io, json, resource, sys, tfrkit
from tfrkit.errors import OpError
how, path, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
target = open(path, "rb") if how.startswith("stream") else path
before, found, error = peak(), 0, ""
try:
    if how == "verify":
        found = tfrkit.verify(path).records
    elif how == "RecordFile":
        found = len(tfrkit.RecordFile(path, **options))
    else:
        for block in tfrkit.read_blocks(target, **options):
            found += len(block)
except OpError as caught:
    error = str(caught)
print(json.dumps([peak() - before, found, error]))
"""


def measure(how: str, path: Path, **options: object) -> tuple[int, int, str]:
    """Give megabytes that the peak rose by, records found, and the error."""
    run = subprocess.run(
        [sys.executable, "-c", CHILD, how, path, json.dumps(options)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    rose, found, error = json.loads(run.stdout)
    return rose, found, error


def deflated_zeros(megabytes: int, window: int, head: bytes) -> bytes:
    engine = zlib.compressobj(1, zlib.DEFLATED, window)
    return b"".join(
        [engine.compress(head), *(engine.compress(ZEROS) for _ in range(megabytes)), engine.flush()]
    )


@pytest.fixture(scope="module")
def bombs(tmp_path_factory) -> dict[str, Path]:
    """Small files that inflate to a single record of 256 MB."""
    folder = tmp_path_factory.mktemp("bombs")
    head = frame(b"first") + header(256 * MB)
    body = deflated_zeros(256, -15, head)
    raw = len(head) + 256 * MB
    field = b"TR\x0c\0" + (28 + len(body) + 8).to_bytes(4, "little") + raw.to_bytes(4, "little") + b"\2\0\0\0"
    member = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x10\0" + field + body + bytes(8)
    xz = lzma.LZMACompressor(preset=0)
    zstd = zstandard.ZstdCompressor(1).compressobj()
    files = {
        "GZIP": b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + body + bytes(8),
        "members": member,
        "members many": member * 8,
        "ZLIB": deflated_zeros(256, 15, head),
        "XZ": b"".join([xz.compress(head), *(xz.compress(ZEROS) for _ in range(128)), xz.flush()]),
        "ZSTD": b"".join([zstd.compress(head), *(zstd.compress(ZEROS) for _ in range(256)), zstd.flush()]),
    }
    return {name: put(folder / name.replace(" ", "-"), data) for name, data in files.items()}


@pytest.mark.parametrize("how", ["file", "stream", "verify"])
def test_length_that_claims_four_gigabytes_takes_no_memory(how, tmp_path):
    path = put(tmp_path / "a", frame(b"first") + header((1 << 32) - 100) + bytes(1000))
    rose, found, error = measure(how, path)
    assert found == 1
    assert how == "verify" or "truncated record at 21'" in error
    assert rose < 30


@pytest.mark.parametrize("name", ["GZIP", "members", "members many", "ZLIB", "XZ", "ZSTD"])
def test_bomb_is_stopped_by_max_record_bytes(name, bombs):
    rose, found, error = measure("file", bombs[name], max_record_bytes=MB)
    assert found == 1
    assert "the length field says 268435456 bytes" in error
    assert rose < 150


@pytest.mark.parametrize("name", ["GZIP", "members many", "ZSTD"])
def test_bomb_is_skipped_in_little_memory(name, bombs):
    rose, found, error = measure("file", bombs[name], max_record_bytes=MB, on_corrupt="skip")
    assert found >= 1
    assert error == ""
    assert rose < 200


def test_bomb_is_not_spilled_beyond_the_limit(bombs):
    rose, _, error = measure("RecordFile", bombs["GZIP"], spill_bytes=10 * MB)
    assert "takes more than spill_bytes=10485760" in error
    assert rose < 100


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_streaming_a_large_file_takes_little_memory(suffix, tmp_path):
    path = tmp_path / f"a.tfrecord{suffix}"
    records = [bytes([number % 256]) * 10_000 for number in range(1000)]
    with tfr.TFRecordWriter(path) as writer:
        for _ in range(20):
            writer.write_many(records)  # 200 MB
    rose, found, error = measure("file", path)
    assert (found, error) == (20_000, "")
    assert rose < 90


def test_damaged_file_is_skipped_through_in_little_memory(tmp_path):
    path = tmp_path / "a"
    with path.open("wb") as file:
        for _ in range(64):
            file.write(header(1 << 31) + ZEROS)  # right by its CRC, and never followed by that much
    rose, found, error = measure("file", path, on_corrupt="skip")
    assert (found, error) == (0, "")
    assert rose < 150
