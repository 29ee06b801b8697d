"""What to say of a name that is nowhere: the names that are close to it, or those that there are."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Final

__all__ = [
    "SuggestingMeta",
    "SuggestsNames",
    "did_you_mean",
    "missing_attribute",
    "missing_name",
    "near_names",
]

_SHOWN: Final = 20
_CLOSE: Final = 3


def near_names(name: str, known: Iterable[str]) -> str:
    """Return a sentence that helps a user who has misspelt a name. Pure: no I/O.

    >>> near_names("lable", ["label", "image"])
    "Did you mean 'label'?"
    >>> near_names("x", ["label", "image"])
    "There are 'label', 'image'."
    """
    names = list(known)
    folded = {other.casefold(): other for other in reversed(names)}
    close = [folded[found] for found in get_close_matches(name.casefold(), folded, _CLOSE)]
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    if not names:
        return "There are none."
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"There are {', '.join(map(repr, names[:_SHOWN]))}{more}."


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of a sentence and a question after the nearest name, or "" if none is near. Pure: no I/O.

    >>> did_you_mean("skp", ["raise", "skip"]), did_you_mean(3, ["raise", "skip"])
    (". Did you mean 'skip'?", '')
    """
    folded = {other.casefold(): other for other in known}
    near = get_close_matches(str(name).casefold(), folded, 1)
    return f". Did you mean {folded[near[0]]!r}?" if near else ""


def missing_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that a module does not have, with the public one that is nearest. Pure: no I/O.

    Quick for what protocols ask for, whose names begin with an underscore.

    >>> str(missing_name("tfrkit", "raed_records", ["read_records", "stats"]))
    "module 'tfrkit' has no attribute 'raed_records'. Did you mean 'read_records'?"
    """
    near = "" if name.startswith("_") else did_you_mean(name, known)
    return AttributeError(f"module {module!r} has no attribute {name!r}{near}", name=name)


def missing_attribute(owner: object, name: str, shown: str = "") -> AttributeError:
    """Return the error for an attribute that an object or a class does not have, with the public ones close to it.

    Quick for what protocols ask for, whose names begin with an underscore, and for what `hasattr` asks again.

    `shown` is what the message says has no such attribute; by default an object of the class.

    Raises:
        AttributeError: what a property of this name raised, after which Python asks for the attribute here.

    >>> str(missing_attribute({}, "vlaues"))
    "'dict' object has no attribute 'vlaues'. Did you mean 'values'?"
    """
    cls = owner if isinstance(owner, type) else type(owner)
    text = shown or (f"class {cls.__name__!r}" if cls is owner else f"{cls.__name__!r} object")
    near = "" if name.startswith("_") else _near_attribute(cls, name)
    if isinstance(near, property):
        near.__get__(owner)
    # With its object, Python would suggest a name once more.
    return AttributeError(f"{text} has no attribute {name!r}{near}", name=name)


@lru_cache(maxsize=256)
def _near_attribute(cls: type, name: str) -> str | property:
    if isinstance(known := getattr_static(cls, name, None), property):
        return known
    return did_you_mean(name, [each for each in dir(cls) if not each.startswith("_")])


class SuggestingMeta(ABCMeta):
    """Metaclass of `SuggestsNames`: a class does the same for its own names."""

    if not TYPE_CHECKING:  # a type checker reports such names itself

        def __getattr__(cls, name: str) -> Any:
            raise missing_attribute(cls, name)


class SuggestsNames(metaclass=SuggestingMeta):
    """Base of classes that suggest the right name for an attribute whose name is misspelt."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, name)
