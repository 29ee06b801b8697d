"""tf.nest: structures of lists, tuples, named tuples, dicts and attrs classes. Dicts go by their sorted keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfrkit.data import structure as inner

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def is_nested(structure: Any) -> bool:
    """Whether a value has parts rather than being a leaf."""
    return isinstance(structure, list) or inner.is_nested(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:  # noqa: ARG001
    """The leaves of a structure.

    >>> flatten([1, (2, {"b": 4, "a": 3})])
    [1, 2, 3, 4]
    """
    if not is_nested(structure):
        return [structure]
    return [leaf for part in _parts(structure) for leaf in flatten(part)]


def map_structure(func: Callable[..., Any], *structure: Any, **options: Any) -> Any:
    """The structure with what a function makes of every leaf, and of the leaves in its place in others.

    Raises:
        TypeError: the function cannot be called.
        ValueError: there is no structure, or they are not the same.

    >>> map_structure(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = options.pop("check_types", True)
    options.pop("expand_composites", None)
    if options:
        shown = "`, `".join(sorted(options))
        raise ValueError(
            f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{shown}`"
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    leaves = zip(*map(flatten, structure), strict=True)
    return _packed(structure[0], iter([func(*each) for each in leaves]))


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:  # noqa: ARG001
    """Put leaves into the places of a structure's leaves.

    Raises:
        TypeError: the leaves are no sequence.
        ValueError: there are too few or too many.

    >>> pack_sequence_as([0, {"b": 0, "a": 0}], [1, 2, 3])
    [1, {'b': 3, 'a': 2}]
    """
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    leaves = list(flat_sequence)
    if not is_nested(structure) and len(leaves) != 1:
        raise ValueError(
            f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is a "
            f"sequence ({type(flat_sequence)}) of length {len(leaves)}."
        )
    wanted = len(flatten(structure))
    if len(leaves) != wanted:
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} atoms, but flat_sequence had {len(leaves)} items.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _packed(structure, iter(leaves))


def assert_same_structure(
    nest1: Any,
    nest2: Any,
    check_types: bool = True,
    expand_composites: bool = False,  # noqa: ARG001
) -> None:
    """Fail unless two structures differ in their leaves only.

    Raises:
        ValueError: they have other numbers of parts or other keys, or one has a leaf where the other has parts.
        TypeError: their sequences are of different types, and that counts.
    """
    found = _difference(nest1, nest2, check_types)
    if found is not None:
        raise type(found)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: type={type(nest1).__name__} str={nest1}\n\n"
            f"Second structure: type={type(nest2).__name__} str={nest2}\n\nMore specifically: {found}"
        )


def _difference(first: Any, second: Any, check_types: bool) -> Exception | None:
    """The first thing in which two structures differ."""
    if not is_nested(first) and not is_nested(second):
        return None
    if is_nested(first) != is_nested(second):
        whole, leaf = (first, second) if is_nested(first) else (second, first)
        return ValueError(
            f'Substructure "type={type(whole).__name__} str={whole}" is a sequence, while substructure '
            f'"type={type(leaf).__name__} str={leaf}" is not'
        )
    if check_types and type(first) is not type(second) and not _alike(first, second):
        return TypeError(
            f"The two namedtuples don't have the same sequence type. First structure type={type(first).__name__}, "
            f"while second structure type={type(second).__name__}"
        )
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) != set(second):
        return ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(first)}, while second structure has keys {list(second)}"
        )
    ours, theirs = _parts(first), _parts(second)
    if len(ours) != len(theirs):
        return ValueError("The two structures don't have the same number of elements.")
    differences = (_difference(mine, other, check_types) for mine, other in zip(ours, theirs, strict=True))
    return next((each for each in differences if each is not None), None)


def _alike(first: Any, second: Any) -> bool:
    """Dicts of all kinds, and named tuples of one name."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return True
    return bool(hasattr(first, "_fields") and getattr(second, "_fields", None) == first._fields)


def _parts(structure: Any) -> Sequence[Any]:
    return structure if isinstance(structure, list) else inner.parts(structure)


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    made = [_packed(part, leaves) for part in _parts(structure)]
    if isinstance(structure, list):
        return made
    if type(structure) is dict or not isinstance(structure, Mapping):
        return inner.rebuild(structure, made)
    kind: Any = type(structure)
    found = inner.rebuild(dict(structure), made)
    return _default(structure, found) if hasattr(structure, "default_factory") else kind(found)


def _default(structure: Any, found: dict[Any, Any]) -> Any:
    made = type(structure)(structure.default_factory)
    made.update(found)
    return made
