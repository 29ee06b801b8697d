"""Which runs of records an Arrow expression can match, by their zones.

Arrow itself tells, as it does for partitions: a fragment of a dataset comes with a guarantee, and is left out where the
filter cannot hold. Here each run is such a fragment, which nobody opens. Rows without a value are a second guarantee,
so that a run with nulls is two fragments for each column, and is read if one of them is left.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.optional import require
from tfrkit.records.access.zones import FeatureZones, Zones
from tfrkit.scanning.columns import ScanColumn
from tfrkit.scanning.zone_conditions import Share, zones_of_column

__all__ = ["runs_of_expression"]

_MOST_COLUMNS: Final = 3  # with guarantees: a run with nulls in all of them is eight fragments
_WHAT: Final = "a scan as a dataset"


def runs_of_expression(expression: Any, columns: Sequence[ScanColumn], schema: Any, zones: Zones) -> Share:
    """Say for each run whether an expression may be true for some record of it: 0 or 1. Pure: no I/O.

    Args:
        expression: of pyarrow.
        columns: those that it looks at.
        schema: of the table, in Arrow.
        zones: of a file.
    """
    dataset = require("pyarrow.dataset", _WHAT)
    system = require("pyarrow.fs", _WHAT).LocalFileSystem()
    form = dataset.IpcFileFormat()
    known = [
        (column, found)
        for column in columns
        if not column.form.depth and (found := zones_of_column(column, zones)) is not None
    ][:_MOST_COLUMNS]
    if not known:
        return np.ones(len(zones), np.int8)
    fragments = [
        form.make_fragment(str(run), system, partition_expression=guarantee)
        for run in range(len(zones))
        for guarantee in _guarantees(known, schema, zones, run)
    ]
    found = dataset.FileSystemDataset(fragments, schema, form, system).get_fragments(filter=expression)
    result = np.zeros(len(zones), np.int8)
    result[[int(fragment.path) for fragment in found]] = 1
    return result


def _guarantees(
    known: Sequence[tuple[ScanColumn, FeatureZones]], schema: Any, zones: Zones, run: int
) -> Iterator[Any]:
    """Return what is true of all records of a run, of which each has one of them."""
    records = int(zones.ends[run] - zones.starts[run])
    choices = [list(_of_column(column, found, schema, run, records)) for column, found in known]
    for parts in itertools.product(*choices):
        joined: Any = None
        for part in parts:
            if part is not None:
                joined = part if joined is None else joined & part
        compute = require("pyarrow.compute", _WHAT)
        yield compute.scalar(True) if joined is None else joined


def _of_column(column: ScanColumn, found: FeatureZones, schema: Any, run: int, records: int) -> Iterator[Any]:
    """Return what is true of the values of a column, and of the nulls if there are any; None: nothing is known."""
    field = require("pyarrow.compute", _WHAT).field(column.name)
    if not found.known[run] or found.nans[run] or column.default is not None:
        yield None
        return
    if found.present[run] < records:
        yield field.is_null()
    if found.values[run]:
        kind = schema.field(column.name).type
        low, high = found.least[run], found.greatest[run]
        if column.form.kind == _core.FLOAT:
            # Arrow holds literals of double precision against these, and rounds them only when it compares values.
            with np.errstate(over="ignore"):
                low, high = np.nextafter(low, np.float32(-np.inf)), np.nextafter(high, np.float32(np.inf))
        least, greatest = (_scalar(bound, column, kind) for bound in (low, high))
        bound = field >= least
        yield bound if found.open_above[run] else bound & (field <= greatest)


def _scalar(bound: Any, column: ScanColumn, kind: Any) -> Any:
    pyarrow = require("pyarrow", _WHAT)
    if column.form.kind != _core.BYTES:
        return pyarrow.scalar(bound.item(), kind)
    # A bound of text may end inside a character. Arrow compares text as bytes, and a view of them is not checked.
    return pyarrow.array([bound], pyarrow.large_binary() if column.form.large else pyarrow.binary()).view(
        kind
    )[0]
