"""Functions of numbers: elementwise ones, reductions, products, order, segments.

The types that elementwise functions take are known to `values.types` from here on.
"""

from tfrkit.tf.names.math import PAIRS, SINGLES, rows
from tfrkit.values.types import allow_types

for _row in rows(SINGLES) + rows(PAIRS):
    if _row[2] not in ("", "bool"):
        allow_types(_row[1], _row[2])
