"""The spec of what a user's function makes of an element, without running the pipeline if that can be helped.

TensorFlow traces the function. Here it is called, when the spec is asked for, with two made-up elements: where the
results differ in size, the size is not known. A function that fails for those is called with the first real elements.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from tfrkit.data.elements.element_values import to_result
from tfrkit.data.elements.owned import copies_for
from tfrkit.data.elements.structure import flatten, map_structure, pack
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds
from tfrkit.data.sources.slices import ElementsNode
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import DatasetSpec, ElementSpec, TensorSpec, spec_of_value

__all__ = ["call_with", "function_spec", "made_up", "name_of", "result_spec"]

_FEW: Final = 4  # real elements that a function is tried with

_known: WeakKeyDictionary[Node, Any] = WeakKeyDictionary()


def name_of(function: Any) -> str:
    """A function's name, for people."""
    return str(getattr(function, "__name__", type(function).__name__))


def call_with(function: Callable[..., Any], element: Any) -> Any:
    """Call a function with a copy of an element; the parts of a tuple are its arguments."""
    (element,) = copies_for(function, [element])
    return function(*element) if type(element) is tuple else function(element)


def function_spec(node: Node, function: Callable[..., Any]) -> Any:
    """The spec of the elements that a function makes of those of a node's input.

    Raises:
        Exception: that of the function, if it fails for made-up elements and there are no others.
    """

    def spec_for(element: Any) -> Any:
        return map_structure(spec_of_value, to_result(call_with(function, element)))

    if node not in _known:
        _known[node] = result_spec(node.inputs[0], spec_for)
    return _known[node]


def made_up(spec: Any, variant: int) -> Any:
    """An element of a spec: by the variant (-1, 0, 1) unknown sizes are 1, 2 or 3, and numbers 0, 1 or 2.

    Raises:
        TypeError: there is a value of which nothing can be made up.

    >>> made_up((TensorSpec([None], "int64"), TensorSpec([], "string")), 1)
    (array([2, 2, 2]), b'xx')
    """
    return map_structure(lambda each: _made_up_value(each, variant), spec)


def _made_up_value(spec: Any, variant: int) -> Any:
    if isinstance(spec, DatasetSpec) and spec.make is not None:
        elements = (made_up(spec.element_spec, variant),) * (2 + variant)
        return spec.make(ElementsNode(elements, spec.element_spec))
    if not isinstance(spec, TensorSpec) or spec.shape is None:
        raise TypeError(f"nothing can be made up for {spec}")
    shape = [2 + variant if size is None else size for size in spec.shape]
    if spec.dtype == object:
        text = b"x" * (1 + variant)
        filled = BytesColumn.from_list([text] * int(np.prod(shape)))
        return filled.reshape(*shape) if shape else text
    values = np.full(shape, 1 + variant).astype(spec.dtype)
    return values if shape else values[()]


def result_spec(node: Node, spec_for: Callable[[Any], Any]) -> Any:
    """The spec that a function gives for elements of a node: made-up ones, or else real ones.

    Raises:
        Exception: that of the function for the first element it was tried with, if it fails for all.
    """
    failures: list[Exception] = []
    for elements in (_made_up_elements(node), _first_elements(node)):
        found: list[Any] = []
        try:
            for element in elements:
                try:
                    found.append(spec_for(element))
                except Exception as error:  # a user's function may do anything
                    failures.append(error)
        except Exception as error:  # so may its input
            failures.append(error)
        if found:
            return functools.reduce(_common, found)
    raise (
        failures[0]
        if failures
        else ValueError("the input has no element, so that the spec of the function's result is not known")
    )


def _made_up_elements(node: Node) -> Iterator[Any]:
    spec = node.element_spec()
    for variant in (0, 1):
        yield made_up(spec, variant)


def _first_elements(node: Node) -> Iterator[Any]:
    """The first elements, or one of zeros if the node is empty; shuffles stay where they are."""
    seeds = find_seeds(node)
    before = save_seeds(seeds)
    iterator = node.begin(Context())
    count = 0
    try:
        while count < _FEW:
            run = iterator.pull(1)
            if run is None:
                break
            count += 1
            yield from run.chunk.objects()
    finally:
        iterator.close()
        restore_seeds(seeds, before)
    if not count:
        yield made_up(node.element_spec(), -1)


def _common(first: Any, second: Any) -> Any:
    """The spec of both."""
    leaves, others = flatten(first), flatten(second)
    if len(leaves) != len(others):
        return first
    return pack(first, [_common_leaf(*pair) for pair in zip(leaves, others, strict=True)])


def _common_leaf(first: ElementSpec, second: ElementSpec) -> ElementSpec:
    return first.most_specific_common_supertype([second]) or first
