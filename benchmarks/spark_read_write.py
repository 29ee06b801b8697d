"""Claim: Spark reads A through tfrkit at 10 x a Python UDF that parses with protobuf, and at 0.3 x our local scan.

It writes A at 5 x collecting rows and writing tf.train.Examples; and a build of 5 GB in Spark takes at most 1.5 x the
time of the same build on threads, starting Spark aside.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from benchmarks import specs
from benchmarks.data import dataset, in_memory, scratch
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

COLUMN = "label"
SCAN, READ, UDF = (
    "our scan, one column",
    "Spark, one column, count and sum",
    "Spark, UDF over binary files, protobuf",
)
READ_ALL = "Spark, 41 columns, count and sum"
WRITE, COLLECT = "Spark, write A", "collect, tf.train.Example"
THREADS, ENGINE = "build table, threads", "build table, engine spark"
FEW = 20_000  # records for what handles them one by one
COPIES = 8  # of the rows, which are built together


def session() -> Any:
    """Start Spark on two cores of this machine."""
    import warnings

    warnings.simplefilter("ignore")
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    import tfrkit as tfr

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    tfr.spark.register(spark)
    return spark


def place(settings: Settings) -> Path:
    return scratch(settings.scale) / "spark"


def prepare(settings: Settings) -> None:
    """Write A as Parquet, its first records as files for the UDF, and its files with indexes."""
    import pyarrow.parquet as pq

    import tfrkit as tfr
    from tfrkit.records.access.index import build_index, save_index

    data, folder = dataset("A", settings.scale), place(settings)
    (folder / "few").mkdir(parents=True)
    (folder / "files").mkdir()
    (folder / "rows").mkdir()
    (folder / "many").mkdir()
    for number, path in enumerate(data.plain):
        copy = folder / "files" / path.name
        shutil.copy(path, copy)
        save_index(str(copy), build_index(str(copy)))
        table = tfr.scan(str(path), spec=specs.a_spec(tfr)).to_table()
        rows = folder / "rows" / f"{number}.parquet"
        pq.write_table(table, rows, row_group_size=50_000)
        for copy in range(COPIES):
            (folder / "many" / f"{number}-{copy}.parquet").hardlink_to(rows)
    few = tfr.RecordFiles([str(path) for path in data.plain])[: min(FEW, data.records)].to_list()
    for number in range(4):
        with tfr.TFRecordWriter(folder / "few" / f"{number}.tfrecord") as writer:
            writer.write_many(few[number::4])
    pq.write_table(
        tfr.scan(str(folder / "few/*.tfrecord"), spec=specs.a_spec(tfr)).to_table(), folder / "few.parquet"
    )


def parse_files(batches: Any) -> Any:
    """Sum a column of whole files with protobuf, as one does without a reader. In an executor."""
    import struct

    import pyarrow as pa

    from tfrkit.model.messages import Example

    for batch in batches:
        count = total = 0
        for content in batch.column(0).to_pylist():
            at = 0
            while at < len(content):
                (length,) = struct.unpack_from("<Q", content, at)
                example = Example.FromString(content[at + 12 : at + 12 + length])
                total += example.features.feature[COLUMN].int64_list.value[0]
                count += 1
                at += length + 16
        yield pa.RecordBatch.from_arrays([pa.array([count]), pa.array([total])], names=["n", "s"])


def reading(settings: Settings) -> list[Contender]:
    """All count the records and sum a column."""
    import tfrkit as tfr

    spark, folder, data = session(), place(settings), dataset("A", settings.scale)
    files = sorted(map(str, (folder / "files").glob("*.tfrecord*")))
    spec = {COLUMN: specs.a_spec(tfr)[COLUMN]}
    kinds = {"int64": "bigint", "float32": "float", "string": "binary"}
    schema = ", ".join(f"`{name}` {kinds[each.dtype]}" for name, each in specs.a_spec(tfr).items())
    few = min(FEW, data.records)

    def scan() -> int:
        found = tfr.scan(files, [COLUMN], spec=spec)
        counted = 0
        for batch in found:
            counted += batch.num_rows
            batch.column(0).sum()
        return counted

    def read(columns: str) -> int:
        found = spark.read.format("tfrecord").schema(columns).load(str(folder / "files"))
        return int(found.selectExpr("count(*)", f"sum({COLUMN})").first()[0])

    def udf() -> int:
        found = spark.read.format("binaryFile").load(str(folder / "few")).select("content")
        return int(found.mapInArrow(parse_files, "n long, s long").selectExpr("sum(n)").first()[0])

    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    some: dict[str, Any] = {"records": few, "bytes": data.stream_bytes * few // data.records}
    return [
        Contender(SCAN, scan, "records", **amount),
        Contender(READ, lambda: read(f"{COLUMN} bigint"), "records", **amount),
        Contender(READ_ALL, lambda: read(schema), "records", **amount, at_most=2),
        Contender(UDF, udf, "records", **some, at_most=3),
    ]


def writing(settings: Settings) -> list[Contender]:
    """All write the rows of Parquet files."""
    import tensorflow as tf

    spark, folder, data = session(), place(settings), dataset("A", settings.scale)
    few = min(FEW, data.records)

    def write() -> int:
        frame = spark.read.parquet(str(folder / "rows"))
        frame.write.format("tfrecord").mode("append").save(str(folder / "written"))
        return data.records

    def feature(value: Any) -> Any:
        if isinstance(value, int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
        if isinstance(value, float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes(value)]))

    def collect() -> int:
        rows = spark.read.parquet(str(folder / "few.parquet")).collect()
        with tf.io.TFRecordWriter(str(folder / "collected.tfrecord")) as writer:
            for row in rows:
                features = {name: feature(value) for name, value in row.asDict().items() if value is not None}
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString())
        return len(rows)

    amount: dict[str, Any] = {"records": data.records, "bytes": data.payload_bytes}
    some: dict[str, Any] = {"records": few, "bytes": data.payload_bytes * few // data.records}
    return [
        Contender(WRITE, write, "records", **amount, output=folder / "written"),
        Contender(COLLECT, collect, "records", **some, output=folder / "collected.tfrecord", at_most=3),
    ]


def building(settings: Settings, output: str) -> list[Contender]:
    """The same conversion on threads and in Spark."""
    import tfrkit as tfr

    session()
    rows, data = str(place(settings) / "many"), dataset("A", settings.scale)

    def contender(name: str, engine: Any) -> Contender:
        out = Path(output) / engine

        def build() -> int:
            return tfr.build.table(rows, out, shards=COPIES, workers=2, engine=engine).records

        amount = COPIES * data.records, COPIES * data.payload_bytes
        return Contender(name, build, "records", *amount, output=out)

    tfr.build.table(str(place(settings) / "rows"), Path(output) / "before", shards=4, engine="spark")
    shutil.rmtree(Path(output) / "before")
    return [contender(THREADS, "threads"), contender(ENGINE, "spark")]


def run(settings: Settings) -> Report:
    """Measure A on two cores."""
    report = Report("spark_read_write")
    shutil.rmtree(place(settings), ignore_errors=True)
    try:
        in_child("spark_read_write", prepare.__name__, settings, cores=None)
        read = in_child("spark_read_write", reading.__name__, settings, cores=2)
        write = in_child("spark_read_write", writing.__name__, settings, cores=2)
        with in_memory(settings.scale) as output:
            build = in_child("spark_read_write", building.__name__, settings, cores=2, output=output)
    finally:
        shutil.rmtree(place(settings), ignore_errors=True)
    report.add_results("Reading A in Spark, local[2], one column", read)
    report.add_results("Writing A in Spark, local[2]", write)
    report.add_results("Building from Parquet, 2 cores", build)
    named = by_name([*read, *write, *build])
    report.ratio("A, count and sum", named[READ], [named[UDF]], 10)
    report.ratio("A, count and sum", named[READ], [named[SCAN]], 0.3)
    report.ratio("A, all columns", named[READ_ALL], [named[UDF]], None)
    report.ratio("A, written", named[WRITE], [named[COLLECT]], 5)
    report.ratio("A, built", named[ENGINE], [named[THREADS]], 1 / 1.5)
    return report
