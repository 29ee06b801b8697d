"""A batch whose elements have different shapes, as TensorFlow makes one where a map and a batch are one stage.

Each element is copied into its place in a batch that has the shape of the first: what counts is only the number of
values. Pure: no I/O.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.data.batch.collate import collate
from tfrkit.data.elements.structure import flatten, pack
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.shapes import show_dims

__all__ = ["stack_like_first"]


def stack_like_first(elements: list[Any]) -> Any:
    """Make a batch of elements, all in the shapes of the first.

    Raises:
        InvalidArgumentError: an element has another number of values; the text is TensorFlow's.

    >>> stack_like_first([np.zeros((1, 2)), np.ones((2, 1))]).tolist()
    [[[0.0, 0.0]], [[1.0, 1.0]]]
    """
    first = flatten(elements[0])
    return collate([pack(elements[0], list(map(_like, flatten(each), first))) for each in elements])


def _like(value: Any, first: Any) -> Any:
    if not isinstance(first, (np.ndarray, np.generic, BytesColumn, bytes)):
        return value
    shape, wanted = np.shape(value), np.shape(first)
    if shape == wanted:
        return value
    if np.prod(shape) != np.prod(wanted):
        raise InvalidArgumentError(
            "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: "
            f"{show_dims(shape)}, [batch]: {show_dims(wanted)}"
        )
    made = BytesColumn.from_list([value]) if isinstance(value, bytes) else value
    shaped: Any = made.reshape(wanted)
    return shaped if wanted else shaped[()] if isinstance(shaped, np.ndarray) else shaped.to_numpy().item()
