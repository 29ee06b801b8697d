"""The spec of what a user's function makes of an element, without running the pipeline if that can be helped.

TensorFlow traces the function. Here it is called, when the spec is asked for, with two made-up elements: where the
results differ in size, the size is not known. If it parses strings, those are then records of what it asks for, and if
it fails for them still, images. A function that fails for one of those is also called with the first real elements. No
size is shown that only one result had.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from tfrkit.data.elements.element_values import to_result
from tfrkit.data.elements.structure import flatten, map_structure, pack
from tfrkit.data.elements.structure_specs import without_sizes
from tfrkit.data.engine.call_each import call_with
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.features.example_spec import feature_spec, list_spec
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds
from tfrkit.data.sources.slices import ElementsNode
from tfrkit.images.codecs.png.png_encode import encode_png_file
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import (
    DatasetSpec,
    RaggedTensorSpec,
    SparseTensorSpec,
    TensorSpec,
    spec_of_value,
)
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.model.specs import Spec
from tfrkit.parsing.example_values import make_example, make_sequence_example
from tfrkit.parsing.parse import FAILED_SPECS

__all__ = ["function_spec", "made_up", "result_spec"]

_FEW: Final = 4  # real elements that a function is tried with
_Text = Callable[[int], bytes]

_known: WeakKeyDictionary[Node, Any] = WeakKeyDictionary()


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
    asked: list[tuple[Spec, Spec | None]] = []
    token = FAILED_SPECS.set(asked)
    try:
        found = list(_results(_made_up_elements(node, _text), spec_for, failures))
    finally:
        FAILED_SPECS.reset(token)
    text: _Text = _text
    if asked:
        text = functools.partial(_record, asked, _text)
        found = list(_results(_made_up_elements(node, text), spec_for, failures))
    if not found:
        text = functools.partial(_record, asked, _image) if asked else _image
        found = list(_results(_made_up_elements(node, text), spec_for, failures))
    if len(found) < 2:
        found += _results(_first_elements(node), spec_for, failures)
    else:  # a size that is cut to a limit is seen where there is nothing
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found += _results(_made_up_elements(node, text, (-2,)), spec_for, failures)
    if not found:
        raise (
            failures[0]
            if failures
            else ValueError(
                "the input has no element, so that the spec of the function's result is not known"
            )
        )
    return functools.reduce(_common, found) if len(found) > 1 else without_sizes(found[0])


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


def _made_up_elements(node: Node, text: _Text, variants: tuple[int, ...] = (0, 1)) -> Iterator[Any]:
    spec = node.element_spec()
    for variant in variants:
        yield made_up(spec, variant, text(variant))


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
        yield made_up(node.element_spec(), -1, _text(-1))


def _common(first: Any, second: Any) -> Any:
    """The spec of both."""
    leaves, others = flatten(first), flatten(second)
    if len(leaves) != len(others):
        return first
    pairs = zip(leaves, others, strict=True)
    return pack(first, [one.most_specific_common_supertype([other]) or one for one, other in pairs])


def made_up(spec: Any, variant: int, text: bytes) -> Any:
    """An element of a spec: by the variant (-2 to 1) unknown sizes are 0 to 3, and numbers 0, 0, 1 or 2.

    Raises:
        TypeError: there is a value of which nothing can be made up.

    >>> made_up((TensorSpec([None], "int64"), TensorSpec([], "string")), 1, b"x")
    (array([2, 2, 2]), b'x')
    >>> made_up(RaggedTensorSpec([None, None], "int64"), 0, b"")
    Ragged(shape=(2, None), dtype=int64, [[1, 1], [1, 1]])
    """
    return map_structure(lambda each: _value(each, variant, text), spec)


def _text(variant: int) -> bytes:
    """The text of a number, as long as 0, 1 or 2 numbers of 64 bits: functions take it for a number, or such bytes."""
    count = max(0, 1 + variant)
    return b"%+0*d" % (8 * count, count) if count else b""  # with its sign it is not an Example


@functools.cache
def _image(variant: int) -> bytes:
    """An image, large enough to be cropped; no two have a size or the number of channels in common."""
    return encode_png_file(
        np.zeros((307 + 10 * variant, 313 + 14 * variant, (1, 3)[variant % 2]), np.uint8), -1
    )


def _record(asked: list[tuple[Spec, Spec | None]], text: _Text, variant: int) -> bytes:
    """An Example with a value of every feature that was asked for; a SequenceExample if there are feature lists."""
    context = {key: feature for each, _ in asked for key, feature in each.items()}
    lists = {key: feature for _, each in asked for key, feature in (each or {}).items()}

    def flat(value: Any) -> Any:
        return value if isinstance(value, bytes) else value.reshape(-1)

    values = {key: flat(_value(feature_spec(each), variant, text(variant))) for key, each in context.items()}
    if all(each is None for _, each in asked):
        return make_example(values).SerializeToString()
    steps = {key: _value(list_spec(each), variant, text(variant)) for key, each in lists.items()}
    rows = {key: [flat(row) for row in each] for key, each in steps.items()}
    return make_sequence_example(values, rows).SerializeToString()


def _value(spec: Any, variant: int, text: bytes) -> Any:
    if isinstance(spec, DatasetSpec) and spec.make is not None:
        elements = (made_up(spec.element_spec, variant, text),) * (2 + variant)
        return spec.make(ElementsNode(elements, spec.element_spec))
    if not isinstance(spec, TensorSpec | RaggedTensorSpec | SparseTensorSpec) or spec.shape is None:
        raise TypeError(f"nothing can be made up for {spec}")
    sizes = [2 + variant if size is None else size for size in spec.shape]
    if isinstance(spec, SparseTensorSpec):
        places = [[0] * (len(sizes) - 1) + [place] for place in range(sizes[-1])]
        return Sparse(places, _array(spec.dtype, [len(places)], variant, text), sizes)
    if isinstance(spec, TensorSpec) or not spec.ragged_rank:
        return _array(spec.dtype, sizes, variant, text)
    rank = spec.ragged_rank
    value = _array(spec.dtype, [prod(sizes[: rank + 1]), *sizes[rank + 1 :]], variant, text)
    for level in reversed(range(rank)):
        lengths = np.full(prod(sizes[: level + 1]), sizes[level + 1], spec.row_splits_dtype)
        value = Ragged.from_lengths(value, lengths)
    return value


def _array(dtype: np.dtype[Any], sizes: list[int], variant: int, text: bytes) -> Any:
    if dtype.hasobject:
        filled = BytesColumn.from_list([text] * prod(sizes))
        return filled.reshape(*sizes) if sizes else text
    values = np.full(sizes, max(0, 1 + variant)).astype(dtype)
    return values if sizes else values[()]
