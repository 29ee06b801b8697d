"""tfr.spark: TFRecord files as a data source of Spark, `spark.read.format("tfrecord")` and `df.write`.

`register` makes a session know the format. What a user may set is in `source_options.py`; reading is in `read.py`, with
conditions in `filters.py` and types in `types.py`; writing is in `write.py`. Running tasks of a job in Spark is the
engine's business (`tfrkit.engines.spark`). docs/spark-and-hive.md has examples.
"""

from __future__ import annotations

from tfrkit.integrations.spark.damage_counts import DamageCounts
from tfrkit.integrations.spark.register import register

__all__ = ["DamageCounts", "register"]
