"""Rows by the folders that they belong into, as Hive names them: `dt=2024-01-01/place=a%2Fb`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from tfrkit.build.tables.partition_filter import NULL_PARTITION
from tfrkit.optional import lazy

__all__ = ["partition_folder", "rows_by_folder"]

pyarrow: Any = lazy("pyarrow", "Writing partitions")
_ESCAPED: Final = re.compile(r"""[\x00-\x1f"#%'*/:=?\\\x7f{\[\]^]""")  # what Hive and Spark escape


def partition_folder(names: Sequence[str], values: Sequence[Any]) -> str:
    """Return the folder of rows with some values, as Hive names it. Pure: no I/O.

    >>> partition_folder(["day", "place"], ["2024-01-01", "a/b=c%"])
    'day=2024-01-01/place=a%2Fb%3Dc%25'
    >>> partition_folder(["day"], [None])
    'day=__HIVE_DEFAULT_PARTITION__'
    """
    return "/".join(
        f"{_escaped(name)}={_escaped(_text(value))}" for name, value in zip(names, values, strict=True)
    )


def _text(value: Any) -> str:
    if value is None or value == "":
        return NULL_PARTITION
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)


def rows_by_folder(batch: Any, names: Sequence[str], folders: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Divide the rows of a batch by the values of some columns, which are taken out of it and become folders."""
    if not batch.num_rows:
        return
    kept = [name for name in names if name not in folders]
    rest = pyarrow.RecordBatch.from_arrays([batch.column(names.index(name)) for name in kept], names=kept)
    if not folders:
        yield "", rest
        return
    keys = [batch.column(names.index(name)) for name in folders]
    codes = np.zeros(batch.num_rows, np.int64)
    for key in keys:
        indices = key.dictionary_encode(null_encoding="encode").indices
        _, codes = np.unique(codes * (batch.num_rows + 1) + np.asarray(indices), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        within = partition_folder(folders, [key[int(rows[0])].as_py() for key in keys])
        yield within, rest if len(rows) == len(order) else rest.take(pyarrow.array(rows))
