r"""Strings and regular expressions: regex_replace and regex_full_match.

The syntax is RE2's, see `regex_syntax`; the rewriting is RE2's too: `\0` to `\9` are groups, an empty match directly
behind another one does not count.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from tfrkit.tf.ops.strings.regex_syntax import compile_re2
from tfrkit.tf.ops.strings.string_values import map_strings, scalar_string

__all__ = ["regex_full_match", "regex_replace"]

_REPLACE: Final = "StaticRegexReplace"
_ESCAPE: Final = re.compile(rb"\\(.?)", re.DOTALL)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True) -> Any:  # noqa: A002
    r"""Replace what matches an expression.

    Args:
        input: strings.
        pattern: one expression in RE2's syntax.
        rewrite: what to put in place of a match; `\1` to `\9` are its groups, `\0` all of it, `\\` a backslash.
        replace_global: replace all matches, not only the first.

    Raises:
        InvalidArgumentError: the pattern is no expression of RE2.

    >>> regex_replace("a1b22", r"[0-9]+", r"<\0>")
    b'a<1>b<22>'
    """
    expression = compile_re2(scalar_string(pattern, "Pattern must be scalar, but received "))
    template = _template(scalar_string(rewrite, "Rewrite must be scalar, but received "))
    groups = [part for part in template if isinstance(part, int)]
    if max(groups, default=0) > expression.groups or (None in template and not replace_global):
        return map_strings(input, list, op=_REPLACE)  # RE2 leaves the strings alone
    return map_strings(
        input,
        lambda texts: [_replace(text, expression, template, replace_global) for text in texts],
        op=_REPLACE,
    )


def regex_full_match(input: Any, pattern: Any) -> Any:  # noqa: A002
    """Tell which strings match an expression as a whole.

    Returns:
        bool, of the shape of the input.

    >>> regex_full_match(["ab", "abc"], "ab?").tolist()
    [True, False]
    """
    expression = compile_re2(scalar_string(pattern, "Pattern must be scalar, but received "))
    return map_strings(
        input,
        lambda texts: [expression.fullmatch(_decode(text)) is not None for text in texts],
        np.bool_,
        "StaticRegexFullMatch",
    )


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _template(rewrite: bytes) -> list[str | int | None]:
    """A rewrite as its texts and numbers of groups; at an escape that means nothing it ends with None."""
    parts: list[str | int | None] = []
    at = 0
    for escape in _ESCAPE.finditer(rewrite):
        parts.append(_decode(rewrite[at : escape.start()]))
        char = escape[1]
        if char.isdigit():
            parts.append(int(char))
        elif char == b"\\":
            parts.append("\\")
        else:
            return [*parts, None]
        at = escape.end()
    return [*parts, _decode(rewrite[at:])]


def _replace(
    text: bytes, expression: re.Pattern[str], template: list[str | int | None], every: bool
) -> bytes:
    source = _decode(text)
    made = _replace_plain(source, expression, template) if every else None
    if made is None:
        made = _replace_any(source, expression, template, every)
    return "".join(made).encode("utf-8", "surrogateescape")


def _replace_plain(
    source: str, expression: re.Pattern[str], template: list[str | int | None]
) -> list[str] | None:
    """What the result consists of, where no match is empty; None if one is."""
    made: list[str] = []
    at = 0
    for match in expression.finditer(source):
        start, end = match.span()
        if start == end:
            return None
        made.append(source[at:start])
        made += [part if isinstance(part, str) else _filled(part, match) for part in template]
        at = end
    return [*made, source[at:]]


def _replace_any(
    source: str, expression: re.Pattern[str], template: list[str | int | None], every: bool
) -> list[str]:
    """The same by RE2's rule for empty matches."""
    made: list[str] = []
    at = 0
    behind = -1  # the end of the match before
    while at <= len(source):
        match = expression.search(source, at)
        if match is None:
            break
        start, end = match.span()
        if start == end == behind:  # no empty match there: one character on
            made.append(source[at : at + 1])
            at += 1
            continue
        made.append(source[at:start])
        made += [part if isinstance(part, str) else _filled(part, match) for part in template]
        at = behind = end
        if not every:
            break
    return [*made, source[at:]]


def _filled(part: int | None, match: re.Match[str]) -> str:
    return "" if part is None else match.group(part) or ""
