"""tf.py_function and tf.numpy_function: Python functions where TensorFlow expects operations.

Here every function is one, so these only convert and check as TensorFlow does. Inside a pipeline the types that a
numpy_function returns must be those that were announced; outside of one they may be any.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.python_error import error_of
from tfrkit.data.elements.structure import flatten
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import as_dtype, dtype_name
from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.tf.tensors.conversion import convert_to_tensor
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.values.seeds import in_scope, run_outside
from tfrkit.values.stateful import note

__all__ = ["numpy_function", "py_func", "py_function"]

_TENSORS: Final = frozenset({Tensor, RaggedTensor, SparseTensor})
_numbers: Final = itertools.count()  # TensorFlow numbers such functions in its messages


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """Call a function with Tensors.

    Args:
        func: takes Tensors, and returns values that Tensors can be made of. None: a decorator is returned.
        inp: its arguments.
        Tout: types or specs of what it returns; a list of them, or a single one.
        name: ignored.

    Raises:
        InvalidArgumentError: it returns too few values, or of another type, or raises a ValueError or TypeError.
        UnknownError: it raises another exception.
    """
    if func is None:
        return _decorator(py_function, Tout)
    _check_inputs(inp, "py_function")
    note()
    given = [wrap(unwrap(each)) if _is_tensor(each) else convert_to_tensor(each) for each in _listed(inp)]
    single = not isinstance(Tout, (list, tuple))
    wanted = [Tout] if single else list(Tout)
    number = next(_numbers)
    try:
        made = run_outside(func, *given)
        values = [] if made is None else list(made) if isinstance(made, (list, tuple)) else [made]
        found = [_as_announced(value, spec) for value, spec in zip(values, wanted, strict=False)]
    except Exception as failure:
        raise error_of(failure) from failure
    if len(found) < len(wanted):
        raise InvalidArgumentError(
            f"pyfunc_{number} returns {len(found)} values, but expects to see {len(wanted)} values."
        )
    return found[0] if single else found


def numpy_function(
    func: Any = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a function with arrays.

    Args:
        func: takes numpy's values, bytes for a string, and returns such. None: a decorator is returned.
        inp: its arguments.
        Tout: types of what it returns; a list of them, or a single one.
        stateful: whether the order of its calls counts.
        name: ignored.

    Raises:
        InvalidArgumentError: in a pipeline, it returns another number of values or another type, or raises a
            ValueError or TypeError.
        UnknownError: in a pipeline, it raises another exception.
    """
    if func is None:
        return _decorator(numpy_function, Tout)
    _check_inputs(inp, "numpy_function")
    if stateful:
        note()
    if in_scope():
        return _checked_call(func, inp, Tout)
    made = func(*[np.array(each.numpy() if isinstance(each, Tensor) else each) for each in _listed(inp)])
    found = [value if value is None else convert_to_tensor(value) for value in _flat(made)]
    return found[0] if len(found) == 1 else found


def py_func(func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """The same under its name in TensorFlow 1."""
    return numpy_function(func, inp, Tout, stateful, name)


def _checked_call(func: Callable[..., Any], inp: Any, types: Any) -> Any:
    single = not isinstance(types, (list, tuple))
    wanted = [as_dtype(each) for each in ([types] if single else types)]
    number = next(_numbers)
    try:
        made = run_outside(func, *[_argument(convert_to_tensor(each).value) for each in _listed(inp)])
        parts = [] if made is None else list(made) if isinstance(made, (list, tuple)) else [made]
        values = [_array(part) for part in parts]
    except Exception as failure:
        raise error_of(failure) from failure
    if len(values) != len(wanted):
        raise InvalidArgumentError(
            f"pyfunc_{number} returns {len(values)} values, but expects to see {len(wanted)} values."
        )
    for at, (value, dtype) in enumerate(zip(values, wanted, strict=True)):
        found = np.dtype(object) if isinstance(value, (bytes, BytesColumn)) else value.dtype
        if found != dtype:
            shown = op_name(dtype_name(found)), op_name(dtype_name(dtype))
            raise InvalidArgumentError(
                f"{at}-th value returned by pyfunc_{number} is {shown[0]}, but expects {shown[1]}"
            )
    tensors = [Tensor(value) for value in values]
    return tensors[0] if single else tensors


def _argument(value: Any) -> Any:
    """An array that the function may write to; a scalar or bytes."""
    if isinstance(value, BytesColumn):
        return value.to_numpy()
    return value.copy() if isinstance(value, np.ndarray) and not value.flags.writeable else value


def _array(value: Any) -> Any:
    """What numpy makes of a result."""
    if isinstance(value, (bytes, BytesColumn)):
        return value
    if isinstance(value, str):
        return value.encode()
    array = np.asarray(value.numpy() if isinstance(value, Tensor) else value)
    if array.dtype.kind in "SUO":
        return convert_to_tensor(array).value
    return array if array.ndim else array[()]


def _as_announced(value: Any, spec: Any) -> Any:
    if _is_tensor(value) and not isinstance(value, Tensor):
        return value
    return convert_to_tensor(value, getattr(spec, "dtype", spec))


def _is_tensor(value: Any) -> bool:
    return type(value) in _TENSORS


def _listed(inp: Any) -> list[Any]:
    return [inp[number] for number in range(len(inp))] if isinstance(inp, Tensor) else list(inp)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in _flat(part)]
    return flatten(value)


def _check_inputs(inp: Any, word: str) -> None:
    if inp is None:
        raise TypeError(
            "Missing argument `inp`:\n  You must set the `inp` argument (the list of arguments to the\n"
            f"  function), unless you use `tf.{word}` as a decorator(`func=None`)."
        )


def _decorator(function: Callable[..., Any], types: Any) -> Callable[..., Any]:
    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def call(*args: Any) -> Any:
            return function(func, list(args), types)

        return call

    return decorate
