"""JSON files that tfrkit keeps: the same value gives the same bytes, and names that are no Unicode survive."""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["json_bytes", "json_line"]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def json_bytes(value: Any) -> bytes:
    r"""Give a value as an indented document in UTF-8 with sorted keys. Pure: no I/O.

    Bytes of a file name that are no UTF-8 are surrogates in Python; they are written as escapes, which come back.

    >>> json_bytes({"b": "中", "a": "\udcff"})
    b'{\n "a": "\\udcff",\n "b": "\xe4\xb8\xad"\n}\n'
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode() + b"\n"


def json_line(value: Any) -> bytes:
    r"""Give a value as one line of ASCII with sorted keys. Pure: no I/O.

    >>> json_line({"b": "中", "a": [1]})
    b'{"a":[1],"b":"\\u4e2d"}\n'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
