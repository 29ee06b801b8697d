"""The format "tfrecord" in an object store that only the program itself was told how to reach."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError
from tfrkit.stores import object_config

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("spark")]


def load(session, path, schema=None, **options):
    reader = session.read.format("tfrecord").options(**options)
    return (reader if schema is None else reader.schema(schema)).load(path)


def test_what_configure_store_was_given_reaches_planning_and_tasks(spark, s3_folder):
    tfr.spark.register(spark)
    url = f"{s3_folder}/rows"
    frame = spark.range(100).selectExpr("id", "id % 2 as half").repartition(2)
    frame.write.format("tfrecord").mode("append").option("partitionBy", "half").save(url)
    assert sorted(row.id for row in load(spark, url).collect()) == list(range(100))
    assert load(spark, url, "id bigint", recordType="Example").count() == 100
    frame.limit(5).write.format("tfrecord").mode("overwrite").save(url)
    assert tfr.verify(url).ok
    assert load(spark, url, "id bigint").count() == 5


def test_a_gzip_file_in_a_store_is_read_by_several_tasks(spark, s3_folder):
    path = f"{s3_folder}/a.tfrecord.gz"
    with tfr.TFRecordWriter(path, index=True) as writer:
        for first in range(0, 10_000, 1000):
            blobs = [np.random.default_rng(first + n).bytes(1500) for n in range(1000)]
            writer.write_batch({"id": np.arange(first, first + 1000), "blob": blobs})
    tfr.spark.register(spark)
    found = load(spark, path, "id bigint", splitBytes="4194304")
    assert found.rdd.getNumPartitions() >= 2
    assert found.selectExpr("count(*)", "count(distinct id)").first() == (10_000, 10_000)


def test_a_store_that_only_this_process_can_reach_is_refused(spark, monkeypatch):
    monkeypatch.setattr(object_config, "_options", {})
    tfr.configure_store("s3://held", credential_provider=(each for each in ()))
    with pytest.raises(
        InvalidArgumentError,
        match=r"^s3://held; what configure_store was given for it cannot be sent to Spark's .*Give keys or a profile",
    ):
        tfr.spark.register(spark)
