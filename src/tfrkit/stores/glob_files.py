"""Files that match a pattern, by TensorFlow's rules: fnmatch for each part of a path, dot files and folders included.

`*` and `?` stand for anything but "/"; `[...]` for one of some characters; a backslash takes the next character as it
is; `{}` has no meaning, and `**` is `*`. A pattern without any of these is a path, whose existence is all that counts.
In stores whose folders are only beginnings of names, files alone match; where names cannot be listed, a URL is a path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from tfrkit.stores.files import is_there, list_if_there, traits_of
from tfrkit.stores.url import is_url, local_path

__all__ = ["glob_files", "match_files"]

_MAGIC: Final = re.compile(r"[*?\[\\]")
_NOTHING: Final = r"[^\s\S]"
_NAMED: Final = re.compile(r"\[:(\w+):\]")
_CLASSES: Final = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def glob_files(patterns: Iterable[str]) -> list[str]:
    """Return all files that match, bytewise sorted over all patterns; one that two patterns match comes twice."""
    return sorted((path for pattern in patterns for path in match_files(pattern)), key=os.fsencode)


def match_files(pattern: str) -> list[str]:
    """Return the files that match one pattern, in the order in which the operating system or the store lists them.

    Raises:
        UnimplementedError: no store knows the URL's scheme.
    """
    magic = _MAGIC.search(pattern)
    if magic is None or not traits_of(pattern).lists:
        return [pattern] if pattern and is_there(pattern) else []
    if is_url(pattern):
        return _match_url(pattern)
    name = local_path(pattern)
    scheme = pattern[: len(pattern) - len(name)]  # of a `file://` URL, which its matches have as well
    return [scheme + path for path in _match_local(name)]


def _match_url(pattern: str) -> list[str]:
    fixed = _MAGIC.split(pattern, maxsplit=1)[0]
    base = fixed[: fixed.rindex("/") + 1]
    matchers = _matchers(pattern[len(base) :])
    return [
        found.path
        for found in list_if_there(base, recursive=len(matchers) > 1)
        if not found.is_folder and _fits(found.path[len(base) :].split("/"), matchers)
    ]


def _fits(names: list[str], matchers: list[re.Pattern[str]]) -> bool:
    return len(names) == len(matchers) and all(map(re.Pattern.fullmatch, matchers, names))


def _matchers(pattern: str) -> list[re.Pattern[str]]:
    return [re.compile(_translate(level), re.DOTALL) for level in pattern.removesuffix("/").split("/")]


def _match_local(pattern: str) -> list[str]:
    fixed = _MAGIC.split(pattern, maxsplit=1)[0]
    if "/" not in fixed:
        pattern, fixed = f"./{pattern}", "./"
    base = fixed[: fixed.rindex("/")]
    if "//" in pattern:  # an empty name matches nothing
        return []
    found = [base or "/"]
    matchers = _matchers(pattern[len(base) + 1 :])
    for number, matcher in enumerate(matchers):
        found = [
            os.path.join(folder, name)
            for folder in found
            for name in _children(folder)
            if matcher.fullmatch(name)
            and (number == len(matchers) - 1 or os.path.isdir(os.path.join(folder, name)))
        ]
    return found


def _children(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # no folder, or one that may not be read
        return []


def _translate(pattern: str) -> str:
    r"""Return the regular expression for one part of a pattern.

    >>> _translate("a*[!b-d]?"), _translate(r"\*{x}[")
    ('a.*[^b-d].', '\\*\\{x\\}\\[')
    """
    out = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            out.append(".*")
        elif char == "?":
            out.append(".")
        elif char == "[" and (end := _set_end(pattern, at)):
            out.append(_translate_set(pattern[at:end]))
            at = end + 1
        elif char == "\\":
            if at == len(pattern):
                return _NOTHING  # an escape of nothing
            out.append(re.escape(pattern[at]))
            at += 1
        else:
            out.append(re.escape(char))
    return "".join(out)


def _set_end(pattern: str, at: int) -> int:
    """Where the `]` of a set stands that begins at `at`; 0 if there is none, and the `[` is a character."""
    if pattern[at : at + 1] in ("!", "^"):
        at += 1
    first = at
    while at < len(pattern):
        if pattern[at] == "]" and at > first:
            return at
        if pattern.startswith("[:", at) and (end := pattern.find(":]", at)) > 0:
            at = end + 1
        elif pattern[at] == "\\":
            at += 1
        at += 1
    return 0


def _translate_set(content: str) -> str:
    negated = content[:1] in ("!", "^")
    out = []
    at = 1 if negated else 0
    while at < len(content):
        named = _NAMED.match(content, at)
        if named and named.group(1) in _CLASSES:
            out.append(_CLASSES[named.group(1)])
            at = named.end()
            continue
        first, at = _character(content, at)
        last = first
        if content[at : at + 1] == "-" and at + 1 < len(content):
            last, at = _character(content, at + 1)
        if first <= last:  # else there is nothing in between
            out.append(f"{re.escape(first)}-{re.escape(last)}")
    inner = "".join(out)
    if not inner:
        return "." if negated else _NOTHING
    return f"[{'^' if negated else ''}{inner}]"


def _character(content: str, at: int) -> tuple[str, int]:
    """The character at a place, which a backslash may protect, and the place after it."""
    if content[at] == "\\" and at + 1 < len(content):
        at += 1
    return content[at], at + 1
