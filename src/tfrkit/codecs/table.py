"""The table of compressions: by name, by suffix, by first bytes. `add_codec` adds one.

Adding a compression here is a row; everything else about it is in its own file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfrkit.codecs.bzip2 import BZIP2
from tfrkit.codecs.codec import Codec, Decoder
from tfrkit.codecs.gzip import GZIP
from tfrkit.codecs.none import NONE
from tfrkit.codecs.xz import XZ
from tfrkit.codecs.zlib import ZLIB
from tfrkit.codecs.zstd import ZSTD
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import did_you_mean

if TYPE_CHECKING:
    from tfrkit.model.near_names import did_you_mean
from tfrkit.stores.source import ByteSource

__all__ = [
    "SEEKABLE",
    "add_codec",
    "all_codecs",
    "canonical",
    "codec",
    "from_suffix",
    "names",
    "of_index_number",
    "open_decoder",
    "record_codecs",
    "remove_codec",
    "sniff",
]

_CODECS: Final[dict[str, Codec]] = {each.name: each for each in (NONE, GZIP, ZLIB, XZ, ZSTD, BZIP2)}
_BUILT_IN: Final = frozenset(_CODECS)
SEEKABLE: Final = GZIP  # what to choose for compressed records that every reader can read, from any place on


def all_codecs() -> tuple[Codec, ...]:
    """Return every compression, those too that are only read."""
    return tuple(_CODECS.values())


def record_codecs() -> tuple[Codec, ...]:
    """Return the compressions that files of records may have, none included."""
    return tuple(each for each in _CODECS.values() if each.encoder is not None)


def names() -> tuple[str, ...]:
    """Return the names of the compressions that files of records may have; "" is none.

    >>> names()
    ('', 'GZIP', 'ZLIB', 'XZ', 'ZSTD')
    """
    return tuple(each.name for each in record_codecs())


def codec(name: str) -> Codec:
    """Return the compression of a name as `canonical` returns it.

    Raises:
        InvalidArgumentError: there is none.

    >>> codec("GZIP").suffixes
    ('.gz', '.gzip')
    """
    try:
        return _CODECS[name]
    except KeyError:
        raise _unknown(name) from None


def canonical(name: str | None) -> str:
    """Return the name of a compression as in `names`; upper and lower case, None and "none" are accepted.

    Raises:
        InvalidArgumentError: there is no such compression.

    >>> canonical("gzip"), canonical("none")
    ('GZIP', '')
    """
    if not isinstance(name, str | None):
        raise TypeError(f"expected the name of a compression but got {name!r} ({type(name).__name__})")
    text = (name or "").upper()
    text = "" if text == "NONE" else text
    if text not in _CODECS or _CODECS[text].encoder is None:
        raise _unknown(name)
    return text


def _unknown(name: str | None) -> InvalidArgumentError:
    *first, last = (each or "none" for each in names())
    by_suffix = from_suffix(f".tfrecord.{name}")
    near = did_you_mean(by_suffix or name, names()) or "."
    return InvalidArgumentError(f"Unknown compression {name!r}: expected {', '.join(first)} or {last}{near}")


def from_suffix(path: str) -> str:
    """Return the name of the compression that the name of a file of records promises.

    >>> from_suffix("train.tfrecord.gz"), from_suffix("train.tfrecord")
    ('GZIP', '')
    """
    lower = path.lower()
    return next((each.name for each in record_codecs() if lower.endswith(each.suffixes)), "")


def sniff(head: bytes) -> Codec:
    """Return the compression that the first bytes of a file prove, none if they prove nothing. Pure: no I/O.

    What holds records is better told by `records/sniff/compression_sniffer.py`.

    >>> sniff(bytes.fromhex("1f8b0800")).name, sniff(b"text").name
    ('GZIP', '')
    """
    return next((each for each in _CODECS.values() if head.startswith(each.magic)), NONE)


def of_index_number(number: int) -> Codec:
    """Return the compression that index files call by a number; ValueError if there is none."""
    for each in _CODECS.values():
        if each.index_number == number:
            return each
    raise ValueError(f"unknown compression {number}")


def open_decoder(source: ByteSource, compression: str, *, tensorflow: bool = False) -> Decoder:
    """Open the uncompressed stream of a source that stands at the start of the (rest of the) container.

    Raises:
        MissingExtraError: the package that the compression needs is not installed.
    """
    return codec(compression).open(source, tensorflow=tensorflow)


def add_codec(added: Codec) -> None:
    """Add a compression: from now on everything in this process can read and write it.

    A process that is started, not forked, has to add it again.

    Args:
        added: its name, suffixes and first bytes must be its own.

    Raises:
        InvalidArgumentError: they are not, or there is something that only built-in compressions can have.
    """
    for reason in _problems(added):
        raise InvalidArgumentError(f"The compression {added.name!r} cannot be added: {reason}.")
    _CODECS[added.name] = added


def _problems(added: Codec) -> list[str]:
    found = []
    if not (added.name.isascii() and added.name.isalnum() and added.name == added.name.upper()) or (
        added.name in ("NONE", "AUTO")
    ):
        found.append("expected a name of capitals and digits other than NONE and AUTO")
    if not added.suffixes or not all(
        suffix.startswith(".") and suffix == suffix.lower() for suffix in added.suffixes
    ):
        found.append("expected suffixes in lower case that begin with a dot")
    if added.members is not None or added.index_number is not None:
        found.append("index files have no number for it, so that it has no members")
    for each in _CODECS.values():
        if each.name == added.name:
            found.append("there is one of that name")
        if shared := set(each.suffixes) & set(added.suffixes):
            found.append(f"{each.name} has the suffix {min(shared)}, too")
        if any(one.startswith(two) or two.startswith(one) for one in each.magic for two in added.magic):
            found.append(f"files of {each.name} begin with the same bytes")
    return found


def remove_codec(name: str) -> None:
    """Take out a compression that `add_codec` has added."""
    if name not in _BUILT_IN:
        _CODECS.pop(name, None)
