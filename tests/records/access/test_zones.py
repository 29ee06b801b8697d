"""Tests of zones: what they say of the records of each run, where they are kept, and when they are not believed."""

from __future__ import annotations

import math
import tempfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tfrkit import _core
from tfrkit.records.access import zone_maker
from tfrkit.records.access.zone_bytes import encode_zones
from tfrkit.records.access.zone_maker import rounded_up
from tfrkit.records.access.zones import Zones, build_zones, load_zones
from tfrkit.stores.files import open_source

INT64, FLOAT, BYTES = _core.INT64, _core.FLOAT, _core.BYTES
KIND_NAMES = {INT64: "int64", FLOAT: "float32", BYTES: "bytes"}
FIELDS = {INT64: "int64_list", FLOAT: "float_list", BYTES: "bytes_list"}
ODD_FLOATS = [0.0, -0.0, math.nan, math.inf, -math.inf, 1.5, -2.25]

Values = tuple[int, list[Any]]  # kind, or 0 if there is none; values

byte_values = st.one_of(
    st.binary(max_size=40),
    st.builds(
        lambda head, count, tail: head + b"\xff" * count + tail,
        st.binary(max_size=3),
        st.integers(0, 40),
        st.binary(max_size=2),
    ),
)
values: st.SearchStrategy[Values] = st.one_of(
    st.tuples(st.just(0), st.just([])),
    st.tuples(st.just(INT64), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4)),
    st.tuples(
        st.just(FLOAT), st.lists(st.one_of(st.floats(width=32), st.sampled_from(ODD_FLOATS)), max_size=4)
    ),
    st.tuples(st.just(BYTES), st.lists(byte_values, max_size=4)),
    st.tuples(st.just(INT64), st.lists(st.integers(-3, 3), min_size=1, max_size=1)),
)
features = st.dictionaries(st.sampled_from(["a", "b", "é"]), values, max_size=3)
feature_lists = st.dictionaries(st.sampled_from(["a", "l"]), st.lists(values, max_size=3), min_size=1)
# A record: features, and feature lists or None of an Example; or bytes that are neither.
records = st.lists(
    st.one_of(
        st.tuples(features, st.none()),
        st.tuples(features, st.none()),
        st.tuples(features, feature_lists),
        st.just(b"\xff\xff"),
    ),
    max_size=30,
)


def put_values(feature: Any, found: Values) -> None:
    kind, some = found
    if kind:
        getattr(feature, FIELDS[kind]).SetInParent()
        getattr(feature, FIELDS[kind]).value.extend(some)
    else:
        feature.SetInParent()


def serialized(record: Any) -> bytes:
    if isinstance(record, bytes):
        return record
    found, lists = record
    message = tfr.Example() if lists is None else tfr.SequenceExample()
    target = message.features if lists is None else message.context
    for name, some in found.items():
        put_values(target.feature[name], some)
    for name, steps in (lists or {}).items():
        message.feature_lists.feature_list[name].SetInParent()
        for step in steps:
            put_values(message.feature_lists.feature_list[name].feature.add(), step)
    return message.SerializeToString()


def plain(record: Any) -> tuple[dict[str, Values], dict[str, list[Values]]]:
    """What a record has, as it comes back: floats are float32."""
    return ({}, {}) if isinstance(record, bytes) else (record[0], record[1] or {})


def check_feature(made: Zones, name: str, run: int, some: list[Any]) -> None:
    """Compare a zone with the records of its run, looked at one by one."""
    zone = made.features[name]
    found = [record[name] for record, _ in map(plain, some) if name in record]
    kinds = {kind for kind, _ in found if kind}
    listed = any(name in lists for _, lists in map(plain, some))
    assert zone.known[run] == (kinds <= {zone.kind} and not listed)
    if not zone.known[run]:
        return
    with_kind = [each for kind, each in found if kind]
    flat = [value for each in with_kind for value in each]
    ordered = [value for value in flat if value == value]
    assert zone.present[run] == len(with_kind)
    assert zone.values[run] == len(flat)
    assert zone.nans[run] == len(flat) - len(ordered)
    assert zone.single[run] == all(len(each) == 1 for each in with_kind)
    if not ordered:
        return
    least, greatest = min(ordered), max(ordered)
    if zone.kind != BYTES:
        assert (zone.least[run], zone.greatest[run]) == (least, greatest)
        assert not zone.open_above[run]
        if least == 0 and zone.kind == FLOAT:
            assert math.copysign(1, zone.least[run]) == -1
        return
    assert zone.least[run] == least[:16]
    bound = greatest if len(greatest) <= 16 else rounded_up(greatest[:16])
    assert zone.open_above[run] == (bound is None)
    if bound is not None:
        assert zone.greatest[run] == bound >= greatest


def check_zones(made: Zones, some: list[Any]) -> None:
    assert made.complete
    assert made.records == len(some)
    kinds = {
        name: kind for record, _ in map(plain, reversed(some)) for name, (kind, _) in record.items() if kind
    }
    assert {name: zone.kind for name, zone in made.features.items()} == kinds
    for run, (start, end) in enumerate(zip(made.starts.tolist(), made.ends.tolist(), strict=True)):
        for name in made.features:
            check_feature(made, name, run, some[start:end])


def check_outline(made: Zones, path: str) -> None:
    schema = tfr.inspect(path)
    assert (made.records, made.sequences) == (schema.records, schema.sequence_examples)
    assert made.other == schema.records - schema.examples - schema.sequence_examples
    for outlines, summaries in (
        (made.outline.features, schema.features),
        (made.outline.lists, schema.feature_lists),
    ):
        assert list(outlines) == list(summaries)
        for name, summary in summaries.items():
            outline = outlines[name]
            assert (outline.records, outline.unset, outline.empty) == (
                summary.records,
                summary.unset,
                summary.empty,
            )
            assert (outline.least_values, outline.most_values) == (summary.counts.min, summary.counts.max)
            if summary.steps is not None:
                assert (outline.least_steps, outline.most_steps) == (summary.steps.min, summary.steps.max)
            assert {KIND_NAMES[kind]: (use.records, use.values, use.first) for kind, use in outline.kinds.items()} == {
                kind: (use.records, use.values, use.first.record) for kind, use in summary.kinds.items()
            }  # fmt: skip


def same(one: Any, other: Any) -> None:
    """Compare two Zones, arrays and all."""
    assert encode_zones(one) == encode_zones(other)
    for name, zone in one.features.items():
        for field in ("known", "present", "values", "least", "greatest", "open_above", "nans", "single"):
            mine, its = getattr(zone, field), getattr(other.features[name], field)
            assert list(mine) == list(its)
    assert one.outline == other.outline


def shrink_runs(patch: pytest.MonkeyPatch) -> None:
    """Make runs of three records and 40 bytes, or of at most 200 bytes."""
    patch.setattr(zone_maker, "RUN_RECORDS", 3)
    patch.setattr(zone_maker, "RUN_BYTES", 40)
    patch.setattr(zone_maker, "MAX_RUN_BYTES", 200)


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB", "ZSTD"])
@settings(max_examples=60)
@given(some=records)
def test_zones_are_those_of_a_plain_walk(kind: str, some: list[Any]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        shrink_runs(patch)
        path = f"{folder}/a.tfrecord"
        with tfr.TFRecordWriter(path, compression=kind or "none") as writer:
            writer.set_run_bytes(100)
            writer.write_many([serialized(record) for record in some])
        made = build_zones(path, save=True)
        check_zones(made, some)
        check_outline(made, path)
        loaded = load_zones(path, open_source(path))
        assert loaded is not None
        same(made, loaded)
