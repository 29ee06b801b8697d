"""Which records of two data sets are the same, changed, added, removed and moved.

Both are read once for digests of all records. What has no partner of the same bytes is read again for what it means,
and what is then still different a third time, in pairs, to compare features.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.records.compare.compare_features import FeatureName, changed_features, compare_pairs, values_of
from tfrkit.records.compare.data_set import DataSet
from tfrkit.records.compare.diff_report import (
    ChangedFeature,
    ChangedValue,
    RecordChange,
    RecordDiff,
)
from tfrkit.records.compare.match_records import (
    Digests,
    Numbers,
    align_rest,
    count_moved,
    pair_equal,
    repeated,
    unused,
)
from tfrkit.records.compare.read_pairs import read_pairs

__all__ = ["compare_records"]

Key = tuple[int | bytes, ...]
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Matched:
    """How the records of two data sets belong together.

    Attributes:
        changed: pairs that differ: their numbers in both, the first ascending.
        added: records that only the second has, ascending.
        removed: those that only the first has.
        reencoded: how many pairs have other bytes and mean the same.
        moved: how many stand elsewhere.
        repeated: records of both whose key stood before.
    """

    changed: tuple[Numbers, Numbers]
    added: Numbers
    removed: Numbers
    reencoded: int = 0
    moved: int = 0
    repeated: tuple[Numbers, Numbers] = (_NONE, _NONE)


def compare_records(
    a: DataSet,
    b: DataSet,
    *,
    keys: Sequence[str],
    tolerance: float,
    limit: int,
    progress: Callable[[int, int], object] | None,
) -> RecordDiff:
    """Compare the records of two data sets.

    Args:
        a: the first.
        b: the second.
        keys: features that identify records; none to compare by position.
        tolerance: of floats; see `DiffOptions`.
        limit: how many examples of each kind to keep.
        progress: called with how many more records and bytes have been read, of each data set once.
    """
    digests_a, digests_b = (data.digest(keys, progress) for data in (a, b))
    same = digests_a[0].same(digests_b[0]) if a.records == b.records else None
    if not keys and same is not None and same.all():
        return RecordDiff(a.records, b.records, a.records)
    if keys:
        matched = _match_by_key(a, b, digests_a, digests_b)
    else:
        matched = _match_by_position(a, b, digests_a[0], digests_b[0])
    del digests_a, digests_b
    pairs = _compare_changed(a, b, matched.changed, keys, tolerance, limit)
    changed = len(matched.changed[0]) - pairs.near
    return RecordDiff(
        old=a.records,
        new=b.records,
        same=a.records - len(matched.removed) - changed,
        reencoded=matched.reencoded,
        within_tolerance=pairs.near,
        changed=changed,
        added=len(matched.added),
        removed=len(matched.removed),
        moved=matched.moved,
        repeated_keys=(len(matched.repeated[0]), len(matched.repeated[1])),
        features=pairs.features,
        changed_examples=pairs.examples,
        added_examples=_examples(b, matched.added[:limit], keys, new=True),
        removed_examples=_examples(a, matched.removed[:limit], keys),
        repeated_examples=_examples(a, matched.repeated[0][:limit], keys)
        + _examples(b, matched.repeated[1][:limit], keys, new=True),
    )


def _match_by_key(
    a: DataSet, b: DataSet, digests_a: tuple[Digests, Digests], digests_b: tuple[Digests, Digests]
) -> _Matched:
    partners = pair_equal(digests_a[1], digests_b[1], in_place=False)
    paired = np.flatnonzero(partners >= 0)
    same = digests_a[0].take(paired).same(digests_b[0].take(partners[paired]))
    in_a = paired[~same]
    in_b = partners[in_a]
    order = np.argsort(in_b, kind="stable")
    means_b = b.meanings(in_b[order]).take(np.argsort(order, kind="stable"))
    reencoded = a.meanings(in_a).same(means_b)
    return _Matched(
        changed=(in_a[~reencoded], in_b[~reencoded]),
        added=unused(b.records, partners[paired]),
        removed=np.flatnonzero(partners < 0),
        reencoded=int(reencoded.sum()),
        repeated=(repeated(digests_a[1]), repeated(digests_b[1])),
    )


def _match_by_position(a: DataSet, b: DataSet, digests_a: Digests, digests_b: Digests) -> _Matched:
    partners = pair_equal(digests_a, digests_b)
    rest_a, rest_b = np.flatnonzero(partners < 0), unused(b.records, partners[partners >= 0])
    reencoded = 0
    if len(rest_a) and len(rest_b):
        found = pair_equal(a.meanings(rest_a), b.meanings(rest_b))
        reencoded = int((found >= 0).sum())
        partners[rest_a[found >= 0]] = rest_b[found[found >= 0]]
    moved = count_moved(partners[partners >= 0])
    if moved and reencoded:
        # Of records that mean the same any may belong together: pairs by meaning move the fewest.
        everything = a.meanings(np.arange(a.records)), b.meanings(np.arange(b.records))
        partners = pair_equal(*everything)
        moved = count_moved(partners[partners >= 0])
    changed = align_rest(partners, b.records)
    removed = np.setdiff1d(np.flatnonzero(partners < 0), changed[0], assume_unique=True)
    taken = np.concatenate([partners[partners >= 0], changed[1]])
    return _Matched(changed, unused(b.records, taken), removed, reencoded, moved)


# -- changed records ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Compared:
    near: int = 0  # pairs that only differ within the tolerance
    features: tuple[ChangedFeature, ...] = ()
    examples: tuple[RecordChange, ...] = ()


def _compare_changed(
    a: DataSet,
    b: DataSet,
    changed: tuple[Numbers, Numbers],
    keys: Sequence[str],
    tolerance: float,
    limit: int,
) -> _Compared:
    in_a, in_b = changed
    counts: defaultdict[FeatureName, list[int]] = defaultdict(lambda: [0, 0, 0])
    first: dict[int, tuple[bytes, bytes]] = {}  # the examples: pairs with the lowest numbers
    near = 0
    for pairs in read_pairs(a, b, in_a, in_b):
        found = compare_pairs(pairs.old, pairs.new, tolerance)
        differs = np.zeros(len(pairs.numbers), bool)
        for name, masks in found.items():
            for place, mask in enumerate(masks):
                counts[name][place] += int(mask.sum())
                differs |= mask
        near += int((~differs).sum())
        for row in np.flatnonzero(differs).tolist():
            if len(first) < limit or (first and pairs.numbers[row] < max(first)):
                first[pairs.numbers[row]] = pairs.old[row], pairs.new[row]
                if len(first) > limit:
                    del first[max(first)]
    features = sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0]))
    return _Compared(
        near,
        tuple(ChangedFeature(*name, *numbers) for name, numbers in features),
        tuple(
            _changed_record(a, b, int(in_a[pair]), int(in_b[pair]), first[pair], keys, tolerance)
            for pair in sorted(first)
        ),
    )


def _changed_record(
    a: DataSet,
    b: DataSet,
    in_a: int,
    in_b: int,
    records: tuple[bytes, bytes],
    keys: Sequence[str],
    tolerance: float,
) -> RecordChange:
    old, new = map(values_of, records)
    values = tuple(
        ChangedValue(*name, old.get(name), new.get(name), name in old, name in new)
        for name in changed_features(old, new, tolerance)
    )
    return RecordChange(a.place(in_a), b.place(in_b), _key_of(old, keys), values)


def _examples(
    data: DataSet, numbers: Numbers, keys: Sequence[str], *, new: bool = False
) -> tuple[RecordChange, ...]:
    found: list[Key] = [()] * len(numbers)
    if keys:
        records = [record for _, block in data.chosen(numbers) for record in block.to_list()]
        found = [_key_of(values_of(record), keys) for record in records]
    places = map(data.place, numbers.tolist())
    return tuple(
        RecordChange(None if new else place, place if new else None, key)
        for place, key in zip(places, found, strict=True)
    )


def _key_of(values: dict[FeatureName, Any], keys: Sequence[str]) -> Key:
    found = [values[FeatureName(key)][0] for key in keys]
    return tuple(value if isinstance(value, bytes) else int(value) for value in found)
