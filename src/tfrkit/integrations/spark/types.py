"""Types between Spark and records: what a schema expects of features, and arrays that are exactly as Spark wants them.

Spark trusts the buffers of a batch: an array of another type than it expects would crash the JVM, so that every array
is made to fit, and checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.specs import FixedLenFeature, VarLenFeature
from tfrkit.optional import lazy, require

__all__ = [
    "arrow_schema",
    "constant_array",
    "depth_of",
    "fit_array",
    "partition_types",
    "spark_schema",
    "spec_of_schema",
]

pyarrow: Any = lazy("pyarrow", "tfr.spark")
compute: Any = lazy("pyarrow.compute", "tfr.spark")
_INTEGERS: Final = ("ByteType", "ShortType", "IntegerType", "LongType", "BooleanType")
_FLOATS: Final = ("FloatType", "DoubleType", "DecimalType")
_BYTES: Final = (
    "StringType",
    "BinaryType",
    "DateType",
    "TimestampType",
    "TimestampNTZType",
    "VarcharType",
    "CharType",
)


def arrow_schema(schema: Any) -> Any:
    """Return the Arrow schema that Spark expects of batches of a schema of its own."""
    return require("pyspark.sql.pandas.types", "tfr.spark").to_arrow_schema(schema, timezone="UTC")


def spark_schema(found: Any) -> Any:
    """Return Spark's schema for an Arrow schema of a scan."""
    types = require("pyspark.sql.types", "tfr.spark")
    return types.StructType(
        [types.StructField(field.name, _spark_type(field.type, types)) for field in found]
    )


def _spark_type(kind: Any, types: Any) -> Any:
    if _is_list(kind):
        return types.ArrayType(_spark_type(kind.value_type, types))
    tests = pyarrow.types
    if tests.is_integer(kind):
        return types.LongType()
    if tests.is_floating(kind):
        return types.FloatType()
    return types.StringType() if tests.is_string(kind) or tests.is_large_string(kind) else types.BinaryType()


def depth_of(kind: Any) -> tuple[int, Any]:
    """Return how many arrays are around the values of a type of Spark's, and the type of the values. Pure: no I/O."""
    depth = 0
    while type(kind).__name__ == "ArrayType":
        depth, kind = depth + 1, kind.elementType
    return depth, kind


def spec_of_schema(schema: Any) -> dict[str, Any]:
    """Return what features a schema of Spark's expects of Examples. Pure: no I/O.

    Raises:
        InvalidArgumentError: no feature can be read as one of its types.
    """
    spec: dict[str, Any] = {}
    for field in schema.fields:
        depth, inner = depth_of(field.dataType)
        dtype = _dtype(inner)
        if dtype is None or depth > 1:
            hint = " Lists of lists need recordType=SequenceExample." if dtype is not None else ""
            raise InvalidArgumentError(
                f"Column {field.name!r}: no feature can be read as {field.dataType.simpleString()}. Expected whole "
                f"numbers, floating-point numbers, strings, binary, or arrays of them.{hint}"
            )
        spec[field.name] = VarLenFeature(dtype) if depth else FixedLenFeature([], dtype)
    return spec


def _dtype(kind: Any) -> str | None:
    name = type(kind).__name__
    if name in _INTEGERS:
        return "int64"
    if name in _FLOATS:
        return "float32"
    return "bytes" if name in _BYTES else None


def fit_array(array: Any, field: Any) -> Any:
    """Return an array of a scan as exactly the type of a field of `arrow_schema`.

    Raises:
        InvalidArgumentError: a value does not fit, or is null where none may be.
    """
    try:
        fitted = _fit(array, field.type)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise InvalidArgumentError(
            f"Column {field.name!r}: values of {array.type} cannot be read as {field.type}: {error}. Give another type "
            "in the schema."
        ) from error
    if not field.nullable and fitted.null_count:
        raise InvalidArgumentError(
            f"Column {field.name!r}: expected a value in every record, as the schema says, but {fitted.null_count} "
            "have none. Make it nullable."
        )
    return fitted


def _fit(array: Any, wanted: Any) -> Any:
    if _is_list(wanted):
        return _fit_list(array, wanted)
    tests = pyarrow.types
    if _is_list(array.type):
        raise pyarrow.ArrowInvalid("a record has lists of values")
    if array.type == wanted:
        return array
    if tests.is_null(array.type):
        return pyarrow.nulls(len(array), wanted)
    if (tests.is_binary(array.type) or tests.is_large_binary(array.type)) and not tests.is_binary(wanted):
        array = array.cast(pyarrow.string())
    return array.cast(wanted)


def _fit_list(array: Any, wanted: Any) -> Any:
    if pyarrow.types.is_null(array.type):
        return pyarrow.nulls(len(array), wanted)
    valid = np.asarray(array.is_valid())
    if _is_list(array.type):
        lengths = np.asarray(compute.fill_null(compute.list_value_length(array), 0))
        values = array.flatten()
    else:  # one value each
        lengths, values = valid.astype(np.int64), array.drop_null()
    inner = _fit(values, wanted.value_type)  # a step of one value is a list of one
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if offsets[-1] > np.iinfo(np.int32).max:
        raise pyarrow.ArrowInvalid("a batch has more than 2^31 values")
    return pyarrow.ListArray.from_arrays(
        pyarrow.array(offsets, pyarrow.int32()), inner, type=wanted, mask=pyarrow.array(~valid)
    )


def _is_list(kind: Any) -> bool:
    tests = pyarrow.types
    return bool(tests.is_list(kind) or tests.is_large_list(kind) or tests.is_fixed_size_list(kind))


def constant_array(value: Any, rows: int, field: Any) -> Any:
    """Return a column that has the same value in every row."""
    if value is None:
        return pyarrow.nulls(rows, field.type)
    return pyarrow.repeat(pyarrow.scalar(value, field.type), rows)


def partition_types(said: list[Mapping[str, str | None]]) -> dict[str, str]:
    """Return the names of Spark's types of partition columns: whole numbers if all are, else text. Pure: no I/O.

    >>> partition_types([{"day": "01", "place": "x"}, {"day": None, "place": "7"}])
    {'day': 'string', 'place': 'string'}
    >>> partition_types([{"hour": "3"}, {"hour": "12"}])
    {'hour': 'long'}
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for each in said for name in each):
        values = [each[name] for each in said if each.get(name) is not None]
        whole = all(value is not None and _is_whole(value) for value in values)
        found[name] = "long" if values and whole else "string"
    return found


def _is_whole(text: str) -> bool:
    try:
        return str(int(text)) == text and abs(int(text)) < 2**63
    except ValueError:
        return False
