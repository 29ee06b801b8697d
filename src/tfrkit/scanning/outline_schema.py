"""The schema of files that have zones beside them, without reading a record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from tfrkit.errors import OpError
from tfrkit.records.access.zones import FeatureOutline, Zones, load_zones
from tfrkit.records.describe.schema import Counts, FeatureSummary, KindSummary, RecordPlace, Schema
from tfrkit.records.read.feature_columns import KIND_NAMES
from tfrkit.stores.files import is_local, open_source
from tfrkit.stores.url import display_name
from tfrkit.threads import spawn_all

__all__ = ["outline_schema"]

_REMOTE_AT_ONCE: Final = 32  # files whose zones are fetched
_NAMES = {kind: "float32" if name == "float" else name for kind, name in KIND_NAMES.items()}


def outline_schema(files: Sequence[object], columns: Collection[str] | None) -> Schema | None:
    """Return what zones know of all files; None if one has none, or they do not know all that is asked for.

    Only what a table needs is in it: kinds, how many values, and where a kind is first met.
    """
    found: list[tuple[str, Zones]] = []
    for file, zones in zip(files, _all_zones(files), strict=False):  # it ends with the first that has none
        if zones is None or zones.other or not zones.complete:
            return None
        found.append((display_name(str(file)), zones))
    features = {path: zones.outline.features for path, zones in found}
    lists = {path: zones.outline.lists for path, zones in found}
    sequences = sum(zones.sequences for _, zones in found)
    records = sum(zones.records for _, zones in found)
    return Schema(
        records=records,
        data_bytes=sum(zones.stream_bytes for _, zones in found) - 16 * records,
        files=tuple(path for path, _ in found),
        sampled=False,
        examples=records - sequences,
        sequence_examples=sequences,
        firsts={},
        features=_merged(features, columns, steps=False),
        feature_lists=_merged(lists, columns, steps=True),
    )


def _all_zones(files: Sequence[object]) -> Iterator[Zones | None]:
    """Load the zones of files, of remote ones many at once; where the first has none, nothing else is asked for."""
    first = _zones(files[0]) if files else None
    yield first
    if first is not None and all(isinstance(file, str) and is_local(file) for file in files):
        yield from map(_zones, files[1:])
    elif first is not None:
        yield from spawn_all(_zones, files[1:], _REMOTE_AT_ONCE)


def _zones(file: object) -> Zones | None:
    if not isinstance(file, str):
        return None
    try:
        return load_zones(file, open_source(file))
    except OpError:
        return None


def _merged(
    outlines: Mapping[str, Mapping[str, FeatureOutline]], columns: Collection[str] | None, *, steps: bool
) -> dict[str, FeatureSummary]:
    names = {name for outline in outlines.values() for name in outline}
    if columns is not None:
        names &= set(columns)
    return {
        name: _summary(name, {path: each[name] for path, each in outlines.items() if name in each}, steps)
        for name in sorted(names)
    }


def _summary(name: str, found: Mapping[str, FeatureOutline], steps: bool) -> FeatureSummary:
    kinds: dict[str, KindSummary] = {}
    for path, outline in found.items():
        for kind, use in sorted(outline.kinds.items(), key=lambda item: item[1].first):
            first = RecordPlace(path, use.first)
            known = kinds.get(_NAMES[kind], KindSummary(0, 0, first, None))
            kinds[_NAMES[kind]] = KindSummary(
                known.records + use.records, known.values + use.values, known.first, None
            )
    counted = [outline for outline in found.values() if outline.kinds]
    return FeatureSummary(
        name,
        sum(outline.records for outline in found.values()),
        kinds,
        sum(outline.unset for outline in found.values()),
        sum(outline.empty for outline in found.values()),
        _counts([(outline.least_values, outline.most_values) for outline in counted]),
        _counts([(outline.least_steps, outline.most_steps) for outline in found.values()]) if steps else None,
    )


def _counts(ranges: Sequence[tuple[int, int]]) -> Counts:
    least = min((low for low, _ in ranges), default=0)
    return Counts(least, max((high for _, high in ranges), default=0), least, 0, len(ranges))
