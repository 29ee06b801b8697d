"""register: make a Spark session know the format "tfrecord"."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Mapping
from typing import Any, Final

from tfrkit.engines.spark_session import listening_at
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.spark.damage_counts import DamageCounts
from tfrkit.optional import require
from tfrkit.stores.object_config import all_settings

__all__ = ["register"]

_counts: weakref.WeakKeyDictionary[Any, DamageCounts] = weakref.WeakKeyDictionary()
_PUSHDOWN: Final = "spark.sql.python.filterPushdown.enabled"


def register(spark: Any, *, pushdown: bool = False) -> DamageCounts:
    """Make a Spark session read and write TFRecord files, as the format "tfrecord".

    The executors need tfrkit installed, with pyarrow. What `configure_store` was given until now goes along to all of
    Spark's processes, secrets too: call this again after a change. See docs/spark-and-hive.md for all options.

    Args:
        spark: a SparkSession (Spark Connect, too).
        pushdown: let Spark hand its filters to the scan, which then decodes only what they take. Off by default: Spark
            up to 4.3 keeps the filters of one query for the next one on the same DataFrame, which then lacks rows. The
            option `where` of a read filters in the scan, too, and is always exact. Use `pushdown` only where each
            DataFrame that was loaded is queried once.

    Returns:
        How much damage reads with onCorrupt="skip" or "stop" have passed over, by file: `.skipped`. The same object for
        the same session.

    Raises:
        MissingExtraError: pyspark is not installed.
        InvalidArgumentError: this is not a session, or a store is configured with what exists in this process only.

    >>> register(spark)  # doctest: +SKIP
    >>> spark.read.format("tfrecord").load("train-*.tfrecord").groupBy("label").count()  # doctest: +SKIP
    """
    require("pyspark.sql.datasource", "tfr.spark.register")
    from tfrkit.integrations.spark.source import sources

    if not hasattr(spark, "dataSource"):
        raise InvalidArgumentError(f"Expected a SparkSession of Spark 4 but got {type(spark).__name__}.")
    if pushdown:
        spark.conf.set(_PUSHDOWN, "true")
    counts = _counts_of(spark)
    for source in sources(pushdown=pushdown):
        # A class of its own, which Spark's workers get as it is: where to report, and how to reach stores.
        given = {"counts_at": counts.address, "stores": _stores()}
        spark.dataSource.register(type(source.__name__, (source,), given))
    return counts


def _stores() -> Mapping[str, Any]:
    """Return what was configured of stores, which Spark's processes get."""
    settings = all_settings()
    for base, given in settings.items():
        try:
            require("pyspark.cloudpickle", "tfr.spark.register").dumps(given)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise InvalidArgumentError(
                f"{base}; what configure_store was given for it cannot be sent to Spark's processes: {error}. Give "
                "keys or a profile instead of an object, or set them in the environment of the executors."
            ) from error
    return settings


def _counts_of(spark: Any) -> DamageCounts:
    """Return what counts the damage of a session, which listens where executors reach the driver."""
    if spark not in _counts:
        conf = (
            {}
            if "connect" in type(spark).__module__.split(".")
            else dict(spark.sparkContext.getConf().getAll())
        )
        try:
            made = DamageCounts(*listening_at(conf))
        except OSError:  # nobody reaches it then: damage is in the logs of executors alone
            made = DamageCounts("127.0.0.1")
        _counts[spark] = made
        weakref.finalize(spark, made.close).atexit = False
    return _counts[spark]
