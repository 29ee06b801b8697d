"""Python values as features: which kind of list a value becomes, and the helpers that make Feature messages.

One place holds the rules: `feature_values` gives the kind and the values, and everything that takes Python values uses
it, or does natively what it says. Whole columns are `parsing/encode.py`'s.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import reprlib
from collections.abc import Iterable
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit.model import messages
from tfrkit.model.no_bytes import NoBytes

__all__ = [
    "bytes_feature",
    "bytes_list_feature",
    "feature",
    "float_feature",
    "float_list_feature",
    "int64_feature",
    "int64_list_feature",
]

UNSET: Final = 0  # numbers of the fields of Feature, as the wire has them
BYTES: Final = 1
FLOAT: Final = 2
INT64: Final = 3

Values: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float32] | list[bytes]

_KINDS: Final = {BYTES: "bytes or str", FLOAT: "numbers", INT64: "integers"}
_NAMES: Final = {BYTES: "bytes", FLOAT: "float", INT64: "int64"}
_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1
_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_ADVICE: Final[list[tuple[tuple[type, ...], str]]] = [
    ((dt.datetime, dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64),
     "Give a number, such as microseconds since 1970, or text, such as isoformat()."),
    ((decimal.Decimal,), "Give float(value), str(value), or an integer of the smallest unit."),
    ((complex, np.complexfloating), "Give the real and the imaginary part as two features."),
    ((dict,), "Give each of its entries a feature of its own."),
    ((list, tuple, np.ndarray), "Flatten it, for example with numpy.ravel(), or use a SequenceExample."),
]  # fmt: skip


def feature(value: Any) -> messages.Feature:
    r"""Make a Feature from a value, choosing its kind.

    Args:
        value: bool, enum, int, any numpy integer -> int64_list; float, any numpy float -> float_list (rounded to
            float32); str (as UTF-8), bytes -> bytes_list; a list, tuple, range or 1-D array of one of these -> the
            list. An enum stands for its value. None and a list without values are a Feature without a kind, which
            every parser takes for missing; an array without values keeps the kind of its type.

    Raises:
        TypeError: no feature can hold such a value, or the list is nested, or mixes kinds.
        ValueError: an integer does not fit into int64, or a str is no Unicode.

    >>> feature([1, 2]).int64_list.value
    [1, 2]
    >>> feature("é").bytes_list.value
    [b'\xc3\xa9']
    """
    return make_feature(*feature_values(value))


def int64_feature(value: Any) -> messages.Feature:
    """Make a Feature of one integer.

    Args:
        value: bool, enum, int, numpy integer, or a list or array with one of them.

    Raises:
        TypeError, ValueError: it is no integer, or not one, or does not fit into int64.

    >>> int64_feature(3).int64_list.value
    [3]
    """
    return _single(value, INT64, "int64_list_feature")


def float_feature(value: Any) -> messages.Feature:
    """Make a Feature of one number, which is rounded to float32.

    Args:
        value: a number of Python or numpy, or a list or array with one of them.

    Raises:
        TypeError, ValueError: it is no number, or not one.

    >>> float_feature(0.5).float_list.value
    [0.5]
    """
    return _single(value, FLOAT, "float_list_feature")


def bytes_feature(value: Any) -> messages.Feature:
    """Make a Feature of one string of bytes.

    Args:
        value: bytes, bytearray, memoryview or str (as UTF-8), or a list or array with one of them.

    Raises:
        TypeError, ValueError: it is neither, or not one.

    >>> bytes_feature(b"abc").bytes_list.value
    [b'abc']
    """
    return _single(value, BYTES, "bytes_list_feature")


def int64_list_feature(values: Iterable[Any]) -> messages.Feature:
    """Make a Feature of integers.

    Args:
        values: a list, a 1-D array or any other iterable of what int64_feature takes.

    Raises:
        TypeError, ValueError: one of them is no integer, or does not fit into int64.

    >>> int64_list_feature([1, True]).int64_list.value
    [1, 1]
    """
    return _several(values, INT64)


def float_list_feature(values: Iterable[Any]) -> messages.Feature:
    """Make a Feature of numbers, which are rounded to float32.

    Args:
        values: a list, a 1-D array or any other iterable of numbers.

    Raises:
        TypeError: one of them is no number.

    >>> float_list_feature([1, 2.5]).float_list.value
    [1.0, 2.5]
    """
    return _several(values, FLOAT)


def bytes_list_feature(values: Iterable[Any]) -> messages.Feature:
    """Make a Feature of strings of bytes.

    Args:
        values: a list, a 1-D array or any other iterable of what bytes_feature takes.

    Raises:
        TypeError: one of them is neither bytes nor str.

    >>> bytes_list_feature([b"a", "b"]).bytes_list.value
    [b'a', b'b']
    """
    return _several(values, BYTES)


def make_feature(kind: int, values: Values) -> messages.Feature:
    """Make the message of values that `feature_values` gave."""
    if kind == BYTES:
        return messages.Feature(bytes_list=messages.BytesList(value=values))
    if kind == UNSET:
        return messages.Feature()
    numbers = np.asarray(values).tolist()  # protobuf takes Python's own numbers several times as fast
    if kind == FLOAT:
        return messages.Feature(float_list=messages.FloatList(value=numbers))
    return messages.Feature(int64_list=messages.Int64List(value=numbers))


def _single(value: Any, kind: int, plural: str) -> messages.Feature:
    if value is None:
        _refuse(value, kind, "")
    _, values = feature_values(value, kind=kind)
    if len(values) != 1:
        raise ValueError(f"expected one value but got {len(values)}: {shown(value)}. Use {plural} for them.")
    return make_feature(kind, values)


def _several(values: Any, kind: int) -> messages.Feature:
    scalar = _item_kind(values) is not None or values is None or getattr(values, "ndim", 1) == 0
    array = hasattr(values, "__array__")
    if scalar or isinstance(values, dict) or not (array or hasattr(type(values), "__iter__")):
        raise TypeError(f"expected a list or array of {_KINDS[kind]} but got {shown(values)}")
    if not array and not isinstance(values, (list, tuple, range)):
        values = list(values)
    return make_feature(kind, feature_values(values, kind=kind)[1])


# -- the rules ------------------------------------------------------------------------------------------------------


def feature_values(value: Any, where: str = "", kind: int | None = None) -> tuple[int, Values]:
    """Return the kind of the feature that `value` becomes, and its values. Pure: no I/O.

    Args:
        value: as in `feature`.
        where: put in front of the text of errors, such as "feature 'age': ".
        kind: the only kind wanted; by default the one that the value calls for.

    Raises:
        TypeError, ValueError: as `feature` says; the text has `where` and the value.

    >>> feature_values((1.5, 2))
    Traceback (most recent call last):
      ...
    TypeError: expected values of one kind but got float and int64 (item 1) in (1.5, 2). Convert them to one type.
    """
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None and kind is None:
        return UNSET, []
    if _item_kind(value) is not None:
        return _convert_items([value], value, where, kind)
    if isinstance(value, (NoBytes, range)) and not value:
        kind = kind or (INT64 if isinstance(value, range) else BYTES)
    if isinstance(value, (list, tuple, range)):
        return _convert_items(value, value, where, kind)
    if not isinstance(value, (np.ndarray, np.generic)):
        if not hasattr(value, "__array__"):
            _refuse(value, kind, where)
        value = np.asarray(value)
    return _convert_array(value, where, kind)


def int64_values(array: npt.NDArray[Any], where: str = "") -> npt.NDArray[np.int64]:
    """Convert an array of bools or integers of any width and byte order; contiguous, a view where possible.

    Raises:
        ValueError: a uint64 is above 2**63 - 1; the text has `where`, the place and the value.
    """
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size:
        place = int(array.argmax())
        largest = int(array.reshape(-1)[place])
        if largest > _INT64_MAX:
            raise ValueError(
                f"{where}expected at most 2**63 - 1 but got {largest} at place {place}. "
                "Store it as bytes or as two numbers."
            )
    return np.ascontiguousarray(array, np.int64)


def float32_values(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Convert an array of numbers to float32 as protobuf does: rounded, and infinite beyond its range."""
    if array.dtype.kind in "iu":
        array = array.astype(np.float64)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, np.float32)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Tell whether entries of this type are floats: numpy's own, or bfloat16."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def check_name(name: object, noun: str = "feature") -> None:
    """Raise if this is no name for a feature.

    Raises:
        TypeError: it is no str.
        ValueError: it is no Unicode.
    """
    if not isinstance(name, str):
        raise TypeError(f"expected the name of a {noun} as str but got {shown(name)}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"expected the name of a {noun} in Unicode but got {shown(name)}: {error.reason}"
        ) from error


