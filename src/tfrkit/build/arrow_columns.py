"""Arrow's types as kinds of features, and arrays of a batch as columns for the encoder.

For all formats that come by way of Arrow. Nested structs are columns of their own, whose names are joined with `/`.
What has the right type passes as it is; other types are converted as a whole; only if that fails, value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.build.job import BadInput, Watch
from tfrkit.build.table_format import Column, InputFile, Seen
from tfrkit.build.table_values import MisfitError, fit_cell
from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import require

__all__ = [
    "MISFIT",
    "Leaf",
    "RowReport",
    "array_of",
    "fit_arrays",
    "leaf_arrays",
    "leaves",
    "seen_in_schema",
    "seen_in_type",
]

MISFIT: Final = "a value does not fit its column"
_SEPARATOR: Final = "/"
_MAX_INT64: Final = 2**63 - 1
_INTEGER_TEXT: Final = "^-?[0-9]{1,19}$"
_NUMBER_TEXT: Final = r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column: a field of a table, or a field inside structs of it."""

    name: str
    path: tuple[str, ...]
    type: Any


def leaves(schema: Any) -> list[Leaf]:
    """Give the columns of a schema or struct type, in order; structs are taken apart."""
    return list(_leaves(schema, ()))


def _leaves(fields: Any, above: tuple[str, ...]) -> Iterator[Leaf]:
    for field in fields:
        path = (*above, field.name)
        inner = _storage(field.type)
        if _types().is_struct(inner):
            yield from _leaves([inner.field(n) for n in range(inner.num_fields)], path)
        else:
            yield Leaf(_SEPARATOR.join(path), path, inner)


def leaf_arrays(batch: Any, paths: Sequence[tuple[str, ...]]) -> list[Any]:
    """Give the arrays of some leaves of a batch; a value inside a null struct is null."""
    names = batch.schema.names
    flat: dict[tuple[str, ...], Any] = {}

    def get(path: tuple[str, ...]) -> Any:
        if path not in flat:
            if len(path) == 1:
                array = batch.column(names.index(path[0]))
                flat[path] = getattr(array, "storage", array)
            else:
                parent = get(path[:-1])
                child = parent.flatten()[parent.type.get_field_index(path[-1])]
                flat[path] = getattr(child, "storage", child)
        return flat[path]

    return [get(path) for path in paths]


def seen_in_type(kind: Any) -> Seen | str:
    """Tell what values of an Arrow type are; or why they cannot be features, and what to do."""
    types = _types()
    kind = _storage(kind)
    if types.is_null(kind):
        return Seen.NULL
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_duration(kind):
        return Seen.INT
    if types.is_floating(kind):
        return Seen.FLOAT
    if _is_text(kind) or _is_temporal(kind):
        return Seen.TEXT
    if types.is_decimal(kind):
        return Seen.INT if kind.scale <= 0 and kind.precision <= 18 else Seen.FLOAT
    if _is_list(kind):
        inner = seen_in_type(kind.value_type)
        if isinstance(inner, str) or Seen.LIST in inner:
            return f"values of the Arrow type {kind} have no place in a feature. Make one list of each"
        return (inner | Seen.LIST) & ~Seen.NULL
    return f"values of the Arrow type {kind} have no place in a feature. Cast it to numbers, text or lists of them"


def seen_in_schema(schema: Any, file: InputFile) -> tuple[dict[str, Seen], dict[str, str]]:
    """Tell what the columns of a schema are, and which of them no feature can hold.

    Raises:
        InvalidArgumentError: two columns have the same name.
    """
    columns: dict[str, Seen] = {}
    refused: dict[str, str] = {}
    for leaf in leaves(schema):
        if leaf.name in columns:
            raise InvalidArgumentError(
                f"{file.path}: expected columns of different names but {leaf.name!r} is there twice. Rename one in the "
                "file; fields of structs have names such as 'struct/field'.",
                path=file.path,
            )
        seen = seen_in_type(leaf.type)
        if isinstance(seen, str):
            refused[leaf.name] = seen
        columns[leaf.name] = Seen.NOTHING if isinstance(seen, str) else seen
    return columns, refused


@dataclass(frozen=True, slots=True)
class RowReport:
    """Makes what is reported of a row that does not fit, in formats without lines."""

    file: InputFile
    first_row: int

    def __call__(self, row: int, text: str) -> BadInput:
        return BadInput(self.file.name, None, MISFIT, f"row {self.first_row + row} (from 0 on), {text}")


