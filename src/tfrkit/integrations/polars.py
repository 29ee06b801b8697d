"""A scan as a polars LazyFrame: its optimizer says what columns and rows are needed, and only those are decoded."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tfrkit.errors import UnimplementedError
from tfrkit.integrations.pushdown import Condition, read_rows
from tfrkit.optional import require
from tfrkit.scanning.chunks import Mask
from tfrkit.scanning.scan import Scan

__all__ = ["scan_frame", "without_hints"]

_WHAT: Final = "a scan as a polars LazyFrame"
_HINT: Final = "dynamic_pred"  # what polars calls conditions that its own sorts make up while they run


def scan_frame(scan: Scan) -> Any:
    """Return a scan as a polars.LazyFrame; see `Scan.to_polars`."""
    polars = require("polars", _WHAT)
    plugins = require("polars.io.plugins", _WHAT)

    def source(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[Any]:
        schema = scan.schema
        names = list(schema.names if with_columns is None else with_columns)
        # The limit is one of rows before the condition: polars sends both for `head(5).filter(...)` only.
        limited = scan if n_rows is None else scan.limit(n_rows)
        empty = True
        for batch in read_rows(limited, names, _condition(predicate, schema)):
            empty = False
            yield _frame(polars, batch)
        if empty:
            yield _frame(polars, _no_rows(schema, names))

    def schema() -> Any:
        return _frame(polars, _no_rows(scan.schema, scan.schema.names)).schema

    return plugins.register_io_source(source, schema=schema, is_pure=True)


def without_hints(tree: Any) -> Any:
    """Return the tree of a condition without what polars adds to it as hints; None if nothing is left. Pure: no I/O.

    A sort with a limit tells its sources what is too large to matter. Such a node cannot be evaluated outside polars,
    which panics, and need not be.

    Raises:
        UnimplementedError: one is elsewhere than in a chain of `and`.
    """
    if _is_hint(tree):
        return None
    if (
        isinstance(tree, dict)
        and isinstance(both := tree.get("BinaryExpr"), dict)
        and both.get("op") == "And"
    ):
        left, right = without_hints(both["left"]), without_hints(both["right"])
        if left is None or right is None:
            return left if right is None else right
        return {"BinaryExpr": {**both, "left": left, "right": right}}
    if _has_hint(tree):
        raise UnimplementedError(
            "polars passes a condition of its own inside another, which cannot be taken apart. Collect the scan before "
            "it is sorted: scan.to_polars().filter(...).collect().lazy()"
        )
    return tree


def _is_hint(tree: Any) -> bool:
    shown = tree.get("Display") if isinstance(tree, dict) else None
    return isinstance(shown, dict) and str(shown.get("fmt_str", "")).startswith(_HINT)


def _has_hint(tree: Any) -> bool:
    if _is_hint(tree):
        return True
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return any(_has_hint(part) for part in parts)


def _condition(predicate: Any, schema: Any) -> Condition | None:
    """Return a polars expression as a condition on rows; where it is null, the row is not wanted."""
    if predicate is None:
        return None
    polars = require("polars", _WHAT)
    if _HINT in str(predicate):
        tree = without_hints(json.loads(predicate.meta.serialize(format="json")))
        if tree is None:
            return None
        predicate = polars.Expr.deserialize(io.StringIO(json.dumps(tree)), format="json")
    known = schema.names
    asked = set(predicate.meta.root_names())
    # A condition on no column at all still needs to know how many rows there are.
    names = [name for name in known if name in asked] or list(known[:1])
    keep = predicate.alias("keep")

    def mask(batch: Any) -> Mask:
        found = _frame(polars, batch).select(keep).to_series().fill_null(False).to_numpy()
        return np.broadcast_to(np.asarray(found, np.bool_), (batch.num_rows,))

    return Condition(names, mask)


def _no_rows(schema: Any, names: list[str]) -> Any:
    return schema.empty_table().select(names)


def _frame(polars: Any, batch: Any) -> Any:
    """Return a batch as a polars.DataFrame; names of files as text, as categories of each batch would differ."""
    pyarrow = require("pyarrow", _WHAT)
    table = batch if isinstance(batch, pyarrow.Table) else pyarrow.Table.from_batches([batch])
    for place, field in enumerate(table.schema):
        if pyarrow.types.is_dictionary(field.type):
            text = table.column(place).cast(field.type.value_type)
            table = table.set_column(place, field.name, text)
    return polars.from_arrow(table, rechunk=False)
