"""JSON files that tfrkit keeps: the same value gives the same bytes, and names that are no Unicode survive.

What is read may be anybody's. `parse_json` refuses with one class of error whatever could be misunderstood, and the
`is_` functions say of a value in it whether it may be believed.
"""

from __future__ import annotations

import json
import os
import re
import reprlib
from typing import Any, Final, TypeGuard

__all__ = ["is_count", "is_digest", "is_file_name", "json_bytes", "json_line", "parse_json", "shorten"]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_OWN: Final = ("", ".", "..", "manifest.json", "report.json")
_DIGEST: Final = re.compile("[0-9a-f]{1,64}")
MAX_DEPTH: Final = 100  # of lists and objects inside each other: what Python can also write again
MAX_COUNT: Final = (1 << 63) - 1


def json_bytes(value: Any) -> bytes:
    r"""Return a value as an indented document in UTF-8 with sorted keys. Pure: no I/O.

    Bytes of a file name that are no UTF-8 are surrogates in Python; they are written as escapes, which come back.

    >>> json_bytes({"b": "中", "a": "\udcff"})
    b'{\n "a": "\\udcff",\n "b": "\xe4\xb8\xad"\n}\n'
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode() + b"\n"


def json_line(value: Any) -> bytes:
    r"""Return a value as one line of ASCII with sorted keys. Pure: no I/O.

    >>> json_line({"b": "中", "a": [1]})
    b'{"a":[1],"b":"\\u4e2d"}\n'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def parse_json(data: bytes) -> Any:
    """Read a document that `json_bytes` or `json_line` may have written. Pure: no I/O.

    Stricter than `json.loads`, which takes the last of two equal keys, any nesting, and other encodings. NaN and
    Infinity are read, because they are written: arguments of jobs may be such.

    Raises:
        ValueError: says what is wrong: no UTF-8, no JSON, a key twice, too deep nesting.

    >>> parse_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' is there twice
    """
    try:
        value = json.loads(data.decode(), object_pairs_hook=_unique)
        if _is_deep(value):
            raise RecursionError
    except RecursionError:
        raise ValueError(f"more than {MAX_DEPTH} lists and objects inside each other") from None
    return value


def is_file_name(value: object) -> TypeGuard[str]:
    r"""Tell whether a value read from a file may be used as the name of a file in a folder. Pure: no I/O.

    It is one plain name: it leads neither out of the folder nor into one below, and is not one of tfrkit's own.

    >>> [is_file_name(name) for name in ("a.tfrecord", "../a", "/a", "a/b", "..", ".tfrkit", "a\0", "", 7)]
    [True, False, False, False, False, False, False, False, False]
    """
    if not isinstance(value, str) or value in _OWN or value.startswith(".tfrkit") or "\0" in value:
        return False
    try:
        return len(os.fsencode(value)) <= 255 and os.path.basename(value) == value
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return False


def is_digest(value: object) -> TypeGuard[str]:
    """Tell whether a value read from a file may be a digest: hex digits, which are part of names. Pure: no I/O."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def is_count(value: object) -> TypeGuard[int]:
    """Tell whether a value read from a file may be a number of things or bytes. Pure: no I/O.

    >>> [is_count(value) for value in (0, 7, True, -1, 2**63, 1.0, "1", None)]
    [True, True, False, False, False, False, False, False]
    """
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT


def shorten(value: object) -> str:
    """Return a value for an error message, of any size and nesting. Pure: no I/O."""
    return reprlib.repr(value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {shorten(key)} is there twice")
            seen.add(key)
    return made


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for item in level
            if isinstance(item, (dict, list))
            for part in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, (dict, list)) for item in level)
