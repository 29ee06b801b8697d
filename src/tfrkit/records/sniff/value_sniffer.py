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
from tfrkit.parsing.payloads.message_sniffer import sniff_message, together

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
    if fields := together(distinct):
        return fields
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
_LOOKS: Final[tuple[Callable[[Sample], str], ...]] = (
    _file,
    _text,
    lambda sample: sniff_message(*sample),
    _array,
)
