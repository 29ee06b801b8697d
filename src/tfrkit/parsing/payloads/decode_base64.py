"""Web-safe base64: byte strings to text and back, string by string.

The alphabet has `-` and `_` instead of `+` and `/`. No other characters are allowed, nor line breaks.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.values.attributes import bool_attribute
from tfrkit.values.strings import as_strings

__all__ = ["decode_base64", "encode_base64"]

_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def decode_base64(
    input: Any,
    name: str | None = None,
) -> bytes | BytesColumn:
    r"""Turn web-safe base64 into the bytes it stands for.

    Args:
        input: one text as str or bytes, or nested lists, an array or a BytesColumn of them; padding with `=` is
            optional.
        name: ignored; TensorFlow has it.

    Returns:
        The bytes, or a BytesColumn of the shape of the input. Surplus bits of the last character are ignored.

    Raises:
        InvalidArgumentError: a character is not in the alphabet, or one character is left over.

    >>> decode_base64("_-8"), decode_base64(["YQ==", "YWI"]).to_list()
    (b'\xff\xef', [b'a', b'ab'])
    """
    column = as_strings(input)
    decoded = [_decode(text) for text in column.reshape((-1,)).to_list()]
    return decoded[0] if column.shape == () else BytesColumn.from_list(decoded).reshape(column.shape)


def encode_base64(
    input: Any,
    pad: bool | None = False,
    name: str | None = None,
) -> bytes | BytesColumn:
    """Turn bytes into web-safe base64.

    Args:
        input: one string as bytes (or str as UTF-8), or nested lists, an array or a BytesColumn of them.
        pad: fill each text up with `=` to a multiple of four characters.
        name: ignored; TensorFlow has it.

    Returns:
        The text as bytes, or a BytesColumn of the shape of the input.

    Raises:
        TypeError: `pad` is not a bool, or the input is not a string.

    >>> encode_base64(b"a"), encode_base64([b"a", b"ab"], pad=True).to_list()
    (b'YQ', [b'YQ==', b'YWI='])
    """
    padded = bool_attribute(pad, "pad", False)
    column = as_strings(input)
    encoded = [base64.urlsafe_b64encode(data) for data in column.reshape((-1,)).to_list()]
    if not padded:
        encoded = [text.rstrip(b"=") for text in encoded]
    return encoded[0] if column.shape == () else BytesColumn.from_list(encoded).reshape(column.shape)


def _decode(text: bytes) -> bytes:
    whole = max(0, len(text) - 1) // 4 * 4  # groups of four before the last one, which alone may have padding
    _check(text[:whole])
    last = text[whole:]
    if len(last) == 4 and last.endswith(b"="):
        last = last[:2] if last.endswith(b"==") else last[:3]
    if len(last) == 1:
        raise InvalidArgumentError("Base64 string length cannot be 1 modulo 4.")
    _check(last)
    return base64.urlsafe_b64decode(text[:whole] + last + b"=" * (-len(last) % 4))


def _check(text: bytes) -> None:
    if text.translate(None, _ALPHABET):
        raise InvalidArgumentError("Invalid character found in base64.")
