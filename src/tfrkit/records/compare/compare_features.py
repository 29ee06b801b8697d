"""In which features two records differ: for many pairs at once, and one by one. Pure: no I/O.

Many pairs are parsed into columns by native code and compared as arrays. Pairs are taken one by one where a record is
not an Example, or where a feature has several kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.records.read.feature_columns import ABSENT, UNSET, ScannedBlocks

__all__ = ["FeatureName", "changed_features", "compare_pairs", "values_of"]

Mask = npt.NDArray[np.bool_]
_MISSING: Final = object()


class FeatureName(NamedTuple):
    """The name of a feature, or of a feature list of SequenceExamples; "" stands for a record that has neither."""

    name: str
    is_list: bool = False


Found = dict[FeatureName, tuple[Mask, Mask, Mask]]  # where it is another, only new, only old


def compare_pairs(old: Sequence[bytes], new: Sequence[bytes], tolerance: float) -> Found:
    """Compare records pair by pair.

    Args:
        old: some records.
        new: as many others.
        tolerance: see `DiffOptions`.

    Returns:
        By feature that differs anywhere: in which pairs it has other values, only the new record has it, only the old.
    """
    a, b = (ScannedBlocks.of([Block.from_records(records)]) for records in (old, new))
    if not (_is_plain(a) and _is_plain(b)):
        return _one_by_one(old, new, tolerance)
    columns_a, columns_b = _columns(a), _columns(b)
    found: Found = {}
    for name in sorted({*columns_a, *columns_b}):
        masks = _compare_columns(columns_a.get(name), columns_b.get(name), len(old), tolerance)
        if any(mask.any() for mask in masks):
            found[FeatureName(name)] = masks
    return found


def _is_plain(group: ScannedBlocks) -> bool:
    one_kind = all(len(kinds) <= 1 for kinds in group.features.values())
    return one_kind and not group.sequences and group.other < 0 and group.all_keys


class _Column(NamedTuple):
    kind: int | None
    values: Ragged
    states: npt.NDArray[np.uint8]


def _columns(group: ScannedBlocks) -> dict[str, _Column]:
    kinds = {name: next(iter(found), None) for name, found in group.features.items()}
    # A feature that never has a kind is parsed too, as whatever: what counts is its state.
    parsed = group.parse({name: kind or _core.INT64 for name, kind in kinds.items()}, 1) if kinds else {}
    return {name: _Column(kinds[name], *column) for name, column in parsed.items()}


def _compare_columns(
    a: _Column | None, b: _Column | None, rows: int, tolerance: float
) -> tuple[Mask, Mask, Mask]:
    nowhere = np.full(rows, ABSENT, np.uint8)
    in_a, in_b = (nowhere if column is None else column.states for column in (a, b))
    both = (in_a != ABSENT) & (in_b != ABSENT)
    other = both & ((in_a == UNSET) != (in_b == UNSET))
    valued = both & (in_a != UNSET) & (in_b != UNSET)
    if a is not None and b is not None and valued.any():
        other |= valued & (a.kind != b.kind or _other_values(a.values, b.values, tolerance))
    return other, (in_a == ABSENT) & (in_b != ABSENT), (in_a != ABSENT) & (in_b == ABSENT)


def _other_values(a: Ragged, b: Ragged, tolerance: float) -> Mask:
    """Return in which rows the values differ."""
    sizes_a, sizes_b = np.diff(a.row_splits), np.diff(b.row_splits)
    differs: Mask = sizes_a != sizes_b
    same = ~differs
    rows = np.repeat(np.flatnonzero(same), sizes_a[same])
    at_a, at_b = (np.flatnonzero(np.repeat(same, sizes)) for sizes in (sizes_a, sizes_b))
    if isinstance(a.values, BytesColumn):
        texts_a, texts_b = a.values.to_list(), b.values.to_list()
        pairs = zip(at_a.tolist(), at_b.tolist(), strict=True)
        unequal = np.fromiter((texts_a[i] != texts_b[j] for i, j in pairs), bool, len(rows))
    else:
        unequal = ~_close(np.asarray(a.values)[at_a], np.asarray(b.values)[at_b], tolerance)
    differs[rows[unequal]] = True
    return differs


def _close(a: npt.NDArray[Any], b: npt.NDArray[Any], tolerance: float) -> Mask:
    """Compare numbers: floats by their bits, or within the tolerance."""
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    same = a.view(np.uint32) == b.view(np.uint32)
    if not tolerance:
        return np.asarray(same)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        scale = np.maximum(1.0, np.maximum(np.abs(wide_a), np.abs(wide_b)))
        near = np.isfinite(scale) & (np.abs(wide_a - wide_b) <= tolerance * scale)
    return np.asarray(same | near | (np.isnan(wide_a) & np.isnan(wide_b)))


# -- one by one --------------------------------------------------------------------------------------------------------


def values_of(record: bytes) -> dict[FeatureName, Any]:
    """Return what a record holds, as `to_dict` does; of a record that is no Example, the record itself."""
    from tfrkit.parsing.example_values import to_dict  # protobuf, which the usual way does without

    group = ScannedBlocks.of([Block.from_records([record])])
    if group.other >= 0:
        return {FeatureName(""): [record]}
    if not group.sequences:
        return {FeatureName(name): value for name, value in to_dict(record).items()}
    found = to_dict(record, sequence=True)
    context = {FeatureName(name): value for name, value in found["context"].items()}
    return {
        **context,
        **{FeatureName(name, True): steps for name, steps in found["feature_lists"].items()},
    }


def changed_features(
    old: Mapping[FeatureName, Any], new: Mapping[FeatureName, Any], tolerance: float
) -> list[FeatureName]:
    """Return which features of two records differ, by name in order."""
    return [
        name
        for name in sorted({*old, *new})
        if not _same(old.get(name, _MISSING), new.get(name, _MISSING), tolerance, steps=name.is_list)
    ]


def _one_by_one(old: Sequence[bytes], new: Sequence[bytes], tolerance: float) -> Found:
    found: Found = {}
    for row, records in enumerate(zip(old, new, strict=True)):
        a, b = map(values_of, records)
        for name in changed_features(a, b, tolerance):
            masks = found.setdefault(name, tuple(np.zeros(len(old), bool) for _ in range(3)))  # type: ignore[arg-type]
            masks[1 if name not in a else 2 if name not in b else 0][row] = True
    return found


def _same(a: Any, b: Any, tolerance: float, *, steps: bool) -> bool:
    if a is None or b is None or a is _MISSING or b is _MISSING:
        return a is b
    if steps:
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(_same(x, y, tolerance, steps=False) for x, y in pairs)
    if isinstance(a, list) or isinstance(b, list):
        return bool(type(a) is type(b) and a == b)
    return a.dtype == b.dtype and len(a) == len(b) and bool(_close(a, b, tolerance).all())
