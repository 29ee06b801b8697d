"""Python's numbers, strings and sequences as arrays of a given type, by the rules of TensorFlow's conversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.values.to_array import Leaves, all_are, leaves_of, limits_of, of_leaves

__all__ = ["STRING", "cast_array", "kernel_name", "number_of", "of_literal", "of_numbers", "refuse"]

STRING: Final = np.dtype(object)
_FLOATS: Final = frozenset(map(np.dtype, ("float16", "float32", "float64")))
_DIRECT_INTS: Final = frozenset(map(np.dtype, ("int32", "int64", "uint64")))
_LARGEST: Final = 3.4028234e38  # a float32 can be
_REAL: Final = (int, float, np.integer, np.floating)
_SMALL: Final = 65504  # fits every float


def kernel_name(dtype: np.dtype[Any]) -> str:
    """The name of a type in the messages of TensorFlow's kernels.

    >>> kernel_name(np.dtype("float32")), kernel_name(STRING)
    ('float', 'string')
    """
    return op_name(dtype_name(dtype))


def cast_array(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Cast numbers as the processor does: floats are cut off, integers wrap round."""
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    with np.errstate(all="ignore"):  # what does not fit is what the processor makes of it
        return array.astype(dtype)


def number_of(value: float, dtype: np.dtype[Any] | None) -> Any:
    """A number of a type for most of Python's, quickly; None for the others, which `convert` knows."""
    if dtype is None:
        if type(value) is int:
            return np.int32(value) if -(2**31) <= value < 2**31 else None
        return np.float32(value) if -_LARGEST < value < _LARGEST else None
    kind = dtype.char
    if kind in "fde":
        return dtype.type(value) if -_SMALL < value < _SMALL else None
    return dtype.type(value) if kind in "ilhbq" and type(value) is int and -128 <= value < 128 else None


def of_numbers(values: Any, dtype: np.dtype[Any] | None) -> npt.NDArray[Any] | None:
    """An array of a flat list of ints, or of floats, quickly; None for what is not so simple."""
    kinds = set(map(type, values))
    if kinds == {int}:
        if min(values) < -(2**31) or max(values) >= 2**31:
            return None
        if dtype is None or dtype.char in "il":
            return np.array(values, np.int32 if dtype is None else dtype)
        return np.array(values, dtype) if dtype.char in "fd" else None
    if kinds == {float} and (dtype is None or dtype.char in "fd"):
        wide = np.array(values)
        return wide.astype(np.float32 if dtype is None else dtype) if np.abs(wide).max() < _LARGEST else None
    return None


def of_literal(value: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """An array of a type out of Python's values, by the rules of TensorFlow's conversion."""
    shape, leaves = leaves_of(value)
    made = _direct(leaves, dtype)
    if made is not None:
        return made.reshape(shape)
    array = _inferred(leaves).reshape(shape)
    if not array.size:
        return np.zeros(shape, dtype)
    if not _is_compatible(dtype, array.dtype):
        refuse(value, dtype)
    if array.dtype.kind == "f" and dtype.kind in "fcV":
        array = np.array(leaves, np.float64).reshape(shape)
    return cast_array(array, dtype)


def refuse(value: Any, dtype: np.dtype[Any]) -> Any:
    """Say that a value cannot be of a type.

    Raises:
        TypeError: always; the text is TensorFlow's.
    """
    raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {kernel_name(dtype)}")


def _inferred(leaves: Leaves) -> npt.NDArray[Any]:
    """What they are by themselves; floats may be larger than a float32 here."""
    if len(leaves) and isinstance(leaves[0], float) and all_are(leaves, *_REAL):
        return np.array(leaves, np.float64)
    return of_leaves(leaves)


def _direct(leaves: Leaves, dtype: np.dtype[Any]) -> npt.NDArray[Any] | None:
    """Those types that TensorFlow reads out of Python's values themselves; None for the others."""
    if dtype in _FLOATS and all_are(leaves, *_REAL):
        with np.errstate(all="ignore"):
            return np.asarray(_mapped(float, leaves), np.float64).astype(dtype)
    if dtype in _DIRECT_INTS and all_are(leaves, int, np.integer):
        smallest, largest = limits_of(leaves) if len(leaves) else (0, 0)
        if np.iinfo(dtype).min <= smallest and largest <= np.iinfo(dtype).max:
            return np.array(leaves, dtype)
    if dtype == np.complex128 and all_are(leaves, *_REAL, complex):
        return np.array(_mapped(complex, leaves), np.complex128)
    return None


def _mapped(kind: Callable[[Any], Any], leaves: Leaves) -> Leaves:
    return leaves if isinstance(leaves, np.ndarray) else list(map(kind, leaves))


def _is_compatible(wanted: np.dtype[Any], found: np.dtype[Any]) -> bool:
    if wanted == found:
        return True
    if wanted.kind in "iu":
        return found.kind in "iu"
    if wanted.kind == "c":
        return found.kind in "iufc"
    return wanted.kind in "fV" and found.kind in "iuf"
