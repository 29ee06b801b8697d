"""Fuzz parse_tensor and decode_json_example: any bytes give a value or an error of ours, and nothing else.

    python fuzz/fuzz_parse_tensor.py -max_total_time=20 CORPUS_FOLDER    further arguments are libFuzzer's

The first byte of an input chooses the type that is asked for, or JSON; the rest is the message. What was read is
written again and must come back the same.
"""

from __future__ import annotations

import gc
import sys
import types
from typing import Final

import atheris
import numpy as np

import tfrkit

TYPES: Final[tuple[str, ...]] = (
    "float32", "float64", "int32", "uint8", "int16", "int8", "string", "complex64", "int64", "bool", "uint16",
    "complex128", "float16", "uint32", "uint64",
)  # fmt: skip
MAX_INPUT_BYTES = 1 << 16
MAX_VALUES = 1 << 16  # what is larger is read, and not written again


def read_any_bytes(data: bytes) -> None:
    """Read one input; raise if anything but a known error comes out, or a tensor that does not come back."""
    if not data or len(data) > MAX_INPUT_BYTES:
        return
    choice = data[0] % (len(TYPES) + 1)
    try:
        if choice == len(TYPES):
            tfrkit.decode_json_example(data[1:])
            return
        tensor = tfrkit.parse_tensor(data[1:], TYPES[choice])
    except tfrkit.errors.InvalidArgumentError:
        return
    if np.size(tensor) > MAX_VALUES:
        return
    again = tfrkit.parse_tensor(tfrkit.serialize_tensor(tensor), TYPES[choice])
    same = np.shape(again) == np.shape(tensor) and _bytes_of(again) == _bytes_of(tensor)
    if not same:
        raise AssertionError(f"{tensor!r:.200} came back as {again!r:.200}")


def _bytes_of(tensor: object) -> object:
    array = np.asarray(tensor)
    return array.tolist() if array.dtype.kind in "OS" else array.tobytes()


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
