"""What byte strings look like: pictures, text, messages, arrays. Pure: no I/O.

A guess from a few examples of one feature, never used to decide how data is read. What a whole file looks like is in
`file_sniffer.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from tfrkit import _core
from tfrkit.codecs.file_kinds import file_kind
from tfrkit.codecs.table import all_codecs
from tfrkit.model.wire import read_varint

__all__ = ["Sample", "sniff_values"]


class Sample(NamedTuple):
    """The beginning of a byte string, and how long all of it is."""

    head: bytes
    size: int

    @property
    def whole(self) -> bool:
        """Whether nothing is missing at its end."""
        return len(self.head) == self.size


_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SHAPES_SHOWN: Final = 2
_MIN_ARRAY_ENTRIES: Final = 4  # fewer are plausible by chance
_MIN_MESSAGE_BYTES: Final = 8


def sniff_values(samples: Sequence[Sample]) -> str:
    r"""Say what some byte strings of one feature look like, or "" if that is unknown.

    Args:
        samples: beginnings of a few of them; some kilobytes each suffice for the size of most pictures.

    >>> sniff_values([Sample(b"hello", 5), Sample("süß".encode(), 5)])
    'UTF-8 text'
    >>> sniff_values([Sample(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x08", 2000)])
    'PNG image 16x8'
    """
    filled = [sample for sample in samples if sample.size]
    if not filled:
        return ""
    for look in _LOOKS:
        found = [look(sample) for sample in filled]
        names = [text for text in found if text]
        if len(names) == len(filled):
            return _together(names)
    return ""


def _together(names: list[str]) -> str:
    """Make one name of those of several: "JPEG image 500x375" and "JPEG image 96x96" differ in the last word only."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) == 1:
        return distinct[0]
    stems = {name.rsplit(" ", 1)[0] for name in distinct}
    if len(stems) == 1:
        shapes = [name.rsplit(" ", 1)[1] for name in distinct]
        more = ", ..." if len(shapes) > _SHAPES_SHOWN else ""
        return f"{stems.pop()} {', '.join(shapes[:_SHAPES_SHOWN])}{more}"
    return " or ".join(distinct[:_SHAPES_SHOWN])


# -- pictures and other files ------------------------------------------------------------------------------------------


def _file(sample: Sample) -> str:
    head = sample.head
    if picture := _core.read_image_header(head, sample.size):
        name, width, height = picture
        return f"{name} image" + (f" {width}x{height}" if width and height else "")
    if packed := next((codec.title for codec in all_codecs() if codec.is_surely(head)), ""):
        return f"{packed} data"
    kind = file_kind(head)
    return kind.partition(" ")[2] if kind.startswith(("a ", "an ")) else kind


# -- text --------------------------------------------------------------------------------------------------------------


def _text(sample: Sample) -> str:
    if _CONTROL.search(sample.head):
        return ""
    try:
        text = sample.head.decode()
    except UnicodeDecodeError as error:
        # The head may end inside a character.
        if sample.whole or error.start < len(sample.head) - 3:
            return ""
        text = sample.head[: error.start].decode()
    return "JSON" if _is_json(text, sample.whole) else "UTF-8 text"


def _is_json(text: str, whole: bool) -> bool:
    text = text.strip()
    if text[:1] not in ("{", "[") or (not whole and text[1:2] not in ('"', "{", "[", "\n", " ")):
        return False
    if not whole:
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# -- messages ----------------------------------------------------------------------------------------------------------


def _message(sample: Sample) -> str:
    if not sample.whole or sample.size < _MIN_MESSAGE_BYTES:
        return ""
    scan = _core.Statistics(None, outline_only=True)
    scan.add([[sample.head]], 1)
    known = scan.outline()
    examples, sequences, _ = (count for count, _ in known["records"])
    if sequences:
        return "serialised SequenceExample"
    if examples and known["features"]:
        return "serialised Example"
    fields = _fields(sample.head)
    if not fields:
        return ""
    if _is_tensor(fields):
        return "serialised TensorProto"
    # Bytes that are no message rarely happen to be one with small field numbers all through.
    return "serialised protobuf message" if max(number for number, _, _ in fields) < 64 else ""


def _fields(data: bytes) -> list[tuple[int, int, int]] | None:
    """Walk the fields of a message: (number, wire type, value or length); None if it is not a message."""
    fields, at = [], 0
    while at < len(data):
        tag, at = read_varint(data, at) or (0, at)
        number, wire = tag >> 3, tag & 7
        value = 0
        if wire in (0, 2):
            value, at = read_varint(data, at) or (0, len(data) + 1)
        at += value if wire == 2 else {0: 0, 1: 8, 5: 4}.get(wire, len(data) + 1)
        if number < 1 or at > len(data):
            return None
        fields.append((number, wire, value))
    return fields


def _is_tensor(fields: list[tuple[int, int, int]]) -> bool:
    """Whether it has a dtype (1) and a shape (2), and values: tensor_content (4) or one of the lists (5 to 17)."""
    wires = {number: wire for number, wire, _ in fields}
    dtype = next((value for number, wire, value in fields if (number, wire) == (1, 0)), 0)
    return 0 < dtype < 64 and wires.get(2) == 2 and max(wires) <= 17 and len(wires) > 2


# -- arrays ------------------------------------------------------------------------------------------------------------


def _array(sample: Sample) -> str:
    for name, kind, plausible in _ARRAYS:
        width = np.dtype(kind).itemsize
        usable = len(sample.head) // width
        if sample.size % width or usable < _MIN_ARRAY_ENTRIES:
            continue
        values = np.frombuffer(sample.head, kind, usable)
        with np.errstate(invalid="ignore"):
            fits = bool(values.any()) and plausible(values)
        if fits:
            return f"raw {name} array of {sample.size // width}"
    return ""


def _small_ints(values: np.ndarray) -> bool:
    return bool(((values > -(1 << 31)) & (values < 1 << 31)).all())


def _smaller_ints(values: np.ndarray) -> bool:
    return bool(((values > -(1 << 22)) & (values < 1 << 22)).all())


def _usual_floats(values: np.ndarray) -> bool:
    sizes = np.abs(values)
    return bool(((sizes == 0) | ((sizes > 1e-12) & (sizes < 1e12))).all())


# Small integers are no plausible floats (their exponent would be 0) and floats are no small integers; of doubles every
# second float would be noise.
_ARRAYS: Final[tuple[tuple[str, str, Callable[[np.ndarray], bool]], ...]] = (
    ("int64", "<i8", _small_ints),
    ("int32", "<i4", _smaller_ints),
    ("float32", "<f4", _usual_floats),
    ("float64", "<f8", _usual_floats),
)
_LOOKS: Final[tuple[Callable[[Sample], str], ...]] = (_file, _text, _message, _array)