def fit_arrays(
    arrays: Sequence[Any],
    columns: Sequence[Column],
    watch: Watch,
    bad: Callable[[int, str], BadInput],
) -> Mapping[str, Any]:
    """Make the arrays of a batch fit their columns, and leave out rows that do not.

    Args:
        arrays: one for each column, of the same length.
        columns: what they are to become.
        watch: takes rows that do not fit.
        bad: makes what it takes, of the number of a row in the batch and what is wrong with it.

    Returns:
        Columns for `encode_examples`, by feature.
    """
    fitted: dict[str, Any] = {}
    wrong: dict[int, str] = {}
    for array, column in zip(arrays, columns, strict=True):
        values, misfits = _fit(array, column)
        fitted[column.feature] = values
        for row, text in misfits.items():
            wrong.setdefault(row, f"column {column.name!r}: {text}")
    if not wrong:
        return fitted
    for row in sorted(wrong):
        watch.bad(bad(row, wrong[row]))
    keep = np.ones(len(arrays[0]), bool)
    keep[list(wrong)] = False
    kept = require("pyarrow", "tfr build table").array(keep)
    return {feature: values.filter(kept) for feature, values in fitted.items()}


def array_of(values: list[Any], kind: str) -> Any:
    """Make an array of values of a kind, with None for nulls; if one is a list, of lists."""
    pyarrow = require("pyarrow", "tfr build table")
    wanted = _arrow_kind(kind)
    if any(isinstance(value, (list, np.ndarray)) for value in values):
        lists = [
            value if value is None or isinstance(value, (list, np.ndarray)) else [value] for value in values
        ]
        return pyarrow.array(lists, pyarrow.large_list(wanted))
    return pyarrow.array(values, wanted)


def _arrow_kind(kind: str) -> Any:
    pyarrow = require("pyarrow", "tfr build table")
    return {"int64": pyarrow.int64(), "float": pyarrow.float32(), "bytes": pyarrow.large_binary()}[kind]


# -- one column --------------------------------------------------------------------------------------------------------


def _fit(array: Any, column: Column) -> tuple[Any, dict[int, str]]:
    """The column's values, and which rows do not fit."""
    passes = array.null_count == 0 or column.null_value is None
    if column.separator is None and passes and _is_plain(array.type, column.kind):
        return array, {}
    whole = _convert(array, column)
    if whole is not None:
        return whole, {}
    return _one_by_one(_readable(array), column)


def _one_by_one(array: Any, column: Column) -> tuple[Any, dict[int, str]]:
    values: list[Any] = []
    misfits = {}
    for row, value in enumerate(array.to_pylist()):
        try:
            values.append(fit_cell(value, column))
        except MisfitError as error:
            values.append(None)
            misfits[row] = str(error)
    return array_of(values, column.kind), misfits


def _is_plain(kind: Any, wanted: str) -> bool:
    """Whether the encoder takes the type as it is, and makes the wanted kind of it."""
    types = _types()
    if wanted == "int64":
        return bool(types.is_boolean(kind) or (types.is_integer(kind) and not types.is_uint64(kind)))
    if wanted == "float":
        return bool(types.is_floating(kind))
    return _is_text(kind)


def _convert(array: Any, column: Column) -> Any:
    """Convert an array as a whole; None if a value does not fit, or if it takes the slow way anyway."""
    pyarrow = require("pyarrow", "tfr build table")
    types = _types()
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if column.separator is not None and _is_text(array.type):
        array = _split(array, column.separator)
    try:
        if _is_list(array.type):
            return _convert_list(array, column)
        converted = _cast(array, column.kind)
    except pyarrow.ArrowInvalid:
        return None
    if converted is None or converted.null_count == 0 or column.null_value is None:
        return converted
    if types.is_null(converted.type):
        return array_of([column.null_value] * len(converted), column.kind)
    wanted = _arrow_kind(column.kind)
    return converted.cast(wanted, safe=False).fill_null(pyarrow.scalar(column.null_value, wanted))


def _convert_list(array: Any, column: Column) -> Any:
    pyarrow = require("pyarrow", "tfr build table")
    if array.null_count and column.null_value is not None:
        return None
    array = _plain_list(array)
    valid = np.asarray(array.is_valid())
    values = array.flatten()
    if _types().is_dictionary(values.type):
        values = values.dictionary_decode()
    if _types().is_null(values.type):
        if len(values):
            return None
        values = pyarrow.array([], _arrow_kind(column.kind))
    values = _cast(values, column.kind)
    if values is None:
        return None
    if values.null_count:
        if column.null_value is None:
            return None
        wanted = _arrow_kind(column.kind)
        values = values.cast(wanted, safe=False).fill_null(pyarrow.scalar(column.null_value, wanted))
    lengths = np.where(valid, np.diff(np.asarray(array.offsets)), 0)
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return pyarrow.LargeListArray.from_arrays(pyarrow.array(offsets), values, mask=pyarrow.array(~valid))


