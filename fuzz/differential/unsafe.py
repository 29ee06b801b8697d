"""Which records TensorFlow 2.21 must not be given: it writes out of bounds, or takes gigabytes, on their account.

The walk over the bytes is lenient: it finds more than TensorFlow would read, never less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fuzz.differential.specs import Spec
from tests.oracle.support.wire import BYTES, FLOAT, LENGTH

MAX_CLAIM = 1 << 22  # TensorFlow sizes its memory by the length, before it looks whether so much is there
MAX_DEPTH = 6
_SUSPECT = re.compile(rb"\x0a[\x80-\xff]{3}|\x0d.{4}", re.DOTALL)
_UNPACKED = re.compile(rb"(?:\x0d.{4})*", re.DOTALL)


def danger_of(records: tuple[bytes, ...], spec: Spec, *, sequence: bool = False) -> str | None:
    """Name what TensorFlow would do wrong, or None."""
    for record in records:
        if not sequence and not _SUSPECT.search(record):
            continue
        fewest = fewest_floats(spec)
        for kind, content in _lists(record, 0):
            danger = _danger(kind, content, fewest, sequence=sequence)
            if danger:
                return danger
    return None


def fewest_floats(spec: Spec) -> int:
    """The smallest count of a FixedLenFeature of floats; a large number if there is none."""
    fewest = 1 << 60
    for name, options in spec.values():
        if name == "FixedLenFeature" and options["dtype"] == "float32":
            count = 1
            for length in options["shape"]:
                count *= length
            fewest = min(fewest, count)
    return fewest


def _danger(kind: int, content: bytes, fewest: int, *, sequence: bool) -> str | None:
    if kind == FLOAT:
        unpacked = _UNPACKED.match(content)
        if unpacked and len(unpacked[0]) // 5 > fewest:
            return "unpacked floats beyond a FixedLenFeature"
    position = 0
    while kind in (FLOAT, BYTES) and content[position : position + 1] == b"\x0a":
        length, position = _varint(content, position + 1)
        if length % 2**32 > MAX_CLAIM:
            return "a length of many megabytes"
        position += length % 2**32
        if sequence and kind == BYTES and position > len(content):
            return "bytes beyond their list"
    return None


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
    return value, position


def _lists(data: bytes, depth: int) -> Iterator[tuple[int, bytes]]:
    """Everything that may be a list of a Feature, with the number of its field."""
    for number, content in _fields(data, top=depth == 0):
        if depth >= 3:
            yield number, content
        if depth < MAX_DEPTH:
            yield from _lists(content, depth + 1)


def _fields(data: bytes, *, top: bool = False) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields, cut where the data ends; at the top TensorFlow may also go on behind the length."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire_type = tag & 7
        if wire_type == LENGTH:
            length, position = _varint(data, position)
            length %= 2**32
            number = (tag % 2**32) >> 3
            is_cut = length > len(data) - position
            if not (is_cut and top) or number in (1, 2):
                yield number, data[position : position + length]
            if not (is_cut and top):
                position += length
        elif wire_type == 0:
            _, position = _varint(data, position)
        elif wire_type in (1, 5):
            position += 8 if wire_type == 1 else 4


def keys_of(record: bytes) -> list[bytes]:
    """All that may be keys of map entries in a record, as often as they occur; b"" for an entry without one."""
    found = []
    for _, features in _fields(record, top=True):
        for _, entry in _fields(features):
            keys = [content for number, content in _fields(entry) if number == 1]
            found.append(keys[-1] if keys else b"")
    return found
