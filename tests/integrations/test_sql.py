from __future__ import annotations

import os
import signal
import threading
import time

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import tfrkit
from tfrkit import optional
from tfrkit.errors import InvalidArgumentError, MissingExtraError, NotFoundError, ResourceExhaustedError
from tfrkit.integrations.sql import connect, names_records, needed_tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for shard in range(2):
        with tfrkit.TFRecordWriter(f"train-0000{shard}-of-00002.tfrecord.gz") as writer:
            numbers = range(shard * 10, shard * 10 + 10)
            writer.write_batch(
                {"label": [n % 3 for n in numbers], "name": [f"n{n}" for n in numbers], "raw": [b"\xff"] * 10}
            )
    return tmp_path


def test_files_are_named_in_the_query(folder):
    found = tfrkit.sql("select label, count(*) from 'train-*.tfrecord.gz' group by 1 order by 1")
    assert found.fetchall() == [(0, 7), (1, 7), (2, 6)]
    one = "select count(*) from \"train-00000-of-00002.tfrecord.gz\" where name like 'n%'"
    assert tfrkit.sql(one).fetchall() == [(10,)]


def test_files_are_joined_and_stand_in_common_tables_and_subqueries(folder):
    query = """
        with t as (from 'train-00000-of-00002.tfrecord.gz') -- 'no.tfrecord'
        select max(t.name) from t join 'train-*.tfrecord.gz' u on t.name = u.name
        where u.label in (select label from 'train-00001-of-00002.tfrecord.gz') and u.name <> 'no.tfrecord'
    """
    assert tfrkit.sql(query).fetchall() == [("n9",)]


@pytest.mark.parametrize(
    "name", ["训练 数据.tfrecord", "it's.tfrecord", 'a"b.tfrecord', "memory://box/a.tfrecord"]
)
def test_odd_names_and_urls(folder, name):
    with tfrkit.TFRecordWriter(name) as writer:
        writer.write_batch({"x": [1, 2]})
    quoted = name.replace("'", "''")
    assert tfrkit.sql(f"select sum(x) from '{quoted}'").fetchall() == [(3,)]
    assert tfrkit.sql(f"describe from '{quoted}'").fetchall()[0][:2] == ("x", "BIGINT")


def test_other_statements_find_their_files(folder):
    pivot = "pivot 'train-*.tfrecord.gz' on label using count(*)"
    assert len(tfrkit.sql(pivot).fetchall()) == 20
    assert "label" in str(tfrkit.sql("explain select label from 'train-*.tfrecord.gz'").fetchall())
    assert len(tfrkit.sql("summarize 'train-*.tfrecord.gz'").fetchall()) == 3


def test_only_what_is_needed_is_decoded(folder, decoded):
    tfrkit.sql("select max(name) from 'train-*.tfrecord.gz' where label = 2").fetchall()
    assert decoded == {"label": 20, "name": 6}


def test_counting_all_decodes_nothing(folder, decoded):
    query = "select count(*) from 'train-*.tfrecord.gz'"
    assert tfrkit.sql(query).fetchall() == [(20,)]
    assert not decoded
    assert tfrkit.sql(query + " where label = 2").fetchall() == [(6,)]
    assert tfrkit.sql("select count(*) filter (label = 2) from 'train-*.tfrecord.gz'").fetchall() == [(6,)]
    assert tfrkit.sql("select count(*) from 'train-*.tfrecord.gz' group by label order by 1").fetchall() == [
        (6,),
        (7,),
        (7,),
    ]


def test_text_and_source(folder):
    assert tfrkit.sql("describe 'train-*.tfrecord.gz'").fetchall()[1][1] == "VARCHAR"
    assert tfrkit.sql("describe 'train-*.tfrecord.gz'", text=False).fetchall()[1][1] == "BLOB"
    query = "select _file, _record from 'train-*.tfrecord.gz' where name = 'n13'"
    assert tfrkit.sql(query, with_source=True).fetchall() == [("train-00001-of-00002.tfrecord.gz", 3)]


def test_results_for_other_libraries(folder):
    found = tfrkit.sql("select label from 'train-*.tfrecord.gz' where name = 'n2'")
    assert found.df()["label"].tolist() == [2]
    assert found.pl()["label"].to_list() == [2]
    assert pa.table(found).to_pydict() == {"label": [2]}
    assert found.filter("label > 2").fetchall() == []


def test_variables_and_tables(folder):
    mine = tfrkit.scan("train-*.tfrecord.gz", ["label"], "label > 0")  # noqa: F841 - the query names it
    other = pa.table({"label": [2], "title": ["two"]})
    assert tfrkit.sql("select title, count(*) from mine join other using (label) group by 1").fetchall() == [
        ("two", 6)
    ]
    tables = {"t": "train-00000-of-00002.tfrecord.gz", "mine": other}
    assert tfrkit.sql("select count(*), max(name) from t", tables=tables).fetchall() == [(10, "n9")]
    assert tfrkit.sql("select title from mine", tables=tables).fetchall() == [("two",)]


