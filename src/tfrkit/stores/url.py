"""URLs where a path is expected: their parts, and the names that they have in messages.

Pure: no I/O. A path that begins with `<scheme>://` is a URL; what comes after the scheme is taken as it stands, without
percent-decoding, except of http and https, where it is what a browser would take.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.redact import redact

__all__ = [
    "base_name",
    "display_name",
    "is_url",
    "local_path",
    "parse_url",
    "path_parts",
    "plain_folder",
    "scheme_of",
    "split_query",
]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_FILE: Final = re.compile(r"file://(?:localhost)?(?=/)", re.IGNORECASE)


def scheme_of(path: str) -> str:
    """Return the scheme of a URL in lower case; empty for a local path, `file://` included.

    >>> scheme_of("S3://bucket/key"), scheme_of("file:///a"), scheme_of("./s3:/a")
    ('s3', '', '')
    """
    found = _SCHEME.match(path)
    return "" if found is None or _FILE.match(path) else found[1].lower()


def is_url(path: str) -> bool:
    """Tell whether a path names something that is not a local file."""
    return _SCHEME.match(path) is not None and not _FILE.match(path)


def local_path(path: str) -> str:
    """Return the path of a `file://` URL; any other path as it is.

    >>> local_path("file:///data/a.tfrecord"), local_path("a.tfrecord")
    ('/data/a.tfrecord', 'a.tfrecord')
    """
    found = _FILE.match(path)
    return path if found is None else path[found.end() :]


def split_path(path: str) -> tuple[str, str]:
    """Return the folder of a path or URL and the name in it, as `os.path.split` does of local ones.

    >>> split_path("s3://bucket/a/b"), split_path("memory://a"), split_path("a/b")
    (('s3://bucket/a', 'b'), ('memory://', 'a'), ('a', 'b'))
    """
    found = _SCHEME.match(path)
    if found is None:
        return os.path.split(path)
    folder, slash, name = path[found.end() :].rpartition("/")
    return path[: found.end()] + (folder if slash else ""), name


def parse_url(url: str) -> tuple[str, str, str]:
    """Return scheme, host or bucket, and key of a URL.

    Raises:
        InvalidArgumentError: there is no host, or a password stands in it.

    >>> parse_url("s3://bucket/a/b c%20.tfrecord")
    ('s3', 'bucket', 'a/b c%20.tfrecord')
    """
    found = _SCHEME.match(url)
    if found is None:
        raise InvalidArgumentError(f"{url}; expected a URL such as s3://bucket/key.", path=url)
    host, _, key = url[found.end() :].partition("/")
    scheme = found[1].lower()
    if not host and scheme != "memory":
        raise InvalidArgumentError(
            f"{url}; expected a name after {found[0]!r}, such as {scheme}://bucket/key.", path=url
        )
    if "@" in host and ":" in host.rpartition("@")[0]:
        raise InvalidArgumentError(
            f"{url}; a password does not belong into a URL, which ends up in logs. Take it out and pass credentials "
            "through the environment or tfrkit.configure_store.",
            path=url,
        )
    return scheme, host, key


def plain_folder(path: str) -> str:
    """Return the folder of a URL as listings name it: its scheme in small letters, no empty parts of the key.

    >>> plain_folder("S3://bucket//a/b/"), plain_folder("memory://a")
    ('s3://bucket/a/b', 'memory://a')
    """
    scheme, _, rest = path.partition("://")
    host, _, key = rest.partition("/")
    return "/".join([f"{scheme.lower()}://{host}", *filter(None, key.split("/"))])


def display_name(path: str) -> str:
    """Return a path for messages, reports and files: without the query of a signed URL.

    >>> display_name("https://host/a.tfrecord?sig=abc"), display_name("a.tfrecord")
    ('https://host/a.tfrecord?***', 'a.tfrecord')
    """
    return redact(path) if "://" in path else path


def path_parts(path: str) -> tuple[str, ...]:
    """Return the names that a path or URL consists of; of a URL scheme and host come first, and its query is left out.

    >>> path_parts("s3://bucket/dt=1/a.csv"), path_parts("https://host/a.csv?sig=abc"), path_parts("a/./b")
    (('s3', 'bucket', 'dt=1', 'a.csv'), ('https', 'host', 'a.csv'), ('a', 'b'))
    """
    if not is_url(path):
        return PurePath(os.path.normpath(path)).parts
    scheme = scheme_of(path)
    rest = path[len(scheme) + 3 :]
    if scheme in ("http", "https"):
        rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    return (scheme, *(part for part in rest.split("/") if part))


def base_name(path: str) -> str:
    """Return the last name of a path or URL, without the query of a URL.

    >>> base_name("https://host/a.csv?sig=abc"), base_name("s3://bucket/what?"), base_name("a/b")
    ('a.csv', 'what?', 'b')
    """
    return path_parts(path)[-1] if is_url(path) else os.path.basename(path)


def split_query(path: str) -> tuple[str, str]:
    """Return a path without and with only the query of a web address; of other stores `?` belongs to the name.

    >>> split_query("https://host/a.tfrecord?sig=abc"), split_query("s3://bucket/a?b")
    (('https://host/a.tfrecord', '?sig=abc'), ('s3://bucket/a?b', ''))
    """
    name, mark, query = path.partition("?") if scheme_of(path) in ("http", "https") else (path, "", "")
    return name, mark + query
