"""strings.format: tensors written into a text, long ones shortened in the middle."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.values.to_array import to_array

__all__ = ["format_strings", "summary"]

_ESCAPES: Final = (
    (b"\\", b"\\\\"), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\t", b"\\t"), (b'"', b'\\"'), (b"'", b"\\'"),
)  # fmt: skip


def format_strings(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3) -> bytes:
    """Write tensors into the placeholders of a text.

    Args:
        template: the text.
        inputs: a tensor for one placeholder, or a list or tuple of tensors.
        placeholder: what is replaced.
        summarize: entries that are shown at both ends of each dimension; all if negative.

    Raises:
        ValueError: there are more or fewer tensors than placeholders.

    >>> format_strings("{} of {}", (np.arange(2), "a"))
    b'[0 1] of "a"'
    """
    parts = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    pieces = template.split(placeholder)
    if len(pieces) - 1 != len(parts):
        raise ValueError(
            f"The template expects {len(pieces) - 1} tensors, but the inputs only has {len(parts)}. "
            "Please ensure the number of placeholders in template matches inputs length."
        )
    made = [pieces[0].encode()]
    for part, piece in zip(parts, pieces[1:], strict=True):
        made += [summary(part, summarize), piece.encode()]
    return b"".join(made)


def summary(value: Any, summarize: int = 3) -> bytes:
    """One tensor as TensorFlow's kernels print it.

    >>> summary(np.arange(9)), summary([1.5, 2.0])
    (b'[0 1 2 ... 6 7 8]', b'[1.5 2]')
    """
    if isinstance(value, Ragged):
        return _ragged(value, summarize)
    array = value.to_numpy() if isinstance(value, BytesColumn) else to_array(value)
    if array.dtype == object:
        return _entries(array, summarize, _quoted, 0)
    return _entries(array, summarize, lambda entry: _number(entry, array.dtype), 0)


def _entries(array: npt.NDArray[Any], summarize: int, write: Any, depth: int) -> bytes:
    if array.ndim == 0:
        return bytes(write(array.item() if array.dtype == object else array[()]))
    count = len(array)
    shortened = summarize >= 0 and count > 2 * summarize
    chosen = [*range(summarize), None, *range(count - summarize, count)] if shortened else range(count)
    rows = [
        b"..." if number is None else _entries(np.asarray(array[number]), summarize, write, depth + 1)
        for number in chosen
    ]
    between = b" " if array.ndim == 1 else b"\n" * (array.ndim - 1) + b" " * (depth + 1)
    return b"[" + between.join(rows) + b"]"


def _quoted(text: bytes) -> bytes:
    for plain, escaped in _ESCAPES:
        text = text.replace(plain, escaped)
    return b'"' + text + b'"'


def _number(value: Any, dtype: np.dtype[Any]) -> bytes:
    if dtype.kind == "b":
        return b"1" if value else b"0"
    if dtype.kind == "f":
        return _shortest(value, dtype)
    if dtype.kind == "c":
        return b"?"  # so does TensorFlow
    return str(int(value)).encode()


def _shortest(value: Any, dtype: np.dtype[Any]) -> bytes:
    """The digits that always fit, or all that are needed to read the same number."""
    if not np.isfinite(value):
        return str(float(value)).encode()
    kind = np.float64 if dtype == np.float64 else np.float32
    most = 17 if kind is np.float64 else 9
    short = f"%.{most - (2 if kind is np.float64 else 3)}g" % float(value)
    return (short if kind(short) == kind(value) else f"%.{most}g" % float(value)).encode()


def _ragged(value: Ragged, summarize: int) -> bytes:
    def write(part: Any) -> bytes:
        if isinstance(part, list):
            rows = [write(row) for row in part]
            if summarize >= 0 and len(rows) > 2 * summarize:
                rows[summarize : len(rows) - summarize] = [b"..."]
            return b"[" + b", ".join(rows) + b"]"
        if isinstance(part, bytes):
            return b"'" + part + b"'"
        if isinstance(part, bool):
            return b"true" if part else b"false"
        return bytes((b"%f" if isinstance(part, float) else b"%d") % part)

    return write(value.to_list())
