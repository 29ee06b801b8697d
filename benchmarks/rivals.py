"""The other ways to do it: plain reads, TensorFlow, a Python loop, and the readers on PyPI.

Each function goes through the files once and returns how many records (or bytes) it met. None of them is
tuned down: where a rival has two ways, both are here and the faster one counts.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.harness import count, keep_alive

BUFFER_BYTES = 1 << 20
_MASK_DELTA = 0xA282EAD8


def installed(package: str) -> bool:
    """Whether an optional rival can be imported."""
    return importlib.util.find_spec(package) is not None


@cache
def tensorflow() -> Any:
    """TensorFlow, quiet and on the CPU."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # else it prints that it is on; files do not use it
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    tf = importlib.import_module("tensorflow")
    tf.get_logger().setLevel("ERROR")
    return tf


# Plain bytes


def readinto(paths: Sequence[Path]) -> int:
    """Read the files into one reused buffer of 1 MB; returns bytes."""
    buffer = bytearray(BUFFER_BYTES)
    total = 0
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while size := file.readinto(buffer):
                total += size
    return total


def write_unframed(path: Path, payload: memoryview) -> int:
    """Write bytes that stand ready in memory, 1 MB at a time; returns bytes."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        position = 0
        while position < len(payload):
            position += os.write(fd, payload[position : position + BUFFER_BYTES])
    finally:
        os.close(fd)
    return position


def isal_stream(path: Path) -> int:
    """Inflate a GZIP file with isal's decompressobj, 1 MB of input at a time; returns bytes."""
    isal_zlib = importlib.import_module("isal.isal_zlib")
    inflate = isal_zlib.decompressobj(wbits=31)
    total = 0
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(BUFFER_BYTES):
            total += len(inflate.decompress(chunk))
    return total + len(inflate.flush())


def isal_file(path: Path) -> int:
    """Inflate a GZIP file with isal's file object into one reused buffer of 1 MB; returns bytes."""
    igzip = importlib.import_module("isal.igzip")
    buffer = bytearray(BUFFER_BYTES)
    total = 0
    with igzip.open(path, "rb") as file:
        while size := file.readinto(buffer):
            total += size
    return total


# TensorFlow


def tf_record_iterator(paths: Sequence[Path], compression: str = "") -> int:
    """TensorFlow's Python iterator; returns records."""
    tf = tensorflow()
    options = tf.io.TFRecordOptions(compression)
    return sum(count(tf.compat.v1.io.tf_record_iterator(str(path), options)) for path in paths)


def tf_dataset(paths: Sequence[Path], limit: int, *, as_numpy: bool) -> int:
    """`limit` records of a TFRecordDataset one by one, as tensors or as bytes; returns records."""
    tf = tensorflow()
    dataset = tf.data.TFRecordDataset([str(path) for path in paths])
    iterator = dataset.as_numpy_iterator() if as_numpy else iter(dataset)
    keep_alive(iterator)
    return count(itertools.islice(iterator, limit))


def tf_dataset_batched(paths: Sequence[Path], compression: str = "") -> int:
    """A TFRecordDataset in batches of 1,024, prefetched; returns records."""
    tf = tensorflow()
    dataset = tf.data.TFRecordDataset([str(path) for path in paths], compression)
    iterator = iter(dataset.batch(1024).prefetch(tf.data.AUTOTUNE))
    keep_alive(iterator)
    return sum(batch.shape[0] for batch in iterator)


def tf_write(path: Path, records: Sequence[bytes], compression: str = "") -> int:
    """TensorFlow's writer with its default options; returns records."""
    with tensorflow().io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)
    return len(records)


# Python


def struct_loop(paths: Sequence[Path]) -> int:
    """The loop one writes by hand, both CRCs compared by the google-crc32c wheel; returns records."""
    crc32c = importlib.import_module("google_crc32c").value
    unpack_header, unpack_footer = struct.Struct("<QI").unpack, struct.Struct("<I").unpack
    number = 0
    for path in paths:
        with open(path, "rb", buffering=BUFFER_BYTES) as file:
            read = file.read
            while header := read(12):
                length, length_crc = unpack_header(header)
                crc = crc32c(header[:8])
                if ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF != length_crc:
                    raise ValueError(f"length CRC of record {number} of {path}")
                payload = read(length)
                crc = crc32c(payload)
                if ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF != unpack_footer(read(4))[0]:
                    raise ValueError(f"data CRC of record {number} of {path}")
                number += 1
    return number


class SeekAndRead:
    """Random access by hand, given where the frames are: seek, read, compare both CRCs."""

    def __init__(self, path: Path, frames: Sequence[int], buffering: int = -1) -> None:
        """`frames`: start of every frame, then the end of the file."""
        self._file = open(path, "rb", buffering=buffering)  # noqa: SIM115
        self._frames = list(frames)
        self._crc32c = importlib.import_module("google_crc32c").value
        self._unpack_header = struct.Struct("<QI").unpack_from
        self._unpack_footer = struct.Struct("<I").unpack_from

    def __getitem__(self, number: int) -> bytes:
        """Payload of one record."""
        start = self._frames[number]
        self._file.seek(start)
        frame = self._file.read(self._frames[number + 1] - start)
        length, length_crc = self._unpack_header(frame)
        crc = self._crc32c(frame[:8])
        if ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF != length_crc:
            raise ValueError(f"length CRC of record {number}")
        payload = frame[12:-4]
        crc = self._crc32c(payload)
        if ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF != self._unpack_footer(frame, 12 + length)[0]:
            raise ValueError(f"data CRC of record {number}")
        return payload


def tfrecord_package(paths: Sequence[Path]) -> int:
    """The tfrecord package, which checks no CRC; returns records."""
    iterator = importlib.import_module("tfrecord.reader").tfrecord_iterator
    return sum(count(iterator(str(path))) for path in paths)


def tfr_reader_package(paths: Sequence[Path]) -> int:
    """The tfr-reader package by its Cython reader, which indexes first and checks no CRC; returns records."""
    reader_class = importlib.import_module("tfr_reader.cython.indexer").TFRecordFileReader
    total = 0
    for path in paths:
        reader = reader_class(str(path), False)
        for number in range(len(reader)):
            reader.get_example(number)
        total += len(reader)
        reader.close()
    return total
