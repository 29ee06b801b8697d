"""Names of examples, which appear in errors of batches: checked and converted as TensorFlow does."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.shapes import show_dims

__all__ = ["example_names", "sequence_names"]


def example_names(names: Any, shape: tuple[int, ...]) -> list[str] | None:
    """Return the names of examples as str, or None if there are none.

    Args:
        names: str or bytes, or a list or array of them.
        shape: of the examples: () for one, else their number.

    Raises:
        InvalidArgumentError: the names have another shape.
        TypeError: a name is not text.

    >>> example_names(["a", b"b"], (2,))
    ['a', 'b']
    """
    flat, given = _texts(names)
    if not flat:
        return None
    if given != shape:
        raise InvalidArgumentError(
            "Expected names have the same shape as serialized: "
            f"name.shape={show_dims(given)}, serialized.shape={show_dims(shape)}"
        )
    return flat


def sequence_names(names: Any, count: int) -> list[str] | None:
    """Return the names of sequence examples as str, or None if there are none; any shape of `count` names will do."""
    flat, _ = _texts(names)
    if not flat:
        return None
    if len(flat) != count:
        raise InvalidArgumentError("example_names must be empty or have the correct number of elements")
    return flat


def _texts(names: Any) -> tuple[list[str], tuple[int, ...]]:
    if names is None:
        return [], ()
    array: npt.NDArray[Any] = (
        names.to_numpy() if isinstance(names, BytesColumn) else np.asarray(names, object)
    )
    if array.size and not all(isinstance(name, (str, bytes)) for name in array.flat):
        raise TypeError(f"Cannot convert {names!r} to EagerTensor of dtype string")
    flat = [name if isinstance(name, str) else name.decode(errors="backslashreplace") for name in array.flat]
    return flat, array.shape
