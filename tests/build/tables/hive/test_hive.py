"""Tables of Hive on embedded Derby, in three formats, become shards: from `create table` to batches."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import tfrkit as tfr
from tests.build.support.made import left_over, tree
from tfrkit.build.job.job import run_job
from tfrkit.build.tables.hive import hive as hive_module
from tfrkit.build.tables.hive.hive_rows import write_rows
from tfrkit.cli.main import main
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, UnavailableError

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("spark")]
FORMATS = ("PARQUET", "ORC", "TEXTFILE")


@pytest.fixture(scope="module")
def shop(spark):
    """A database with the same clicks in three formats."""
    spark.sql("CREATE DATABASE shop")
    for stored in FORMATS:
        spark.sql(
            f"CREATE TABLE shop.clicks_{stored} (id BIGINT, price DECIMAL(8,2), units DECIMAL(9,0), day DATE, seen "
            "TIMESTAMP, word STRING, tags ARRAY<STRING>, counts MAP<STRING,INT>, place STRUCT<x:DOUBLE,y:DOUBLE>, ok "
            f"BOOLEAN) PARTITIONED BY (dt STRING, hour INT) STORED AS {stored}"
        )
        for dt, hour in (("2024-01-01", 3), ("2024-01-01", 12), ("2024-01-02", 3)):
            spark.sql(
                f"INSERT INTO shop.clicks_{stored} PARTITION (dt='{dt}', hour={hour}) SELECT id + {hour} * 100, "
                "cast(id / 4 as decimal(8,2)), cast(id as decimal(9,0)), date '2024-02-29', timestamp '2024-02-29 "
                "12:30:01', if(id = 3, null, concat('w', id)), array('a', concat('t', id)), map('k', int(id)), "
                "named_struct('x', id / 2, 'y', 0.5), id % 2 = 0 FROM range(10)"
            )
    yield spark
    spark.sql("DROP DATABASE shop CASCADE")


def shards(out):
    return sorted(
        str(path.relative_to(out)) for path in out.rglob("*.tfrecord*") if ".tfrkit" not in path.parts
    )


@pytest.mark.parametrize("stored", FORMATS)
def test_from_create_table_to_batches(shop, stored, tmp_path):
    out = tmp_path / "out"
    report = tfr.build.hive(f"shop.clicks_{stored}", out, shards=3)
    assert report.records == 30
    assert [shard.records for shard in report.shards] == [10, 10, 10]
    assert shards(out) == [f"data-0000{n}-of-00003.tfrecord" for n in range(3)]
    assert left_over(out) == []
    assert not list((out / ".tfrkit").glob("hive-*"))
    rows = tfr.read_table(str(out / "*.tfrecord"))
    found = rows.sort_by([("dt", "ascending"), ("id", "ascending")]).to_pylist()
    seen = found[3].pop("seen")
    assert found[3] == {
        "id": 303, "price": 0.75, "units": 3, "day": b"2024-02-29", "word": None, "tags": [b"a", b"t3"],
        "counts/key": b"k", "counts/value": 3, "place/x": 1.5, "place/y": 0.5, "ok": 0, "dt": b"2024-01-01", "hour": 3,
    }  # fmt: skip
    assert seen.startswith(b"2024-02-29 12:30:01")
    import tensorflow as tf

    spec = {"id": tf.io.FixedLenFeature([], "int64"), "tags": tf.io.VarLenFeature(tf.string)}
    files = sorted(map(str, out.glob("*.tfrecord")))
    batches = tf.data.TFRecordDataset(files).batch(8).map(lambda records: tf.io.parse_example(records, spec))
    ids = sorted(int(one) for batch in batches for one in batch["id"].numpy())
    assert ids == sorted(row["id"] for row in found)
    ours = tfr.TFRecordDataset(files).parse({"id": tfr.FixedLenFeature([], "int64")}).batch(8)
    assert sorted(int(one) for batch in ours for one in batch["id"]) == ids


def test_conditions_columns_and_partitions(shop, tmp_path):
    out = tmp_path / "out"
    report = tfr.build.hive(
        "shop.clicks_ORC", out, columns=["id", "word"], where="id % 2 = 0", partition=["dt=2024-01-01", "hour>=10"],
        null_value={"word": "none"}, rename={"id": "number"},
    )  # fmt: skip
    found = tfr.read_table(str(out / "*.tfrecord")).to_pylist()
    assert sorted(row["number"] for row in found) == [1200, 1202, 1204, 1206, 1208]
    assert set(found[0]) == {"number", "word"}
    assert report.records == 5


def test_the_command_does_the_same(shop, tmp_path, monkeypatch, capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tfr", "build", "hive", *arguments])
        code: object = None
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        return int(str(code or 0)), *capsys.readouterr()

    out = str(tmp_path / "out")
    chosen = (
        "--where",
        "id % 2 = 0",
        "--partition",
        "dt=2024-01-01",
        "--partition",
        "hour>=10",
        "--columns",
        "id,word",
    )
    code, said, _ = run("shop.clicks_ORC", out, *chosen, "--shards", "2", "--json")
    assert (code, json.loads(said)["records"]) == (0, 5)
    assert shards(tmp_path / "out") == [f"data-0000{n}-of-00002.tfrecord" for n in range(2)]
    assert sorted(tfr.scan(f"{out}/*.tfrecord").to_table()["id"].to_pylist()) == [
        1200,
        1202,
        1204,
        1206,
        1208,
    ]
    query = "select count(*) as n from shop.clicks_ORC"
    assert run(str(tmp_path / "counted"), "--sql", query)[0] == 0
    assert tfr.read_table(tmp_path / "counted" / "*.tfrecord").to_pylist() == [{"n": 30}]
    code, _, said = run("shop.click", out)
    assert (code, "error: shop.click; there is no such table." in said) == (2, True)


def test_partitions_can_be_folders(shop, tmp_path):
    out = tmp_path / "out"
    report = tfr.build.hive("shop.clicks_PARQUET", out, partitions="folders", compression="GZIP")
    assert shards(out) == [
        f"dt={dt}/hour={hour}/data-00000-of-00001.tfrecord.gz"
        for dt, hour in (("2024-01-01", 12), ("2024-01-01", 3), ("2024-01-02", 3))
    ]
    assert sorted(shard.name for shard in report.shards) == shards(out)
    assert report.records == 30
    one = tfr.read_table(str(out / "dt=2024-01-02/hour=3/*.gz"))
    assert "dt" not in one.column_names
    assert one.num_rows == 10
    assert json.loads((out / "dt=2024-01-02/hour=3/manifest.json").read_text())["shards"][0]["records"] == 10


def test_query_and_engines_give_the_same_bytes(shop, tmp_path):
    sql = "select word, count(*) as n from shop.clicks_TEXTFILE group by word order by word"
    wanted = None
    for engine in ("spark", "threads"):
        tfr.build.hive(None, tmp_path / engine, sql=sql, shards=2, engine=engine)
        found = {name: data for name, data in tree(tmp_path / engine).items() if name.endswith(".tfrecord")}
        assert wanted in (None, found)
        wanted = found
    assert tfr.read_table(str(tmp_path / "spark/*.tfrecord")).num_rows == 10


def test_output_can_be_in_a_store_that_only_this_program_knows_the_way_to(shop, s3_folder):
    out = f"{s3_folder}/out"
    assert tfr.build.hive("shop.clicks_ORC", out, columns=["id"], shards=2).records == 30
    assert tfr.verify(out).ok
    assert tfr.scan(f"{out}/*.tfrecord").count() == 30


def test_interrupted_job_resumes_with_the_rows_that_it_read(shop, tmp_path, monkeypatch):
    shop.sql("CREATE TABLE shop.growing STORED AS PARQUET AS SELECT id FROM range(100)")

    def fails(job, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(hive_module, "run_job", fails)
    with pytest.raises(KeyboardInterrupt):
        tfr.build.hive("shop.growing", tmp_path)
    monkeypatch.setattr(hive_module, "run_job", run_job)
    shop.sql("INSERT INTO shop.growing SELECT 1000")
    assert tfr.build.hive("shop.growing", tmp_path).records == 100
    assert tfr.build.hive("shop.growing", tmp_path, overwrite=True).records == 101


def test_two_runs_of_one_query_into_one_folder_do_not_disturb_each_other(shop, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(tfr.build.hive, "shop.clicks_ORC", tmp_path, shards=2) for _ in range(2)]
        assert [run.result(300).records for run in runs] == [30, 30]
    assert tfr.verify(tmp_path).ok
    assert left_over(tmp_path) == []


def test_function_that_raises_is_named_and_leaves_nothing(shop, tmp_path):
    shop.udf.register("inverse", lambda number: 1 // (number - 3), "long")
    sql = "select inverse(id) as n from range(0, 10, 1, 2)"
    with pytest.raises(
        UnavailableError, match=r"^sql; Spark could not read the rows: ZeroDivisionError: "
    ) as raised:
        tfr.build.hive(None, tmp_path, sql=sql)
    assert "test_hive.py" in str(raised.value.__cause__)  # the traceback of the function
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["hive.lock"]


def test_task_that_is_late_leaves_nothing_where_the_query_has_failed(tmp_path):
    with pytest.raises(
        FailedPreconditionError, match=r"hive-1; the machine '.*' does not see this folder\. All"
    ):
        list(write_rows([], str(tmp_path / "hive-1"), ["n"], []))
    assert list(tmp_path.iterdir()) == []


def test_names_of_columns_may_have_any_character(shop, tmp_path):
    tfr.build.hive(None, tmp_path, sql="select 1 as `a.b`, 2 as `c``d`, 3 as `e/f`")
    assert tfr.read_table(tmp_path / "*.tfrecord").to_pylist() == [{"a.b": 1, "c`d": 2, "e/f": 3}]


def test_what_is_wrong_is_said_before_anything_is_read(shop, tmp_path):
    with pytest.raises(NotFoundError, match=r"^shop\.clicks; there is no such table\."):
        tfr.build.hive("shop.clicks", tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"wrong"):
        tfr.build.hive("shop.clicks_ORC", tmp_path, where="wrong = 1")
    with pytest.raises(InvalidArgumentError, match=r"no input is in a folder 'dat=\.\.\.'"):
        tfr.build.hive("shop.clicks_ORC", tmp_path, partition="dat=1")
    with pytest.raises(InvalidArgumentError, match=r"no rows\. Check the conditions"):
        tfr.build.hive("shop.clicks_ORC", tmp_path, where="id < 0")
    with pytest.raises(InvalidArgumentError, match=r"either a table, .* or a query"):
        tfr.build.hive(None, tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"'nested'.*have no place in a feature"):
        tfr.build.hive(None, tmp_path, sql="select array(array(1)) as nested")
    for sql, column in (
        ("select interval '1' month as i", "'i' of interval month"),
        ("select 1 as a, interval '1' day as i", "'i' of interval day"),
        ("""select named_struct('v', parse_json('{"a": 1}')) as s""", "'s' of struct<v:variant>"),
    ):
        with pytest.raises(
            InvalidArgumentError, match=f"^sql: column {column} has no place in a feature. Cast"
        ):
            tfr.build.hive(None, tmp_path, sql=sql)
    assert not list(tmp_path.rglob("*.tfrecord"))