def _plain_list(array: Any) -> Any:
    """A list array that has offsets: of the types list and large_list."""
    types = _types()
    pyarrow = require("pyarrow", "tfr build table")
    if types.is_list(array.type) or types.is_large_list(array.type):
        return array
    return array.cast(pyarrow.large_list(array.type.value_type))


def _cast(array: Any, wanted: str) -> Any:
    """Values of a type that the encoder takes for the wanted kind; None: only the slow way knows.

    Raises:
        ArrowInvalid: a value does not fit.
    """
    types, kind = _types(), array.type
    if _is_plain(kind, wanted) or types.is_null(kind):
        return array
    if wanted == "int64":
        return _cast_integer(array)
    pyarrow = require("pyarrow", "tfr build table")
    if wanted == "float":
        if _is_text(kind):
            return _cast_text(array, _NUMBER_TEXT, pyarrow.float64())
        return None if _is_temporal(kind) else array.cast(pyarrow.float64(), safe=False)
    if types.is_floating(kind):
        return None  # Arrow's texts are not Python's
    if types.is_duration(kind):
        array = array.cast(pyarrow.int64())
    if types.is_timestamp(kind) and kind.tz is not None:
        array = array.cast(pyarrow.timestamp(kind.unit, "UTC"))
    return array.cast(pyarrow.string())


def _cast_integer(array: Any) -> Any:
    pyarrow = require("pyarrow", "tfr build table")
    types, kind = _types(), array.type
    if _is_text(kind):
        return _cast_text(array, _INTEGER_TEXT, pyarrow.int64())
    if types.is_date32(kind) or types.is_time32(kind):
        array = array.cast(pyarrow.int32())
    return array.cast(pyarrow.int64())


def _cast_text(array: Any, pattern: str, wanted: Any) -> Any:
    compute = require("pyarrow.compute", "tfr build table")
    pyarrow = require("pyarrow", "tfr build table")
    text = array.cast(pyarrow.large_string())
    usual = compute.all(compute.match_substring_regex(text, pattern), min_count=0).as_py()
    return text.cast(wanted) if usual else None


def _split(array: Any, separator: str) -> Any:
    """Lists of the parts of texts; of an empty text, none."""
    compute = require("pyarrow.compute", "tfr build table")
    pyarrow = require("pyarrow", "tfr build table")
    array = array.cast(pyarrow.large_binary())
    parts = compute.split_pattern(array, separator)
    empty = np.asarray(compute.fill_null(compute.equal(compute.binary_length(array), 0), False))
    if not empty.any():
        return parts
    lengths = np.diff(np.asarray(parts.offsets))
    valid = np.asarray(parts.is_valid())
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.where(empty | ~valid, 0, lengths), out=offsets[1:])
    values = parts.flatten().filter(pyarrow.array(~np.repeat(empty[valid], lengths[valid])))
    return pyarrow.LargeListArray.from_arrays(pyarrow.array(offsets), values, mask=pyarrow.array(~valid))


def _readable(array: Any) -> Any:
    """The array with times as text or numbers, which the slow way does not know."""
    types = _types()
    pyarrow = require("pyarrow", "tfr build table")
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if _is_temporal(kind) or types.is_duration(kind):
        return _cast(array, "bytes")
    if _is_list(kind) and (_is_temporal(kind.value_type) or types.is_duration(kind.value_type)):
        array = _plain_list(array)
        return type(array).from_arrays(array.offsets, _cast(array.values, "bytes"))
    if types.is_binary_view(kind) or types.is_string_view(kind):
        return array.cast(pyarrow.large_binary())
    return array


# -- types -------------------------------------------------------------------------------------------------------------


def _types() -> Any:
    return require("pyarrow", "tfr build table").types


def _storage(kind: Any) -> Any:
    """What lies under an extension type or a dictionary."""
    kind = getattr(kind, "storage_type", kind)
    return _storage(kind.value_type) if _types().is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    types = _types()
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_string_view(kind)
        or types.is_binary_view(kind)
    )


def _is_temporal(kind: Any) -> bool:
    types = _types()
    return bool(types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind))


def _is_list(kind: Any) -> bool:
    types = _types()
    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    )
