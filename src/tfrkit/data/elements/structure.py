"""Structures of elements: values in dicts, tuples and named tuples, as tf.data nests them.

Pure: no I/O. What a value is, is not decided here: everything that is no dict, tuple, named tuple or attrs class is a
leaf, a list too. Flat order is TensorFlow's: dicts by their sorted keys, the rest as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

__all__ = ["flatten", "is_nested", "map_structure", "pack", "parts", "rebuild", "require_same"]

_MOST_KINDS: Final = 1000
_KINDS: Final[
    dict[type, bool]
] = {}  # whether values of a type have parts; asking Mapping takes a microsecond


def is_nested(value: Any) -> bool:
    """Whether a value has parts rather than being a leaf.

    >>> is_nested((1, 2)), is_nested({}), is_nested([1, 2])
    (True, True, False)
    """
    kind = type(value)
    found = _KINDS.get(kind)
    if found is None:
        found = issubclass(kind, (tuple, Mapping)) or hasattr(kind, "__attrs_attrs__")
        if len(_KINDS) < _MOST_KINDS:
            _KINDS[kind] = found
    return found


def parts(value: Any) -> list[Any]:
    """The parts of a nested value, in flat order.

    >>> parts({"b": 1, "a": 2})
    [2, 1]
    """
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in _sorted_keys(value)]
    return [getattr(value, field.name) for field in type(value).__attrs_attrs__]


def rebuild(value: Any, new: Sequence[Any]) -> Any:
    """A nested value with other parts, which come in flat order; a dict keeps the order of its keys.

    >>> rebuild({"b": 1, "a": 2}, ["x", "y"])
    {'b': 'y', 'a': 'x'}
    """
    if isinstance(value, tuple):
        kind: Any = type(value)
        return kind(*new) if hasattr(value, "_fields") else tuple(new)
    if isinstance(value, Mapping):
        found = dict(zip(_sorted_keys(value), new, strict=True))
        return {key: found[key] for key in value}
    return type(value)(*new)


def flatten(value: Any) -> list[Any]:
    """The leaves of a structure.

    >>> flatten(({"b": 1, "a": 2}, 3))
    [2, 1, 3]
    """
    if not is_nested(value):
        return [value]
    return [leaf for part in parts(value) for leaf in flatten(part)]


def pack(structure: Any, leaves: Sequence[Any]) -> Any:
    """Put leaves, in flat order, into the places of a structure's leaves.

    Raises:
        ValueError: there are too few or too many.

    >>> pack(({"b": 0, "a": 0}, 0), [2, 1, 3])
    ({'b': 1, 'a': 2}, 3)
    """
    source, packed = iter(leaves), None
    try:
        packed = map_structure(lambda _: next(source), structure)
        fits = next(source, source) is source
    except StopIteration:
        fits = False
    if not fits:
        wanted = len(flatten(structure))
        raise ValueError(f"expected {wanted} leaves for the structure but got {len(leaves)}")
    return packed


def map_structure(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """The structure with every leaf replaced by what a function makes of it, and of the leaves in its place in others.

    >>> map_structure(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"b": (20,), "a": 10})
    {'a': 11, 'b': (22,)}
    """
    if not is_nested(structure):
        return function(structure, *others)
    if not others:
        return rebuild(structure, [map_structure(function, part) for part in parts(structure)])
    columns = zip(parts(structure), *(parts(other) for other in others), strict=True)
    return rebuild(structure, [map_structure(function, *column) for column in columns])


def require_same(first: Any, second: Any) -> None:
    """Check that two structures differ in their leaves only.

    Raises:
        ValueError: one has a leaf where the other has parts, or a different number of them, or other keys.
        TypeError: a tuple stands where the other has a dict.

    >>> require_same({"a": 1}, {"b": 2})
    Traceback (most recent call last):
    ValueError: The two dictionaries don't have the same set of keys. First structure has keys ...
    """
    counts = len(flatten(first)), len(flatten(second))
    if counts[0] != counts[1]:
        raise ValueError(
            f"The two structures don't have the same number of elements. First structure ({counts[0]} elements): "
            f"{first}. Second structure ({counts[1]} elements): {second}."
        )
    _require_same(first, second)


def _require_same(first: Any, second: Any) -> None:
    if is_nested(first) != is_nested(second):
        raise ValueError(
            f"The two structures don't have the same nested structure. First structure: {first}. "
            f"Second structure: {second}."
        )
    if not is_nested(first):
        return
    named = getattr(first, "_fields", None) == getattr(second, "_fields", None)
    if isinstance(first, Mapping) != isinstance(second, Mapping) or not named:
        raise TypeError(
            f"The two structures don't have the same sequence type. First structure has type {type(first)}, "
            f"while second structure has type {type(second)}."
        )
    if isinstance(first, Mapping) and set(first) != set(second):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(first)}, while second structure has keys {list(second)}."
        )
    ours, theirs = parts(first), parts(second)
    if len(ours) != len(theirs):
        raise ValueError(
            f"The two structures don't have the same nested structure. First structure: {first}. "
            f"Second structure: {second}."
        )
    for mine, other in zip(ours, theirs, strict=True):
        _require_same(mine, other)


def _sorted_keys(value: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None
