"""Unicode: code points of strings and strings of code points, with TensorFlow's handling of invalid input.

Input encodings are those that Python knows; output is UTF-8, UTF-16-BE or UTF-32-BE.
"""

from __future__ import annotations

import codecs
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.tf.ops.strings.string_values import check_choice, flat_strings, tensor_strings, with_flat
from tfrkit.tf.ops.strings.strings import nest
from tfrkit.values.operands import kernel_name
from tfrkit.values.to_array import to_array

__all__ = [
    "unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_split",
    "unicode_split_with_offsets",
]  # fmt: skip

_REPLACEMENT: Final = 65533
_OUTPUTS: Final = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_WRONG: Final = -1  # in place of a code point


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
) -> Any:
    """Return the code points of strings.

    Args:
        input: strings.
        input_encoding: how they are encoded, such as "UTF-8" or "UTF-16-BE".
        errors: "replace" invalid input, "ignore" it, or raise an error ("strict").
        replacement_char: the code point that replaces.
        replace_control_characters: replace the characters below 32, too.

    Returns:
        int32: an array for one string, else a Ragged with one dimension more than the input.

    Raises:
        InvalidArgumentError: a string is invalid, with "strict"; or an option is unknown.

    >>> unicode_decode(["é", "ab"], "UTF-8").to_list()
    [[233], [97, 98]]
    """
    return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters)[0]


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
) -> tuple[Any, Any]:
    """Return the code points of strings, and the byte offset of each; see `unicode_decode`.

    >>> [part.tolist() for part in unicode_decode_with_offsets("éa", "UTF-8")]
    [[233, 97], [0, 2]]
    """
    return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters)


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
) -> Any:
    r"""Cut strings into characters; see `unicode_decode`.

    >>> unicode_split("éa", "UTF-8").to_list()
    [b'\xc3\xa9', b'a']
    """
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char)[0]


def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
) -> tuple[Any, Any]:
    """Cut strings into characters, and return the byte offset of each.

    >>> unicode_split_with_offsets("éa", "UTF-8")[1].tolist()
    [0, 2]
    """
    codes, offsets = _decoded(input, input_encoding, errors, replacement_char, False)
    flat = codes.flat_values if isinstance(codes, Ragged) else codes
    singles = BytesColumn.from_list(
        [_encode([code], input_encoding, errors, replacement_char) for code in flat.tolist()]
    )
    return (with_flat(codes, singles) if isinstance(codes, Ragged) else singles), offsets


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
) -> Any:
    r"""Make strings of code points, those of the innermost dimension.

    >>> unicode_encode([[104, 105], [233, 33]], "UTF-8").to_list()
    [b'hi', b'\xc3\xa9!']
    """
    check_choice("errors", errors, ("ignore", "replace", "strict"))
    check_choice("output_encoding", output_encoding, _OUTPUTS)
    if isinstance(input, Ragged):
        values = input.values
        if isinstance(values, Ragged) or values.ndim > 1:
            inner = unicode_encode(values, output_encoding, errors, replacement_char)
            return Ragged.unchecked(inner, input.row_splits)
        rows = input.to_list()
        return BytesColumn.from_list(
            [_encode(row, output_encoding, errors, replacement_char) for row in rows]
        )
    codes = to_array(input)
    if codes.ndim == 0:
        raise ValueError("input_tensor's rank must be at least 1.")
    if codes.dtype != np.int32:
        raise InvalidArgumentError(
            "cannot compute UnicodeEncode as input #0(zero-based) was expected to be a int32 tensor but is a "
            f"{kernel_name(codes.dtype)} tensor"
        )
    rows = codes.reshape(int(np.prod(codes.shape[:-1], dtype=np.int64)), codes.shape[-1]).tolist()
    made = [_encode(row, output_encoding, errors, replacement_char) for row in rows]
    return made[0] if codes.ndim == 1 else BytesColumn.from_list(made).reshape(codes.shape[:-1])


