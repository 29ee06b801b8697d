r"""Regular expressions: regex_replace and regex_full_match, run by RE2 itself (the extra `regex`).

RE2 matches in time linear in the length of the string, whatever the pattern. Its Python package has no equivalent of
RE2's own rewriting, so that is here: `\0` to `\9` are groups, and an empty match right after another match is skipped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import require
from tfrkit.tf.ops.strings.string_values import map_strings, scalar_string

__all__ = ["regex_full_match", "regex_replace"]

_ESCAPE: Final = re.compile(rb"\\(.?)", re.DOTALL)
_CHARACTER: Final = re.compile(  # of UTF-8; any other byte counts as one
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|.?",
    re.DOTALL,
)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True) -> Any:
    r"""Replace what a regular expression matches.

    Args:
        input: strings.
        pattern: one expression in RE2's syntax.
        rewrite: the replacement; `\1` to `\9` are the groups of the match, `\0` is all of it, `\\` a backslash.
        replace_global: replace all matches, not only the first.

    Raises:
        InvalidArgumentError: RE2 refuses the pattern.
        MissingExtraError: the package google-re2 is not installed.

    >>> regex_replace("a1b22", r"[0-9]+", r"<\0>")
    b'a<1>b<22>'
    """
    expression = _compile(scalar_string(pattern, "Pattern must be scalar, but received "))
    template = scalar_string(rewrite, "Rewrite must be scalar, but received ")
    parts = _template(template)
    used = max((int(char) for char in _ESCAPE.findall(template) if char.isdigit()), default=0)
    unchanged = used > expression.groups or (
        None in parts and not replace_global
    )  # RE2 leaves such strings alone

    def replace(texts: list[bytes]) -> list[bytes]:
        return texts if unchanged else [_replace(text, expression, parts, replace_global) for text in texts]

    return map_strings(input, replace, op="StaticRegexReplace")


def regex_full_match(input: Any, pattern: Any) -> Any:
    """Return which strings a regular expression matches as a whole.

    Returns:
        bool, of the shape of the input.

    >>> regex_full_match(["ab", "abc"], "ab?").tolist()
    [True, False]
    """
    expression = _compile(scalar_string(pattern, "Pattern must be scalar, but received "))
    return map_strings(
        input,
        lambda texts: [expression.fullmatch(text) is not None for text in texts],
        np.bool_,
        "StaticRegexFullMatch",
    )


@lru_cache(maxsize=512)
def _compile(pattern: bytes) -> Any:
    re2 = require("re2", "tf.strings.regex_replace and regex_full_match")
    options = re2.Options()
    options.log_errors = False  # they are raised
    try:
        expression = re2.compile(pattern, options)
        if any(b"(?P<%b>" % name not in pattern for name in expression.groupindex):
            raise re2.error(b"invalid perl operator: (?<")  # TensorFlow's RE2 has no `(?<name>`
    except re2.error as error:
        shown, reason = (_shown(text) for text in (pattern, error.args[0]))
        raise InvalidArgumentError(f"Invalid pattern: {shown}, error: {reason}") from None
    return expression


def _shown(text: bytes | str) -> str:
    return text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text


def _template(rewrite: bytes) -> list[bytes | int | None]:
    """Split a rewrite into texts and numbers of groups; an escape without meaning ends the list with None."""
    parts: list[bytes | int | None] = []
    at = 0
    for escape in _ESCAPE.finditer(rewrite):
        parts.append(rewrite[at : escape.start()])
        char = escape[1]
        if char.isdigit():
            parts.append(int(char))
        elif char == b"\\":
            parts.append(b"\\")
        else:
            return [*parts, None]
        at = escape.end()
    return [*parts, rewrite[at:]]


def _replace(text: bytes, expression: Any, parts: list[bytes | int | None], every: bool) -> bytes:
    """Replace as RE2's GlobalReplace does, or its Replace if not every match counts."""
    made: list[bytes] = []
    at = 0
    for match in expression.finditer(text):  # half the time of searching match by match
        start, end = match.span()
        if start == end:
            return _replace_empty(text, expression, parts, every)
        made.append(text[at:start])
        made += [part if isinstance(part, bytes) else _group(part, match) for part in parts]
        at = end
        if not every:
            break
    return b"".join([*made, text[at:]])


def _replace_empty(text: bytes, expression: Any, parts: list[bytes | int | None], every: bool) -> bytes:
    """The same where matches may be empty: one right after another match is skipped, together with a character."""
    made: list[bytes] = []
    at = 0
    last_end = -1
    while at <= len(text) and (match := expression.search(text, at)) is not None:
        start, end = match.span()
        if start == end == last_end:
            stop = max(_CHARACTER.match(text, at).end(), at + 1)  # type: ignore[union-attr]
            made.append(text[at:stop])
            at = stop
            continue
        made.append(text[at:start])
        made += [part if isinstance(part, bytes) else _group(part, match) for part in parts]
        at = last_end = end
        if not every:
            break
    return b"".join([*made, text[at:]])


def _group(number: int | None, match: Any) -> bytes:
    return b"" if number is None else match[number] or b""
