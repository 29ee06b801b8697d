"""PadPlan: the shapes to which a padded batch is padded, and with what values.

Pure: no I/O. Checks what the user asks for against the spec of the elements, with TensorFlow's rules and texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.element_values import to_value
from tfrkit.data.elements.structure import flatten, is_nested, map_structure, parts
from tfrkit.model.element_spec import ElementSpec, RaggedTensorSpec, TensorSpec, dtype_name, spec_of_value
from tfrkit.model.shapes import Dims, as_dims
from tfrkit.values.to_array import to_array

__all__ = ["PadPlan", "make_pad_plan"]


@dataclass(frozen=True, slots=True)
class PadPlan:
    """What to do with each leaf of the elements, in flat order.

    Attributes:
        shapes: sizes of a value after padding, None for the largest in the batch.
        values: what to pad with: a numpy scalar or bytes.
    """

    shapes: list[Dims]
    values: list[Any]


def make_pad_plan(spec: Any, shapes: Any, values: Any) -> PadPlan:
    """Check the arguments of padded_batch.

    Args:
        spec: of the elements.
        shapes: in the structure of an element, or None for the largest in each batch.
        values: in the structure of an element, with None for zero or b""; or one value for all; or None.

    Raises:
        TypeError: elements are no arrays, or a value is of another type.
        ValueError: shapes or values do not fit the elements.

    >>> make_pad_plan((TensorSpec([None], "int32"),), None, -1)
    PadPlan(shapes=[(None,)], values=[np.int32(-1)])
    """
    leaves = flatten(spec)
    for leaf in leaves:
        is_row = isinstance(leaf, RaggedTensorSpec) and leaf.ragged_rank == 0  # of a Ragged: an array
        if not isinstance(leaf, TensorSpec) and not is_row:
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements but type spec of elements "
                f"in the input dataset is not a subclass of TensorSpec: `{leaf}`."
            )
    return PadPlan(_shapes(spec, leaves, shapes), _values(spec, leaves, values))


def _shapes(spec: Any, leaves: list[Any], shapes: Any) -> list[Dims]:
    if shapes is None:
        for number, leaf in enumerate(leaves):
            if leaf.shape is None:
                raise ValueError(
                    f"You must provide `padded_shapes` argument because component {number} has unknown rank."
                )
        return [leaf.shape for leaf in leaves]
    found = [_as_shape(given) for given in _up_to(spec, shapes)]
    for shape, leaf in zip(found, leaves, strict=True):
        own = shape if leaf.shape is None else leaf.shape
        if len(shape) != len(own) or any(
            size is not None and have is not None and have > size
            for size, have in zip(shape, own, strict=True)
        ):
            raise ValueError(
                f"The padded shape {shape} is not compatible with the shape {leaf.shape} of the corresponding "
                "input component."
            )
    return found


def _as_shape(given: Any) -> Dims:
    """A shape in any of the forms that TensorFlow takes: also an array of sizes, -1 for one that is not known."""
    try:
        dims = as_dims(given)
    except (TypeError, ValueError):
        dims = None
    if dims is not None:
        return dims
    sizes = to_array(given)
    if sizes.ndim != 1:
        raise ValueError(
            f"Padded shape {given} must be a `tf.int64` vector tensor, but its shape was {sizes.shape}."
        )
    if sizes.dtype.kind not in "iu":
        raise TypeError(
            f"Padded shape {given} must be a `tf.int64` vector tensor, but its element type was "
            f"{dtype_name(sizes.dtype)}."
        )
    return tuple(None if size < 0 else size for size in sizes.tolist())


def _values(spec: Any, leaves: list[Any], values: Any) -> list[Any]:
    if is_nested(values):
        zeros = map_structure(lambda _: np.zeros(()), spec)  # what TensorFlow has there
        _up_to(values, zeros)
        given = flatten(values)
    else:
        given = [values] * len(leaves)
    return [_value(value, leaf) for value, leaf in zip(given, leaves, strict=True)]


def _value(value: Any, leaf: ElementSpec) -> Any:
    if value is None:
        return b"" if leaf.dtype == object else leaf.dtype.type(0)
    made = to_value(value)
    spec = spec_of_value(made)
    if spec.shape != ():
        raise ValueError(
            f"Invalid `padding_values`. `padding_values` values should be scalars, but got {spec.shape}."
        )
    if spec.dtype != leaf.dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type <dtype: '{dtype_name(spec.dtype)}'> does not "
            f"match type <dtype: '{dtype_name(leaf.dtype)}'> of the corresponding input component."
        )
    return made


def _up_to(shallow: Any, given: Any) -> list[Any]:
    """What stands in a structure in the places of the leaves of a shallower one."""
    if not is_nested(shallow):
        return [given]
    if not is_nested(given):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. "
            f"Input has type: '{type(given).__name__}'."
        )
    if isinstance(shallow, Mapping) != isinstance(given, Mapping):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"'{type(given).__name__}', while shallow structure has type '{type(shallow).__name__}'."
        )
    ours, theirs = parts(shallow), parts(given)
    if len(ours) != len(theirs):
        raise ValueError(
            f"The two structures don't have the same sequence length. Input structure has length {len(theirs)}, "
            f"while shallow structure has length {len(ours)}."
        )
    if isinstance(shallow, Mapping) and set(shallow) != set(given):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys "
            f"{list(given)}, while shallow structure has keys {list(shallow)}."
        )
    return [leaf for one, other in zip(ours, theirs, strict=True) for leaf in _up_to(one, other)]
