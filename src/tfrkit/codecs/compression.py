"""Names of compressions.

What the names mean in bytes is in `inflate.py` and `deflate.py`; `compression_sniffer.py` guesses by a file's content.
"""

from __future__ import annotations

from typing import Final

from tfrkit.errors import InvalidArgumentError

__all__ = ["COMPRESSIONS", "canonical", "from_suffix"]

# "" is no compression. TensorFlow knows "", "ZLIB" and "GZIP"; the others are tfrkit's alone.
COMPRESSIONS: Final = ("", "ZLIB", "GZIP", "XZ", "ZSTD")

_SUFFIXES: Final = {
    ".gz": "GZIP",
    ".gzip": "GZIP",
    ".zlib": "ZLIB",
    ".zz": "ZLIB",
    ".xz": "XZ",
    ".zst": "ZSTD",
    ".zstd": "ZSTD",
}


def canonical(name: str | None) -> str:
    """Return the name as in COMPRESSIONS; upper and lower case, None and "none" are accepted.

    >>> canonical("gzip"), canonical("none")
    ('GZIP', '')
    """
    text = (name or "").upper()
    text = "" if text == "NONE" else text
    if text not in COMPRESSIONS:
        raise InvalidArgumentError(f"Unknown compression {name!r}: expected none, GZIP, ZLIB, XZ or ZSTD.")
    return text


def from_suffix(path: str) -> str:
    """Return the compression that a file's name promises.

    >>> from_suffix("train.tfrecord.gz"), from_suffix("train.tfrecord")
    ('GZIP', '')
    """
    lower = path.lower()
    return next((kind for suffix, kind in _SUFFIXES.items() if lower.endswith(suffix)), "")
