"""Names of compressions.

What the names mean in bytes is in `inflate.py` and `deflate.py`; `compression_sniffer.py` guesses by a file's content.
"""

from __future__ import annotations

from typing import Final

from tfrkit.errors import InvalidArgumentError

__all__ = ["COMPRESSIONS", "canonical", "from_suffix"]

# "" is none. TensorFlow knows "", "ZLIB" and "GZIP"; the others are carrying formats of tfrkit alone.
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
    """Give the name as in COMPRESSIONS; upper and lower case, None and "none" are accepted.

    >>> canonical("gzip"), canonical("none")
    ('GZIP', '')
    """
    text = (name or "").upper()
    text = "" if text == "NONE" else text
    if text not in COMPRESSIONS:
        raise InvalidArgumentError(
            f"Expected a compression out of none, GZIP, ZLIB, XZ, ZSTD but got {name!r}."
        )
    return text


def from_suffix(path: str) -> str:
    """Give the compression that a file's name promises.

    >>> from_suffix("train.tfrecord.gz"), from_suffix("train.tfrecord")
    ('GZIP', '')
    """
    lower = path.lower()
    return next((kind for suffix, kind in _SUFFIXES.items() if lower.endswith(suffix)), "")
