"""The arguments of random operations, taken and refused as TensorFlow does it: shapes, bounds, seeds, algorithms."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.values.philox import scramble
from tfrkit.values.random_numbers import RandomStream
from tfrkit.values.to_array import to_array

__all__ = ["as_type", "bound", "check_accepted", "op_seed", "stateless_stream", "tensor_shape"]

_PHILOX: Final = ("philox", "auto_select", 1, 3)
_THREEFRY: Final = ("threefry", 2)


def tensor_shape(shape: Any, attribute: str = "T") -> tuple[tuple[int, ...], str]:
    """Return the sizes that a shape has, and the name of the type in which it says so.

    Args:
        shape: a list or array of integers, or a TensorShape.
        attribute: what TensorFlow calls that type.

    Raises:
        InvalidArgumentError: it is no shape.
        ValueError: a size is not known.

    >>> tensor_shape([2, 3]), tensor_shape(np.array([5]))
    (((2, 3), 'int32'), ((5,), 'int64'))
    """
    if hasattr(shape, "as_list"):
        shape = shape.as_list()
    array = to_array(shape)
    if not array.size and isinstance(shape, (list, tuple)):
        return (), "int32"
    if array.dtype not in (np.int32, np.int64):
        raise InvalidArgumentError(
            f"Value for attr '{attribute}' of {op_name(dtype_name(array.dtype))} is not in the list of allowed "
            "values: int32, int64"
        )
    if array.ndim != 1:
        raise InvalidArgumentError(
            f"shape must be a vector of {{int32,int64}}, got shape {_shown(array.shape)}"
        )
    for size in array.tolist():
        if size < 0:
            raise InvalidArgumentError(f"Dimension {size} must be >= 0")
    return tuple(array.tolist()), array.dtype.name


def _shown(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


def as_type(value: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Make a tensor of the type of a value, if it can be one.

    Raises:
        TypeError: it cannot: text is no number, and a fraction no integer.
        ValueError: TensorFlow has no tensor for it.

    >>> as_type(3, np.dtype("float32"))
    array(3., dtype=float32)
    """
    array = to_array(value)
    wanted, given = _kind(dtype), _kind(array.dtype) if array.size else "integer"
    if wanted == "other" or given == "other" or (wanted == "integer" and given == "float"):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {op_name(dtype_name(dtype))}")
    if isinstance(value, (int, float, list, tuple)):
        return np.asarray(value).astype(dtype)  # not by way of the type that it would have alone
    return array.astype(dtype)


def _kind(dtype: np.dtype[Any]) -> str:
    """Whether it is "integer", "float" or "other"; numpy does not know what the types of ml_dtypes are."""
    if dtype.kind in "iub":
        return "integer"
    return "float" if dtype.kind in "fc" or "float" in dtype.name else "other"


def bound(value: npt.NDArray[Any], name: str) -> int:
    """Return a bound of integers, of which there is one for all.

    Raises:
        InvalidArgumentError: there are several.
    """
    if value.ndim:
        raise InvalidArgumentError(f"{name} must be 0-D, got shape {_shown(value.shape)}")
    return int(value)


def check_accepted(dtype: np.dtype[Any], accepted: tuple[str, ...]) -> None:
    """See that an operation has a type.

    Raises:
        ValueError: it has not.
    """
    if dtype_name(dtype) not in accepted:
        listed = ", ".join(f"tf.{name}" for name in accepted)
        raise ValueError(
            f"Argument `dtype` got invalid value <dtype: '{dtype_name(dtype)}'>. Accepted dtypes are ({listed})."
        )


def op_seed(seed: Any) -> int | None:
    """Return the seed of an operation as an integer, or None.

    Raises:
        TypeError: it is no number.
    """
    if seed is None:
        return None
    array = np.asarray(seed)
    if array.ndim or array.dtype.kind not in "iufb":
        raise TypeError(
            f"unsupported operand type(s) for %: '{type(seed).__name__}' and 'int': a seed is one integer"
        )
    return int(array)


def stateless_stream(seed: Any, alg: Any = "philox") -> RandomStream:
    """Make the stream of numbers that belongs to two seeds.

    Raises:
        InvalidArgumentError: there are not two integers, or it is another algorithm than Philox.
        ValueError: there is no such algorithm.
    """
    if alg not in _PHILOX + _THREEFRY:
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox algorithm, "
            "threefry for the ThreeFry algorithm, and auto_select for auto-selection."
        )
    array = to_array(seed)
    if array.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"Value for attr 'Tseed' of {op_name(dtype_name(array.dtype))} is not in the list of allowed values: "
            "int32, int64"
        )
    if array.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {_shown(array.shape)}")
    if alg in _THREEFRY:
        raise InvalidArgumentError(
            "counter must be a vector with length at least 2; got shape: [1]. "
            "(Note that batched counters are not supported yet.)"
        )
    return RandomStream(*scramble(*array.tolist()))