def shown(value: object) -> str:
    """Return the value as text of bounded length, with its type.

    >>> shown(2.5)
    '2.5 (float)'
    """
    return f"{_short(value)} ({type(value).__name__})"


def _short(value: object) -> str:
    return " ".join(_SHORT.repr(value).split())


def _item_kind(item: object) -> int | None:
    if isinstance(item, (bool, int, np.integer, np.bool_)) and not isinstance(item, np.timedelta64):
        return INT64
    if isinstance(item, (float, np.floating)) or type(item).__name__ == "bfloat16":
        return FLOAT
    if isinstance(item, (bytes, str, bytearray, memoryview)):
        return BYTES
    return None


def _convert_items(items: Any, whole: Any, where: str, wanted: int | None) -> tuple[int, Values]:
    """Convert a sequence, which is all of `whole` or its only value."""
    found = wanted
    plain = list(items)
    for place, given in enumerate(plain):
        item, kind = given, _item_kind(given)
        if kind is None or isinstance(item, enum.Enum):
            plain[place] = item = _unwrapped(item, place if len(plain) > 1 else None, where, wanted)
            kind = _item_kind(item)
        if found is None:
            found = kind
        elif kind != found and wanted is not None and not (wanted == FLOAT and kind == INT64):
            _refuse(item, wanted, where, place if len(plain) > 1 else None)
        elif kind != found and wanted is None:
            assert kind is not None
            raise TypeError(
                f"{where}expected values of one kind but got {_NAMES[found]} and {_NAMES[kind]} (item {place}) "
                f"in {_short(whole)}. Convert them to one type."
            )
    if found is None:
        return UNSET, []
    return found, _convert_plain(plain, found, where)


