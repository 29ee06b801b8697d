"""Operations on single strings: case, white space, length, parts. TensorFlow's `tf.strings`, string by string.

Strings are bytes. What counts characters takes them as UTF-8; white space is ASCII's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.tf.ops.strings.string_values import (
    check_choice,
    flat_strings,
    map_strings,
    shape_text,
    strings_of,
    with_flat,
)
from tfrkit.values.attributes import str_attribute
from tfrkit.values.operands import kernel_name
from tfrkit.values.to_array import to_array

__all__ = ["WHITE", "bytes_split", "length", "lower", "nest", "nest_words", "strip", "substr", "upper"]

WHITE: Final = b" \t\n\x0b\x0c\r"
_UNITS: Final = ("BYTE", "UTF8_CHAR")
_CONTINUATION: Final = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin no character


def lower(input: Any, encoding: str = "") -> Any:
    r"""Make strings lower-case: ASCII letters, or with `encoding="utf-8"` all that Unicode knows.

    Raises:
        InvalidArgumentError: the encoding is another one.

    >>> lower("ÄB"), lower("ÄB", encoding="utf-8").decode()
    (b'\xc3\x84b', 'äb')
    """
    return _cased(input, encoding, "StringLower", bytes.lower, str.lower)


def upper(input: Any, encoding: str = "") -> Any:
    """Make strings upper-case; see `lower`.

    >>> upper("straße", encoding="utf-8")
    b'STRASSE'
    """
    return _cased(input, encoding, "StringUpper", bytes.upper, str.upper)


def strip(input: Any) -> Any:
    """Take white space (ASCII's) from both ends.

    >>> strip([" a b ", "c"]).to_list()
    [b'a b', b'c']
    """
    return map_strings(input, lambda texts: [text.strip(WHITE) for text in texts], op="StringStrip")


def length(input: Any, unit: str = "BYTE") -> Any:
    """Count the bytes of strings, or with `unit="UTF8_CHAR"` the characters.

    Returns:
        int32, of the shape of the input.

    >>> length("é"), length("é", unit="UTF8_CHAR")
    (np.int32(2), np.int32(1))
    """
    if check_choice("unit", unit, _UNITS) == "BYTE":
        if isinstance(input, BytesColumn):
            return input.lengths.astype(np.int32)
        return map_strings(input, lambda texts: [len(text) for text in texts], np.int32, "StringLength")
    return map_strings(
        input,
        lambda texts: [len(text.translate(None, _CONTINUATION)) for text in texts],
        np.int32,
        "StringLength",
    )


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> Any:
    """Cut a part out of strings.

    Args:
        input: strings.
        pos: where the part begins, counted from the end if negative; one for all, or of a shape that fits the input's.
        len: the most units to take; if negative, all bytes to the end; of the shape of `pos`.
        unit: "BYTE", or "UTF8_CHAR" to count characters.

    Raises:
        InvalidArgumentError: a position is outside of its string, or the shapes do not fit.

    >>> substr(["hello", "world"], -3, 2).to_list()
    [b'll', b'rl']
    """
    chosen = check_choice("unit", unit, _UNITS)
    if type(input) is bytes and type(pos) is int and type(len) is int:
        found = (_cut_bytes if chosen == "BYTE" else _cut_characters)(input, pos, len)
        if found is not None:
            return found
    if isinstance(input, Ragged):
        return with_flat(input, substr(input.flat_values, _flat(pos), _flat(len), unit))
    column = strings_of(input, "Substr")
    starts, counts = _positions(pos), _positions(len)
    if starts.shape != counts.shape:
        raise InvalidArgumentError(
            f"pos and len should have the same shape, got: {shape_text(starts.shape)} vs. {shape_text(counts.shape)}"
        )
    try:
        shape = np.broadcast_shapes(column.shape, starts.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {shape_text(column.shape)} vs. {shape_text(starts.shape)}"
        ) from None
    texts = np.broadcast_to(column.to_numpy(), shape)
    places = zip(
        texts.ravel().tolist(),
        np.broadcast_to(starts, shape).ravel().tolist(),
        np.broadcast_to(counts, shape).ravel().tolist(),
        strict=True,
    )
    cut = _cut_bytes if chosen == "BYTE" else _cut_characters
    made = []
    for number, (text, start, count) in enumerate(places):
        part = cut(text, start, count)
        if part is None:
            raise _out_of_range(text, start, number, shape, chosen)
        made.append(part)
    return made[0] if shape == () else BytesColumn.from_list(made).reshape(shape)


def bytes_split(input: Any) -> Any:
    """Cut strings into single bytes.

    Returns:
        A column for one string, else a Ragged of one dimension more than the input.

    >>> bytes_split(["ab", ""]).to_list()
    [[b'a', b'b'], []]
    """
    if isinstance(input, Ragged):
        return with_flat(input, bytes_split(input.flat_values))
    column = strings_of(input)
    data = b"".join(flat_strings(column))
    single = BytesColumn.unchecked(np.frombuffer(data, np.uint8), np.arange(data.__len__() + 1))
    if column.shape == ():
        return single
    return nest(single, splits_of(np.diff(column.offsets)), column.shape)


def nest_words(rows: list[list[bytes]], shape: tuple[int, ...]) -> BytesColumn | Ragged:
    """Return the words of each entry of an array of this shape: a column if there is a single entry."""
    words = BytesColumn.from_list([word for row in rows for word in row])
    return nest(words, splits_of(np.fromiter(map(len, rows), np.int64, len(rows))), shape) if shape else words


def nest(values: Any, row_splits: npt.NDArray[Any], shape: tuple[int, ...]) -> Ragged:
    """Return a Ragged with a row for each entry of an array of this shape, in the dimensions of that array."""
    made = Ragged.unchecked(values, row_splits)
    for axis in range(len(shape) - 1, 0, -1):
        outer = int(np.prod(shape[:axis], dtype=np.int64))
        made = Ragged.unchecked(made, np.arange(outer + 1, dtype=np.int64) * shape[axis])
    return made


def _cased(
    value: Any, encoding: Any, op: str, ascii_case: Callable[[bytes], bytes], case: Callable[[str], str]
) -> Any:
    name = str_attribute(encoding, "encoding", "")
    if name not in ("", "utf-8"):
        raise InvalidArgumentError(f"only utf-8 or '' (no encoding) is supported, received {name}")
    if not name:
        return map_strings(value, lambda texts: map(ascii_case, texts), op=op)

    def change(text: bytes) -> bytes:
        return case(
            text.partition(b"\0")[0].decode("utf-8", "replace")
        ).encode()  # TensorFlow stops at a zero byte

    return map_strings(value, lambda texts: map(change, texts), op=op)


def _flat(value: Any) -> Any:
    return value.flat_values if isinstance(value, Ragged) else value


def _positions(value: Any) -> npt.NDArray[Any]:
    array = to_array(value)
    if array.dtype not in (np.int32, np.int64):
        raise InvalidArgumentError(
            f"Value for attr 'T' of {kernel_name(array.dtype)} is not in the list of allowed values: int32, int64"
        )
    return array


def _cut_bytes(text: bytes, start: int, count: int) -> bytes | None:
    size = len(text)
    if not -size <= start <= size:
        return None
    first = start + size if start < 0 else start
    return text[first:] if count < 0 else text[first : first + count]


def _cut_characters(text: bytes, start: int, count: int) -> bytes | None:
    """The same by characters; a negative count takes nothing, or is refused where the start is negative, too."""
    begins = [at for at, byte in enumerate(text) if byte & 0xC0 != 0x80 or not at]
    size = len(begins)
    if not -size <= start <= size or (start < 0 and count < 0):
        return None
    first = start + size if start < 0 else start
    ends = [*begins, len(text)]
    return text[ends[first] : ends[min(size, first + max(0, count))]]


def _out_of_range(
    text: bytes, start: int, number: int, shape: tuple[int, ...], unit: str
) -> InvalidArgumentError:
    place = "0" if not shape else str(number)
    if len(shape) > 1:
        place = f"({', '.join(str(int(index)) for index in np.unravel_index(number, shape))})"
    shown = f" b'{text.decode('utf-8', 'backslashreplace')}'" if unit == "BYTE" else ""
    return InvalidArgumentError(f"pos {start} out of range for string{shown} at index {place}")
