"""What columns a scan has: from a spec, or from what is in all records.

Without a spec the records are looked into once, and only the wanted features are followed. With one nothing is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import type_name
from tfrkit.model.near_names import near_names
from tfrkit.model.specs import FixedLenFeature, RaggedFeature, SparseFeature, as_feature
from tfrkit.records.describe.schema import Schema
from tfrkit.records.where import WhereChoice
from tfrkit.scanning.columns import NO_VALUES, OnKind, ScanColumn, settle_columns
from tfrkit.scanning.table_layout import Form

__all__ = ["Settled", "columns_of_spec", "settle_by_spec", "settle_by_survey", "settle_scan"]

_KINDS: Final = {"int64": _core.INT64, "float32": _core.FLOAT, "string": _core.BYTES}
_NAMES: Final = {"int64": "int64", "float32": "float32", "string": "bytes"}
_TEXT: Final = "UTF-8 text"  # what `inspect` calls it
_SAMPLE: Final = 1000  # records whose features are suggested where a name is nowhere


def columns_of_spec(spec: Mapping[Any, Any]) -> tuple[ScanColumn, ...]:
    """Return the columns that a spec describes. Pure: no I/O.

    Raises:
        TypeError, ValueError: it is not a spec of features that columns can hold.
    """
    return tuple(_column(key, given) for key, given in spec.items())


def _column(key: Any, given: Any) -> ScanColumn:
    if not isinstance(key, str):
        raise TypeError(f"expected names of features as str in the spec but got {key!r:.40}")
    feature = as_feature(given)
    if feature is None:
        raise TypeError(
            f"expected FixedLenFeature, VarLenFeature or another feature for {key!r} in the spec but got {given!r:.60}"
        )
    if isinstance(feature, SparseFeature) or (isinstance(feature, RaggedFeature) and feature.partitions):
        raise ValueError(
            f"expected a feature that one column can hold for {key!r} but got {type(feature).__name__}, which is made "
            "of several. Name them one by one with VarLenFeature."
        )
    name = getattr(feature, "value_key", None) or key
    dtype = type_name(feature.dtype)
    kind = _KINDS.get(dtype)
    if kind is None:
        raise ValueError(f"expected int64, float32 or bytes for {key!r} but got {feature.dtype!r}")
    shape: tuple[int, ...] | None = None
    default: Any = None
    if isinstance(feature, FixedLenFeature):
        shape = _shape(key, feature.shape)
        default = _default(key, feature.default_value, shape, dtype)
    depth = 0 if shape == () else 1
    return ScanColumn(
        key, name, _NAMES[dtype], False, Form(kind, depth, False), values=True,
        shape=shape or None, default=default, surveyed=False,
    )  # fmt: skip


def _shape(key: str, given: Any) -> tuple[int, ...]:
    shape = (given,) if isinstance(given, (int, np.integer)) else tuple(given)
    if not all(isinstance(size, (int, np.integer)) and size >= 0 for size in shape):
        raise ValueError(f"expected a fully known shape for {key!r} but got {given!r}")
    return tuple(int(size) for size in shape)


def _default(key: str, given: Any, shape: tuple[int, ...], dtype: str) -> Any:
    if given is None:
        return None
    count = math.prod(shape)
    if dtype == "string":
        items = [given] if isinstance(given, (str, bytes)) else list(np.ravel(np.asarray(given, object)))
        values: Any = [item.encode() if isinstance(item, str) else bytes(item) for item in items]
        values = values * count if len(values) == 1 else values
    else:
        values = np.ravel(np.asarray(given, np.int64 if dtype == "int64" else np.float32))
        values = np.repeat(values, count) if len(values) == 1 else values
    if len(values) != count:
        raise ValueError(
            f"expected {count} default values for {key!r}, as its shape says, but got {len(values)}"
        )
    return values


class Settled(NamedTuple):
    """The columns of a scan, and those that its condition looks at, by feature."""

    columns: tuple[ScanColumn, ...]
    keys: Mapping[str, ScanColumn]


def settle_by_spec(
    spec: Mapping[Any, Any],
    names: Sequence[str] | None,
    where: WhereChoice | None,
    text: Collection[str] | bool,
) -> Settled:
    """Settle columns by a spec. Pure: no I/O.

    Raises:
        InvalidArgumentError: a name is not in the spec, or a comparison does not fit the kind.
        TypeError, ValueError: it is not a spec of features that columns can hold.
    """
    known = {column.name: column for column in columns_of_spec(spec)}
    keys = () if where is None else where.keys
    for name, asker in {**dict.fromkeys(keys, "where"), **dict.fromkeys(names or (), "columns")}.items():
        if name not in known:
            raise InvalidArgumentError(
                f"{asker}: the spec has no feature {name!r}. {near_names(name, known)}"
            )
    columns = tuple(known.values() if names is None else (known[name] for name in names))
    filtered = {key: known[key] for key in keys}
    _check_kinds(where, filtered)
    return Settled(_with_text(columns, text, None), filtered)


def settle_by_survey(
    survey: Callable[..., Schema],
    schema: Schema | None,
    names: Sequence[str] | None,
    where: WhereChoice | None,
    text: Collection[str] | bool,
    on_kind: OnKind = "raise",
) -> Settled:
    """Settle columns by what is in the records.

    Args:
        survey: inspects the records: some features or all, and all records or a sample.
        schema: of a survey that was made; None: it is made here.
        names: of the columns, in order; None means all that there are.
        where: which rows, for whose features columns are needed too.
        text: which columns are text; True: those that look like it.
        on_kind: what to do about features of several kinds; see `settle_columns`.

    Raises:
        InvalidArgumentError: no record has such a feature (the closest names are in the text), a feature has several
            kinds, a comparison does not fit the kind, or a record is not an Example.
    """
    keys = () if where is None else where.keys
    needed = None if names is None else list(dict.fromkeys([*names, *keys]))
    if schema is None:
        schema = survey(needed)
    _check_known(survey, schema, names or (), keys)
    columns = settle_scan(schema, needed, on_kind)
    filtered = {column.feature: column for column in columns if not column.steps and column.feature in keys}
    for column in columns:
        if column.steps and column.feature in keys and column.feature not in filtered:
            raise InvalidArgumentError(
                f"expected a feature but {column.feature!r} is a feature list. Only features and context features can "
                "be compared."
            )
    _check_kinds(where, filtered)
    if names is not None:
        columns = tuple(column for column in columns if column.feature in set(names))
    return Settled(_with_text(columns, text, schema), filtered)


def settle_scan(
    schema: Schema, names: Sequence[str] | None, on_kind: OnKind = "raise"
) -> tuple[ScanColumn, ...]:
    """Return the columns that a schema describes, in the order of the names. Pure: no I/O.

    A feature that never has a kind, or of which there are no records, is a column of nulls. What a
    sample says may not hold for all records.
    """
    columns = settle_columns(schema, names, on_kind=on_kind) if schema.records else ()
    names = sorted({*schema.features, *schema.feature_lists}) if names is None else names
    found = {column.feature for column in columns}
    columns += tuple(
        ScanColumn(name, name, NO_VALUES, False, Form(_core.BYTES, 0, False), values=False)
        for name in names
        if name not in found
    )
    order = {name: place for place, name in enumerate(names)}
    columns = tuple(sorted(columns, key=lambda column: order[column.feature]))
    return tuple(replace(column, surveyed=False) for column in columns) if schema.sampled else columns


def _check_known(
    survey: Callable[..., Schema], schema: Schema, names: Collection[str], keys: Collection[str]
) -> None:
    known = {*schema.features, *schema.feature_lists}
    for name, asker in {**dict.fromkeys(keys, "where"), **dict.fromkeys(names, "columns")}.items():
        if schema.records and name not in known:
            found = survey(None, _SAMPLE)
            near = near_names(name, sorted({*found.features, *found.feature_lists}))
            raise InvalidArgumentError(f"{asker}: no record has a feature {name!r}. {near}")


def _check_kinds(where: WhereChoice | None, columns: Mapping[str, ScanColumn]) -> None:
    wrong = None
    if where is not None:
        wrong = where.mismatch({key: column.kind for key, column in columns.items() if column.values})
    if wrong is not None:
        key, text = wrong
        raise InvalidArgumentError(f"{text}: it is {columns[key].kind}. Text stands in quotes.")


def _with_text(
    columns: tuple[ScanColumn, ...], text: Collection[str] | bool, schema: Schema | None
) -> tuple[ScanColumn, ...]:
    """Mark columns as text."""
    if isinstance(text, bool):
        features = {} if schema is None or not text else {**schema.feature_lists, **schema.features}
        text = {name for name, found in features.items() if found.looks_like == _TEXT}
        chosen = {column.name for column in columns if column.kind == "bytes" and column.feature in text}
    else:
        known = {column.name: column for column in columns}
        for name in text:
            if name not in known or known[name].kind != "bytes":
                raise InvalidArgumentError(
                    f"text: expected columns of bytes but {name!r} is "
                    + (known[name].kind if name in known else f"none. {near_names(name, known)}")
                )
        chosen = set(text)
    return tuple(replace(column, text=True) if column.name in chosen else column for column in columns)
