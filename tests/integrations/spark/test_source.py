"""The format "tfrecord" in a Spark cluster of processes: reading, writing, filters, kills."""

from __future__ import annotations

import datetime as dt
import decimal
import os
import random
import signal
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tfrkit as tfr
from tests.support.spark import Killer, processes
from tfrkit.build.tables.arrow.folder_rows import partition_folder

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("spark")]


@pytest.fixture(scope="module")
def session(spark):
    tfr.spark.register(spark)
    return spark


def load(session, path, schema=None, **options):
    reader = session.read.format("tfrecord").options(**options)
    return (reader if schema is None else reader.schema(schema)).load(str(path))


def save(frame, path, mode="append", **options):
    frame.write.format("tfrecord").mode(mode).options(**options).save(str(path))


def record_files(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*.tfrecord*") if ".tfrkit" not in path.parts
    )


def left_over(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name == "tmp" or path.suffix == ".tmp"]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """20,000 records in two files, one of them GZIP in members, each with an index."""
    folder = tmp_path_factory.mktemp("numbers")
    for name, first in (("a.tfrecord", 0), ("b.tfrecord.gz", 10_000)):
        with tfr.TFRecordWriter(folder / name, index=True) as writer:
            for start in range(first, first + 10_000, 1000):
                ids = list(range(start, start + 1000))
                writer.write_batch(
                    {
                        "id": ids,
                        "x": [i / 2 if i % 7 else float("nan") for i in ids],
                        "name": [f"name-{i}" for i in ids],
                        "few": [list(range(i % 3)) for i in ids],
                        "blob": [os.urandom(1000) for _ in ids],
                    }
                )
    return folder


def test_schema_is_inferred_from_a_sample_and_rows_are_all_there(session, numbers):
    found = load(session, numbers)
    assert found.dtypes == [
        ("blob", "binary"), ("few", "array<bigint>"), ("id", "bigint"), ("name", "binary"), ("x", "float"),
    ]  # fmt: skip
    assert load(session, numbers, stringType="utf8").schema["name"].dataType.simpleString() == "string"
    total = found.selectExpr("count(*)", "sum(id)", "count(distinct name)", "sum(size(few))").first()
    assert tuple(total) == (20_000, sum(range(20_000)), 20_000, sum(i % 3 for i in range(20_000)))


def test_one_file_is_read_by_several_tasks(session, numbers):
    small = {"splitBytes": "4194304"}  # the least
    for name in ("a.tfrecord", "b.tfrecord.gz"):
        found = load(session, numbers / name, "id bigint", **small)
        assert found.rdd.getNumPartitions() >= 2
        assert found.selectExpr("count(*)", "count(distinct id)").first() == (10_000, 10_000)


def test_given_schema_is_the_projection_with_its_types(session, numbers):
    found = load(session, numbers, "name string, id int, few array<int>, x double, absent string")
    first = found.orderBy("id").take(3)
    assert [tuple(row)[:3] for row in first] == [("name-0", 0, []), ("name-1", 1, [0]), ("name-2", 2, [0, 1])]
    assert first[1].x == 0.5
    assert first[1].absent is None


def test_type_that_no_feature_has_is_refused(session, numbers):
    with pytest.raises(Exception, match=r"Column 'few': no feature can be read as map<string,string>"):
        load(session, numbers, "few map<string,string>").collect()
    with pytest.raises(Exception, match=r"no option 'on_corupt'\. Did you mean 'on_corrupt'"):
        load(session, numbers, "id bigint", on_corupt="skip").collect()


def test_file_that_the_schema_does_not_fit_is_named(session, tmp_path):
    for name, value in (("a", 1), ("b", b"one")):
        with tfr.TFRecordWriter(tmp_path / f"{name}.tfrecord") as writer:
            writer.write_example({"id": value})
    assert load(session, tmp_path, sample="1").dtypes == [("id", "bigint")]
    with pytest.raises(Exception, match=r"feature 'id'.*record 0 of '.*b\.tfrecord' has bytes"):
        load(session, tmp_path, sample="1").collect()


