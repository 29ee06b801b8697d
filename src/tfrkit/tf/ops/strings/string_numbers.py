"""Numbers and strings: to_number reads them, as_string writes them, by the rules of C."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.strings.string_values import map_strings, with_flat
from tfrkit.values.operands import kernel_name
from tfrkit.values.to_array import to_array

__all__ = ["as_string", "parse_number", "parse_numbers", "to_number", "to_number_v1"]

_WHITE: Final = b" \t\n\x0b\x0c\r"
_DECIMAL: Final = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_HEX: Final = re.compile(rb"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[+-]?\d+)?", re.IGNORECASE)
_SPECIAL: Final = re.compile(rb"([+-]?)(inf(?:inity)?|nan(?:\(\w*\))?)", re.IGNORECASE)
_INTEGER: Final = re.compile(rb"[+-]?\d+")
_ALLOWED: Final = ("float", "double", "int32", "int64", "uint32", "uint64")
_TIE: Final = np.uint64(1) << np.uint64(28)  # half of a float32's last place in a float64's bits
_BELOW: Final = np.uint64((1 << 29) - 1)


def to_number(input: Any, out_type: Any = "float32") -> Any:
    """Read numbers.

    Args:
        input: strings; white space around a number is allowed.
        out_type: float32, float64, int32, int64, uint32 or uint64.

    Raises:
        InvalidArgumentError: a string is not a number of this type.

    >>> to_number(["1.5", " -2 "]).tolist(), to_number("7", "int64")
    ([1.5, -2.0], np.int64(7))
    """
    dtype = as_dtype(out_type)
    name = kernel_name(dtype)
    if name not in _ALLOWED:
        raise InvalidArgumentError(
            f"Value for attr 'out_type' of {name} is not in the list of allowed values: {', '.join(_ALLOWED)}"
        )
    return map_strings(input, lambda texts: _numbers(texts, dtype), dtype, "StringToNumber")


def to_number_v1(
    string_tensor: Any = None,
    out_type: Any = "float32",
    input: Any = None,
) -> Any:
    """`to_number` with the names of TensorFlow 1.

    >>> to_number_v1("3")
    np.float32(3.0)
    """
    return to_number(input if string_tensor is None else string_tensor, out_type)


def parse_number(text: bytes, dtype: np.dtype[Any]) -> Any:
    """Return one number as C reads it; None if it is not one of this type.

    >>> parse_number(b"0x10", np.dtype("float32")), parse_number(b"1.5", np.dtype("int32"))
    (np.float32(16.0), None)
    """
    stripped = text.strip(_WHITE)
    if dtype.kind == "f":
        return _parse_float(stripped, dtype)
    if not _INTEGER.fullmatch(stripped) or (dtype.kind == "u" and stripped.startswith(b"-")):
        return None
    number = int(stripped)
    bounds = np.iinfo(dtype)
    return dtype.type(number) if bounds.min <= number <= bounds.max else None


def parse_numbers(texts: Sequence[bytes], dtype: np.dtype[Any]) -> npt.NDArray[Any] | None:
    """Return all numbers as Python reads them, if C reads the same; None if not, or if one is not of this type.

    >>> parse_numbers([b"1", b" 2.5 "], np.dtype("float32"))
    array([1. , 2.5], dtype=float32)
    """
    if b"_" in b"".join(texts):  # Python allows it between digits
        return None
    try:
        if dtype.kind != "f":
            whole = np.fromiter(map(int, texts), np.int64, len(texts))
            bounds = np.iinfo(dtype)
            fits = not len(whole) or (whole.min() >= bounds.min and whole.max() <= bounds.max)
            return whole.astype(dtype) if fits else None
        wide = np.fromiter(map(float, texts), np.float64, len(texts))
    except (ValueError, OverflowError):
        return None
    if dtype == np.float64:
        return wide
    with np.errstate(over="ignore"):
        made = wide.astype(np.float32)
    for place in np.flatnonzero((wide.view(np.uint64) & _BELOW) == _TIE).tolist():
        made[place] = _narrow(float(wide[place]), texts[place].strip(_WHITE))
    return made


def _numbers(texts: list[bytes], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    quick = parse_numbers(texts, dtype)
    if quick is not None:
        return quick
    made = np.empty(len(texts), dtype)
    for place, text in enumerate(texts):
        number = parse_number(text, dtype)
        if number is None:
            shown = text.decode("utf-8", "backslashreplace")
            raise InvalidArgumentError(f"StringToNumberOp could not correctly convert string: {shown}")
        made[place] = number
    return made


def _parse_float(text: bytes, dtype: np.dtype[Any]) -> Any:
    if _DECIMAL.fullmatch(text):
        wide = float(text)
        return _narrow(wide, text) if dtype == np.float32 else np.float64(wide)
    special = _SPECIAL.fullmatch(text)
    if special:
        return dtype.type(special[1] + special[2][:3])
    if _HEX.fullmatch(text):
        try:
            wide = float.fromhex(text.decode())
        except OverflowError:
            wide = float("-inf" if text.startswith(b"-") else "inf")
        with np.errstate(over="ignore"):
            return dtype.type(wide)
    return None


def _narrow(wide: float, text: bytes) -> np.float32:
    """Round to float32 once, not twice: where the float64 is half-way, the digits decide."""
    with np.errstate(over="ignore"):
        narrow = np.float32(wide)
    if np.float64(wide).view(np.uint64) & _BELOW != _TIE or not np.isfinite(narrow):
        return narrow
    exact, half = Decimal(text.decode()).copy_abs(), Decimal(wide).copy_abs()
    if exact == half:
        return narrow
    outward = np.float32(np.inf if wide > 0 else -np.inf)
    near = np.nextafter(narrow, outward if abs(float(narrow)) < abs(wide) else np.float32(0))
    low, high = sorted((narrow, near), key=abs)
    return np.float32(high if exact > half else low)


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> Any:
    """Write numbers and bools as strings, as C's printf does.

    Args:
        input: numbers, bools, complex numbers or strings.
        precision: digits after the point, for floats; C's default of 6 if negative.
        scientific: with an exponent, for floats.
        shortest: whichever is shorter, for floats.
        width: the least number of characters, reached by filling.
        fill: "" fills at the left, "0" with zeros, "-" at the right; "+" writes a sign, " " a space for a plus.

    Raises:
        InvalidArgumentError: an option does not fit the type.

    >>> as_string([1, -2]).to_list(), as_string(3.14159, precision=2), as_string(True)
    ([b'1', b'-2'], b'3.14', b'true')
    """
    if isinstance(input, Ragged):
        return with_flat(input, as_string(input.flat_values, precision, scientific, shortest, width, fill))
    array = to_array(input)
    _check_format(array.dtype, precision, scientific, shortest, fill)
    spec = fill + (str(int(width)) if width > -1 else "")
    spec += f".{int(precision)}" if precision > -1 else ""
    letter = "e" if scientific else "g" if shortest else "f"
    made = [_written(value, spec, letter, array.dtype.kind) for value in array.ravel().tolist()]
    return made[0] if array.shape == () else BytesColumn.from_list(made).reshape(array.shape)


def _check_format(dtype: np.dtype[Any], precision: int, scientific: bool, shortest: bool, fill: str) -> None:
    name = kernel_name(dtype)
    if dtype.kind not in "fcO" and dtype.name != "bfloat16":
        if scientific or shortest:
            raise InvalidArgumentError(f"scientific and shortest format not supported for datatype {name}")
        if precision >= 0:
            raise InvalidArgumentError(f"precision not supported for datatype {name}")
    if len(fill) > 1:
        raise InvalidArgumentError(f"Fill string must be one or fewer characters, got {fill!r}")
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise InvalidArgumentError(f'Fill argument not supported: "{fill}"')


def _written(value: Any, spec: str, letter: str, kind: str) -> bytes:
    if kind == "b":
        return b"true" if value else b"false"
    if kind == "c":
        real, imaginary = (_float_text(part, spec, letter) for part in (value.real, value.imag))
        return f"({real},{imaginary})".encode()
    if kind == "O":
        text: bytes = f"%{spec}s".encode() % (value,)
        return text
    if kind in "iu":
        number: str = f"%{spec if kind == 'i' else spec.lstrip('+ ')}d" % value
        return number.encode()
    return _float_text(float(value), spec, letter).encode()


def _float_text(value: float, spec: str, letter: str) -> str:
    if not np.isfinite(value):
        spec = spec.removeprefix("0")  # C fills these with spaces
    return f"%{spec}{letter}" % value
