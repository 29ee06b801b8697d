"""String tensors as arguments of operations: functions over all strings of a value.

A value is one byte string, a column of them, or a Ragged of them; the result has the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.ragged import Ragged
from tfrkit.values.attributes import str_attribute
from tfrkit.values.operands import kernel_name
from tfrkit.values.strings import as_strings
from tfrkit.values.to_array import to_array

__all__ = [
    "check_choice", "flat_strings", "map_strings", "scalar_string", "shape_text", "strings_of",
    "tensor_strings", "with_flat",
]  # fmt: skip


def flat_strings(value: BytesColumn) -> list[bytes]:
    """All strings of a column of any shape, in order."""
    return value.reshape((-1,)).to_list() if len(value.shape) != 1 else value.to_list()


def with_flat(ragged: Ragged, flat: Any) -> Ragged:
    """Put other values into the rows of a Ragged of any depth."""
    inner = ragged.values
    return Ragged.unchecked(with_flat(inner, flat) if isinstance(inner, Ragged) else flat, ragged.row_splits)


def strings_of(value: Any, op: str = "") -> BytesColumn:
    """Return the strings of an argument of an operation.

    Args:
        value: anything that `as_strings` takes.
        op: name of TensorFlow's kernel, if the kernel refuses numbers.

    Raises:
        InvalidArgumentError: they are numbers, and there is an `op`.
        ValueError: they are numbers; see `as_strings` for other errors.
    """
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "SUO":
        if op:
            raise InvalidArgumentError(
                f"cannot compute {op} as input #0(zero-based) was expected to be a string tensor but is a "
                f"{kernel_name(value.dtype)} tensor"
            )
        raise ValueError(
            f"Tensor conversion requested dtype string for Tensor with dtype {dtype_name(value.dtype)}"
        )
    return as_strings(value)


def tensor_strings(value: Any, op: str) -> BytesColumn:
    """The same of an operation whose kernel also refuses lists of numbers, as tensors of numbers."""
    return strings_of(value if isinstance(value, (bytes, str, BytesColumn)) else to_array(value), op)


def map_strings(
    value: Any, function: Callable[[list[bytes]], Iterable[Any]], dtype: Any = None, op: str = ""
) -> bytes | BytesColumn | Ragged | Any:
    """Call a function with all strings of a value, and return its results in the form of the value.

    Args:
        value: anything that `as_strings` takes, or a Ragged of strings.
        function: takes a list of strings, and returns a result for each.
        dtype: of the results, if they are numbers and not strings.
        op: see `strings_of`.

    >>> map_strings(["a", "bc"], lambda texts: [text * 2 for text in texts]).to_list()
    [b'aa', b'bcbc']
    """
    if type(value) is bytes:
        (one,) = function([value])
        return one if dtype is None else np.dtype(dtype).type(one)
    if isinstance(value, Ragged):
        return with_flat(value, map_strings(value.flat_values, function, dtype, op))
    column = strings_of(value, op)
    made = function(flat_strings(column))
    if dtype is None:
        entries = list(made)
        return entries[0] if column.shape == () else BytesColumn.from_list(entries).reshape(column.shape)
    numbers = np.asarray(made if isinstance(made, np.ndarray) else list(made), dtype)
    return numbers[0] if column.shape == () else numbers.reshape(column.shape)


def scalar_string(value: Any, refusal: str, op: str = "") -> bytes:
    """Return an argument that must be a single string.

    Raises:
        InvalidArgumentError: it has a shape; the text is `refusal` followed by the shape.
    """
    if isinstance(value, bytes):
        return value
    if type(value) is str:
        return value.encode()
    column = strings_of(value, op)
    if column.shape != ():
        raise InvalidArgumentError(f"{refusal}{shape_text(column.shape)}")
    return flat_strings(column)[0]


def shape_text(shape: Iterable[int | None]) -> str:
    """A shape as TensorFlow's kernels print it.

    >>> shape_text((2, 3)), shape_text(())
    ('[2,3]', '[]')
    """
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def check_choice(argument: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return an option that must be one of some strings.

    Raises:
        TypeError: it is not a string.
        InvalidArgumentError: it is another one.
    """
    text = str_attribute(value, argument, "")
    if text not in allowed:
        choices = ", ".join(f'"{choice}"' for choice in allowed)
        raise InvalidArgumentError(
            f"Value for attr '{argument}' of \"{text}\" is not in the list of allowed values: {choices}"
        )
    return text
