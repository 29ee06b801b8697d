"""Splits: whatever the parts are, together they are the whole scan, in order, each record once."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pyarrow as pa
import pytest

import tfrkit as tfr
from tests.records.support.examples import sequence
from tests.records.support.made import flip
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.access.index import Index, build_index
from tfrkit.scanning import splits
from tfrkit.scanning.scan import Scan
from tfrkit.scanning.splits import FileRange, ScanSplit, SplitFile, cut_files, plan_splits, read_split


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(splits, "_LEAST_BYTES", 1)


def made(path, rows=3000, *, index=True, zones=False, compression="none", first=0):
    with tfr.TFRecordWriter(path, compression=compression, index=index, zones=zones) as writer:
        for start in range(first, first + rows, 500):
            ids = np.arange(start, min(start + 500, first + rows))
            writer.write_batch({"n": ids, "text": [f"row {number}" * 9 for number in ids]})
    return str(path)


def index_of_frames(*frames: int) -> Index:
    return Index("", np.array(frames), frames[-1], 0, np.zeros(0, np.int64), np.zeros(0, np.int64))


def read_all(scan: Scan, parts: list[ScanSplit], **options) -> pa.Table:
    """What workers read that have nothing of this process."""
    there = pickle.loads(pickle.dumps(scan.settled(threads=1)))
    batches = [list(read_split(there, pickle.loads(pickle.dumps(part)), **options)) for part in parts]
    return pa.Table.from_batches([batch for each in batches for batch in each], scan.schema)


def test_a_file_is_cut_where_frames_begin_and_every_record_is_in_one_part():
    found = cut_files([SplitFile("a", 100, 4, index_of_frames(0, 20, 40, 80, 100))], 50)
    assert found == [
        ScanSplit((FileRange("a", 40, 0, 0, 40, 2),)),
        ScanSplit((FileRange("a", 60, 2, 40, None, 2),)),
    ]
    assert [part.records for part in found] == [2, 2]


def test_small_files_share_a_part_and_order_stays():
    files = [SplitFile(name, size) for name, size in zip("abcde", (4, 4, 9, 1, 30), strict=True)]
    found = cut_files(files, 10)
    assert [part.paths for part in found] == [["a", "b"], ["c", "d"], ["e"]]
    assert [part.records for part in found] == [None, None, None]
    assert cut_files([], 10) == []


@pytest.mark.parametrize("compression", ["none", "GZIP"])
@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_parts_of_one_file_are_the_file(compression, indexed, count, tmp_path):
    path = made(tmp_path / "a.tfrecord", 30_000, index=indexed, compression=compression)
    scan = tfr.scan(path, with_source=True)
    found = plan_splits(scan, count)
    if count > 1:
        assert len(found) > 1 or len(build_index(path).member_file) == 1
    if compression == "none":
        assert len(found) == pytest.approx(count, abs=1)
    assert sum(part.records or 0 for part in found) == (30_000 if indexed or len(found) > 1 else 0)
    assert read_all(scan, found).to_pydict() == scan.to_table().to_pydict()


@pytest.mark.parametrize("zones", [False, True])
def test_remote_files_in_members_are_cut_by_their_index(zones, remote_folder):
    path = made(f"{remote_folder}/a.tfrecord.gz", 90_000, zones=zones, compression="GZIP")
    scan = tfr.scan(path, where="n == 7 or n == 45007 or n > 80000" if zones else None, with_source=True)
    found = plan_splits(scan, 4)
    assert len(found) > 2
    assert [part.ranges[0].member == (0, 0) for part in found] == [True] + [False] * (len(found) - 1)
    assert sum(part.records or 0 for part in found) == 90_000
    assert read_all(scan, found).to_pydict() == scan.to_table().to_pydict()


def test_part_of_a_remote_file_is_all_that_is_fetched(s3_server, s3_bucket, s3_folder, fault_proxy):
    path, random_bytes = f"{s3_folder}/a.tfrecord.gz", np.random.default_rng(1).bytes
    with tfr.TFRecordWriter(path, index=True) as writer:
        for _ in range(40):
            writer.write_batch({"noise": [random_bytes(10_000) for _ in range(100)]})
    size = tfr.stores.files.file_sizes([path])[0]
    scan = tfr.scan(path, spec={"noise": tfr.FixedLenFeature([], bytes)})
    last = plan_splits(scan, 8)[-1]
    proxy = fault_proxy(s3_server.port)
    tfr.configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    try:
        assert sum(batch.num_rows for batch in read_split(scan, last)) == last.records
    finally:
        tfr.configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert proxy.counts()["bytes_down"] < size / 4
    assert len(proxy.requests()) < 12


@pytest.mark.parametrize("seed", range(6))
def test_random_files_conditions_and_limits(seed, tmp_path):
    rng = random.Random(seed)
    first, paths = 0, []
    for number in range(rng.randrange(1, 6)):
        rows = rng.choice([0, 1, 700, 3000])
        options = {"index": rng.random() < 0.7, "zones": rng.random() < 0.7}
        compression = rng.choice(["none", "GZIP"])
        paths.append(
            made(tmp_path / f"{number}.tfrecord", rows, compression=compression, first=first, **options)
        )
        first += rows
    scan = tfr.scan(paths, ["text"], "n >= 600 and n < 2100 or n == 5", spec=SPEC, with_source=True)
    parts = plan_splits(scan, rng.randrange(1, 12))
    assert read_all(scan, parts).to_pydict() == scan.to_table().to_pydict()
    wanted = sum(min(7, len(read_all(scan, [part]))) for part in parts)
    assert len(read_all(scan, parts, limit=7)) == wanted
    only = [batch for part in parts for batch in read_split(scan, part, ["_record"])]
    assert [row["_record"] for batch in only for row in batch.to_pylist()] == scan.to_table()[
        "_record"
    ].to_pylist()


SPEC = {"n": tfr.FixedLenFeature([], "int64"), "text": tfr.FixedLenFeature([], "string")}


def test_zones_leave_out_parts_of_a_part(tmp_path):
    path = made(tmp_path / "a.tfrecord", 30_000, zones=True)
    scan = tfr.scan(path, ["n"], "n == 29000", with_source=True)
    parts = plan_splits(scan, 3)
    batches = [read_split(scan, part) for part in parts]
    assert [[row["_record"] for batch in each for row in batch.to_pylist()] for each in batches] == [
        [],
        [],
        [29000],
    ]
    assert all(each.runs_left_out > 0 for each in batches)


def test_sequence_examples_are_read_in_parts(tmp_path):
    path = tmp_path / "s.tfrecord"
    with tfr.TFRecordWriter(path, index=True) as writer:
        writer.write_many([sequence({"id": number}, {"x": [[number, 1], [2]]}) for number in range(500)])
    scan = tfr.scan(str(path))
    parts = plan_splits(scan, 4)
    assert len(parts) == 4
    assert read_all(scan, parts).to_pydict() == scan.to_table().to_pydict()


def test_damage_is_counted_in_the_part_that_has_it(tmp_path):
    path = made(tmp_path / "a.tfrecord", 3000)
    data = (tmp_path / "a.tfrecord").read_bytes()
    (tmp_path / "a.tfrecord").write_bytes(flip(data, len(data) // 2))
    scan = tfr.scan(path, on_corrupt="skip", spec=SPEC)
    parts = plan_splits(scan, 4)
    assert len(parts) == 4
    passes = [read_split(scan, part) for part in parts]
    rows = [sum(batch.num_rows for batch in each) for each in passes]
    assert (sum(rows), sum(each.skipped for each in passes)) == (2999, 1)
    assert sum(batch.num_rows for batch in scan.to_batches()) == 2999


def test_where_damage_ends_a_file_it_is_one_part(tmp_path):
    path = made(tmp_path / "a.tfrecord", 3000)
    assert len(plan_splits(tfr.scan(path, on_corrupt="stop", spec=SPEC), 4)) == 1


def test_counts_come_from_the_manifest(tmp_path):
    with tfr.ShardWriter(tmp_path / "x", shards=3, index=False) as writer:
        writer.write_batch({"n": np.arange(100)})
    parts = plan_splits(tfr.scan(tmp_path / "x-*"))
    assert [part.records for part in parts] == [100]


def test_what_only_this_process_can_read_is_refused(tmp_path):
    path = made(tmp_path / "a.tfrecord", 10)
    with (
        open(path, "rb") as file,
        pytest.raises(InvalidArgumentError, match="only this process can read it"),
    ):
        plan_splits(tfr.scan(file, spec=SPEC))
    with pytest.raises(InvalidArgumentError, match="A scan with a limit cannot be divided"):
        plan_splits(tfr.scan(path, limit=3))


@pytest.mark.parametrize("compression", ["none", "GZIP"])
@pytest.mark.parametrize("where", [None, "n >= 7000 and n < 41000"])
def test_parts_are_scans_that_another_process_reads(compression, where, tmp_path, monkeypatch):
    for number in range(3):
        made(tmp_path / f"a-{number}.tfrecord", 20_000, compression=compression, first=20_000 * number)
    monkeypatch.chdir(tmp_path)
    scan = tfr.scan("a-*.tfrecord", where=where, with_source=True)
    parts = scan.parts(7)
    assert len(parts) > 3
    monkeypatch.chdir("/")  # a worker is somewhere else
    there = [pickle.loads(pickle.dumps(part)) for part in parts]
    whole = tfr.scan(tmp_path / "a-*.tfrecord", where=where, with_source=True).to_table()
    rows = [row for part in there for row in part.to_table().to_pylist()]
    assert rows == whole.to_pylist()
    assert sum(part.count() for part in there) == len(whole)
    assert all(part.schema == whole.schema for part in there)
    assert [part.reading["threads"] for part in there] == [1] * len(parts)


def test_a_part_names_only_its_own_files(tmp_path):
    for number in range(5):
        made(tmp_path / f"a-{number}.tfrecord", 500)
    parts = tfr.scan(tmp_path / "a-*.tfrecord").parts(5)
    assert [list(part.files) for part in parts] == [[str(tmp_path / f"a-{n}.tfrecord")] for n in range(5)]


def test_a_part_is_used_as_any_scan(tmp_path):
    path = made(tmp_path / "a.tfrecord", zones=True)
    first, second = tfr.scan(path, ["n"]).parts(2)
    rows = first.count()
    assert 0 < rows < 3000
    assert first.split.records == rows
    assert repr(second) == "<Scan: a part of 1 file, columns ['n']>"
    assert second.limit(2).count() == 2
    assert second.limit(2).to_table()["n"].to_pylist() == [rows, rows + 1]
    assert second.kept().to_table() == second.to_table()
    assert second.kept().count() == second.count() == 3000 - rows
    assert second.to_polars().select("n").collect()["n"].to_list() == list(range(rows, 3000))
    assert second.dataset().count_rows() == 3000 - rows
    assert second.with_spec({"n": tfr.FixedLenFeature([], "int64")}).to_table() == second.to_table()
    assert second.of_files([path]).count() == 3000


def test_parts_of_damaged_files_count_what_they_read(tmp_path):
    path = made(tmp_path / "a.tfrecord")
    data = (tmp_path / "a.tfrecord").read_bytes()
    (tmp_path / "a.tfrecord").write_bytes(flip(data, len(data) // 2))
    scan = tfr.scan(path, on_corrupt="skip", spec=SPEC)
    parts = scan.parts(4)
    assert len(parts) > 1
    assert sum(part.count() for part in parts) == scan.count() == 2999


def test_parts_say_what_cannot_be_divided(tmp_path):
    path = made(tmp_path / "a.tfrecord")
    with pytest.raises(
        InvalidArgumentError, match="A part of a scan cannot be divided: divide the scan into"
    ):
        tfr.scan(path).parts(2)[0].parts(2)
    with pytest.raises(ValueError, match="expected count to be at least 1 but got 0"):
        tfr.scan(path).parts(0)


def test_an_open_file_is_counted_up_to_the_limit(tmp_path):
    with open(made(tmp_path / "a.tfrecord"), "rb") as file:
        assert tfr.scan(file, limit=7).count() == 7
