"""read_rows: what an engine asks of a scan, as batches: first the columns of its condition, then the rest of some rows.

The condition is evaluated by the engine that it comes from, on batches of the columns that it looks at. What it means
is nobody else's business, so that the result is what the engine would return on a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tfrkit.integrations.zone_guarantees import runs_of_expression
from tfrkit.optional import require
from tfrkit.scanning.chunks import Mask, RowFilter
from tfrkit.scanning.pruning import ShareOf
from tfrkit.scanning.scan import Scan

__all__ = ["Condition", "condition_rows", "pick_columns", "read_rows"]


@dataclass(frozen=True, slots=True)
class Condition:
    """Which rows an engine wants.

    Attributes:
        names: of the columns that it looks at.
        mask: gets a pyarrow.RecordBatch of them, and returns an array that is true where a row is wanted. Called by
            several threads at once.
        expression: the same as a pyarrow expression, if there is one.
    """

    names: Sequence[str]
    mask: Callable[[Any], Mask]
    expression: Any = None


def read_rows(
    scan: Scan, names: Sequence[str], condition: Condition | None = None, *, limit: int | None = None
) -> Iterator[Any]:
    """Read columns of the rows for which a condition holds, in order.

    Args:
        scan: the table.
        names: of the columns, in order.
        condition: which rows; all by default.
        limit: after so many rows nothing more is read.

    Returns:
        An iterator of pyarrow.RecordBatches. Closing it stops reading.
    """
    if condition is not None and scan.row_limit is not None:
        # The condition is about the first rows of the scan: it may not decide which those are.
        yield from _filtered(scan, names, condition, limit)
        return
    rows = None if condition is None else condition_rows(scan, condition)
    batches = scan.read(names, rows, limit=limit)
    try:
        for batch in batches:
            yield pick_columns(batch, names)
    finally:
        batches.close()


def condition_rows(scan: Scan, condition: Condition) -> RowFilter:
    """Return a condition as a choice of rows for `Scan.read`."""
    return scan.row_filter(condition.names, condition.mask, _share(scan, condition))


def _share(scan: Scan, condition: Condition) -> ShareOf | None:
    if condition.expression is None:
        return None
    wanted = set(condition.names)
    columns = [column for column in scan.columns if column.name in wanted]
    return partial(runs_of_expression, condition.expression, columns, scan.schema)


def pick_columns(batch: Any, names: Sequence[str]) -> Any:
    """Return a batch of some columns of another, which keeps its rows also if there are none."""
    return batch if batch.schema.names == list(names) else batch.select(list(names))


def _filtered(scan: Scan, names: Sequence[str], condition: Condition, limit: int | None) -> Iterator[Any]:
    pyarrow = require("pyarrow", "scan")
    needed = list(dict.fromkeys([*names, *condition.names]))
    batches = scan.read(needed)
    left = limit
    try:
        for batch in batches:
            if left == 0:
                return
            kept = np.flatnonzero(condition.mask(pick_columns(batch, condition.names)))[:left]
            if len(kept):
                left = None if left is None else left - len(kept)
                yield pick_columns(batch.take(pyarrow.array(kept)), names)
    finally:
        batches.close()
