r"""Character classes of RE2's syntax, as sets of ranges that Python's `re` understands.

`[...]` with ranges, escapes, POSIX names, and `\d`, `\pL` and the like; the named ones are ASCII's, `\p` goes by
Unicode's general categories as Python has them. Scripts such as `\p{Greek}` are not known here.
"""

from __future__ import annotations

import functools
import sys
import unicodedata
from typing import Final

from tfrkit.errors import UnimplementedError

__all__ = ["PERL", "POSIX", "Ranges", "category", "complement", "spell"]

Ranges = tuple[tuple[int, int], ...]  # first and last code point of each

_END: Final = sys.maxunicode
_DIGIT: Final[Ranges] = ((0x30, 0x39),)
_UPPER: Final[Ranges] = ((0x41, 0x5A),)
_LOWER: Final[Ranges] = ((0x61, 0x7A),)
_WORD: Final[Ranges] = (*_DIGIT, *_UPPER, (0x5F, 0x5F), *_LOWER)

PERL: Final[dict[str, Ranges]] = {
    "d": _DIGIT,
    "s": ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)),
    "w": _WORD,
}
POSIX: Final[dict[str, Ranges]] = {
    "alnum": (*_DIGIT, *_UPPER, *_LOWER),
    "alpha": (*_UPPER, *_LOWER),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": _LOWER,
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": (*_DIGIT, (0x41, 0x46), (0x61, 0x66)),
}
_CATEGORIES: Final = frozenset(
    [
        "C",
        "Cc",
        "Cf",
        "Co",
        "Cs",
        "L",
        "Ll",
        "Lm",
        "Lo",
        "Lt",
        "Lu",
        "M",
        "Mc",
        "Me",
        "Mn",
        "N",
        "Nd",
        "Nl",
        "No",
        "P",
        "Pc",
        "Pd",
        "Pe",
        "Pf",
        "Pi",
        "Po",
        "Ps",
        "S",
        "Sc",
        "Sk",
        "Sm",
        "So",
        "Z",
        "Zl",
        "Zp",
        "Zs",
    ]
)
_SCRIPT_LIKE: Final = 3  # names of scripts are longer than those of categories


def complement(ranges: Ranges) -> Ranges:
    """All other characters; no surrogates, which stand for bytes that are no UTF-8.

    >>> complement(((0x00, 0x60), (0x7B, 0x10FFFF)))
    ((97, 122),)
    """
    made = []
    at = 0
    for first, last in sorted((*ranges, (0xD800, 0xDFFF))):
        if first > at:
            made.append((at, first - 1))
        at = max(at, last + 1)
    if at <= _END:
        made.append((at, _END))
    return tuple(made)


def category(name: str) -> Ranges | None:
    r"""The characters of `\p{name}`, None if there is no such category.

    Raises:
        UnimplementedError: the name could be a script.

    >>> category("Nd")[:2], category("X")
    (((48, 57), (1632, 1641)), None)
    """
    negated = name.startswith("^")
    name = name.removeprefix("^")
    if name == "Any":
        found: Ranges = ((0, 0xD7FF), (0xE000, _END))
    elif name in _CATEGORIES:
        found = tuple(run for kind, runs in _runs().items() if kind.startswith(name) for run in runs)
    elif len(name) >= _SCRIPT_LIKE and name.replace("_", "").isalpha() and name[0].isupper():
        raise UnimplementedError(
            f"\\p{{{name}}}: scripts are not known here. Use a general category such as \\p{{L}}, or ranges."
        )
    else:
        return None
    return complement(found) if negated else found


@functools.cache
def _runs() -> dict[str, list[tuple[int, int]]]:
    """Runs of characters of each general category."""
    runs: dict[str, list[tuple[int, int]]] = {}
    start = 0
    before = unicodedata.category("\0")
    for code in range(1, _END + 2):
        kind = unicodedata.category(chr(code)) if code <= _END else ""
        if kind != before:
            if before != "Cs":
                runs.setdefault(before, []).append((start, code - 1))
            start, before = code, kind
    return runs


def spell(ranges: Ranges, negated: bool = False) -> str:
    r"""Write ranges as a class of Python's `re`.

    >>> spell(((0x61, 0x63), (0x5D, 0x5D))), spell(())
    ('[\\U00000061-\\U00000063\\U0000005d]', '(?!)')
    """
    if negated:
        ranges = (*ranges, (0xDC80, 0xDCFF))
    if not ranges:
        return "(?!)"
    items = [f"\\U{first:08x}" + (f"-\\U{last:08x}" if last > first else "") for first, last in ranges]
    return f"[{'^' if negated else ''}{''.join(items)}]"
