"""Names of record files: `NAME.tfrecord` and the suffix of the compression, with or without the number of a shard.

Pure: looks at names only. Which numbered names make a set is in `stores/shard_names.py`.
"""

from __future__ import annotations

import os
import re
from typing import Final

from tfrkit.codecs.table import codec, record_codecs
from tfrkit.errors import InvalidArgumentError
from tfrkit.stores.shard_names import numbered_prefix

__all__ = [
    "OTHER_FORMS",
    "RecordName",
    "check_title",
    "numbered_title",
    "other_name",
    "parse_other_name",
    "parse_record_name",
    "record_suffix",
    "record_suffixes",
    "shard_name",
    "shard_prefix",
]

_SUFFIX: Final = ".tfrecord"
# Files of other formats that jobs write, beside a manifest that names them; and the numbers of each.
OTHER_FORMS: Final = {".tar": "-{0:06d}", ".array_record": "-{0:05d}-of-{1:05d}"}
_OTHER: Final = re.compile(
    r"(?s)(.*?)(-[0-9]{6,}(?=\.tar)|-[0-9]{5,}-of-[0-9]{5,}(?=\.a))(\.tar|\.array_record)"
)
_STEM: Final = re.compile(r"(?s)(.*?)(-[0-9]{5,}-of-[0-9]{5,})?")

RecordName = tuple[str, str]  # before the number; the number, such as "-00000-of-00004", or ""


def record_suffix(compression: str) -> str:
    """Return what ends the name of a file of records that tfrkit writes.

    >>> record_suffix(""), record_suffix("GZIP")
    ('.tfrecord', '.tfrecord.gz')
    """
    return _SUFFIX + codec(compression).suffix


def record_suffixes() -> list[str]:
    """Return all that `record_suffix` may return."""
    return [_SUFFIX + each.suffix for each in record_codecs()]


def shard_name(prefix: str, number: int, count: int, compression: str) -> str:
    """Return the name of one of some numbered shards. A prefix with the suffix of the files is followed by the number.

    >>> shard_name("out/a", 0, 2, "GZIP"), shard_name("out/a.tfrecord", 0, 2, "")
    ('out/a-00000-of-00002.tfrecord.gz', 'out/a.tfrecord-00000-of-00002')
    """
    suffix = record_suffix(compression)
    numbered = f"{prefix}-{number:05d}-of-{count:05d}"
    return numbered if prefix.endswith(suffix) else numbered + suffix


def check_title(title: str) -> None:
    """Refuse what would be taken for an export. Pure: no I/O.

    Raises:
        InvalidArgumentError: it ends as files of another format do.

    >>> check_title("train")
    """
    if title.endswith(tuple(OTHER_FORMS)):
        raise InvalidArgumentError(
            f"{title!r}; files of records cannot have names that begin like those of exports. Leave out "
            f"{os.path.splitext(title)[1]!r}."
        )


def numbered_title(name: str) -> str | None:
    """Return what stands before the number of a shard that tfrkit may have written; None if it is no such name.

    >>> [numbered_title(f"a{rest}") for rest in ("-00000-of-00004.tfrecord", ".tfrecord-00000-of-00004", ".tfrecord")]
    ['a', 'a.tfrecord', None]
    """
    if (found := parse_record_name(name)) is not None:
        return found[0] if found[1] else None
    last = _STEM.fullmatch(name)
    return last[1] if last is not None and last[2] and last[1].endswith(tuple(record_suffixes())) else None


def parse_record_name(name: str) -> RecordName | None:
    """Take the name of a file that tfrkit may have written apart; None if it is no such name.

    >>> parse_record_name("a-00000-of-00004.tfrecord.gz"), parse_record_name("one.tfrecord"), parse_record_name("x.gz")
    (('a', '-00000-of-00004'), ('one', ''), None)
    """
    suffix = next((each for each in record_suffixes() if name.endswith(each)), None)
    found = None if suffix is None else _STEM.fullmatch(name.removesuffix(suffix))
    return None if found is None else (found[1], found[2] or "")


def other_name(prefix: str, number: int, count: int, form: str) -> str:
    """Return the name of one of some files of another format; the prefix ends with its suffix.

    >>> other_name("train.tar", 3, 8, ".tar"), other_name("a.array_record", 3, 8, ".array_record")
    ('train-000003.tar', 'a-00003-of-00008.array_record')
    """
    return prefix.removesuffix(form) + OTHER_FORMS[form].format(number, count) + form


def parse_other_name(name: str) -> RecordName | None:
    """Take the name of a file of another format apart, as `other_name` has it; None if it is no such name.

    >>> parse_other_name("train-000003.tar"), parse_other_name("train.tar")
    (('train.tar', '-000003'), None)
    """
    found = _OTHER.fullmatch(name)
    return None if found is None else (found[1] + found[3], found[2])


def shard_prefix(name: str) -> str | None:
    """Return the prefix of a shard's name, with or without a number; None if it is no such name.

    >>> shard_prefix("a-00000-of-00004.tfrecord.gz"), shard_prefix("one.tfrecord"), shard_prefix("notes.txt")
    ('a', 'one', None)
    >>> shard_prefix("a-000003.tar")
    'a.tar'
    """
    if (other := parse_other_name(name)) is not None:
        return other[0]
    prefix = numbered_prefix(name)
    if prefix is None and (found := parse_record_name(name)) is not None:
        return "".join(found)
    return prefix
