"""Made-up elements: values of a spec, to see what a function makes of them. Pure: no I/O."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tfrkit.data.elements.structure import map_structure
from tfrkit.data.features.example_spec import feature_spec
from tfrkit.data.sources.slices import ElementsNode
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import DatasetSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.model.specs import Spec
from tfrkit.parsing.example_values import make_example

__all__ = ["made_up"]


def made_up(spec: Any, variant: int, features: Spec | None = None) -> Any:
    """An element of a spec: by the variant (-2 to 1) unknown sizes are 0 to 3, and numbers 0, 0, 1 or 2.

    Strings are texts of these numbers, with as many bytes as 0, 1 or 2 numbers of 64 bits: many functions take such a
    text for a number or for bytes of numbers. With features, they are Examples that have those.

    Raises:
        TypeError: there is a value of which nothing can be made up.

    >>> made_up((TensorSpec([None], "int64"), TensorSpec([], "string")), 1)
    (array([2, 2, 2]), b'+000000000000002')
    >>> made_up(RaggedTensorSpec([None, None], "int64"), 0)
    Ragged(shape=(2, None), dtype=int64, [[1, 1], [1, 1]])
    """
    text = _example(features, variant) if features else _text(variant)
    return map_structure(lambda each: _value(each, variant, text), spec)


def _text(variant: int) -> bytes:
    count = max(0, 1 + variant)
    return b"%+0*d" % (8 * count, count) if count else b""  # with its sign it is not an Example


def _example(features: Spec, variant: int) -> bytes:
    """An Example with a value of every feature."""
    values = {
        key: _value(feature_spec(feature), variant, _text(variant)) for key, feature in features.items()
    }
    flat = {key: value if isinstance(value, bytes) else value.reshape(-1) for key, value in values.items()}
    return make_example(flat).SerializeToString()


def _value(spec: Any, variant: int, text: bytes) -> Any:
    if isinstance(spec, DatasetSpec) and spec.make is not None:
        elements = (made_up(spec.element_spec, variant),) * (2 + variant)
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