def test_where_filters_in_the_scan(session, numbers):
    found = load(session, numbers, "id bigint", where="id >= 19990 or id < 5")
    assert sorted(row.id for row in found.collect()) == [*range(5), *range(19_990, 20_000)]


class TestPushdown:
    """What Spark returns with filters in the scan is what it returns without them."""

    CONDITIONS = (
        "id > 19990", "id <= 3 and id != 2", "x > 9990", "not (x <= 9990)", "x = 0.5", "id in (1, 5, 99999)",
        "name like 'name-1999%'", "name = 'name-7'", "x is null", "isnan(x) and id < 30", "id < 10 or id > 19995",
        "size(few) = 2 and id < 20", "name is not null and id between 4 and 6", "id <=> 8", "none = 'a'",
        "none is null and id < 3",
    )  # fmt: skip

    def test_conditions(self, session, numbers):
        schema = "id bigint, x float, name string, few array<bigint>, none string"
        plain = load(session, numbers, schema).repartition(2).cache()

        def fresh():
            return load(session, numbers, schema)

        wanted = [
            sorted(row.id for row in plain.filter(each).select("id").collect()) for each in self.CONDITIONS
        ]
        tfr.spark.register(session, pushdown=True)
        try:
            for condition, ids in zip(self.CONDITIONS, wanted, strict=True):
                assert sorted(row.id for row in fresh().filter(condition).select("id").collect()) == ids, (
                    condition
                )
            plan = fresh().filter("id > 5 and x > 1 and length(name) > 6")._jdf.queryExecution().toString()
            after = plan.partition("== Physical Plan ==")[2]
            assert "Filter (length(name" in after  # what has no exact counterpart
            assert "(id#" not in after.partition("BatchScan")[0].replace("Project", "")
        finally:
            session.conf.set("spark.sql.python.filterPushdown.enabled", "false")
            tfr.spark.register(session)
            plain.unpersist()

    def test_one_frame_in_several_queries_has_all_its_rows(self, session, numbers):
        found = load(session, numbers, "id bigint")
        few = found.filter("id < 10")
        assert few.count() == 10
        assert found.count() == 20_000
        assert few.union(found.filter("id >= 19995")).count() == 15
        assert found.join(few, "id", "left_anti").count() == 19_990


def test_damage_is_an_error_or_passed_over(session, numbers, tmp_path):
    data = bytearray((numbers / "a.tfrecord").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "bad.tfrecord").write_bytes(data)
    with pytest.raises(Exception, match="corrupted record"):
        load(session, tmp_path, "id bigint").count()
    counts = tfr.spark.register(session)
    counts.clear()
    assert load(session, tmp_path, "id bigint", onCorrupt="skip", splitBytes="4194304").count() == 9_999
    assert counts.skipped == {str(tmp_path / "bad.tfrecord"): 1}


def test_missing_files_are_an_error(session, tmp_path):
    with pytest.raises(Exception, match="no TFRecord files are there"):
        load(session, tmp_path).count()


# -- writing -----------------------------------------------------------------------------------------------------------

ROW = (
    7, 1.5, "text", b"\x00\xff", [1, 2], dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, 1),  # noqa: DTZ001  # as tables have it
    decimal.Decimal("12.50"), decimal.Decimal(12), {"a": 1, "b": 2}, (3, "in"), True, None,
)  # fmt: skip
TYPES = (
    "i int, f double, s string, b binary, l array<long>, d date, t timestamp_ntz, dec decimal(10,2), whole "
    "decimal(10,0), m map<string,int>, st struct<p:int,q:string>, flag boolean, none string"
)


