"""tf.compat's bytes and text, and types of numbers."""

from __future__ import annotations

import numbers
import os
from typing import Any, Final

import numpy as np

__all__ = [
    "as_bytes",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "forward_compatible",
    "get_current_name_scope",
    "integral_types",
    "is_symbolic_tensor",
    "path_to_str",
    "real_types",
]

bytes_or_text_types: Final = (bytes, str)
complex_types: Final = (numbers.Complex, np.number)
integral_types: Final = (numbers.Integral, np.integer)
real_types: Final = (numbers.Real, np.integer, np.floating)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text, encoded; bytes stay.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes, decoded; text stays.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """The text of anything; bytes are decoded."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path as text; anything else as it is."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def forward_compatible(year: int, month: int, day: int) -> bool:
    """True: there is nothing newer to be compatible with."""
    return True


def is_symbolic_tensor(tensor: Any) -> bool:
    """False: there are no graphs."""
    return False


def get_current_name_scope() -> str:
    """Empty: there are no names of operations."""
    return ""
