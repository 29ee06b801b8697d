"""tf.nest: nested lists, tuples, dicts and attrs classes as structures. Unlike in pipelines, lists have parts here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfrkit.data.elements import structure as inner

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


class _Dot:
    """Stands for a leaf where a whole structure is shown."""

    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


def is_nested(structure: Any) -> bool:
    """Return whether a value has parts."""
    if isinstance(structure, Sequence):
        return not isinstance(structure, (str, bytes, bytearray))
    return inner.is_nested(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves of a structure; those of dicts by sorted key.

    >>> flatten([1, (2, {"b": 3, "a": 4})])
    [1, 2, 4, 3]
    """
    if not is_nested(structure):
        return [structure]
    return [leaf for part in _parts(structure) for leaf in flatten(part)]


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Apply a function to the leaves of one or more structures, and return a structure of the results.

    Args:
        func: takes a leaf of each structure.
        structure: one or more structures with the same parts.
        kwargs: `check_types`: whether lists and tuples differ (True); `expand_composites`, which changes nothing.

    Raises:
        TypeError, ValueError: the structures differ in their parts; the text is TensorFlow's.

    >>> map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for name in kwargs:
        if name not in ("check_types", "expand_composites"):
            raise ValueError(
                f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{name}`"
            )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=kwargs.get("check_types", True))
    leaves = zip(*(flatten(one) for one in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*column) for column in leaves])


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return a structure with its leaves replaced by those of a sequence.

    Raises:
        TypeError, ValueError: it is not a sequence, or has another length; the text is TensorFlow's.

    >>> pack_sequence_as({"b": 1, "a": [2]}, [7, 8])
    {'b': 8, 'a': [7]}
    """
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    if not is_nested(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is a sequence "
                f"({type(flat_sequence)}) of length {len(flat_sequence)}.\n  {flat_sequence}\nnest cannot guarantee "
                "that it is safe to map one to the other."
            )
        return flat_sequence[0]
    wanted = len(flatten(structure))
    if wanted != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} atoms, but flat_sequence had {len(flat_sequence)} items. "
            f" Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence))


def assert_same_structure(
    nest1: Any,
    nest2: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> None:
    """Check that two structures differ in their leaves only.

    Raises:
        ValueError: they do not have the same parts.
        TypeError: parts have other types; the text is TensorFlow's.
    """
    found = _difference(nest1, nest2, bool(check_types))
    if found is None:
        return
    kind, detail = found
    raise kind(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_shown(nest1)}\n\nSecond structure: {_shown(nest2)}\n\nMore specifically: {detail}\n"
        f"Entire first structure:\n{_dots(nest1)}\nEntire second structure:\n{_dots(nest2)}"
    )


def _difference(one: Any, two: Any, check_types: bool) -> tuple[type[Exception], str] | None:
    if is_nested(one) != is_nested(two):
        first, second = (one, two) if is_nested(one) else (two, one)
        return ValueError, (
            f'Substructure "{_shown(first)}" is a sequence, while substructure "{_shown(second)}" is not'
        )
    if not is_nested(one):
        return None
    if check_types and not _are_alike(one, two):
        return TypeError, (
            "The two namedtuples don't have the same sequence type. First structure "
            f"{_shown(one)} has type {type(one).__name__}, while second structure {_shown(two)} has type "
            f"{type(two).__name__}"
        )
    if check_types and isinstance(one, Mapping) and set(one) != set(two):
        return ValueError, (
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_shown(list(one))}, while second structure has keys {_shown(list(two))}"
        )
    ours, theirs = list(_parts(one)), list(_parts(two))
    if len(ours) != len(theirs):
        return ValueError, (
            "The two structures don't have the same number of elements. First structure: "
            f"{_shown(one)}. Second structure: {_shown(two)}"
        )
    for mine, other in zip(ours, theirs, strict=True):
        found = _difference(mine, other, check_types)
        if found is not None:
            return found
    return None


def _are_alike(one: Any, two: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return True
    fields = getattr(one, "_fields", None), getattr(two, "_fields", None)
    if fields[0] is not None and fields[0] == fields[1]:
        return type(one).__name__ == type(two).__name__
    return type(one) is type(two)


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, Sequence):
        return value
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return inner.parts(value)


def _rebuild(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, list):
        return parts if type(value) is list else type(value)(parts)
    if isinstance(value, tuple) and type(value) is not tuple and not hasattr(value, "_fields"):
        return type(value)(parts)
    if isinstance(value, Mapping) and type(value) is not dict:
        found = dict(zip(sorted(value), parts, strict=True))
        ordered = [(key, found[key]) for key in value]
        factory = getattr(value, "default_factory", None)
        made: Any = type(value)
        return made(factory, ordered) if hasattr(value, "default_factory") else made(ordered)
    if isinstance(value, Sequence) and not isinstance(value, tuple):
        return parts
    return inner.rebuild(value, parts)


def _pack(value: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(value):
        return next(leaves)
    return _rebuild(value, [_pack(part, leaves) for part in _parts(value)])


def _shown(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _dots(value: Any) -> str:
    return str(_pack(value, iter([_DOT] * len(flatten(value)))))