def test_columns_become_the_features_of_build_table(session, tmp_path):
    frame = session.createDataFrame([ROW], TYPES)
    save(frame, tmp_path / "out")
    pq.write_table(frame.toArrow(), tmp_path / "rows.parquet")
    tfr.build.table(str(tmp_path / "rows.parquet"), tmp_path / "built")
    records = list(tfr.read_records(str(tmp_path / "out/*.tfrecord")))
    assert len(records) == 1
    assert records == list(tfr.read_records(str(tmp_path / "built/*.tfrecord")))
    found = tfr.to_dict(tfr.Example.FromString(records[0]))
    assert sorted(found) == sorted(
        ["i", "f", "s", "b", "l", "d", "t", "dec", "whole", "m/key", "m/value", "st/p", "st/q", "flag"]
    )
    text = tfr.Example.FromString(records[0]).features.feature
    assert text["d"].bytes_list.value == [b"2024-02-29"]
    assert (text["dec"].float_list.value, text["whole"].int64_list.value) == ([12.5], [12])
    assert (text["m/key"].bytes_list.value, text["m/value"].int64_list.value) == ([b"a", b"b"], [1, 2])
    assert (text["st/p"].int64_list.value, text["flag"].int64_list.value) == ([3], [1])
    import tensorflow as tf

    assert sum(1 for _ in tf.data.TFRecordDataset(tf.io.gfile.glob(str(tmp_path / "out/*.tfrecord")))) == 1


def test_what_cannot_be_is_refused_by_name_before_a_task_runs(session, tmp_path):
    for column, kind in (("interval '1' month", "interval month"), ("interval '1' day", "interval day")):
        with pytest.raises(Exception, match=f"column 'i' of {kind} has no place in a feature"):
            save(session.sql(f"select 1 as a, {column} as i"), tmp_path / "out")
    with pytest.raises(Exception, match="column 'v' of variant has no place in a feature"):
        save(session.sql("select 1 as a, parse_json('1') as v"), tmp_path / "out")
    frame = session.range(3)
    with pytest.raises(Exception, match="Expected a whole number for the option 'level' but got 'high'"):
        save(frame, tmp_path / "out", compression="gzip", level="high")
    with pytest.raises(
        Exception, match=r"(?s)Failed to initialize .* a level of GZIP from -1 to 9 but got 99"
    ):
        save(frame, tmp_path / "out", compression="gzip", level="99")
    assert not (tmp_path / "out").exists()


def test_a_view_has_the_rows_and_a_table_is_refused(session, tmp_path):
    save(session.range(3), f"file:{tmp_path}/out")
    options = f"using tfrecord options (path 'file:{tmp_path}/out')"
    session.sql(f"create temporary view three {options}")
    assert session.sql("select sum(id) from three").first()[0] == 3
    session.sql("drop view three")
    with pytest.raises(Exception, match=r"cannot be that of a table.* Use CREATE TEMPORARY VIEW"):
        session.sql(f"create table three {options}")


def test_append_adds_and_overwrite_replaces(session, tmp_path):
    out, frame = tmp_path / "out", session.range(100).repartition(2)
    save(frame, out)
    save(frame, out, codec="org.apache.hadoop.io.compress.GzipCodec", maxRecordsPerFile=30)
    names = record_files(out)
    assert len(names) == 2 + 4
    assert load(session, out, "id bigint").count() == 200
    save(session.range(5).coalesce(1), out, "overwrite")
    assert record_files(out) == ["part-00000-of-00001.tfrecord"]
    save(session.range(6).coalesce(1), out, "overwrite")
    assert sorted(row.id for row in load(session, out, "id bigint").collect()) == list(range(6))
    assert [path.name for path in (out / ".tfrkit").glob("*.idx")] == ["part-00000-of-00001.tfrecord.idx"]
    assert left_over(out) == []


