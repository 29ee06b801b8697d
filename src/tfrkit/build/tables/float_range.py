"""Finite numbers that float32 does not hold: they become infinite, and are counted with their first place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.build.job.progress import BadInput, TaskReporter
from tfrkit.build.tables.arrow.arrow_types import arrow_types
from tfrkit.optional import require

__all__ = ["BEYOND", "Beyond", "beyond_in_array", "beyond_in_cell", "note_beyond"]

BEYOND: Final = "beyond float32, so infinite now"
_LIMIT: Final = (2 - 2**-24) * 2.0**127  # what is rounded to float32 from here on is infinite


@dataclass(frozen=True, slots=True)
class Beyond:
    """How many numbers are too large, the row of the first, and the number itself."""

    count: int
    row: int
    value: float


def beyond_in_cell(value: Any) -> Beyond | None:
    """Look for such numbers in a value or a list of values. Pure: no I/O.

    >>> beyond_in_cell([1.0, 1e39, float("inf"), -2e39])
    Beyond(count=2, row=0, value=1e+39)
    """
    items = value if isinstance(value, list) else [value]
    found = [item for item in items if isinstance(item, float) and _LIMIT <= abs(item) < math.inf]
    return Beyond(len(found), 0, found[0]) if found else None


def beyond_in_array(array: Any) -> Beyond | None:
    """Look for such numbers in an Arrow array of float64, or of lists of it; None if there are none."""
    types = arrow_types()
    if types.is_float32(array.type):  # usual, and without Arrow's functions, which take 30 ms to import
        return None
    compute = require("pyarrow.compute", "tfr build table")
    flat, rows = array, None
    while types.is_list(flat.type) or types.is_large_list(flat.type):
        parents = np.asarray(compute.list_parent_indices(flat))
        rows = parents if rows is None else rows[parents]
        flat = flat.flatten()
    if not types.is_float64(flat.type) or not len(flat):
        return None
    ends = compute.min_max(flat).as_py()
    if ends["min"] is None or max(abs(ends["min"]), abs(ends["max"])) < _LIMIT:
        return None
    values = np.asarray(flat.fill_null(0.0))
    found = np.flatnonzero((np.abs(values) >= _LIMIT) & np.isfinite(values))
    if not len(found):
        return None
    first = int(found[0])
    return Beyond(len(found), first if rows is None else int(rows[first]), float(values[first]))


def note_beyond(
    reporter: TaskReporter, column: str, found: Beyond, source: str, line: int | None, row: str = ""
) -> None:
    """Count such numbers of a column, with the place of the first: file, line, and perhaps a name of the row."""
    reason = f"{BEYOND}: column {column!r}"
    detail = f"{row}, got {found.value!r}" if row else f"got {found.value!r}"
    reporter.note(BadInput(source, line, reason, detail), found.count)
