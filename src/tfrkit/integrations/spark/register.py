"""register: make a Spark session know the format "tfrecord"."""

from __future__ import annotations

from typing import Any, Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import require

__all__ = ["register"]

_PUSHDOWN: Final = "spark.sql.python.filterPushdown.enabled"


def register(spark: Any, *, pushdown: bool = False) -> None:
    """Make a Spark session read and write TFRecord files, as the format "tfrecord".

    The executors need tfrkit installed, with pyarrow. See docs/spark-and-hive.md for all options.

    Args:
        spark: a SparkSession (Spark Connect, too).
        pushdown: let Spark hand its filters to the scan, which then decodes only what they take. Off by default: Spark
            up to 4.3 keeps the filters of one query for the next one on the same DataFrame, which then lacks rows. The
            option `where` of a read filters in the scan, too, and is always exact. Use `pushdown` only where each
            DataFrame that was loaded is queried once.

    Raises:
        MissingExtraError: pyspark is not installed.
        InvalidArgumentError: this is not a session.

    >>> register(spark)  # doctest: +SKIP
    >>> spark.read.format("tfrecord").load("train-*.tfrecord").groupBy("label").count()  # doctest: +SKIP
    """
    require("pyspark.sql.datasource", "tfr.spark.register")
    from tfrkit.integrations.spark.source import sources

    if not hasattr(spark, "dataSource"):
        raise InvalidArgumentError(f"Expected a SparkSession of Spark 4 but got {type(spark).__name__}.")
    if pushdown:
        spark.conf.set(_PUSHDOWN, "true")
    for source in sources(pushdown=pushdown):
        spark.dataSource.register(source)