def _convert_plain(items: list[Any], kind: int, where: str) -> Values:
    if kind == BYTES:
        return [_as_bytes(item, where) for item in items]
    if kind == INT64:
        for place, item in enumerate(items):
            if not _INT64_MIN <= item <= _INT64_MAX:
                raise ValueError(
                    f"{where}expected an integer from -2**63 to 2**63 - 1 but got {shown(int(item))}"
                    + (f" as item {place}" if len(items) > 1 else "")
                )
        return np.array(items, np.int64)
    try:
        return float32_values(np.array([float(item) for item in items], np.float64))
    except OverflowError as error:
        raise ValueError(f"{where}expected numbers that fit into a float but got {shown(items)}") from error


def _as_bytes(item: Any, where: str) -> bytes:
    if isinstance(item, str):
        try:
            return item.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{where}expected Unicode but got {shown(item)}: {error.reason}. Pass bytes instead."
            ) from error
    return bytes(item)


def _unwrapped(item: Any, place: int | None, where: str, kind: int | None) -> Any:
    """Return the scalar that an item of a list stands for."""
    if isinstance(item, enum.Enum):
        item = item.value
    elif not isinstance(item, (list, tuple)) and hasattr(item, "__array__"):
        array = np.asarray(item)
        item = array[()] if array.ndim == 0 else array
    if _item_kind(item) is None:
        _refuse(item, kind, where, place)
    return item


def _convert_array(array: Any, where: str, wanted: int | None) -> tuple[int, Values]:
    if np.ma.is_masked(array):
        raise ValueError(f"{where}expected values but got masked ones in {_short(array)}. Fill them first.")
    array = np.asarray(array)
    if array.ndim > 1:
        _refuse(array, wanted, where)
    array = array.reshape(-1)
    kind = array.dtype.kind
    if kind in "OSUT":
        typed = BYTES if kind != "O" and not array.size and wanted is None else wanted
        return _convert_items(array.tolist(), array, where, typed)
    found = INT64 if kind in "biu" else FLOAT if is_float(array.dtype) else None
    if found is None or wanted not in (None, found, FLOAT):
        _refuse(array[0] if array.size == 1 else array, wanted, where)
    if FLOAT in (wanted, found):
        return FLOAT, float32_values(array)
    return INT64, int64_values(array, where)


def _refuse(value: Any, kind: int | None, where: str, place: int | None = None) -> NoReturn:
    """Raise the error for a value that is not of the wanted kind, or of none."""
    wanted = "bool, int, float, str or bytes" if kind is None else _KINDS[kind]
    advice = next((" " + text for types, text in _ADVICE if isinstance(value, types)), "")
    got = shown(value)
    if isinstance(value, np.ndarray):
        got = f"{_short(value)}, an array of shape {value.shape} and type {value.dtype}"
        if value.ndim <= 1:
            advice = " Convert it to one of these first."
    if place is not None:
        got += f" as item {place}"
    text = f"{where}expected {wanted} but got {got}.{advice}"
    if kind == INT64 and isinstance(value, (float, np.floating)) and not np.isfinite(value):
        raise ValueError(text)
    raise TypeError(text)
