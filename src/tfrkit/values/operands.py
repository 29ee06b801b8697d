"""Values of operations: what TensorFlow makes of an argument, also when its type is given or that of another argument.

A value is a numpy scalar or array, `bytes`, or a BytesColumn; such a thing is a tensor here, and keeps its type.
Python's numbers, strings and sequences are literals: they take the type that is wanted if TensorFlow converts them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.tensor_types import tensor_type_of
from tfrkit.values.literal import STRING, cast_array, kernel_name, number_of, of_literal, of_numbers, refuse
from tfrkit.values.to_array import to_array
from tfrkit.values.types import KNOWN, check_type

__all__ = [
    "STRING",
    "Alike",
    "Pack",
    "alike",
    "alike_to_first",
    "as_array",
    "as_type",
    "as_value",
    "cast_array",
    "convert",
    "convert_hinted",
    "dtype_of",
    "integers",
    "is_tensor",
    "kernel_name",
    "number_of",
    "of_array",
    "shape_of",
    "takes_alike",
]

_MOST_TYPES: Final = 200
_types: Final[dict[Any, np.dtype[Any]]] = {}  # by what named them
_KINDS: Final = frozenset({np.ndarray, bytes, BytesColumn, RecordColumn})
_SEQUENCES: Final = (list, tuple)
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Pack(list[Any]):
    """A list in which numpy's values are tensors: they keep their types when it becomes one tensor, or an array."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The one tensor that they make."""
        return as_array(convert(self, dtype))


class Alike(NamedTuple):
    """Which arguments of an operation have one type.

    Attributes:
        names: of the arguments.
        by_first: whether the first one decides, and the others are converted to its type if that goes; otherwise the
            first tensor decides, and what cannot be converted is an error.
        listed: whether the one argument is a list of values that have one type.
    """

    names: tuple[str, ...]
    by_first: bool = False
    listed: bool = False


def takes_alike(
    *names: str, by_first: bool = False, listed: bool = False
) -> Callable[[_Function], _Function]:
    """Mark which arguments of an operation have one type, so that `tf.functions.lift` can convert them together."""

    def mark(function: _Function) -> _Function:
        function.__dict__["alike"] = Alike(names, by_first, listed)
        return function

    return mark


def is_tensor(value: Any) -> bool:
    """Whether a value has a type already."""
    return type(value) in _KINDS or isinstance(value, np.generic)


def dtype_of(value: Any) -> np.dtype[Any]:
    """The type of a value's elements; object for strings.

    >>> dtype_of(b"x"), dtype_of(np.int8(1))
    (dtype('O'), dtype('int8'))
    """
    return STRING if type(value) is bytes else value.dtype


def shape_of(value: Any) -> tuple[int, ...]:
    """The sizes of a value."""
    return () if type(value) is bytes else value.shape


def as_array(value: Any) -> npt.NDArray[Any]:
    """A value as an array, of bytes objects if it is of strings; numbers are not copied."""
    if isinstance(value, BytesColumn):
        return value.to_numpy()
    if type(value) is bytes:
        return np.array(value, object)
    return np.asarray(value)


def of_array(array: Any) -> Any:
    """What numpy made as a value: a scalar for rank 0, a BytesColumn for bytes objects."""
    if type(array) is not np.ndarray:
        return array
    if not array.ndim:
        return array[()]
    return BytesColumn.from_list(array) if array.dtype == STRING else array


def as_value(value: Any) -> Any:
    """Make a value of an argument of whatever type it has.

    Raises:
        ValueError: TensorFlow has no tensor for it; the text is TensorFlow's.

    >>> as_value(3), as_value("x"), as_value([1, 2.5])
    (np.int32(3), b'x', array([1. , 2.5], dtype=float32))
    """
    return value if _is_finished(value) else convert(value)