def _decoded(input: Any, encoding: str, errors: str, replacement: int, control: bool) -> tuple[Any, Any]:
    check_choice("errors", errors, ("strict", "replace", "ignore"))
    if not 0 <= replacement <= 0x10FFFF:
        raise InvalidArgumentError(f"replacement_char out of unicode codepoint range: {replacement}")
    codec = _codec(encoding)
    if isinstance(input, Ragged):
        codes, offsets = _decoded(input.flat_values, encoding, errors, replacement, control)
        return with_flat(input, codes), with_flat(input, offsets)
    column = tensor_strings(input, "UnicodeDecode")
    rows = [_repaired(text, codec, errors, replacement, control) for text in flat_strings(column)]
    flat = np.array([code for row, _ in rows for code in row], np.int32)
    starts = np.array([start for _, row in rows for start in row], np.int64)
    if column.shape == ():
        return flat, starts
    splits: npt.NDArray[Any] = splits_of(np.fromiter((len(row) for row, _ in rows), np.int64, len(rows)))
    return nest(flat, splits, column.shape), nest(starts, splits, column.shape)


def _codec(encoding: Any) -> str:
    try:
        return codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise InvalidArgumentError(f"Could not create converter for input encoding: {encoding}") from None


def _repaired(
    text: bytes, codec: str, errors: str, replacement: int, control: bool
) -> tuple[list[int], list[int]]:
    codes, starts = _points(text, codec)
    if errors == "strict" and _WRONG in codes:
        at = starts[codes.index(_WRONG)]
        raise InvalidArgumentError(
            f"Invalid formatting on input string: not {codec} at byte {at}. Pass errors='replace'."
        )
    if control:
        codes = [_WRONG if 0 <= code < 0x20 else code for code in codes]
    if _WRONG not in codes:
        return codes, starts
    if errors == "ignore":
        kept = [place for place, code in enumerate(codes) if code != _WRONG]
        return [codes[place] for place in kept], [starts[place] for place in kept]
    return [replacement if code == _WRONG else code for code in codes], starts


def _points(text: bytes, codec: str) -> tuple[list[int], list[int]]:
    """Return the code points and their byte offsets; invalid input is -1."""
    if codec == "ascii" or (text.isascii() and codec == "utf-8"):
        return [code if code < 0x80 else _WRONG for code in text], list(range(len(text)))
    at = 0
    if codec in ("utf-16", "utf-32"):
        codec, at = _order(text, codec)
    codes: list[int] = []
    starts: list[int] = []
    while at < len(text):
        try:
            good, end, bad = text[at:].decode(codec), len(text), len(text)
        except UnicodeDecodeError as error:
            good, end, bad = text[at : at + error.start].decode(codec), at + error.start, at + error.end
        for char in good:
            codes.append(ord(char))
            starts.append(at)
            at += len(char.encode(codec))
        if bad > end:
            codes.append(_WRONG)
            starts.append(end)
        at = max(bad, end)
    return codes, [0, *starts[1:]] if starts else starts  # the first character has the mark of the order, too


def _order(text: bytes, codec: str) -> tuple[str, int]:
    """The codec that the first bytes name, and their count; the high byte is first where they name none."""
    width = 2 if codec == "utf-16" else 4
    little = codecs.BOM_UTF16_LE if width == 2 else codecs.BOM_UTF32_LE
    big = codecs.BOM_UTF16_BE if width == 2 else codecs.BOM_UTF32_BE
    if text.startswith(little):
        return f"{codec}-le", width
    return f"{codec}-be", width if text.startswith(big) else 0


def _encode(codes: list[int], encoding: str, errors: str, replacement: int) -> bytes:
    def fits(code: int) -> bool:
        return 0 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF

    if not all(map(fits, codes)):
        if errors == "strict":
            wrong = next(code for code in codes if not fits(code))
            raise InvalidArgumentError(
                f"Code point is out of range for Unicode, or is a surrogate. Got {wrong}."
            )
        filler = [] if errors == "ignore" else [replacement]
        codes = [one for code in codes for one in ([code] if fits(code) else filler)]
    text = "".join(map(chr, codes))
    return text.encode(encoding if encoding in _OUTPUTS else "UTF-8", "replace")
