"""Arrow's schemas and types: which columns there are, and what kinds of features they can be.

Nested structs are columns of their own, whose names are joined with `/`. A map is two columns of lists, `name/key` and
`name/value`, as Hive text has it. Values are converted in `arrow_columns.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.build.job.column_report import ColumnCause
from tfrkit.build.tables.table_format import (
    MAP_KEY,
    MAP_VALUE,
    InputFile,
    Seen,
    Survey,
    TablePiece,
    ValueKinds,
    open_input,
    shown_value,
)
from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import lazy, require
from tfrkit.records.access.fingerprint import file_fingerprint
from tfrkit.records.access.index import tail_checksum
from tfrkit.stores.url import is_url

__all__ = [
    "FEATURE_LIST",
    "ArrowLeaf",
    "arrow_types",
    "is_list",
    "is_temporal",
    "is_text",
    "leaf_arrays",
    "leaves",
    "pieces_of",
    "seen_in_type",
    "storage_type",
    "survey_schema",
]

pyarrow: Any = lazy("pyarrow", "tfr build table")
FEATURE_LIST: Final = "tfrkit:feature_list"  # in a field's metadata: it is the feature list of this name
_SEPARATOR: Final = "/"


@dataclass(frozen=True, slots=True)
class ArrowLeaf:
    """A column: a field of a table, or a field inside structs of it."""

    name: str
    path: tuple[str, ...]
    type: Any
    feature_list: str | None = None


def leaves(schema: Any) -> list[ArrowLeaf]:
    """Return the columns of a schema or struct type, in order; structs are taken apart."""
    return list(_leaves(schema, ()))


def _leaves(fields: Any, above: tuple[str, ...]) -> Iterator[ArrowLeaf]:
    for field in fields:
        path = (*above, field.name)
        inner = storage_type(field.type)
        if arrow_types().is_struct(inner):
            yield from _leaves([inner.field(n) for n in range(inner.num_fields)], path)
        elif arrow_types().is_map(inner):
            for part, kind in ((MAP_KEY, inner.key_type), (MAP_VALUE, inner.item_type)):
                yield ArrowLeaf(_SEPARATOR.join(path) + part, (*path, part), pyarrow.list_(kind))
        else:
            yield ArrowLeaf(_SEPARATOR.join(path), path, inner, _feature_list(field))


def _feature_list(field: Any) -> str | None:
    name = (field.metadata or {}).get(FEATURE_LIST.encode())
    return None if name is None else str(name, "utf-8")


def leaf_arrays(batch: Any, paths: Sequence[tuple[str, ...]]) -> list[Any]:
    """Return the arrays of some leaves of a batch; a value inside a null struct is null."""
    flat: dict[tuple[str, ...], Any] = {}
    for path in paths:
        for depth in range(1, len(path) + 1):
            part = path[:depth]
            if part not in flat:
                flat[part] = _child(batch if depth == 1 else flat[part[:-1]], part[-1])
    return [flat[path] for path in paths]


def _child(parent: Any, name: str) -> Any:
    """The array of a field of a batch or of an array of structs."""
    if isinstance(parent, pyarrow.MapArray):
        found = _map_part(parent, name)
    elif isinstance(parent, pyarrow.RecordBatch):
        found = parent.column(parent.schema.names.index(name))
    else:
        found = parent.flatten()[parent.type.get_field_index(name)]
    return getattr(found, "storage", found)


def _map_part(maps: Any, part: str) -> Any:
    """The keys or values of an array of maps, as lists."""
    valid = np.asarray(maps.is_valid())
    offsets = np.asarray(maps.offsets)
    values = maps.keys if part == MAP_KEY else maps.items
    values = values.slice(offsets[0], offsets[-1] - offsets[0])
    if valid.all():
        return pyarrow.ListArray.from_arrays(pyarrow.array(offsets - offsets[0]), values)
    lengths = np.where(valid, np.diff(offsets), 0)
    if lengths.sum() != len(values):  # what is below a null is no entry
        values = values.filter(pyarrow.array(np.repeat(valid, np.diff(offsets))))
    places = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pyarrow.ListArray.from_arrays(pyarrow.array(places), values, mask=pyarrow.array(~valid))


def seen_in_type(kind: Any) -> Seen | str:
    """Return what values of an Arrow type are, or why they cannot be features and what to do."""
    types = arrow_types()
    kind = storage_type(kind)
    if types.is_null(kind):
        return Seen.NULL
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_duration(kind):
        return Seen.INT
    if types.is_floating(kind):
        return Seen.FLOAT
    if is_text(kind) or is_temporal(kind):
        return Seen.TEXT
    if types.is_decimal(kind):
        return Seen.INT if kind.scale <= 0 and kind.precision <= 18 else Seen.FLOAT
    if is_list(kind):
        inner = seen_in_type(kind.value_type)
        if isinstance(inner, str) or Seen.LIST in inner:
            return f"values of the Arrow type {kind} have no place in a feature. Make one list of each"
        return (inner | Seen.LIST) & ~Seen.NULL
    return f"values of the Arrow type {kind} have no place in a feature. Cast it to numbers, text or lists of them"


def survey_schema(
    schema: Any, file: InputFile, pieces: tuple[TablePiece, ...], with_nulls: Callable[[str], bool]
) -> Survey:
    """Make the survey of a file of which the schema says everything but which columns have nulls.

    Raises:
        InvalidArgumentError: two columns have the same name.
    """
    columns: dict[str, Seen] = {}
    refused: dict[str, str] = {}
    lists: dict[str, str] = {}
    kinds: dict[str, ValueKinds] = {}
    rows = sum(piece.rows for piece in pieces)
    for leaf in leaves(schema):
        if leaf.name in columns:
            raise InvalidArgumentError(
                f"{file.path}: expected columns of different names but {leaf.name!r} is there twice. Rename one in the "
                "file; fields of structs have names such as 'struct/field'.",
                path=file.path,
            )
        if leaf.feature_list is not None and is_list(leaf.type):
            lists[leaf.name] = leaf.feature_list
        seen = seen_in_type(_values_of(leaf.type) if leaf.name in lists else leaf.type)
        if isinstance(seen, str):
            refused[leaf.name] = seen
            seen = Seen.NOTHING
        if seen.kind is not None:
            said = ColumnCause(file.name, None, shown_value(f"the type {leaf.type}"))
            kinds[leaf.name] = ValueKinds({seen.kind: rows}, {seen.kind: said})
        columns[leaf.name] = seen | Seen.NULL if with_nulls(leaf.name) else seen
    known_by = None
    if file.stamp is not None:
        known_by = tail_checksum(open_input(file)) if is_url(file.path) else file_fingerprint(file.path)
    return Survey(file, columns, pieces, refused, lists, kinds, known_by)


def pieces_of(
    file: InputFile,
    places: Sequence[tuple[int, int]],
    rows: Sequence[int],
    sizes: Sequence[int] | None = None,
) -> tuple[TablePiece, ...]:
    """Make the pieces of a file: where each is, how many rows it has, and its bytes, by default as its rows."""
    total, first, pieces = max(1, sum(rows)), 0, []
    for number, ((begin, end), count) in enumerate(zip(places, rows, strict=True)):
        if count:
            size = file.size * count // total if sizes is None else sizes[number]
            pieces.append(TablePiece(file, begin, end, first, count, 0, max(1, size)))
        first += count
    return tuple(pieces)


def _values_of(kind: Any) -> Any:
    """The type of the values in lists, or in lists of lists."""
    for _ in range(2):
        if is_list(kind):
            kind = storage_type(kind.value_type)
    return kind


def arrow_types() -> Any:
    """Return pyarrow's tests of types."""
    return require("pyarrow", "tfr build table").types


def storage_type(kind: Any) -> Any:
    """Return what lies under an extension type or a dictionary."""
    kind = getattr(kind, "storage_type", kind)
    return storage_type(kind.value_type) if arrow_types().is_dictionary(kind) else kind


def is_text(kind: Any) -> bool:
    """Whether values are strings of characters or bytes."""
    texts = (
        "string",
        "large_string",
        "binary",
        "large_binary",
        "fixed_size_binary",
        "string_view",
        "binary_view",
    )
    return _is_one_of(kind, texts)


def is_temporal(kind: Any) -> bool:
    """Whether values are days or times."""
    return _is_one_of(kind, ("date", "timestamp", "time"))


def is_list(kind: Any) -> bool:
    """Whether values are lists."""
    return _is_one_of(kind, ("list", "large_list", "fixed_size_list", "list_view", "large_list_view"))


def _is_one_of(kind: Any, names: Sequence[str]) -> bool:
    types = arrow_types()
    return any(getattr(types, f"is_{name}")(kind) for name in names)
