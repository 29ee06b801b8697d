"""Conditions that Spark pushes down, as expressions of pyarrow that mean exactly the same.

What has no exact counterpart stays with Spark. A row is taken where a condition is true, and not where it is null. Of
floating-point numbers NaN equals NaN and is greater than all others, as in Spark. Pure: no I/O.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tfrkit.optional import lazy

__all__ = ["expression_of", "names_in"]

compute: Any = lazy("pyarrow.compute", "tfr.spark")
pyarrow: Any = lazy("pyarrow", "tfr.spark")

_COMPARED: Final[Mapping[str, str]] = {
    "EqualTo": "==",
    "EqualNullSafe": "<=>",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_TEXTS: Final[Mapping[str, str]] = {
    "StringStartsWith": "starts_with",
    "StringEndsWith": "ends_with",
    "StringContains": "match_substring",
}


def names_in(filters: Iterable[Any]) -> list[str]:
    """Return the names of the columns that filters of Spark's look at, each once."""
    return list(dict.fromkeys(_column(each) for each in filters))


def _column(each: Any) -> str:
    return _column(each.child) if type(each).__name__ == "Not" else str(each.attribute[0])


def expression_of(each: Any, schema: Any) -> Any:
    """Return the expression for a filter of Spark's, or None where there is no exact one.

    Args:
        each: the filter.
        schema: of the batches, in Arrow, as Spark sees them.
    """
    name = type(each).__name__
    if name == "Not":
        inner = expression_of(each.child, schema)
        return None if inner is None else ~inner
    if len(each.attribute) != 1 or schema.get_field_index(each.attribute[0]) < 0:
        return None
    field = schema.field(each.attribute[0])
    column = compute.field(field.name)
    if name in ("IsNull", "IsNotNull"):
        return column.is_null() if name == "IsNull" else column.is_valid()
    kind = _kind(field.type)
    if kind is None:
        return None
    if name in _TEXTS:
        return _text(column, _TEXTS[name], each.value) if kind == "text" else None
    if name == "In":
        return _in(column, each.value, kind, field.type)
    if name in _COMPARED and _fits(each.value, kind):
        return _compare(column, _COMPARED[name], each.value, kind, field.type)
    return None


def _kind(kind: Any) -> str | None:
    tests = pyarrow.types
    for name, test in (("bool", tests.is_boolean), ("int", tests.is_integer), ("float", tests.is_floating)):
        if test(kind):
            return name
    if tests.is_string(kind):
        return "text"
    return "bytes" if tests.is_binary(kind) else None


def _fits(value: Any, kind: str) -> bool:
    """Return whether a literal is of the kind of a column; a null is not, which is never equal to anything."""
    kinds: Mapping[str, tuple[type, ...]] = {
        "bool": (bool,), "int": (int,), "float": (float, int), "text": (str,), "bytes": (bytes, bytearray)
    }  # fmt: skip
    if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "bool"):
        return False
    return not (isinstance(value, float) and math.isnan(value))


def _text(column: Any, function: str, value: str) -> Any:
    return getattr(compute, function)(column, pattern=value)


def _in(column: Any, values: Sequence[Any], kind: str, type_: Any) -> Any:
    if not values or not all(_fits(value, kind) for value in values):
        return None
    found = column == _scalar(values[0], kind, type_)
    for value in values[1:]:
        found = found | (column == _scalar(value, kind, type_))
    return found


def _scalar(value: Any, kind: str, type_: Any) -> Any:
    """Return a literal; of floating-point columns as a double, in which both sides are exact."""
    if kind == "float":
        return pyarrow.scalar(float(value), pyarrow.float64())
    if kind == "int":
        return pyarrow.scalar(value, pyarrow.int64())
    return pyarrow.scalar(bytes(value) if kind == "bytes" else value, type_)


def _compare(column: Any, sign: str, value: Any, kind: str, type_: Any) -> Any:
    scalar = _scalar(value, kind, type_)
    if sign == "<=>":
        return (column == scalar) & column.is_valid()
    call: Callable[[Any, Any], Any] = {
        "==": lambda a, b: a == b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
    }[sign]
    found = call(column, scalar)
    return found | compute.is_nan(column) if kind == "float" and sign[0] == ">" else found
