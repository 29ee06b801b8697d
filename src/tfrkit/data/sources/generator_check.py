"""What a generator yields, made into the element that was announced, or refused in TensorFlow's words.

Pure: no I/O.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfrkit.data.elements.element_values import to_value
from tfrkit.data.elements.structure import flatten, is_nested, map_structure, pack
from tfrkit.data.elements.structure_specs import types_of
from tfrkit.errors import InternalError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import TensorSpec, compatible_shapes, dtype_name, spec_of_value

__all__ = ["checker"]


def checker(spec: Any) -> Callable[[Any], Any]:
    """Make the function that converts and checks what is yielded.

    Args:
        spec: a structure of specs.

    Returns:
        A function of one yielded value. It raises TypeError if the value is not what the spec says, and InternalError
        for an object that is to be a string and is not one.

    >>> check = checker((TensorSpec([], "int32"), TensorSpec([None], "float32")))
    >>> check((1, [2, 3]))
    (np.int32(1), array([2., 3.], dtype=float32))
    >>> check((1, 2))
    Traceback (most recent call last):
    TypeError: `generator` yielded an element of shape () where an element of shape (None,) was expected.
    """
    leaves = flatten(spec)
    if not all(isinstance(leaf, TensorSpec) for leaf in leaves):
        return lambda value: _check_kinds(spec, value)

    if not is_nested(spec):
        return lambda value: _with_shape(_convert(value, spec), spec)

    def check(value: Any) -> Any:
        found = _flat_parts(spec, value)
        if found is None:
            raise TypeError(_other_structure(types_of(spec), value))
        # All are converted before the shape of any is looked at, as TensorFlow does.
        return pack(spec, list(map(_with_shape, list(map(_convert, found, leaves)), leaves)))

    return check


def _other_structure(expected: Any, value: Any) -> str:
    return (
        "`generator` yielded an element that did not match the expected structure. The expected structure was "
        f"{expected}, but the yielded element was {value}."
    )


def _flat_parts(spec: Any, value: Any) -> list[Any] | None:
    """The parts of a value that stand where the spec has leaves, in flat order; None if it is built differently."""
    if not is_nested(spec):
        return [value]
    if isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            return None
        pairs = [(spec[key], value[key]) for key in sorted(spec)]
    else:
        if not isinstance(value, type(spec)) or len(value) != len(spec):
            return None
        pairs = list(zip(spec, value, strict=True))
    found: list[Any] = []
    for part, item in pairs:
        inner = _flat_parts(part, item)
        if inner is None:
            return None
        found.extend(inner)
    return found


def _convert(value: Any, spec: TensorSpec) -> Any:
    if type(value) is spec.dtype.type:
        return value
    try:
        # Numpy's own strings lose zero bytes at their ends.
        wanted = object if spec.dtype.kind == "O" else None
        array = np.asarray(value.to_numpy() if isinstance(value, BytesColumn) else value, wanted)
        with np.errstate(all="ignore"):  # a copy: the generator may use its array again
            shared = array is value or array.base is not None
            return array.astype(spec.dtype, order="C", copy=shared)
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The expected type was "
            f"{dtype_name(spec.dtype)}, but the yielded element was {value}."
        ) from None


def _with_shape(array: Any, spec: TensorSpec) -> Any:
    if not compatible_shapes(spec.shape, array.shape):
        shape = "<unknown>" if spec.shape is None else spec.shape
        raise TypeError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape {shape} was expected."
        )
    if spec.dtype == object:
        return _to_strings(array)
    if not array.ndim:
        return array[()]
    return array


def _to_strings(array: Any) -> Any:
    flat = [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
    for item in flat:
        if not isinstance(item, bytes):
            raise InternalError(f"Unsupported object type {type(item).__name__}")
    return BytesColumn.from_list(flat).reshape(*array.shape) if array.ndim else flat[0]


def _check_kinds(spec: Any, value: Any) -> Any:
    """As above, where something ragged or sparse is expected: values are what they are, only numbers are converted."""
    try:
        found = _flat_parts(spec, value)
        if found is None:
            raise TypeError
        made = list(map(_normal, found, flatten(spec)))
    except (TypeError, ValueError):
        raise TypeError(_other_structure(spec, value)) from None
    for item, expected in zip(made, flatten(spec), strict=True):
        if not expected.is_compatible_with(item):
            shown = map_structure(spec_of_value, pack(spec, made))
            raise TypeError(
                f"`generator` yielded an element of {shown} where an element of {spec} was expected."
            )
    return pack(spec, made)


def _normal(value: Any, spec: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        if isinstance(value, (list, tuple)):
            raise TypeError
        return to_value(value)
    if isinstance(value, float) and spec.dtype.kind in "iu":
        raise TypeError
    return to_value(np.asarray(value).astype(spec.dtype) if spec.dtype != object else value)