def test_connection_of_the_user(folder):
    con = duckdb.connect()
    con.execute("create table titles as select 2 as label, 'two' as title").fetchall()
    query = "select distinct title from 'train-*.tfrecord.gz' join titles using (label)"
    assert tfrkit.sql(query, con=con).fetchall() == [("two",)]
    assert con.sql("select max(label) from 'train-*.tfrecord.gz'").fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("selec 1", 'syntax error at or near "selec"'),
        ("select nothing from 'train-*.tfrecord.gz'", '"nothing" not found'),
        ("from nothing", "Name files in quotes"),
        ("from 'https://localhost:1/x.parquet'", "httpfs"),
    ],
    ids=["syntax", "column", "table", "no network"],
)
def test_what_duckdb_refuses_is_an_error_of_ours(folder, query, text):
    with pytest.raises(InvalidArgumentError, match=text):
        tfrkit.sql(query)


def test_names_that_differ_in_case_only_are_refused(folder):
    for name in ("A.tfrecord", "a.tfrecord"):
        with tfrkit.TFRecordWriter(name) as writer:
            writer.write_batch({name[0]: [1]})
    with pytest.raises(InvalidArgumentError, match="upper and lower case"):
        tfrkit.sql("from 'A.tfrecord', 'a.tfrecord'")


def test_missing_files_and_packages(folder, monkeypatch):
    with pytest.raises(NotFoundError, match=r"nothing\.tfrecord"):
        tfrkit.sql("from 'nothing.tfrecord'")
    monkeypatch.setattr(optional.importlib, "import_module", _missing)
    with pytest.raises(MissingExtraError, match=r"duckdb.*'tfrkit\[sql\]'"):
        connect()


def _missing(name):
    raise ImportError(name)


@pytest.mark.parametrize(
    "name",
    [
        "a.tfrecord", "a.TFRecord.GZ", "x.tfrecord*", "x.tfrecord-*", "a.tfr", "a.tfrec.zst", "b.tfrecords.xz",
        "x.tfrecord-00000-of-00010", "train-00000-of-00008", "train-?????-of-00008.tfrecord", "a.tfrecord.*",
        "s3://b/c/x.tfrecord?versionId=3", "https://h/x.tfrecord.gz?X-Amz=1&b=2", "中文-*.tfrecords",
    ],
)  # fmt: skip
def test_names_of_records(name):
    assert names_records(name)


@pytest.mark.parametrize(
    "name", ["a.parquet", "a.tfrecord.parquet", "tfrecord", "t", "my.tfrecord_old", "a.csv.gz"]
)
def test_names_of_other_things(name):
    assert not names_records(name)


def test_tables_of_a_query_by_duckdb_itself():
    con = connect()
    query = """select 'a.tfrecord', "b.tfrecord" from c /* 'd.tfrecord' */ where x = 'e.tfrecord'"""
    assert needed_tables(con, query) == (["c"], set())
    assert needed_tables(con, "select count(*) from 'x.tfrecord'") == (["x.tfrecord"], {"x.tfrecord"})
    assert needed_tables(con, 'pivot \'中文.tfrecord\' on "a""b"')[0] == ["中文.tfrecord", 'a"b']


def test_errors_of_native_code_are_ours_beside_duckdb():
    """Both are nanobind modules: without a domain of our own, its translator would take our exceptions."""
    with pytest.raises(ResourceExhaustedError, match="OOM when allocating tensor"):
        tfrkit.image.resize(np.zeros((1, 1, 1), np.uint8), (2**31 - 1, 2**16), "nearest")


def test_a_query_is_a_relation_in_all_but_its_class(folder):
    found = tfrkit.sql("select label, name from 'train-*.tfrecord.gz' order by name")
    assert found.columns == found.relation.columns == ["label", "name"]
    assert len(found) == 20
    assert "label" in found
    assert repr(found) == repr(found.relation)
    assert found.limit(1).fetchall() == [(0, "n0")]
    assert found.filter("label = 1").aggregate("count(*)").fetchall() == [(7,)]
    assert found.union(found).aggregate("count(*)").fetchall() == [(40,)]
    assert pa.table(found) == found.relation.to_arrow_table()
    assert found["name"].fetchall()[0] == ("n0",)
    with pytest.raises(AttributeError):
        found.nothing_like_this  # noqa: B018 - an attribute of DuckDB's
    with pytest.raises(AttributeError):
        found.__nothing__  # noqa: B018


def test_ctrl_c_ends_a_query(folder):
    query = "select sum(a.label + i) from 'train-*.tfrecord.gz' a, range(2_000_000_000) t(i)"
    found = tfrkit.sql(query)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        found.fetchall()
    assert time.monotonic() - began < 10
    assert tfrkit.sql("select 1").fetchall() == [(1,)]
