"""decode_json_example: Examples written as JSON, as serialised Examples, read by protobuf's own `json_format`.

The mapping is proto3's. What protobuf's C++ parser, and so TensorFlow, takes beyond JSON (single quotes, bare keys, a
comma at the end, null in lists, a value in place of a list) is refused; so is what `json_format` lets pass silently.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from google.protobuf import json_format

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.messages import Example, message_bytes
from tfrkit.values.strings import as_strings

__all__ = ["decode_json_example"]

_BASE64: Final = re.compile(
    r"(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?", re.ASCII
)
_LARGEST_FLOAT: Final = 3.4028234663852886e38  # beyond it float32 is infinite
_VALUES_DEPTH: Final = 5  # of objects round a list of values: example, features, feature, its name, its kind


def decode_json_example(
    json_examples: Any,
    name: str | None = None,
) -> bytes | BytesColumn:
    r"""Turn Examples in JSON into serialised Examples.

    Args:
        json_examples: one JSON text as str or bytes, or nested lists, an array or a BytesColumn of them. Values of
            `bytesList` are base64.
        name: ignored; TensorFlow has it.

    Returns:
        The serialised Example, or a BytesColumn of the shape of the input. The Examples equal TensorFlow's; the bytes
        may not, as lists are packed and features sorted here. Floats below 1.2e-38, which TensorFlow makes 0, are kept.

    Raises:
        InvalidArgumentError: a text is not JSON, or not an Example.

    >>> decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}}}}')
    b'\n\r\n\x0b\n\x01a\x12\x06\x1a\x04\n\x02\x01\x02'
    """
    column = as_strings(json_examples)
    decoded = [_example(text) for text in column.reshape((-1,)).to_list()]
    return decoded[0] if column.shape == () else BytesColumn.from_list(decoded).reshape(column.shape)


def _example(data: bytes) -> bytes:
    try:
        found = json.loads(data.decode(), object_pairs_hook=_object)
        example = json_format.ParseDict(found, Example())
        _check(found)
    except (ValueError, TypeError, RecursionError, json_format.ParseError) as error:
        raise InvalidArgumentError(f"Error while parsing JSON: {error!s:.500}") from error
    return message_bytes(example)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key occurs twice in {[key for key, _ in pairs]}")
    return found


def _check(value: Any, path: tuple[str, ...] = ()) -> None:
    """Refuse what `json_format` lets pass: lists in place of objects, bools, 1_000, "1e39", wrong base64."""
    if len(path) < _VALUES_DEPTH:
        if not isinstance(value, dict):
            raise TypeError(f"expected an object{' at ' * bool(path)}{'.'.join(path)}")
        for key, item in value.items():
            if item is not None:
                _check(item, (*path, key))
        return
    is_bytes = path[3] in ("bytesList", "bytes_list")
    for item in value:
        if not _is_value(item, is_bytes):
            expected = "base64" if is_bytes else "a number"
            raise ValueError(f"expected {expected} at {'.'.join(path)}, got {item!r:.80}")


def _is_value(item: Any, is_bytes: bool) -> bool:
    if not isinstance(item, str):
        return not isinstance(item, bool)
    if is_bytes:
        return _BASE64.fullmatch(item) is not None
    return "_" not in item and not _LARGEST_FLOAT < abs(float(item)) < math.inf
