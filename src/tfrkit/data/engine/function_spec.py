"""The spec of what a user's function makes of an element, without running the pipeline if that can be helped.

TensorFlow traces the function. Here it is called, when the spec is asked for, with two made-up elements: where the
results differ in size, the size is not known. A function that fails for one of those is also called with the first real
elements. No size is shown that only one result had.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final
from weakref import WeakKeyDictionary

from tfrkit.data.elements.element_values import to_result
from tfrkit.data.elements.owned import copies_for
from tfrkit.data.elements.structure import flatten, map_structure, pack
from tfrkit.data.engine.made_up import made_up
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds
from tfrkit.model.element_spec import ElementSpec, spec_of_value
from tfrkit.model.specs import Spec
from tfrkit.parsing.parse import FAILED_SPECS

__all__ = ["call_with", "function_spec", "name_of", "result_spec"]

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


def result_spec(node: Node, spec_for: Callable[[Any], Any]) -> Any:
    """The spec that a function gives for elements of a node: made-up ones, or else real ones.

    Raises:
        Exception: that of the function for the first element it was tried with, if it fails for all.
    """
    failures: list[Exception] = []
    asked: list[Spec] = []
    token = FAILED_SPECS.set(asked)
    try:
        found = list(_results(_made_up_elements(node), spec_for, failures))
    finally:
        FAILED_SPECS.reset(token)
    features = {key: feature for each in asked for key, feature in each.items()}
    if features:  # for which the function parses the strings of its elements
        found = list(_results(_made_up_elements(node, features), spec_for, failures))
    if len(found) < 2:
        found += _results(_first_elements(node), spec_for, failures)
    else:  # a size that is cut to a limit is seen where there is nothing
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found += _results(_made_up_elements(node, features, (-2,)), spec_for, failures)
    if not found:
        raise (
            failures[0]
            if failures
            else ValueError(
                "the input has no element, so that the spec of the function's result is not known"
            )
        )
    return functools.reduce(_common, found) if len(found) > 1 else map_structure(_without_sizes, found[0])


def _results(
    elements: Iterator[Any], spec_for: Callable[[Any], Any], failures: list[Exception]
) -> Iterator[Any]:
    """The specs that a function gives for elements; its errors are added to the list."""
    try:
        for element in elements:
            try:
                yield spec_for(element)
            except Exception as error:  # a user's function may do anything
                failures.append(error)
    except Exception as error:  # so may its input
        failures.append(error)


def _made_up_elements(
    node: Node, features: Spec | None = None, variants: tuple[int, ...] = (0, 1)
) -> Iterator[Any]:
    spec = node.element_spec()
    for variant in variants:
        yield made_up(spec, variant, features)


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


def _without_sizes(spec: ElementSpec) -> ElementSpec:
    """The spec of a value of which only one example is known: its sizes may be its own."""
    shape = getattr(spec, "shape", None)  # None has none
    return spec.with_shape(tuple(None for _ in shape)) if shape else spec


def _common(first: Any, second: Any) -> Any:
    """The spec of both."""
    leaves, others = flatten(first), flatten(second)
    if len(leaves) != len(others):
        return first
    return pack(first, [_common_leaf(*pair) for pair in zip(leaves, others, strict=True)])


def _common_leaf(first: ElementSpec, second: ElementSpec) -> ElementSpec:
    return first.most_specific_common_supertype([second]) or first
