"""Arrays of a batch as columns for the encoder, for all formats that are read through Arrow.

What has the right type passes as it is; other types are converted as a whole; only if that fails, value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.build.job.job import BadInput, TaskReporter
from tfrkit.build.tables.arrow.arrow_types import arrow_types, is_list, is_temporal, is_text, storage_type
from tfrkit.build.tables.float_range import beyond_in_array, note_beyond
from tfrkit.build.tables.table_format import TableColumn
from tfrkit.build.tables.table_values import MisfitError, fit_cell
from tfrkit.optional import lazy

__all__ = ["MISFIT", "array_of", "chosen_rows", "fit_arrays", "steps_of"]

pyarrow: Any = lazy("pyarrow", "tfr build table")
compute: Any = lazy("pyarrow.compute", "tfr build table")
MISFIT: Final = "a value does not fit its column"
_INTEGER_TEXT: Final = "^-?[0-9]{1,19}$"
_NUMBER_TEXT: Final = r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"


def fit_arrays(
    arrays: Sequence[Any],
    columns: Sequence[TableColumn],
    reporter: TaskReporter,
    bad: Callable[[int, str], BadInput],
) -> Mapping[str, Any]:
    """Make the arrays of a batch fit their columns, and leave out rows that do not.

    Args:
        arrays: one for each column, of the same length.
        columns: what they are to become.
        reporter: takes rows that do not fit.
        bad: makes what it takes, of the number of a row in the batch and what is wrong with it.

    Returns:
        Columns for the encoder, by their keys.
    """
    fitted: dict[str, Any] = {}
    wrong: dict[int, str] = {}
    for array, column in zip(arrays, columns, strict=True):
        values, misfits = _fit(array, column)
        fitted[column.key] = values
        for row, text in misfits.items():
            wrong.setdefault(row, f"column {column.name!r}: {text}")
    keep = np.ones(len(arrays[0]), bool)
    if wrong:
        for row in sorted(wrong):
            reporter.bad(bad(row, wrong[row]))
        keep[list(wrong)] = False
        fitted = {key: chosen_rows(values, keep) for key, values in fitted.items()}
    for column in columns:
        found = beyond_in_array(fitted[column.key]) if column.kind == "float" else None
        if found is not None:
            said = bad(int(np.flatnonzero(keep)[found.row]), "")
            note_beyond(reporter, column.name, found, said.source, said.line, said.detail.removesuffix(", "))
    return fitted


def chosen_rows(values: Any, chosen: npt.NDArray[np.bool_]) -> Any:
    """Return some rows of a column for the encoder."""
    if isinstance(values, list):
        return [value for value, is_chosen in zip(values, chosen.tolist(), strict=True) if is_chosen]
    if not isinstance(values, pyarrow.Array):
        return values[np.flatnonzero(chosen)]
    if _is_view(values.type):  # which no version can filter
        values = values.cast(pyarrow.large_binary())
    elif is_list(values.type) and _is_view(values.type.value_type):
        values = values.cast(pyarrow.large_list(pyarrow.large_binary()))
    return values.filter(pyarrow.array(chosen))


def _is_view(kind: Any) -> bool:
    return bool(arrow_types().is_string_view(kind) or arrow_types().is_binary_view(kind))


def array_of(values: list[Any], kind: str) -> Any:
    """Make an array of values of a kind, with None for nulls; if one is a list, of lists."""
    wanted = _arrow_kind(kind)
    if kind == "float":  # by way of numpy, which keeps all bits of those that are numpy's
        with np.errstate(over="ignore"):  # beyond its range they are infinite
            values = [None if value is None else np.asarray(value, np.float32) for value in values]
        if not any(value is not None and value.ndim for value in values):
            found = np.array([np.float32(0) if value is None else value for value in values], np.float32)
            return pyarrow.array(found, mask=np.array([value is None for value in values], bool))
        values = [None if value is None else value.reshape(-1) for value in values]
    if any(isinstance(value, (list, np.ndarray)) for value in values):
        lists = [
            value if value is None or isinstance(value, (list, np.ndarray)) else [value] for value in values
        ]
        return pyarrow.array(lists, pyarrow.large_list(wanted))
    return pyarrow.array(values, wanted)


def steps_of(rows: list[Any], kind: str) -> Any:
    """Make an array of lists of steps; a step is a value or a list of them."""
    wanted = pyarrow.large_list(_arrow_kind(kind))
    splits = np.cumsum([0, *(0 if row is None else len(row) for row in rows)])
    missing = pyarrow.array([row is None for row in rows], pyarrow.bool_())
    steps = [step if isinstance(step, (list, np.ndarray)) else [step] for row in rows for step in row or ()]
    values = array_of(steps, kind) if steps else pyarrow.array([], wanted)
    return pyarrow.LargeListArray.from_arrays(pyarrow.array(splits, pyarrow.int64()), values, mask=missing)


def _arrow_kind(kind: str) -> Any:
    return {
        "int64": pyarrow.int64(),
        "float": pyarrow.float32(),
        "double": pyarrow.float64(),  # what the encoder rounds to float
        "bytes": pyarrow.large_binary(),
    }[kind]


# -- one column --------------------------------------------------------------------------------------------------------


def _fit(array: Any, column: TableColumn) -> tuple[Any, dict[int, str]]:
    """The column's values, and which rows do not fit."""
    if column.steps:
        return _fit_steps(array, column)
    passes = array.null_count == 0 or column.null_value is None
    if column.separator is None and passes and _is_plain(array.type, column.kind):
        return array, {}
    if column.separator is None and passes and column.kind == "bytes" and _is_indexed(array):
        return array, {}
    whole = _convert(array, column)
    if whole is not None:
        return whole, {}
    return _one_by_one(_readable(array), column)