def test_partitions_are_folders_and_columns(session, tmp_path):
    out = tmp_path / "out"
    frame = session.createDataFrame(
        [(i, f"a/b={i % 2}%", i % 3 or None) for i in range(60)], "id long, place string, n int"
    ).repartition(2)
    save(frame, out, partitionBy="place,n")
    assert sorted({os.path.dirname(name) for name in record_files(out)}) == [
        f"place=a%2Fb%3D{i}%25/n={n}" for i in (0, 1) for n in (1, 2, "__HIVE_DEFAULT_PARTITION__")
    ]
    found = load(session, out)
    assert found.dtypes == [("id", "bigint"), ("place", "string"), ("n", "bigint")]
    assert sorted(map(tuple, found.collect())) == sorted(map(tuple, frame.collect()), key=lambda row: row[0])
    assert found.filter("place = 'a/b=1%' and n is null").count() == 10
    save(frame.filter("n = 1"), out, "overwrite", partitionBy="place,n", partitionOverwriteMode="dynamic")
    assert load(session, out).count() == 60
    save(frame.filter("n = 1"), out, "overwrite", partitionBy="place,n")
    assert load(session, out).count() == 20


def test_sequence_examples_and_byte_arrays_come_back(session, tmp_path):
    rows = [(i, [[i], [], [i, 2]], [[b"x"]]) for i in range(10)]
    frame = session.createDataFrame(rows, "id long, steps array<array<long>>, words array<array<binary>>")
    with pytest.raises(Exception, match="steps"):
        save(frame, tmp_path / "wrong")
    save(frame, tmp_path / "seq", recordType="SequenceExample")
    for schema in (None, "id long, steps array<array<long>>, words array<array<binary>>"):
        found = (
            load(session, tmp_path / "seq", schema, recordType="SequenceExample")
            .select("id", "steps")
            .orderBy("id")
        )
        assert [tuple(row) for row in found.collect()] == [row[:2] for row in rows]
    raw = load(session, tmp_path / "seq", recordType="ByteArray")
    assert raw.dtypes == [("byteArray", "binary")]
    save(raw, tmp_path / "copy", recordType="ByteArray")
    assert sorted(tfr.read_records(str(tmp_path / "copy/*.tfrecord"))) == sorted(
        tfr.read_records(str(tmp_path / "seq/*.tfrecord"))
    )


def test_failed_task_leaves_nothing(session, tmp_path):
    out = tmp_path / "out"
    bad = (
        session.range(1000).repartition(2).selectExpr("id", "if(id = 700, raise_error('stop'), 'fine') as s")
    )
    with pytest.raises(Exception, match="stop"):
        save(bad, out)
    assert record_files(out) == []
    assert left_over(out) == []


def test_killed_workers_write_every_row_once(session, tmp_path):
    """Python workers and an executor are killed while they write; what is there in the end is complete."""
    out, random_ = tmp_path / "out", random.Random(7)
    rows = 400_000
    frame = session.range(0, rows, 1, 8).selectExpr("id", "sha2(string(id), 256) as text", "id / 3 as third")
    stopped = threading.Event()
    killed = []

    def kill() -> None:
        while not stopped.wait(random_.uniform(0.3, 0.9)) and len(killed) < 6:
            sign = Killer.SIGNS[0 if len(killed) == 3 else 1]
            if (out / ".tfrkit").exists() and (found := processes(session, sign)):
                try:
                    os.kill(random_.choice(found), signal.SIGKILL)
                    killed.append(sign)
                except ProcessLookupError:
                    time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        while len(killed) < 6:
            save(frame, out, "overwrite", codec="gzip")
            found = tfr.read_table(str(out / "*.tfrecord.gz"), columns=["id"])
            assert sorted(found.column("id").to_pylist()) == list(range(rows))
            assert left_over(out) == []
    finally:
        stopped.set()
        thread.join()
    assert sum(shard["records"] for shard in tfr_manifest(out)) == rows


def tfr_manifest(folder: Path) -> list[dict]:
    import json

    return json.loads((folder / "manifest.json").read_text())["shards"]


def test_partition_folders_of_all_kinds():
    assert partition_folder(["a"], [True]) == "a=true"
    assert partition_folder(["a"], [dt.date(2024, 1, 2)]) == "a=2024-01-02"
    assert partition_folder(["a b"], ["ä:"]) == "a b=ä%3A"
