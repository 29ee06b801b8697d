"""How a feature stands in a line of JSON, so that it can be read back exactly.

| feature | in JSON |
|---|---|
| int64 | an integer, or a list of them |
| float32 | a number with a point or an exponent, `NaN`, `Infinity`, `-Infinity`, or a list of them |
| bytes that are UTF-8 | a string, or a list of them |
| other bytes | `{"$base64": "/+8="}`, or a list in place of the text: all values of the feature |
| a NaN with unusual bits | `{"$float32": "ffc00000"}`, or a list: the bits of all values of the feature |
| no value, where the kind shows nowhere else | `{"$empty": "int64"}`, `"float"` or `"bytes"` |
| feature lists | all of them in `{"$feature_lists": {"name": [step, step]}}`, steps as above |

A feature that a record does not have is not in its line. Numbers are the shortest texts that read back as the same
float32, also by way of a double. Lines are written and read by the formats.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.model.bytes_column import BytesColumn

__all__ = ["BASE64", "EMPTY", "FEATURE_LISTS", "FLOAT32", "decode_special", "float_texts", "json_values"]

BASE64: Final = "$base64"
FLOAT32: Final = "$float32"
EMPTY: Final = "$empty"
FEATURE_LISTS: Final = "$feature_lists"

_USUAL_NAN: Final = 0x7FC00000
# Readers go by way of a double, and rounding twice may end beside the number. Of all float32, that happens to this one
# alone, 7.038531e-26, and to its negative (tried with all of them): there the double itself is written.
_ROUNDED_TWICE: Final = 0x15AE43FD
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_EMPTY_KINDS: Final = ("int64", "float", "bytes")
_quoted: Callable[[str], str] = json.encoder.encode_basestring


def decode_special(value: Mapping[str, Any]) -> tuple[str, list[Any]]:
    r"""Read a feature that stands in JSON as an object. Pure: no I/O.

    Returns:
        The kind, "int64", "float" or "bytes", and its values: numpy.float32 or bytes.

    Raises:
        ValueError: it is no such object.

    >>> decode_special({"$base64": ["/w==", "YQ=="]}), decode_special({"$empty": "int64"})
    (('bytes', [b'\xff', b'a']), ('int64', []))
    """
    if len(value) == 1:
        [(key, content)] = value.items()
        texts = content if isinstance(content, list) else [content]
        if key == EMPTY and content in _EMPTY_KINDS:
            return str(content), []
        if key in (BASE64, FLOAT32) and all(isinstance(text, str) for text in texts):
            try:
                if key == BASE64:
                    return "bytes", [base64.b64decode(text, validate=True) for text in texts]
                return "float", [_float_of_bits(text) for text in texts]
            except (binascii.Error, ValueError) as error:
                raise ValueError(
                    f"expected {_content_name(key)} in {key!r} but got {content!r:.60}"
                ) from error
    raise ValueError(
        f'expected a value, a list, or one of {{"{BASE64}": ...}}, {{"{FLOAT32}": ...}} and {{"{EMPTY}": ...}} '
        f"but got {json.dumps(value, default=str):.60}"
    )


def _content_name(key: str) -> str:
    return "base64" if key == BASE64 else "8 hexadecimal digits"


def _float_of_bits(text: str) -> np.float32:
    if len(text) != 8:
        raise ValueError(text)
    value: np.float32 = np.frombuffer(bytes.fromhex(text), ">f4").astype(np.float32)[0]
    return value


def json_values(
    values: npt.NDArray[Any] | BytesColumn, splits: npt.NDArray[np.int64] | None, empty: str | None = None
) -> list[str]:
    """Return the JSON of features of one kind. Pure: no I/O.

    Args:
        values: of all features, one after the other.
        splits: feature i is a list of the values from splits[i] to splits[i + 1]; None: each is one value.
        empty: the kind, if a feature without values must say it itself.

    >>> json_values(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    ['[1, 2]', '[]', '[3]']
    """
    if isinstance(values, BytesColumn):
        found = values.to_list()
        try:
            texts = [_quoted(str(value, "utf-8")) for value in found]
        except UnicodeDecodeError:
            return _special(found, splits, _is_utf8, _bytes_text, BASE64, _base64_text)
    elif values.dtype == np.float32:
        bits = values.view(np.uint32)
        unusual = np.isnan(values) & (bits != _USUAL_NAN)
        texts = float_texts(values)
        for place in np.flatnonzero(~np.isfinite(values)).tolist():
            texts[place] = _NOT_FINITE[texts[place]]
        if unusual.any():
            cells = list(zip(texts, bits.tolist(), unusual.tolist(), strict=True))
            return _special(
                cells, splits, lambda cell: not cell[2], lambda cell: cell[0], FLOAT32, _bits_text
            )
    else:
        texts = list(map(str, values.tolist()))
    if splits is None:
        return texts
    none = "[]" if empty is None else f'{{"{EMPTY}": "{empty}"}}'
    return [
        f"[{', '.join(texts[start:stop])}]" if stop > start else none
        for start, stop in pairwise(splits.tolist())
    ]


def float_texts(values: npt.NDArray[np.float32]) -> list[str]:
    """Return the shortest texts that read back as the same numbers, with a point or an exponent. Pure: no I/O.

    >>> float_texts(np.array([1, 0.1, -0.0, 1e-45], np.float32))
    ['1.0', '0.1', '-0.0', '1e-45']
    """
    found: list[str] = values.astype("U24").tolist()
    for place in np.flatnonzero((values.view(np.uint32) & 0x7FFFFFFF) == _ROUNDED_TWICE).tolist():
        found[place] = repr(float(values[place]))
    return found


def _special(
    cells: Sequence[Any],
    splits: npt.NDArray[np.int64] | None,
    is_plain: Callable[[Any], bool],
    plain: Callable[[Any], str],
    key: str,
    special: Callable[[Any], str],
) -> list[str]:
    """Features of which some have values that need an object."""

    def one(found: Iterable[Any]) -> str:
        found = list(found)
        usual = all(map(is_plain, found))
        text = ", ".join(map(plain if usual else special, found))
        if splits is not None:
            text = f"[{text}]"
        return text if usual else f'{{"{key}": {text}}}'

    if splits is None:
        return [one([cell]) for cell in cells]
    return [one(cells[start:stop]) for start, stop in pairwise(splits.tolist())]


def _is_utf8(value: bytes) -> bool:
    try:
        str(value, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _bytes_text(value: bytes) -> str:
    return _quoted(str(value, "utf-8"))


def _base64_text(value: bytes) -> str:
    return f'"{base64.b64encode(value).decode()}"'


def _bits_text(cell: tuple[str, int, bool]) -> str:
    return f'"{cell[1]:08x}"'