def _fit_steps(array: Any, column: TableColumn) -> tuple[Any, dict[int, str]]:
    """Lists of steps as they are, but with a type that says their kind."""
    wanted = _arrow_kind("double" if column.kind == "float" else column.kind)
    if is_list(storage_type(array.type.value_type)):
        wanted = pyarrow.large_list(wanted)
    wanted = pyarrow.large_list(wanted)
    try:
        return array.cast(wanted, safe=column.kind == "int64"), {}
    except pyarrow.ArrowInvalid:
        misfits = {row: text for row, text in enumerate(map(_too_large, array.to_pylist())) if text}
        without = np.zeros(len(array), bool)
        without[list(misfits)] = True
        kept = compute.if_else(pyarrow.array(without), pyarrow.scalar(None, array.type), array)
        return kept.cast(wanted), misfits


def _too_large(steps: Any) -> str:
    """What is wrong with the steps of a row; empty if all fit into int64."""
    for step in steps or ():
        for value in step if isinstance(step, list) else [step]:
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                return f"{value} is not an int64"
    return ""


def _one_by_one(array: Any, column: TableColumn) -> tuple[Any, dict[int, str]]:
    values: list[Any] = []
    misfits = {}
    for row, value in enumerate(array.to_pylist()):
        try:
            values.append(fit_cell(value, column))
        except MisfitError as error:
            values.append(None)
            misfits[row] = str(error)
    return array_of(values, "double" if column.kind == "float" else column.kind), misfits


def _is_plain(kind: Any, wanted: str) -> bool:
    """Whether the encoder takes the type as it is, and makes the wanted kind of it."""
    types = arrow_types()
    if wanted == "int64":
        return bool(types.is_boolean(kind) or (types.is_integer(kind) and not types.is_uint64(kind)))
    if wanted == "float":
        return bool(types.is_floating(kind))
    return is_text(kind)


def _is_indexed(array: Any) -> bool:
    """Whether it is a dictionary that the encoder takes as it is: of strings, none of which is null."""
    if not arrow_types().is_dictionary(array.type):
        return False
    return is_text(array.type.value_type) and array.dictionary.null_count == 0


def _convert(array: Any, column: TableColumn) -> Any:
    """Convert an array as a whole; None if a value does not fit, or only the slow path can."""
    values, lists = _decoded(array), None
    if column.separator is not None and is_text(values.type):
        values = _split(values, column.separator)
    if is_list(values.type):
        if values.null_count and column.null_value is not None:
            return None
        lists = _plain_list(values)
        values = _decoded(lists.flatten())
        if arrow_types().is_null(values.type) and not len(values):
            values = pyarrow.array([], _arrow_kind(column.kind))
    try:
        values = _cast(values, column.kind)
    except pyarrow.ArrowInvalid:
        return None
    if values is not None and values.null_count:
        if column.null_value is not None:
            values = _filled(values, column)
        elif lists is not None:
            return None
    if values is None or lists is None:
        return values
    valid = np.asarray(lists.is_valid())
    return _lists(np.where(valid, np.diff(np.asarray(lists.offsets)), 0), values, valid)


