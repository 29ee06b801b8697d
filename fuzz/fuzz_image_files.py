"""Fuzz the readers of headers of images, of EXIF data and of directories of ZIP archives: a result or an error of ours.

    python fuzz/fuzz_image_files.py -max_total_time=20 CORPUS_FOLDER    further arguments are libFuzzer's

The first byte of an input chooses what the rest is taken for.
"""

from __future__ import annotations

import gc
import io
import sys
import types

import atheris

from tfrkit.build.images.sources.zip_directory import read_zip_directory
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_header import BadImageError, read_image_header
from tfrkit.images.codecs.jpeg.jpeg_orientation import jpeg_orientation

MAX_INPUT_BYTES = 1 << 16


def read_any_bytes(data: bytes) -> None:
    """Read one input; raise if anything but a known error comes out, or a result that cannot be."""
    if not data or len(data) > MAX_INPUT_BYTES:
        return
    if data[0] % 2:
        _read_image(bytearray(data), 1)
    else:
        _read_zip(data[1:])


def _read_image(data: bytearray, begin: int) -> None:
    orientation = jpeg_orientation(bytes(data[begin:]))
    if orientation not in range(1, 9):
        raise AssertionError(f"orientation {orientation}")
    try:
        header = read_image_header(data, begin, len(data))
    except BadImageError:
        return
    if min(header.height, header.width) < 1 or not 0 <= header.channels <= 255:
        raise AssertionError(str(header))


def _read_zip(data: bytes) -> None:
    try:
        for member in read_zip_directory(io.BytesIO(data), "fuzz.zip"):
            if member.offset < 0 or member.offset + member.packed > len(data):
                raise AssertionError(str(member))
    except InvalidArgumentError:
        return


def instrument() -> None:
    """Make the functions of tfrkit count which way they went, as an editable install hides their import."""
    for found in gc.get_objects():
        if isinstance(found, types.FunctionType) and str(found.__module__).startswith("tfrkit."):
            atheris.instrument_func(found)


def main() -> None:
    """Hand over to libFuzzer, which does not return."""
    instrument()
    atheris.Setup(sys.argv, read_any_bytes)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
