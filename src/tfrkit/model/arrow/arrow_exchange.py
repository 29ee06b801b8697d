"""Columns to and from Arrow, through its PyCapsule interface: no copy where layouts agree, and no pyarrow.

`ArrowStream` makes a dict of columns known to whatever reads Arrow tables; `import_stream` takes such a table apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.arrow.arrow_import import (
    ArrowSchema,
    DecodedColumn,
    Valid,
    Values,
    decode,
    decode_indexed,
    empty,
)
from tfrkit.model.arrow.arrow_layout import ArrowColumn, Layout, array_layout, export_layout
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse

__all__ = ["ArrowStream", "Imported", "export_array", "import_stream"]


class Imported(NamedTuple):
    """A table that was taken apart.

    Attributes:
        names: of the columns; one empty name if the source is a single array without a name.
        columns: for each the values (array, BytesColumn or Ragged), a mask, false where a row is null, or None, and
            where it was asked for the indices of a dictionary.
        rows: how many.
        structs: the source is a table, or an array of structs, which looks the same.
    """

    names: list[str]
    columns: list[DecodedColumn]
    rows: int
    structs: bool


class ArrowStream:
    """A dict of columns as a table for pyarrow, pandas, polars, duckdb and others that read Arrow streams.

    Nothing is copied but booleans. The columns may be arrays (of several dimensions too), BytesColumn, Ragged, or lists
    of bytes or str; masked arrays have nulls.

    >>> import pyarrow
    >>> table = pyarrow.table(ArrowStream({"n": np.arange(3), "ids": Ragged.from_list([[1], [], [2, 3]])}))
    >>> table.column_names, table.num_rows
    (['n', 'ids'], 3)
    """

    def __init__(self, columns: Mapping[str, Any], valid: Mapping[str, Valid] | None = None) -> None:
        """Take columns of one length.

        Args:
            columns: by name; the order is kept.
            valid: for columns that have nulls a mask, false where a row is null.

        Raises:
            TypeError: a column has no counterpart in Arrow.
            ValueError: columns or masks differ in length.
        """
        masks = valid or {}
        self._layouts = []
        for name, column in columns.items():
            try:
                self._layouts.append(_layout(column, masks.get(name)).named(name))
            except (TypeError, ValueError) as error:
                raise type(error)(f"column {name!r}: {error}") from None
        lengths = {layout.name: layout.length for layout in self._layouts}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"expected columns of one length but got {lengths}")
        self._rows = next(iter(lengths.values()), 0)

    def __len__(self) -> int:
        return self._rows

    def __arrow_c_schema__(self) -> object:
        return _core.export_arrow_schema(self._table(0))

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return export_layout(self._table(self._rows))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        table = self._table(self._rows)
        return _core.export_arrow_stream(table, [table])

    def _table(self, rows: int) -> Layout:
        return Layout("+s", "", 0, rows, 0, (None,), tuple(self._layouts))


def export_array(column: Any, valid: Valid = None) -> tuple[object, object]:
    """Make the capsules `arrow_schema` and `arrow_array` of a column; it stays alive as long as they need it.

    Args:
        column: an array, BytesColumn, Ragged, masked array, or a list of bytes or str.
        valid: false where a row is null.

    Raises:
        TypeError: there is no counterpart in Arrow.
    """
    return export_layout(_layout(column, valid))


def import_stream(source: Any, *, indexed: bool = False) -> Imported:
    """Take apart anything that offers `__arrow_c_stream__` or `__arrow_c_array__`; several batches are joined.

    Numbers, booleans, strings, binary, lists of fixed and variable size, dictionaries (which are decoded) and nulls are
    taken. What lies in one batch is not copied, except booleans, string views and dictionaries; it stays alive
    as long as the columns do. With `indexed`, a dictionary of strings in one batch is not decoded: the column has the
    strings of the dictionary and `indices`.

    Raises:
        TypeError: there is no such method, or a column's type has no counterpart; the column is named.
        ValueError: the arrays are damaged, or have nulls inside lists.

    >>> import pyarrow
    >>> imported = import_stream(pyarrow.table({"x": [1, None], "s": ["a", "b"]}))
    >>> imported.names, imported.rows, imported.columns[1].values
    (['x', 's'], 2, BytesColumn(shape=(2,), [b'a', b'b']))
    >>> imported.columns[0].valid.tolist()
    [True, False]
    """
    schema, batches = _read(source)
    table = schema.format == "+s" and schema.dictionary is None
    fields = list(schema.children) if table else [schema]
    parts: list[list[DecodedColumn]] = [[] for _ in fields]
    rows = 0
    for batch in batches:
        nodes = _columns_of(batch, schema) if table else [batch]
        start = batch.offset if table else 0
        for field, node, found in zip(fields, nodes, parts, strict=True):
            try:
                found.append((decode_indexed if indexed else decode)(node, field, start, batch.length))
            except (TypeError, ValueError) as error:
                raise _named(field, error) from None
        rows += batch.length
    columns = [_join(field, found) for field, found in zip(fields, parts, strict=True)]
    return Imported([field.name for field in fields], columns, rows, table)


def _read(source: Any) -> tuple[ArrowSchema, list[_core.ArrowNode]]:
    if hasattr(source, "__arrow_c_stream__"):
        reader = _core.ArrowReader(source.__arrow_c_stream__())
        schema = ArrowSchema.of(reader.schema())
        return schema, list(iter(reader.next, None))
    if hasattr(source, "__arrow_c_array__"):
        capsule, array = source.__arrow_c_array__()
        return ArrowSchema.of(_core.read_arrow_schema(capsule)), [_core.read_arrow_array(array)]
    raise TypeError(
        "expected an object with __arrow_c_stream__ or __arrow_c_array__, such as a table of pyarrow or polars, "
        f"but got {type(source).__name__}"
    )


def _columns_of(batch: _core.ArrowNode, schema: ArrowSchema) -> list[_core.ArrowNode]:
    children = list(batch.children)
    if len(children) != len(schema.children):
        raise ValueError(f"expected {len(schema.children)} columns in an Arrow batch but got {len(children)}")
    if batch.null_count > 0:
        raise ValueError(
            f"expected rows of a table but got null structs ({batch.null_count}): drop or fill them"
        )
    return children


def _named(field: ArrowSchema, error: Exception) -> Exception:
    """The same error with the name of the column, if it has one."""
    return type(error)(f"column {field.name!r}: {error}") if field.name else error


def _join(field: ArrowSchema, parts: list[DecodedColumn]) -> DecodedColumn:
    if not parts:
        try:
            return DecodedColumn(empty(field), None)
        except TypeError as error:
            raise _named(field, error) from None
    if len(parts) == 1:
        return parts[0]
    parts = [part.decoded() for part in parts]
    valid = None
    if any(part.valid is not None for part in parts):
        valid = np.concatenate(
            [np.ones(len(part.values), bool) if part.valid is None else part.valid for part in parts]
        )
    return DecodedColumn(_concat([part.values for part in parts]), valid)


def _concat(values: list[Any]) -> Values:
    if isinstance(values[0], BytesColumn):
        return BytesColumn.concat(values)
    if isinstance(values[0], Ragged):
        return Ragged.concat(values)
    return np.concatenate(values)


def _layout(column: Any, valid: Valid) -> Layout:
    if isinstance(column, np.ma.MaskedArray):
        mask: npt.NDArray[np.bool_] = ~np.ma.getmaskarray(column)
        while mask.ndim > 1:
            mask = np.asarray(mask.all(axis=-1))
        column, valid = column.data, mask if valid is None else valid & mask
    if isinstance(column, Sparse):
        raise TypeError("a Sparse has no counterpart in Arrow: use to_ragged() or to_dense()")
    if isinstance(column, (list, tuple)):
        column = (
            BytesColumn.from_list(column)
            if column and isinstance(column[0], (bytes, str))
            else np.asarray(column)
        )
    if isinstance(column, np.ndarray) and column.dtype.kind in "OSU":
        column = BytesColumn.from_list(column)
    if not isinstance(column, (np.ndarray, ArrowColumn)) or column.ndim == 0:
        raise TypeError(f"expected an array, BytesColumn or Ragged but got {type(column).__name__}")
    layout = array_layout(column) if isinstance(column, np.ndarray) else column.arrow_layout()
    if valid is not None and valid.shape != (layout.length,):
        raise ValueError(f"expected a mask of {layout.length} entries but got the shape {valid.shape}")
    return layout.masked(valid)
