"""tfr.ray: datasets of Ray's have the rows of the records, whatever is asked for, and are written once."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tfrkit as tfr
from tests.records.support.examples import sequence
from tests.records.support.made import flip
from tests.support.ray import cluster
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, MissingExtraError
from tfrkit.scanning import splits

pytestmark = cluster


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(splits, "_LEAST_BYTES", 1 << 14)


def made(path: Path, rows: int = 6000, **options) -> Path:
    with tfr.TFRecordWriter(path, index=True, **options) as writer:
        for start in range(0, rows, 1000):
            ids = np.arange(start, start + 1000)
            writer.write_batch({"n": ids, "x": ids / 8, "text": [f"row {number}" * 4 for number in ids]})
    return path


def table(ds) -> pa.Table:
    """All rows of a dataset, in the order of `n` or of the first column."""
    tables = [block for ref in ds.iter_internal_ref_bundles() for block in _blocks(ref)]
    found = pa.concat_tables(tables)
    return found.sort_by(found.column_names[0]) if found.num_columns else found


def _blocks(bundle) -> list[pa.Table]:
    import ray

    return ray.get(list(bundle.block_refs))


@pytest.mark.parametrize("compression", ["none", "GZIP"])
def test_rows_are_those_of_a_scan_and_one_file_is_read_by_several_tasks(
    ray, small_parts, compression, tmp_path
):
    path = made(tmp_path / "a.tfrecord", 40_000, compression=compression)
    ds = tfr.ray.read_tfrecords(path, parallelism=4)
    wanted = tfr.scan(path).to_table()
    assert ds.count() == 40_000
    assert ds.schema().base_schema == wanted.schema
    found = ds.materialize()
    assert found.num_blocks() >= 3
    assert table(found).equals(wanted.sort_by("n"))


def test_columns_conditions_and_limits_reach_the_scan(ray, small_parts, tmp_path):
    from ray.data.expressions import col

    path = made(tmp_path / "a.tfrecord", zones=True)
    ds = tfr.ray.read_tfrecords(path, parallelism=3, with_source=True)
    chosen = ds.filter(expr=(col("n") >= 2990) & (col("n") < 3010)).select_columns(["text", "_record"])
    assert [row["_record"] for row in chosen.take_all()] == list(range(2990, 3010))
    assert "Filter" not in chosen.stats()
    assert ds.select_columns(["x"]).schema().names == ["x"]
    assert len(ds.limit(7).take_all()) == 7
    odd = ds.filter(fn=lambda row: row["n"] % 1000 == 1)
    assert sorted(row["n"] for row in odd.take_all()) == [1, 1001, 2001, 3001, 4001, 5001]
    where = tfr.ray.read_tfrecords(path, columns=["n"], where="n < 5 or x == 10.0")
    assert sorted(row["n"] for row in where.take_all()) == [0, 1, 2, 3, 4, 80]


def test_count_of_chosen_rows_is_their_number(ray, small_parts, tmp_path):
    from ray.data.expressions import col

    path = made(tmp_path / "a.tfrecord")
    assert tfr.ray.read_tfrecords(path, where="n < 100").count() == 100
    assert tfr.ray.read_tfrecords(path, on_corrupt="skip", parallelism=3).count() == 6000
    ds = tfr.ray.read_tfrecords(path, parallelism=3)
    few = ds.filter(expr=col("n") >= 5990)
    assert (few.count(), few.select_columns(["x"]).count(), few.select_columns([]).count()) == (10, 10, 10)
    none = ds.select_columns([])
    assert none.schema().names == []
    assert none.materialize().count() == 6000
    assert tfr.ray.read_tfrecords(path, columns=[], where="n < 7").count() == 7


def test_spec_and_sequence_examples(ray, tmp_path):
    path = tmp_path / "s.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([sequence({"id": number}, {"x": [[number, 1], [2]]}) for number in range(50)])
    ds = tfr.ray.read_tfrecords(path)
    assert table(ds).equals(tfr.scan(path).to_table())
    report = tfr.ray.write_tfrecords(ds, tmp_path / "out" / "s", record_type="SequenceExample")
    assert tfr.scan(report.paths).to_table().equals(tfr.scan(path).to_table())
    plain = made(tmp_path / "a.tfrecord", 1000)
    spec = {"n": tfr.FixedLenFeature([], "int64"), "none": tfr.FixedLenFeature([2], "float32", [0, 1])}
    rows = tfr.ray.read_tfrecords(plain, spec).take_all()
    assert (rows[5]["n"], list(rows[5]["none"])) == (5, [0, 1])


def test_columns_of_a_build_are_known_by_its_manifest(ray, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("n,name\n" + "".join(f"{n},row {n}\n" for n in range(100)))
    tfr.build.table(tmp_path / "a.csv", tmp_path / "out", shards=2)
    wanted = tfr.scan(tmp_path / "out" / "*.tfrecord").to_table()
    monkeypatch.setattr("tfrkit.scanning.scan.inspect", None)  # nothing is looked into
    ds = tfr.ray.read_tfrecords(tmp_path / "out" / "*.tfrecord")
    assert ds.count() == 100
    assert table(ds).equals(wanted.sort_by("n"))


def test_damage_is_an_error_or_skipped_and_counted(ray, small_parts, tmp_path):
    path = made(tmp_path / "a.tfrecord")
    data = path.read_bytes()
    path.write_bytes(flip(flip(data, len(data) // 2), len(data) // 4))
    spec = {"n": tfr.FixedLenFeature([], "int64")}
    with pytest.raises(Exception, match="corrupted record at"):
        tfr.ray.read_tfrecords(path, spec, parallelism=3).materialize()
    skipped = tfr.ray.SkippedDamage()
    ds = tfr.ray.read_tfrecords(path, spec, parallelism=3, on_corrupt="skip", skipped=skipped)
    assert len(table(ds)) == 5998
    assert skipped.count == 2


def test_what_is_written_is_what_was_read_with_index_manifest_and_free_schema(ray, small_parts, tmp_path):
    path = made(tmp_path / "a.tfrecord")
    ds = tfr.ray.read_tfrecords(path, parallelism=3)
    report = tfr.ray.write_tfrecords(ds, tmp_path / "out" / "t", compression="GZIP", shard_records=1500)
    names = sorted(Path(name).name for name in report.paths)
    assert names == [f"t-{n:05d}-of-{len(names):05d}.tfrecord.gz" for n in range(len(names))]
    assert report.records == 6000
    assert tfr.scan(report.paths).to_table().sort_by("n").equals(tfr.scan(path).to_table())
    assert tfr.verify(tmp_path / "out").ok
    assert not (tmp_path / "out" / ".tfrkit" / "tmp").exists()
    assert tfr.ray.read_tfrecords(report.paths).count() == 6000
    with pytest.raises(AlreadyExistsError, match="overwrite=True"):
        tfr.ray.write_tfrecords(ds, tmp_path / "out" / "t", compression="GZIP")


def test_tensors_lists_and_nulls_are_features_and_a_bad_column_publishes_nothing(ray, tmp_path):
    import ray.data

    rows = pa.table({"id": [1, 2, None], "tags": [["a"], [], None]})
    ds = ray.data.from_arrow(rows)
    report = tfr.ray.write_tfrecords(ds, f"{tmp_path}/a/")
    assert [Path(path).name for path in report.paths] == ["data-00000-of-00001.tfrecord"]
    assert tfr.scan(report.paths).to_table().to_pydict() == {"id": [1, 2, None], "tags": [[b"a"], [], None]}
    tensors = ray.data.from_numpy(np.arange(12, dtype=np.float32).reshape(2, 2, 3))
    report = tfr.ray.write_tfrecords(tensors, tmp_path / "b" / "t")
    assert tfr.scan(report.paths).to_table()["data"].to_pylist() == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    bad = ray.data.from_arrow(pa.table({"m": [[[1], [2, 3]]]}))
    with pytest.raises(Exception, match="'m'"):
        tfr.ray.write_tfrecords(bad, tmp_path / "c" / "t")
    assert not list((tmp_path / "c").rglob("*.tfrecord"))


def _slow(batch: pa.Table) -> pa.Table:
    time.sleep(0.2)
    return batch


def test_workers_that_are_killed_while_they_write_change_nothing(ray, small_parts, tmp_path):
    from psutil import process_iter

    path = made(tmp_path / "a.tfrecord", 10_000)
    rng, done, kills = random.Random(20), threading.Event(), 0

    def kill() -> None:
        nonlocal kills
        while not done.wait(rng.uniform(0.1, 0.6)) and kills < 4:
            found = [
                process.info["pid"]
                for process in process_iter(["cmdline", "pid"])
                if re.match("ray::(Read|Map|Write)", " ".join(process.info["cmdline"] or ()))
            ]
            if found:
                os.kill(rng.choice(found), signal.SIGKILL)
                kills += 1

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        ds = tfr.ray.read_tfrecords(path, parallelism=6)
        ds = ds.map_batches(_slow, batch_format="pyarrow", batch_size=250)
        report = tfr.ray.write_tfrecords(ds, tmp_path / "out" / "t")
    finally:
        done.set()
        killer.join()
    assert kills
    assert report.records == 10_000
    assert tfr.scan(tmp_path / "out" / "t-*").to_table().sort_by("n").equals(tfr.scan(path).to_table())
    assert tfr.verify(tmp_path / "out").ok
    assert not (tmp_path / "out" / ".tfrkit" / "tmp").exists()


def test_wrong_arguments_are_named_before_anything_runs(ray, tmp_path):
    import ray.data

    path = made(tmp_path / "a.tfrecord", 1000)
    with pytest.raises(InvalidArgumentError, match=r"^Expected parallelism to be at least 1 but got 0\."):
        tfr.ray.read_tfrecords(path, parallelism=0)
    with pytest.raises(InvalidArgumentError, match=r"^Expected a ray\.data\.Dataset but got list\."):
        tfr.ray.write_tfrecords([1, 2], tmp_path / "out" / "t")
    ds = ray.data.from_arrow(pa.table({"n": [1]}))
    with pytest.raises(InvalidArgumentError, match=r"^Expected a level of GZIP from -1 to 9 but got 99"):
        tfr.ray.write_tfrecords(ds, tmp_path / "out" / "t", compression="GZIP", level=99)
    assert not (tmp_path / "out").exists()
    large = ray.data.from_arrow(pa.table({"n": pa.array([2**63], pa.uint64())}))
    with pytest.raises(Exception, match=r"feature 'n', row 0: expected at most 2\*\*63 - 1"):
        tfr.ray.write_tfrecords(large, tmp_path / "out" / "t")
    structs = ray.data.from_arrow(pa.table({"n": [{"x": 1}]}))
    with pytest.raises(
        Exception, match=r"feature 'n': expected one column but got a table or structs with 'x'"
    ):
        tfr.ray.write_tfrecords(structs, tmp_path / "out" / "t")


def test_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(MissingExtraError, match=r"tfr\.ray\.read_tfrecords needs .*'tfrkit\[ray\]'"):
        tfr.ray.read_tfrecords("a.tfrecord")
