"""The spec of what a user's function makes of an element, without running the pipeline if that can be helped.

TensorFlow traces the function. Here it is called, when somebody asks for the spec, with two made-up elements: where the
results differ in size, the size is not known. A function that does not bear that sees the first real elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfrkit.data.convert import to_element
from tfrkit.data.node import Context, Node
from tfrkit.data.structure import flatten, map_structure, pack
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import ElementSpec, TensorSpec, spec_of_value

__all__ = ["call_with", "function_spec", "made_up", "name_of"]

_known: WeakKeyDictionary[Node, Any] = WeakKeyDictionary()


def name_of(function: Any) -> str:
    """A function's name, for people."""
    return str(getattr(function, "__name__", type(function).__name__))


def call_with(function: Callable[..., Any], element: Any) -> Any:
    """Call a function with an element; the parts of a tuple are its arguments."""
    return function(*element) if type(element) is tuple else function(element)


def function_spec(node: Node, function: Callable[..., Any]) -> Any:
    """The spec of the elements that a function makes of those of a node's input.

    Raises:
        Exception: that of the function, if it fails for made-up elements and there are no others.
    """
    if node not in _known:
        _known[node] = _find(node, function)
    return _known[node]


def made_up(spec: Any, variant: int) -> Any:
    """An element of a spec: unknown sizes are 2 or 3, numbers 1 or 2, by the variant 0 or 1.

    Raises:
        TypeError: there is a value of which nothing can be made up.

    >>> made_up((TensorSpec([None], "int64"), TensorSpec([], "string")), 1)
    (array([2, 2, 2]), b'xx')
    """
    return map_structure(lambda each: _made_up_value(each, variant), spec)


def _made_up_value(spec: Any, variant: int) -> Any:
    if not isinstance(spec, TensorSpec) or spec.shape is None:
        raise TypeError(f"nothing can be made up for {spec}")
    shape = [2 + variant if size is None else size for size in spec.shape]
    if spec.dtype == object:
        text = b"x" * (1 + variant)
        filled = BytesColumn.from_list([text] * int(np.prod(shape)))
        return filled.reshape(*shape) if shape else text
    values = np.full(shape, 1 + variant).astype(spec.dtype)
    values.flags.writeable = False
    return values if shape else values[()]


def _find(node: Node, function: Callable[..., Any]) -> Any:
    failure: Exception
    try:
        elements = [made_up(node.inputs[0].element_spec(), variant) for variant in (0, 1)]
        made = [to_element(call_with(function, element)) for element in elements]
        return _common(*(map_structure(spec_of_value, each) for each in made))
    except Exception as error:  # a user's function may do anything
        failure = error
    found = _first_specs(node)
    if not found:
        raise failure
    return _common(*found) if len(found) == 2 else found[0]


def _first_specs(node: Node) -> list[Any]:
    """The specs of the first two elements, if there are so many."""
    iterator = node.begin(Context())
    found: list[Any] = []
    try:
        while len(found) < 2:
            run = iterator.pull(1)
            if run is None:
                break
            found.extend(map_structure(spec_of_value, element) for element in run.chunk.objects())
            if run.error is not None and not found:
                raise run.error
    finally:
        iterator.close()
    return found


def _common(first: Any, second: Any) -> Any:
    """The spec of both."""
    leaves, others = flatten(first), flatten(second)
    if len(leaves) != len(others):
        return first
    return pack(first, [_common_leaf(*pair) for pair in zip(leaves, others, strict=True)])


def _common_leaf(first: ElementSpec, second: ElementSpec) -> ElementSpec:
    return first.most_specific_common_supertype([second]) or first
