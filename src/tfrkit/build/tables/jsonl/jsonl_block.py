"""A block of JSON lines parsed by pyarrow, where that is exact; otherwise `jsonl_lines.py` reads it.

pyarrow infers types, and with them changes values: texts that look like times become times, integers among fractions
become fractions. It takes several objects in a line and objects over several lines, and deep nesting ends the process.
All of this is found here, and nothing of it happens. Pure: no I/O.
"""

from __future__ import annotations

import binascii
import io
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit.build.tables.arrow.arrow_types import ArrowLeaf, leaf_arrays, leaves, seen_in_type
from tfrkit.build.tables.json_notation import BASE64, FEATURE_LISTS
from tfrkit.build.tables.jsonl.jsonl_lines import MAX_DEPTH, SPECIAL, is_deep
from tfrkit.build.tables.table_format import Seen, TableColumn
from tfrkit.optional import lazy

__all__ = ["ColumnSeen", "Parsed", "parse_block", "seen_in_block", "text_schema", "wanted_arrays"]

pyarrow: Any = lazy("pyarrow", "Reading JSON lines")
json: Any = lazy("pyarrow.json", "Reading JSON lines")
_SAMPLE_BYTES: Final = 16 << 10
_MAX_CELLS: Final = 20_000_000  # nulls included; a block of ordinary lines has half of this at most
_SPARSE: Final = 2  # cells for each byte of lines; ordinary lines have a sixth of a cell
_MAX_INT: Final = 2.0**63
# What only pyarrow takes for numbers.
_ODD_NUMBER: Final = re.compile(rb"[:,\[]\s*(?:-?Inf(?!inity)|-NaN)")
_NEWLINE, _OPEN, _CLOSE, _RETURN = b"\n{}\r"


class Parsed(NamedTuple):
    """A block as a table, and the number of the line of each row, from 0 on."""

    table: Any
    lines: npt.NDArray[np.int64]


class _Column(NamedTuple):
    leaf: ArrowLeaf
    base64: bool


def parse_block(data: bytes, schema: Any = None) -> Parsed | None:
    """Parse whole lines, of which a schema says the types of some columns; None if one is bad or unusual."""
    lines = _row_lines(data)
    if lines is None or not len(lines) or not _is_utf8(data) or _is_odd(data):
        return None
    if _may_explode(data, len(lines)):
        return None
    table = _read_json(data, schema)
    if table is None and schema is not None:  # not all of it is text, or a name with a slash is no path
        table = _read_json(data, None)
    if table is None or table.num_rows != len(lines) or not table.num_columns:
        return None
    return Parsed(table, lines)


def text_schema(columns: Sequence[TableColumn]) -> Any:
    """Return the schema of the columns of texts, which else may be taken for times. Pure: no I/O."""
    fields = []
    for column in columns:
        if column.kind == "bytes" and not column.steps:
            *above, name = column.name.split("/")
            text = pyarrow.string()
            field = pyarrow.field(name, pyarrow.list_(text) if Seen.LIST in column.seen else text)
            for part in reversed(above):
                field = pyarrow.field(part, pyarrow.struct([field]))
            fields.append(pyarrow.schema([field]))
    try:
        return pyarrow.unify_schemas(fields) if fields else None
    except pyarrow.ArrowException:  # a name is that of a text and that of an object
        return None


class ColumnSeen(NamedTuple):
    """What a column of a block has (None: nested lists), in how many rows, and the values."""

    seen: Seen | None
    rows: int
    array: Any


def seen_in_block(parsed: Parsed) -> dict[str, ColumnSeen] | None:
    """Return what the columns have; None if only the slow path can say."""
    columns = _columns(parsed.table.schema)
    if columns is None:
        return None
    found: dict[str, ColumnSeen] = {}
    batch = _one_batch(parsed.table)
    for name, column in columns.items():
        array = _array_of(batch, column)
        if array is None:
            return None
        kinds = seen_in_type(array.type)
        seen = None if isinstance(kinds, str) else kinds
        if seen is not None and Seen.FLOAT in seen and _has_large(array):
            return None
        found[name] = ColumnSeen(seen, len(array) - array.null_count, array)
    return found


def wanted_arrays(parsed: Parsed, columns: Sequence[TableColumn]) -> list[Any] | None:
    """Return the arrays of some columns, exactly as the lines say; None if only the slow path can."""
    found = _columns(parsed.table.schema)
    if found is None:
        return None
    batch = _one_batch(parsed.table)
    arrays = []
    for column in columns:
        if column.name not in found:
            arrays.append(pyarrow.nulls(batch.num_rows))
            continue
        array = _array_of(batch, found[column.name])
        if array is None or not _is_exact(array.type, column.kind):
            return None
        arrays.append(array)
    return arrays


# -- before parsing ----------------------------------------------------------------------------------------------------


