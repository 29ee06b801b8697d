"""decode_json_example: Examples written as JSON, as serialised Examples.

The mapping is proto3's, with the liberties that protobuf's C++ parser takes, see `json_lexer`: a number may stand in
quotes, a list may be a single value or nested, null is the default of whatever it stands for.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable
from typing import Any, Final

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.parsing.payloads.json_lexer import JsonLexer
from tfrkit.parsing.write_wire import wire_bytes, wire_varint
from tfrkit.values.strings import as_strings

__all__ = ["decode_json_example"]

_LISTS: Final = {
    "bytesList": (1, "Bytes", "bytes"),
    "floatList": (2, "Float", "float"),
    "int64List": (3, "Int64", "int64"),
}
_NAMES: Final = {**{name: name for name in _LISTS}, "bytes_list": "bytesList", "float_list": "floatList",
                 "int64_list": "int64List"}  # fmt: skip
_MAX_DEPTH: Final = 95  # of lists in a list
_EXACT_INT: Final = 2**53  # beyond it a float that looks like an int is none for sure
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX_FLOAT: Final = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
)
_NO_NUMBER: Final = re.compile(r"([+-]?)(?:inf(?:inity)?|(nan)(?:\([A-Za-z0-9_]*\))?)", re.IGNORECASE)
_ASCII_SPACE: Final = " \t\n\v\f\r"


def decode_json_example(
    json_examples: Any,
    name: str | None = None,  # noqa: ARG001
) -> bytes | BytesColumn:
    r"""Turn Examples in JSON into serialised Examples.

    Args:
        json_examples: one JSON text as str or bytes, or nested lists, an array or a BytesColumn of them. Values of
            `bytesList` are base64.
        name: ignored; TensorFlow has it.

    Returns:
        The serialised Example, or a BytesColumn of the shape of the input. As TensorFlow's, the lists are not packed,
        which every parser reads like packed ones. Floats below 1.2e-38 stay what they are; TensorFlow makes them 0.

    Raises:
        InvalidArgumentError: a text is no JSON, or no Example; the place is named.

    >>> decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}}}}')
    b'\n\r\n\x0b\n\x01a\x12\x06\x1a\x04\x08\x01\x08\x02'
    """
    column = as_strings(json_examples)
    decoded = [_example(text) for text in column.reshape((-1,)).to_list()]
    return decoded[0] if column.shape == () else BytesColumn.from_list(decoded).reshape(column.shape)


def _example(data: bytes) -> bytes:
    lexer = JsonLexer(data, "tensorflow.Example")

    def member(key: str, place: int) -> bytes:
        if key != "features":
            raise lexer.error(f"no such field: '{key}'", place)
        lexer.path.append((key, "message tensorflow.Features"))
        found = b"" if lexer.take_null() else wire_bytes(1, _object(lexer, lambda *a: _features(lexer, *a)))
        lexer.path.pop()
        return found

    encoded = _object(lexer, member)
    lexer.end()
    return encoded


def _object(lexer: JsonLexer, member: Callable[[str, int], bytes]) -> bytes:
    """Read an object; `member` reads the value of each key and gives what it is on the wire."""
    lexer.expect("{")
    if lexer.take_if("}"):
        return b""
    parts: list[bytes] = []
    while True:
        key = lexer.key()
        lexer.expect(":")
        parts.append(member(key, lexer.place()))
        if not lexer.more("}"):
            return b"".join(parts)


def _features(lexer: JsonLexer, key: str, place: int) -> bytes:
    if key != "feature":
        raise lexer.error(f"no such field: '{key}'", place)
    what = "message tensorflow.Features.FeatureEntry"
    lexer.path.append((key, what))
    seen: set[str] = set()

    def entry(name: str, _: int) -> bytes:
        lexer.path[-1] = (f"feature[{len(seen)}]", what)
        if name in seen:
            raise lexer.error(f"got unexpectedly-repeated repeated map key: '{name}'", lexer.key_at)
        seen.add(name)
        encoded = wire_bytes(1, name.encode("utf-8", "surrogatepass"))
        if not lexer.take_null():
            kinds: list[str] = []
            encoded += wire_bytes(2, _object(lexer, lambda *a: _feature(lexer, kinds, *a)))
        return wire_bytes(1, encoded)

    found = b"" if lexer.take_null() else _object(lexer, entry)
    lexer.path.pop()
    return found


def _feature(lexer: JsonLexer, kinds: list[str], key: str, place: int) -> bytes:
    if key not in _NAMES:
        raise lexer.error(f"no such field: '{key}'", place)
    number, message, kind = _LISTS[_NAMES[key]]
    lexer.path.append((key, f"message tensorflow.{message}List"))
    found = b""
    if not lexer.take_null():
        if kinds:
            raise lexer.error(f"'{key}' has already been set (either directly or as part of a oneof)", place)
        kinds.append(key)
        found = wire_bytes(number, _object(lexer, lambda *a: _values(lexer, kind, *a)))
    lexer.path.pop()
    return found


def _values(lexer: JsonLexer, kind: str, key: str, place: int) -> bytes:
    if key != "value":
        raise lexer.error(f"no such field: '{key}'", place)
    lexer.path.append((key, kind))
    parts: list[bytes] = []
    if not lexer.take_null():
        if lexer.peek() == "[":
            _list(lexer, kind, parts)
        else:
            parts.append(_READERS[kind](lexer))
    lexer.path.pop()
    return b"".join(parts)


def _list(lexer: JsonLexer, kind: str, parts: list[bytes], count: int = 0, depth: int = 1) -> int:
    """Read a list of values; lists in it are read as if their brackets were not there. Give the count of items."""
    lexer.expect("[")
    if depth > _MAX_DEPTH:
        raise lexer.error("JSON content was too deeply nested")
    if lexer.take_if("]"):
        return count
    while True:
        lexer.path[-1] = (f"value[{count}]", kind)
        count += 1
        if lexer.peek() == "[":
            count = _list(lexer, kind, parts, count, depth + 1)
        else:
            parts.append(_NULLS[kind] if lexer.take_null() else _READERS[kind](lexer))
        if not lexer.more("]"):
            return count


def _read_int(lexer: JsonLexer) -> bytes:
    text, place, quoted = _number_text(lexer)
    if quoted and any(char in _ASCII_SPACE for char in text):
        raise lexer.error("non-number characters in quoted number")
    if re.fullmatch(r"[+-]?[0-9]+", text) and text.isascii() and -(2**63) <= int(text) < 2**63:
        return b"\x08" + wire_varint(int(text) & 0xFFFF_FFFF_FFFF_FFFF)
    value = _float(text)
    if value is None or not math.isfinite(value):
        raise lexer.error(f"invalid number: '{text}'", place)
    if value != math.floor(value):
        raise lexer.error("expected integer, but JSON number had fractional part", place)
    if abs(value) > _EXACT_INT:
        raise lexer.error("JSON number out of range for int", place)
    return b"\x08" + wire_varint(int(value) & 0xFFFF_FFFF_FFFF_FFFF)


def _read_float(lexer: JsonLexer) -> bytes:
    text, place, quoted = _number_text(lexer)
    value = _float(text.strip(_ASCII_SPACE))
    if value is None:
        raise lexer.error("non-number characters in quoted number", place)
    try:
        return b"\x0d" + struct.pack("<f", value)
    except OverflowError:
        raise lexer.error("float out of range", lexer.at if quoted else place) from None


def _read_bytes(lexer: JsonLexer) -> bytes:
    lexer.peek()
    place = lexer.place()
    text = lexer.string().replace("-", "+").replace("_", "/")
    digits = text.rstrip("=")
    padding = len(text) - len(digits)
    try:
        if len(digits) % 4 == 1 or padding not in (0, -len(digits) % 4):
            raise ValueError
        content = base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
    except (ValueError, binascii.Error):
        raise lexer.error("corrupt base64", place) from None
    return wire_bytes(1, content)


def _number_text(lexer: JsonLexer) -> tuple[str, int, bool]:
    """A number's text, its place, and whether it stood in quotes."""
    char = lexer.peek_value()
    place = lexer.place()
    if char in "\"'":
        return lexer.string(), place, True
    if char in "{tf[":
        raise lexer.error("expected number or string")
    if char == "n":
        lexer.expect("null")
    return (*lexer.number(), False)


def _float(text: str) -> float | None:
    """Read as C++ does: decimal, hexadecimal, infinities and NaN; None if it is none of them."""
    if _FLOAT.fullmatch(text):
        return float(text)
    if _HEX_FLOAT.fullmatch(text):
        return float.fromhex(text)
    special = _NO_NUMBER.fullmatch(text)
    if special is None:
        return None
    return math.copysign(math.nan if special[2] else math.inf, -1 if special[1] == "-" else 1)


_READERS: Final = {"int64": _read_int, "float": _read_float, "bytes": _read_bytes}
_NULLS: Final = {"int64": b"\x08\x00", "float": b"\x0d\0\0\0\0", "bytes": b"\x0a\x00"}
