"""Names of shards, `<prefix>-<number>-of-<count><suffix>`: which belong together, and which are missing.

Pure: looks at names only. TensorFlow's names (`train-00000-of-00008`, `x.tfrecord-00000-of-00008`) are such, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["ShardSet", "numbered_prefix", "shard_sets"]

_NUMBERED: Final = re.compile(r"(?s)(.*)-([0-9]{1,18})-of-([0-9]{1,18})((?:[^0-9].*)?)")
# What stands beside shards, or has not become one.
_BESIDE: Final = (
    ".idx", ".index", ".json", ".txt", ".md5", ".sha1", ".sha256", ".crc", ".bak", ".tmp", ".temp", ".part", ".partial",
    ".crdownload", ".aria2", ".download", ".filepart",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShardSet:
    """Shards that were written as one set.

    Attributes:
        prefix: before the number.
        count: how many there should be.
        names: those that there are, by number.
        pattern: their names, with a star for the number.
    """

    prefix: str
    count: int
    names: dict[int, str]
    pattern: str

    @property
    def first(self) -> int:
        """The number that counting began with: 1 where the last one says so, else 0."""
        return 1 if 0 not in self.names and self.count in self.names else 0

    @property
    def missing_count(self) -> int:
        """How many are missing."""
        return self.count - sum(self.first <= number < self.first + self.count for number in self.names)

    def missing(self) -> Iterator[str]:
        """Return the names of those that are missing, in order. There may be very many."""
        found = [match for match in map(_NUMBERED.fullmatch, self.names.values()) if match]
        width = min(len(match[2]) for match in found)  # the form that the others have
        suffix = Counter(match[4] for match in found).most_common(1)[0][0]
        for number in range(self.first, self.first + self.count):
            if number not in self.names:
                yield f"{self.prefix}-{number:0{width}d}-of-{found[0][3]}{suffix}"

    def stray(self) -> list[str]:
        """Return names whose number is beyond the count."""
        return [
            name for number, name in self.names.items() if not self.first <= number < self.first + self.count
        ]


def shard_sets(names: Iterable[str]) -> list[ShardSet]:
    """Put names with numbers together into sets, in order of the first name of each.

    Sets that differ in their suffix are one if no number is there twice: some shards of it were compressed later.

    >>> [found] = shard_sets(["a-00000-of-00004.tfrecord", "a-00002-of-00004.tfrecord", "notes.txt"])
    >>> found.missing_count, list(found.missing())
    (2, ['a-00001-of-00004.tfrecord', 'a-00003-of-00004.tfrecord'])
    """
    found: dict[tuple[str, str], dict[str, dict[int, str]]] = {}
    for name in names:
        match = None if name.lower().endswith(_BESIDE) else _NUMBERED.fullmatch(name)
        if match is not None and int(match[3]):
            suffixes = found.setdefault((match[1], match[3]), {})
            suffixes.setdefault(match[4], {})[int(match[2])] = name
    sets = []
    for (prefix, count), suffixes in found.items():
        merged = {number: name for members in suffixes.values() for number, name in members.items()}
        disjoint = len(merged) == sum(map(len, suffixes.values()))
        for suffix, members in [("*", merged)] if disjoint and len(suffixes) > 1 else suffixes.items():
            sets.append(ShardSet(prefix, int(count), members, f"{prefix}-*-of-{count}{suffix}"))
    return sets


def numbered_prefix(name: str) -> str | None:
    """Return what stands before the number of a shard's name; None if there is no number.

    >>> numbered_prefix("a-00000-of-00004.tfrecord.gz"), numbered_prefix("one.tfrecord")
    ('a', None)
    """
    match = _NUMBERED.fullmatch(name)
    return match[1] if match else None
