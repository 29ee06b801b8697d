"""What must not be shown: queries and passwords of URLs, and values that were given as secrets.

Pure text: no I/O, nothing of tfrkit is imported. Every error passes its message through `redact`, and so does whatever
writes a name into a file, a report, a log or a repr.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["hide_secrets", "keep_secret", "redact"]

_URL: Final = re.compile(r"""([A-Za-z][A-Za-z0-9+.-]*://)([^\s'"<>]*)""")
_WEB: Final = ("http://", "https://")
_SHORTEST: Final = 6  # shorter values would be found in words that are no secret
_MOST_PASSING: Final = (
    256  # a program may open any number of signed URLs, and each text is searched for all of these
)
_secrets: set[str] = set()
_passing: dict[str, None] = {}  # the oldest first


def keep_secret(value: object, *, lasting: bool = True) -> None:
    """Let `redact` leave out a value from now on, such as a key or a token; None and very short values are ignored.

    Args:
        value: what is secret.
        lasting: for ever; else until there are many others of this kind, such as parts of signed URLs, which are found
            in URLs anyway.
    """
    if not isinstance(value, str) or len(value) < _SHORTEST:
        return
    if lasting:
        _secrets.add(value)
    else:
        _passing[value] = None
        while len(_passing) > _MOST_PASSING:
            _passing.pop(next(iter(_passing), ""), None)


def redact(text: str) -> str:
    """Return a text without the queries and passwords of URLs in it, and without values that are secret.

    Of other schemes than http and https a question mark is part of the name.

    >>> redact("cannot read 'https://me:word@host/a.tfrecord?X-Sig=12' now")
    "cannot read 'https://***@host/a.tfrecord?***' now"
    >>> redact("s3://bucket/a?.tfrecord")
    's3://bucket/a?.tfrecord'
    """
    if "://" in text:
        text = _URL.sub(_redact_url, text)
    return hide_secrets(text)


def hide_secrets(text: str) -> str:
    """Return a text without values that are secret, for data: URLs that are not ours stay as they are."""
    for secret in sorted([each for each in (*_secrets, *_passing) if each in text], key=len, reverse=True):
        text = text.replace(secret, "***")  # the longest first: one may be a part of another
    return text


def _redact_url(found: re.Match[str]) -> str:
    scheme, rest = found[1], found[2]
    host, slash, path = rest.partition("/")
    if "@" in host:
        host = "***@" + host.rpartition("@")[2]
    rest = host + slash + path
    if scheme.lower() in _WEB and "?" in rest:
        before, _, query = rest.partition("?")
        after = query[len(query.rstrip(".,;:)]}")) :] if query else ""  # punctuation of the sentence
        fragment = "***" if query.strip(".,;:)]}") else ""
        rest = f"{before}?{fragment}{after}"
    return scheme + rest
