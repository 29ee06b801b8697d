"""What the golden files hold: records, and the options that each file was written with."""

from __future__ import annotations

import random

_RNG = random.Random(20)
RECORDS: list[bytes] = [
    b"hello",
    b"",
    b"xyz",
    "ü €".encode(),
    b"the quick brown fox " * 20,
    bytes(range(256)),
    _RNG.randbytes(700),
    bytes(1000),
]
FLUSH_AFTER = (0, 3, 6)
FILES: dict[str, tuple[str, dict[str, int]]] = {
    "plain.tfrecord": ("", {}),
    "empty.tfrecord": ("", {}),
    "empty.tfrecord.gz": ("GZIP", {}),
    "empty.tfrecord.zz": ("ZLIB", {}),
    "gzip.tfrecord.gz": ("GZIP", {}),
    "zlib.tfrecord.zz": ("ZLIB", {}),
    "flushed.tfrecord.gz": ("GZIP", {}),
    "flushed.tfrecord.zz": ("ZLIB", {}),
    "level0.tfrecord.gz": ("GZIP", {"compression_level": 0}),
    "level1.tfrecord.gz": ("GZIP", {"compression_level": 1}),
    "level9.tfrecord.zz": ("ZLIB", {"compression_level": 9}),
    "window9.tfrecord.zz": ("ZLIB", {"window_bits": 9}),
    "memory1.tfrecord.gz": ("GZIP", {"mem_level": 1}),
    "huffman.tfrecord.gz": ("GZIP", {"compression_strategy": 2}),
    "fixed.tfrecord.zz": ("ZLIB", {"compression_strategy": 4}),
    "full_flush.tfrecord.zz": ("ZLIB", {"flush_mode": 3, "input_buffer_size": 200}),
}