def convert(value: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """Make a value of anything, of a type if one is given; numpy's values are cast to it.

    Raises:
        TypeError, ValueError: TensorFlow has no tensor of this type for it; the text is TensorFlow's.

    >>> convert(np.array([1.7, -1.7]), np.dtype("int32"))
    array([ 1, -1], dtype=int32)
    >>> convert(1.5, np.dtype("int32"))
    Traceback (most recent call last):
    TypeError: Cannot convert 1.5 to EagerTensor of dtype int32
    """
    kind = type(value)
    if kind is int or kind is float:
        number = number_of(value, dtype)
        if number is not None:
            return number
    if isinstance(value, bytes):
        return value if dtype is None or dtype == STRING else refuse(value, dtype)
    if isinstance(value, BytesColumn):
        if dtype is None or dtype == STRING:
            return value if value.shape else value.to_numpy().item()
        value = value.to_numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return _of_numpy(value, dtype)
    if kind is Pack:
        return _packed(value, dtype)
    if kind is list or kind is tuple:
        numbers = of_numbers(value, dtype)
        if numbers is not None:
            return numbers
    if dtype is None:
        return of_array(_finished(to_array(value)))
    return of_array(of_literal(value, dtype))


def convert_hinted(value: Any, dtype: np.dtype[Any]) -> Any:
    """Make a value of a type if TensorFlow converts it to that, else of the type that it has by itself."""
    if _is_finished(value) and dtype_of(value) == dtype:
        return value
    try:
        return convert(value, dtype)
    except (TypeError, ValueError):
        return convert(value)


def alike(op: str, *values: Any, first: int = 0) -> list[Any]:
    """Make values of one type, that of the first tensor, or of the first one if all are literals.

    Args:
        op: TensorFlow's name of the operation.
        values: tensors and literals.
        first: the number of the first one among the inputs of the operation.

    Raises:
        TypeError, ValueError: a literal cannot be of that type.
        InvalidArgumentError: a tensor is of another type, or the operation does not take the type.

    >>> alike("Maximum", 1, np.float32(2.5))
    [np.float32(1.0), np.float32(2.5)]
    """
    if _are_right(op, values):
        return list(values)
    dtype = next((dtype_of(value) for value in values if is_tensor(value)), None)
    if dtype is None:
        dtype = dtype_of(convert(values[0]))
    made = [value if is_tensor(value) else convert(value, dtype) for value in values]
    _check(op, made, first)
    return made


def alike_to_first(op: str, *values: Any) -> list[Any]:
    """Make values of the type of the first where TensorFlow converts them to it.

    Raises:
        InvalidArgumentError: one cannot be of that type, or the operation does not take the type.
    """
    if _are_right(op, values):
        return list(values)
    first = as_value(values[0])
    dtype = dtype_of(first)
    made = [first, *(value if is_tensor(value) else convert_hinted(value, dtype) for value in values[1:])]
    _check(op, made)
    return made


def _are_right(op: str, values: tuple[Any, ...]) -> bool:
    """Whether two values have one type that the operation is known to take; found out quickly."""
    if len(values) != 2:
        return False
    kinds: list[Any] = [getattr(value, "dtype", None) for value in values]
    return kinds[0] is not None and kinds[0] is kinds[1] and (op, kinds[0].num) in KNOWN


def integers(
    value: Any, attribute: str, allowed: tuple[str, ...] = ("int32", "int64")
) -> npt.NDArray[np.int64]:
    """Make an array of integers of an argument that is a shape, an axis and the like.

    Args:
        value: integers, or a shape that is fully known.
        attribute: what TensorFlow calls their type.
        allowed: types that tensors may have.

    Raises:
        InvalidArgumentError: they are of another type; the text is TensorFlow's.
        ValueError: they are no numbers, or a shape with sizes that are not known.

    >>> integers((2, 3), "Tshape"), integers([], "Tshape").dtype
    (array([2, 3]), dtype('int64'))
    """
    if type(value) in _SEQUENCES and all(type(item) is int for item in value):
        return np.array(value, np.int64)
    if hasattr(value, "as_list"):
        sizes = value.as_list()
        if None in sizes:
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        value = sizes
    found = as_array(as_value(value))
    if not is_tensor(value) and not found.size and found.dtype == np.float32:
        return np.zeros(found.shape, np.int64)
    if found.dtype.kind not in "iu":
        check_type("", found.dtype, attribute, list(allowed))
    return found.astype(np.int64, copy=False)


def as_type(dtype: Any) -> np.dtype[Any]:
    """The numpy type that an argument names; see `model.element_spec.as_dtype`. What was asked for once is quick."""
    try:
        return _types[dtype]
    except (KeyError, TypeError):
        found = as_dtype(dtype)
        if isinstance(dtype, Hashable) and len(_types) < _MOST_TYPES:
            _types[dtype] = found
        return found


def _check(op: str, values: list[Any], first: int = 0) -> None:
    dtype = dtype_of(values[0])
    check_type(op, dtype)
    for number, value in enumerate(values, first):
        if dtype_of(value) != dtype:
            raise InvalidArgumentError(
                f"cannot compute {op} as input #{number}(zero-based) was expected to be a {kernel_name(dtype)} "
                f"tensor but is a {kernel_name(dtype_of(value))} tensor"
            )


def _is_finished(value: Any) -> bool:
    """Whether it is a value as it is."""
    kind = type(value)
    if kind is np.ndarray:
        return bool(value.ndim and value.dtype.isnative and value.dtype.kind in "biufcV")
    return kind is bytes or (isinstance(value, np.generic) and value.dtype.kind in "biufc")


def _of_numpy(value: Any, dtype: np.dtype[Any] | None) -> Any:
    array = np.asarray(value)
    if dtype is not None and array.dtype != dtype:
        array = array.astype(object) if dtype == STRING else cast_array(array, dtype)
    return of_array(_finished(to_array(array)))


def _finished(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Check that a tensor can hold it, and put the bytes in the machine's order."""
    if tensor_type_of(array.dtype) is None:
        name = {"M": "NPY_DATETIME", "m": "NPY_TIMEDELTA", "g": "NPY_LONGDOUBLE"}.get(
            array.dtype.char, str(array.dtype)
        )
        raise ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {name}).")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _packed(values: Pack, dtype: np.dtype[Any] | None) -> Any:
    """One value of a list in which some are tensors, which decide the type."""
    if dtype is None:
        dtype = _tensor_type(values)
    if dtype is not None and all(isinstance(value, np.generic) and value.dtype is dtype for value in values):
        return np.array(list(values), dtype)
    parts = []
    for number, value in enumerate(values):
        part = convert(value, None if is_tensor(value) else dtype)
        if dtype is not None and dtype_of(part) != dtype:
            raise InvalidArgumentError(
                f"cannot compute Pack as input #{number}(zero-based) was expected to be a {kernel_name(dtype)} tensor "
                f"but is a {kernel_name(dtype_of(part))} tensor"
            )
        parts.append(as_array(part))
    for number, part in enumerate(parts):
        if part.shape != parts[0].shape:
            shapes = [f"[{','.join(map(str, one.shape))}]" for one in (parts[0], part)]
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: values[0].shape = {shapes[0]} != "
                f"values[{number}].shape = {shapes[1]}"
            )
    return of_array(np.stack(parts))


def _tensor_type(values: list[Any]) -> np.dtype[Any] | None:
    for value in values:
        if is_tensor(value):
            return dtype_of(value)
        if isinstance(value, Pack) and (found := _tensor_type(value)) is not None:
            return found
    return None
