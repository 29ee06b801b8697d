"""Shapes in a spec: what may be written for one, and how TensorFlow prints it. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

__all__ = ["Dims", "as_dims", "show_dims"]

Dims = tuple[int | None, ...]


def as_dims(shape: Any) -> Dims | None:
    """Return the dimensions of a shape: None stands for one that is not known, or for a shape of unknown rank.

    Args:
        shape: an int, a sequence of ints and None, or an object with `as_list` and `rank`, as TensorFlow's.

    Raises:
        TypeError: it is no shape.
        ValueError: a dimension is negative.

    >>> as_dims([2, None]), as_dims(3), as_dims(())
    ((2, None), (3,), ())
    """
    if hasattr(shape, "as_list") and hasattr(shape, "rank"):
        return None if shape.rank is None else tuple(shape.as_list())
    if shape is None:
        return None
    if isinstance(shape, (str, bytes)):
        first = repr(shape[:1])
        raise TypeError(
            f"Failed to convert '{shape!r}' to a shape: '{first}'could not be converted to a dimension. "
            "A shape should either be single dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None])."
        )
    if not isinstance(shape, Iterable):
        return (_dim(shape),)
    return tuple(_dim(dim) for dim in shape)


def _dim(given: Any) -> int | None:
    if given is None:
        return None
    given = getattr(given, "value", given)  # TensorFlow's Dimension
    if given is None:
        return None
    try:
        dim = index(given)
    except TypeError:
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, "
            f"got value '{given!r}' with type '{type(given)!r}'"
        ) from None
    if dim < 0:
        raise ValueError(f"Dimension {dim} must be >= 0")
    return dim


def show_dims(dims: Iterable[int | None]) -> str:
    """Print as TensorFlow's kernels do.

    >>> show_dims([None, 2]), show_dims([])
    ('[?,2]', '[]')
    """
    return f"[{','.join('?' if dim is None else str(dim) for dim in dims)}]"
