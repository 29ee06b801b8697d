"""Fuzz the reader as a whole: any bytes, as a file, give records or an error of ours, and nothing else.

    python fuzz/fuzz_read.py -max_total_time=20 CORPUS_FOLDER    further arguments are libFuzzer's

The first byte of an input chooses the compression and what happens on damage; the rest is the file. The
native code under the reader has its own targets, with sanitizers.
"""

from __future__ import annotations

import gc
import io
import sys
import types
import warnings
from typing import Final, Literal

import atheris

import tfrkit

COMPRESSIONS: Final[tuple[str, ...]] = ("auto", "GZIP", "ZLIB", "NONE")
ON_CORRUPT: Final[tuple[Literal["raise", "skip"], ...]] = ("raise", "skip")
MAX_INPUT_BYTES = 1 << 16
MAX_RECORD_BYTES = 1 << 16
FRAME_BYTES = 16  # of a record without data


def read_any_bytes(data: bytes) -> None:
    """Read one input as a file; raise if anything but a known error comes out, or a record that cannot be."""
    if not data or len(data) > MAX_INPUT_BYTES:
        return
    compression = COMPRESSIONS[data[0] % 4]
    on_corrupt = ON_CORRUPT[data[0] // 4 % 2]
    content = data[1:]
    total = 0
    try:
        for record in tfrkit.read_records(
            io.BytesIO(content),
            compression=compression,
            on_corrupt=on_corrupt,
            max_record_bytes=MAX_RECORD_BYTES,
            threads=1,
        ):
            if len(record) > MAX_RECORD_BYTES:
                raise AssertionError(f"a record of {len(record)} bytes came through")
            total += len(record) + FRAME_BYTES
    except tfrkit.errors.OpError:
        pass
    if compression == "NONE" and total > len(content):
        raise AssertionError(f"frames of {total} bytes came out of {len(content)} bytes")


def instrument() -> None:
    """Make the functions of tfrkit count which way they went.

    Atheris can do so while modules are imported, but not through the finder of an editable install.
    """
    for found in gc.get_objects():
        if isinstance(found, types.FunctionType) and str(found.__module__).startswith("tfrkit."):
            atheris.instrument_func(found)


def main() -> None:
    """Hand over to libFuzzer, which does not return."""
    instrument()
    warnings.simplefilter("ignore")  # skipped damage is warned of, and there is much of it
    atheris.Setup(sys.argv, read_any_bytes)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
