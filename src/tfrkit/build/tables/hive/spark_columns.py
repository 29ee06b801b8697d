"""Columns of Spark as Arrow has them; those that no feature can hold are refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import require

__all__ = ["column_schema"]

_WHAT: Final = "Columns of Spark"
# Arrow has numbers or structs for some of them, which do not say what they mean.
_REFUSED: Final = ("DayTimeIntervalType", "YearMonthIntervalType", "CalendarIntervalType", "VariantType")


def column_schema(schema: Any, source: str) -> Any:
    """Return the Arrow schema in which Spark hands over rows that become records.

    Args:
        schema: of Spark.
        source: begins the error.

    Raises:
        InvalidArgumentError: no feature can hold a column.
    """
    to_arrow = require("pyspark.sql.pandas.types", _WHAT).to_arrow_schema
    for field in schema.fields:
        refused = next((kind for kind in _inside(field.dataType) if type(kind).__name__ in _REFUSED), None)
        if refused is not None:
            raise InvalidArgumentError(
                f"{source}: column {field.name!r} of {field.dataType.simpleString()} has no place in a feature. Cast "
                "it to a number or text, or leave it out."
            )
        try:
            to_arrow(type(schema)([field]), timezone="UTC")
        except Exception as error:
            raise InvalidArgumentError(
                f"{source}: column {field.name!r} of {field.dataType.simpleString()} has no place in a feature: {error}"
            ) from error
    return to_arrow(schema, timezone="UTC")


def _inside(kind: Any) -> Iterator[Any]:
    """Yield a type of Spark's and those inside of it. Pure: no I/O."""
    yield kind
    for name in ("elementType", "keyType", "valueType"):
        if hasattr(kind, name):
            yield from _inside(getattr(kind, name))
    for field in getattr(kind, "fields", ()):
        yield from _inside(field.dataType)