def _row_lines(data: bytes) -> npt.NDArray[np.int64] | None:
    """Numbers of the lines that are not empty; None if one does not look like an object from end to end.

    A line that begins with `{` and ends with `}` holds whole objects: no object can be cut there. If there are as
    many objects as lines, each line holds one.
    """
    if not data.endswith(b"\n"):
        data += b"\n"
    codes = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(codes == _NEWLINE)
    begins = np.concatenate(([0], ends[:-1] + 1))
    lasts = ends - 1
    lasts = lasts - (codes[np.maximum(lasts, 0)] == _RETURN)
    full = lasts >= begins
    if not bool((codes[begins[full]] == _OPEN).all() and (codes[lasts[full]] == _CLOSE).all()):
        return None
    if _is_any_deep(data, begins, ends):
        return None
    return np.flatnonzero(full)


def _is_any_deep(data: bytes, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> bool:
    count = data.count(b"[") + data.count(b"{")
    if count <= MAX_DEPTH:
        return False
    codes = np.frombuffer(data, np.uint8)
    if count > len(begins):  # else one each
        opened = ((codes | 0x20) == ord("{")).astype(np.int32)  # `[` and `{` differ in this bit
        per_line = np.add.reduceat(opened, begins)
        for number in np.flatnonzero(per_line > MAX_DEPTH).tolist():
            if is_deep(data[int(begins[number]) : int(ends[number])]):
                return True
    return False


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_odd(data: bytes) -> bool:
    return (b"Inf" in data or b"-NaN" in data) and _ODD_NUMBER.search(data) is not None


def _may_explode(data: bytes, rows: int) -> bool:
    """Whether the lines have so many different keys that a table would be mostly nulls and take much memory."""
    if len(data) <= _SAMPLE_BYTES:
        return False
    end = data.rfind(b"\n", 0, _SAMPLE_BYTES) + 1
    table = _read_json(data[:end], None) if end else None
    if table is None:
        return False
    columns = len(leaves(table.schema))
    if columns * table.num_rows > _SPARSE * end:
        return True
    return columns * (len(data) // _SAMPLE_BYTES) * rows > _MAX_CELLS


def _read_json(data: bytes, schema: Any) -> Any:
    try:
        table = json.read_json(
            io.BytesIO(data),
            read_options=json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=json.ParseOptions(explicit_schema=schema),
        )
        table.validate()  # of lists of nulls it makes arrays that are too short
    except (pyarrow.ArrowException, UnicodeDecodeError):
        return None
    return table


# -- after parsing -----------------------------------------------------------------------------------------------------


def _columns(schema: Any) -> dict[str, _Column] | None:
    """Columns by name; None if there is something special in them, or a name twice."""
    found: dict[str, _Column] = {}
    for leaf in leaves(schema):
        base64 = leaf.path[-1] == BASE64 and len(leaf.path) > 1
        name = "/".join(leaf.path[:-1]) if base64 else leaf.name
        if base64 and _struct_size(schema, leaf.path[:-1]) > 1:
            return None
        if (
            name in found
            or leaf.path[0] == FEATURE_LISTS
            or (not base64 and leaf.path[-1] in SPECIAL and leaf.path[1:])
        ):
            return None
        found[name] = _Column(leaf, base64)
    return found


def _struct_size(schema: Any, path: tuple[str, ...]) -> int:
    kind = schema.field(path[0]).type
    for name in path[1:]:
        kind = kind.field(name).type
    return int(kind.num_fields)


def _one_batch(table: Any) -> Any:
    batches = table.combine_chunks().to_batches()
    return batches[0]


def _array_of(batch: Any, column: _Column) -> Any:
    """The values of a column; None if one is not base64 as it should be."""
    [array] = leaf_arrays(batch, [column.leaf.path])
    if not column.base64:
        return array
    [objects] = leaf_arrays(batch, [column.leaf.path[:-1]])
    return _from_base64(array) if array.null_count == objects.null_count else None


def _has_large(array: Any) -> bool:
    """Whether there are numbers that could have been integers beyond int64, of which digits are lost."""
    flat = array.flatten() if hasattr(array, "flatten") and array.type.num_fields else array
    values = flat.fill_null(0.0).to_numpy(zero_copy_only=False)
    return bool((np.isfinite(values) & (np.abs(values) >= _MAX_INT)).any())


def _is_exact(kind: Any, wanted: str) -> bool:
    """Whether values of an inferred type are what the text said: no times, and no integers that became fractions."""
    seen = seen_in_type(kind)
    if isinstance(seen, str) or pyarrow.types.is_timestamp(kind.value_type if Seen.LIST in seen else kind):
        return False
    return wanted == "float" or Seen.FLOAT not in seen


def _from_base64(array: Any) -> Any:
    """The bytes of texts or of lists of texts; None if one is not base64."""
    types = pyarrow.types
    listed = types.is_list(array.type)
    if not (types.is_string(array.type) or (listed and types.is_string(array.type.value_type))):
        return None
    if listed and array.flatten().null_count:
        return None
    try:
        if not listed:
            return pyarrow.array([_decoded(text) for text in array.to_pylist()], pyarrow.large_binary())
        made = [None if texts is None else list(map(_decoded, texts)) for texts in array.to_pylist()]
    except ValueError:
        return None
    return pyarrow.array(made, pyarrow.large_list(pyarrow.large_binary()))


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else binascii.a2b_base64(text, strict_mode=True)
