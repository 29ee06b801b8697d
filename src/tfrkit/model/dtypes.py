"""Types of feature values: what a spec may say, and the three names that everything else uses.

An Example holds int64, float32 and bytes, nothing else. A spec may name them as TensorFlow, numpy or Python do;
`type_name` makes one of TensorFlow's names of it, also of types that no feature can have, for the error to name.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["KINDS", "op_name", "public_name", "type_name"]

# The number of each type's list in a Feature message; TensorFlow calls bytes a string.
KINDS: Final = {"string": 1, "float32": 2, "int64": 3}

_NAMES: Final = {
    "int64": "int64",
    "float32": "float32",
    "float": "float32",
    "string": "string",
    "bytes": "string",
    "str": "string",
    "half": "float16",
    "double": "float64",
}
_PYTHON: Final = {
    int: "int64",
    float: "float32",
    bytes: "string",
    str: "string",
    object: "string",
    bool: "bool",
}
_OTHERS: Final = (
    {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    | {"float16", "float64", "bfloat16", "bool", "complex64", "complex128"}
    | {"variant", "resource", "qint8", "quint8", "qint16", "quint16", "qint32"}
)  # fmt: skip
_OP_NAMES: Final = {"float16": "half", "float32": "float", "float64": "double"}


def type_name(dtype: Any) -> str:
    """Return TensorFlow's name of a type, such as "int64", "float32" or "string".

    Args:
        dtype: a name ("int64", "float32", "bytes", also "float" and "string"), a numpy dtype or scalar class, one of
            int, float, bytes and str, or any object with such a `name`, as TensorFlow's own dtypes have.

    Raises:
        TypeError: it names no type.

    >>> type_name("bytes"), type_name(np.int64), type_name(float), type_name(np.dtype("float64"))
    ('string', 'int64', 'float32', 'float64')
    """
    if isinstance(dtype, str):
        name = _NAMES.get(dtype, dtype if dtype in _OTHERS else None)
    elif isinstance(dtype, type):
        name = _PYTHON.get(dtype) or (_numpy_name(np.dtype(dtype)) if issubclass(dtype, np.generic) else None)
    elif isinstance(dtype, np.dtype):
        name = _numpy_name(dtype)
    else:
        given = getattr(dtype, "name", None)
        name = type_name(given) if isinstance(given, str) else None
    if name is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {dtype!r} to a TensorFlow DType.")
    return name


def _numpy_name(dtype: np.dtype[Any]) -> str | None:
    if dtype.kind in "SUO":
        return "string"
    return dtype.name if dtype.name in _OTHERS or dtype.name in _NAMES else None


def public_name(name: str) -> str:
    """Return tfrkit's name of a type for one of TensorFlow's: "string" is "bytes", the others stay."""
    return "bytes" if name == "string" else name


def op_name(name: str) -> str:
    """Return the name that TensorFlow's kernels print: "float32" is "float", "float64" is "double"."""
    return _OP_NAMES.get(name, name)
