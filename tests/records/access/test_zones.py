"""Tests of zones: what they say of the records of each run, where they are kept, and when they are not believed."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.remote import RemotePlace
from tfrkit import _core
from tfrkit.errors import DataLossError, FailedPreconditionError
from tfrkit.records.access import zone_maker
from tfrkit.records.access.index import zones_path
from tfrkit.records.access.zone_bytes import MAX_FEATURES, encode_zones
from tfrkit.records.access.zone_maker import ZoneMaker, rounded_up
from tfrkit.records.access.zones import Zones, build_zones, load_zones
from tfrkit.stores.files import is_there, open_source, read_bytes, write_bytes

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


def write(path: Path, columns: Any, **options: Any) -> str:
    with tfr.TFRecordWriter(path, **options) as writer:
        writer.write_batch(columns)
    return str(path)


def load(path: str | Path) -> Zones | None:
    return load_zones(str(path), open_source(str(path)))


def many(count: int) -> dict[str, Any]:
    return {"number": np.arange(count), "name": [b"%d" % number for number in range(count)]}


# -- runs --------------------------------------------------------------------------------------------------------------


def test_runs_have_4096_records_and_256_kib(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", {"x": np.arange(20_000), "fill": [b"." * 100] * 20_000})
    made = build_zones(path)
    assert made.starts.tolist() == [0, 4096, 8192, 12288, 16384]
    assert made.offsets.tolist() == tfr.build_index(path).frames[made.starts].tolist()
    assert made.stream_bytes == Path(path).stat().st_size
    assert made.features["x"].least.tolist() == made.starts.tolist()
    small = build_zones(write(tmp_path / "b.tfrecord", {"x": np.zeros(20_000, np.int64)}))
    frame = (tmp_path / "b.tfrecord").stat().st_size // 20_000
    assert small.starts.tolist() == list(range(0, 20_000, -(-(1 << 18) // frame)))


def test_runs_of_large_records_have_16_mib(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", {"x": np.arange(40), "fill": [bytes(1 << 20)] * 40})
    assert build_zones(path).starts.tolist() == [0, 16, 32]


def test_runs_end_with_members(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord.gz", {"x": np.arange(50_000), "fill": [b"." * 100] * 50_000})
    made, index = build_zones(path), tfr.build_index(path)
    assert len(made) > 3
    assert set(made.offsets.tolist()) <= set(index.member_stream.tolist())
    assert made.features["x"].least.tolist() == made.starts.tolist()


@given(st.lists(st.integers(0, 150), max_size=40), st.lists(st.integers(1, 9)), st.booleans())
def test_runs_do_not_depend_on_pieces_unless_they_end_there(
    sizes: list[int], cuts: list[int], whole: bool
) -> None:
    payloads = [bytes([size % 7 + 1]) * size for size in sizes]
    with pytest.MonkeyPatch.context() as patch:
        shrink_runs(patch)
        pieces, maker = [], ZoneMaker(whole_pieces=whole, threads=1)
        while payloads:
            count = cuts[len(pieces) % len(cuts)] if cuts else len(payloads)
            pieces.append(payloads[:count])
            payloads = payloads[count:]
        for piece in pieces:
            block = tfr.Block.from_records(piece)
            maker.add(block.data, block.offsets, block.lengths)
        made = maker.finish(0, 0)
    expected, records, size, ends = [], 0, 0, set(np.cumsum([len(piece) for piece in pieces]).tolist())
    for number, length in enumerate(sizes):
        if records == 0:
            expected.append(number)
        records, size = records + 1, size + length + 16
        full = records >= 3 and size >= 40
        if whole and number + 1 in ends:
            full = full or size >= 100
        elif whole:
            full = False
        if full or size >= 200:
            records = size = 0
    assert made.starts.tolist() == expected
    assert made.records == len(sizes)
    assert made.stream_bytes == sum(sizes) + 16 * len(sizes)


# -- where they are kept -----------------------------------------------------------------------------------------------


def test_zones_of_a_shard_that_was_changed_are_not_loaded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", many(100))
    assert load(path) is None
    build_zones(path, save=True)
    loaded = load(path)
    assert loaded is not None
    assert loaded.records == 100
    kept = read_bytes(zones_path(path))
    write(tmp_path / "a.tfrecord", many(100), append=True)
    assert not is_there(zones_path(path))
    write_bytes(zones_path(path), kept)
    assert load(path) is None


@pytest.mark.parametrize("options", [{}, {"atomic": True}, {"compression": "GZIP"}])
def test_a_writer_removes_zones_of_what_it_replaces(options: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", many(100), zones=True)
    assert is_there(zones_path(path))
    write(tmp_path / "a.tfrecord", many(100), **options)
    assert not is_there(zones_path(path))


@pytest.mark.parametrize("kind", ["none", "GZIP", "ZLIB", "XZ", "ZSTD"])
@pytest.mark.parametrize("way", ["write_batch", "write_many", "write_frames", "write"])
def test_a_writer_makes_the_zones_that_a_reader_makes(kind: str, way: str, tmp_path: Path) -> None:
    path, block = tmp_path / "a.tfrecord", tfr.encode_examples(many(30_000))
    with tfr.TFRecordWriter(path, compression=kind, zones=True) as writer:
        if way == "write_batch":
            writer.write_batch(many(30_000))
        elif way == "write":
            for record in block:
                writer.write(record)
        elif way == "write_many":
            writer.write_many(block.to_list())
        else:
            writer.write_frames(block)
    loaded = load(path)
    assert loaded is not None
    if kind in ("none", "GZIP"):
        same(loaded, build_zones(path))
    else:
        made = build_zones(path)
        assert loaded.outline == made.outline
        assert made.features["number"].greatest.max() == loaded.features["number"].greatest.max() == 29_999


def test_a_writer_makes_zones_of_huge_records_and_of_what_it_appends(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    records = [
        tfr.make_example({"x": size, "fill": bytes(size)}).SerializeToString() for size in (1 << 23, 5, 9)
    ]
    with tfr.TFRecordWriter(path, zones=True, index=True) as writer:
        writer.write_many(records)
    loaded = load(path)
    assert loaded is not None
    same(loaded, build_zones(path))
    with tfr.TFRecordWriter(path, zones=True, append=True) as writer:
        writer.write_many(records[1:])
    loaded = load(path)
    assert loaded is not None
    assert loaded.records == 5
    same(loaded, build_zones(path))


@pytest.mark.parametrize(
    "options", [{"shards": 3}, {"shard_bytes": 50_000}, {"shards": 2, "compression": "XZ"}]
)
def test_shard_writer_keeps_zones(options: dict[str, Any], tmp_path: Path) -> None:
    with tfr.ShardWriter(tmp_path / "train", zones=True, **options) as writer:
        writer.write_batch(many(5000))
    found = [load(path) for path in writer.paths]
    assert sum(zones.records for zones in found if zones is not None) == 5000
    with tfr.ShardWriter(tmp_path / "train", overwrite=True, **options) as writer:
        writer.write_batch(many(5000))
    assert not list((tmp_path / ".tfrkit").glob("*.zones"))


def test_zones_of_remote_shards_are_fetched_once(remote: RemotePlace, tmp_path: Path) -> None:
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord", zones=True) as writer:
        writer.write_batch(many(9000))
    url = remote.put("a.tfrecord", (tmp_path / "a.tfrecord").read_bytes())
    assert load_zones(url, open_source(url)) is None
    remote.put(".tfrkit/a.tfrecord.zones", (tmp_path / ".tfrkit" / "a.tfrecord.zones").read_bytes())
    source = open_source(url)
    remote.requests()
    loaded = load_zones(url, source)
    assert loaded is not None
    assert (
        remote.requests() == 2 if "memory" not in url else remote.requests() <= 2
    )  # zones, end of the shard
    same(loaded, build_zones(url))
    source = open_source(url)
    remote.requests()
    loaded = load_zones(url, source)
    assert loaded is not None
    if "memory" not in url:  # which does not last
        assert remote.requests() == 0


def test_builders_keep_zones_where_they_write(remote: RemotePlace) -> None:
    with tfr.ShardWriter(f"{remote.url}/train", shards=2, zones=True) as writer:
        writer.write_batch(many(9000))
    for path in writer.paths:
        loaded = load_zones(path, open_source(path))
        assert loaded is not None
        same(loaded, build_zones(path))


def test_a_damaged_shard_has_no_zones(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", many(100))
    data = bytearray(Path(path).read_bytes())
    data[1000] ^= 1
    Path(path).write_bytes(data)
    with pytest.raises(DataLossError):
        build_zones(path, save=True)
    assert not is_there(zones_path(path))


def test_a_shard_that_changes_meanwhile_has_no_zones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.tfrecord", many(100))
    finish = ZoneMaker.finish

    def finish_late(maker: ZoneMaker, *fingerprint: int) -> Zones:
        write(tmp_path / "a.tfrecord", many(90))
        return finish(maker, *fingerprint)

    monkeypatch.setattr(ZoneMaker, "finish", finish_late)
    with pytest.raises(
        FailedPreconditionError, match=r"a\.tfrecord; the file has changed while its zones were made"
    ):
        build_zones(path, save=True)


def test_a_shard_without_records_has_zones_without_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path, zones=True):
        pass
    loaded = load(path)
    assert loaded is not None
    assert (len(loaded), loaded.records, loaded.ends.tolist(), loaded.features) == (0, 0, [], {})


# -- many names --------------------------------------------------------------------------------------------------------


def test_of_too_many_features_the_first_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink_runs(monkeypatch)
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for number in range(MAX_FEATURES // 2 + 10):
            writer.write_example({f"{number:04d} a": number, f"{number:04d} b": number})
    made = build_zones(path, save=True)
    assert not made.complete
    assert list(made.features) == [
        f"{number:04d} {end}" for number in range(MAX_FEATURES // 2) for end in "ab"
    ]
    zone = made.features["0003 a"]
    assert zone.known.all()
    assert zone.present.sum() == 1
    loaded = load(path)
    assert loaded is not None
    same(made, loaded)


def test_a_run_with_too_many_names_has_no_zones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink_runs(monkeypatch)
    path = tmp_path / "a.tfrecord"
    wide = {f"{number:06d}": number for number in range(1 << 16)}
    with tfr.TFRecordWriter(path) as writer:
        writer.write_example({"x": 1})
        writer.write_example({"x": 2, **wide})
        writer.write_example({"x": 3})
    made = build_zones(path)
    assert not made.complete
    assert made.features["x"].known.tolist() == [False, True]
    assert made.features["x"].least.tolist() == [0, 3]