def _decoded(array: Any) -> Any:
    return array.dictionary_decode() if arrow_types().is_dictionary(array.type) else array


def _filled(values: Any, column: TableColumn) -> Any:
    """The values with what stands for nulls."""
    if arrow_types().is_null(values.type):
        return array_of([column.null_value] * len(values), column.kind)
    plain = column.kind != "float" or arrow_types().is_float32(values.type)
    wanted = _arrow_kind(column.kind if plain else "double")
    return values.cast(wanted, safe=False).fill_null(pyarrow.scalar(column.null_value, wanted))


def _lists(lengths: npt.NDArray[Any], values: Any, valid: npt.NDArray[np.bool_]) -> Any:
    """Make lists of some lengths of values that follow each other."""
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return pyarrow.LargeListArray.from_arrays(pyarrow.array(offsets), values, mask=pyarrow.array(~valid))


def _plain_list(array: Any) -> Any:
    """A list array that has offsets: of the types list and large_list."""
    types = arrow_types()
    if types.is_list(array.type) or types.is_large_list(array.type):
        return array
    if types.is_fixed_size_list(array.type):
        return array.cast(pyarrow.large_list(array.type.value_type))
    # Of views, some versions make lists with offsets that do not ascend.
    lengths = np.asarray(compute.fill_null(compute.list_value_length(array), 0))
    return _lists(lengths, array.flatten(), np.asarray(array.is_valid()))


def _cast(array: Any, wanted: str) -> Any:
    """Values of a type that the encoder takes for the wanted kind; None: only the slow path can.

    Raises:
        ArrowInvalid: a value does not fit.
    """
    types, kind = arrow_types(), array.type
    if _is_plain(kind, wanted) or types.is_null(kind):
        return array
    if wanted == "int64":
        return _cast_integer(array)
    if wanted == "float":
        if is_text(kind):
            return _cast_text(array, _NUMBER_TEXT, pyarrow.float64())
        return None if is_temporal(kind) else array.cast(pyarrow.float64(), safe=False)
    if types.is_floating(kind):
        return None  # Arrow's texts are not Python's
    if types.is_duration(kind):
        array = array.cast(pyarrow.int64())
    if types.is_timestamp(kind) and kind.tz is not None:
        array = array.cast(pyarrow.timestamp(kind.unit, "UTC"))
    return array.cast(pyarrow.string())


def _cast_integer(array: Any) -> Any:
    types, kind = arrow_types(), array.type
    if is_text(kind):
        return _cast_text(array, _INTEGER_TEXT, pyarrow.int64())
    if types.is_date32(kind) or types.is_time32(kind):
        array = array.cast(pyarrow.int32())
    return array.cast(pyarrow.int64())


def _cast_text(array: Any, pattern: str, wanted: Any) -> Any:
    text = array.cast(pyarrow.large_string())
    usual = compute.all(compute.match_substring_regex(text, pattern), min_count=0).as_py()
    return text.cast(wanted) if usual else None


def _split(array: Any, separator: str) -> Any:
    """Lists of the parts of texts; of an empty text, none."""
    array = array.cast(pyarrow.large_binary())
    parts = compute.split_pattern(array, separator)
    empty = np.asarray(compute.fill_null(compute.equal(compute.binary_length(array), 0), False))
    if not empty.any():
        return parts
    lengths = np.diff(np.asarray(parts.offsets))
    valid = np.asarray(parts.is_valid())
    values = parts.flatten().filter(pyarrow.array(~np.repeat(empty[valid], lengths[valid])))
    return _lists(np.where(empty | ~valid, 0, lengths), values, valid)


def _readable(array: Any) -> Any:
    """The array with times as text or numbers, which the slow way does not know."""
    types, array = arrow_types(), _decoded(array)
    kind = array.type
    if is_temporal(kind) or types.is_duration(kind):
        return _cast(array, "bytes")
    if is_list(kind) and (is_temporal(kind.value_type) or types.is_duration(kind.value_type)):
        array = _plain_list(array)
        return type(array).from_arrays(array.offsets, _cast(array.values, "bytes"))
    if _is_view(kind):
        return array.cast(pyarrow.large_binary())
    return array
