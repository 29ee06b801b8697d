"""Columns into Examples: encode_examples and encode_sequence_examples.

Reads the columns with `encode_column.py`, sorts them by name, and hands them to the kernel, which writes the bytes of
all examples, in frames, in one pass. Single examples are made in `example_values.py`; files are written by
`records/write/writer.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Final

from tfrkit import _core
from tfrkit.model.arrow.arrow_exchange import import_stream
from tfrkit.model.block import Block
from tfrkit.model.features import UNSET, check_name, feature_values, shown
from tfrkit.model.messages import Message, is_message, message_bytes, message_name
from tfrkit.parsing.encode_column import InputColumn, decoded_column, feature_column, list_column

__all__ = ["encode_examples", "encode_sequence_examples"]

# What pandas calls an index without a name, which a DataFrame of some rows of another one has.
_UNNAMED_INDEX: Final = re.compile(r"__index_level_\d+__")


def encode_examples(columns: Any, *, threads: int | None = None) -> Block:
    r"""Make one Example for each row of some columns, in native code.

    Args:
        columns: a dict of columns by name, or a table: anything with the Arrow C stream, such as a pyarrow Table or a
            pandas or polars DataFrame. A column is

            - an array: of one dimension for one value a row, of more for a list of fixed length a row (the values in
              row-major order); bools and integers of any width become int64_list, floats float_list, str and bytes
              bytes_list;
            - a list with a number, bytes, str, or list of them for each row;
            - a `BytesColumn`, `Ragged` or `Sparse`, or an Arrow array: numbers, bool, string, binary, lists and
              dictionaries of them.

            Rows where a list has None, or a masked array or Arrow array a null, do not get the feature. In a pandas
            DataFrame NaN is a null, and an index without a name is not a column.
        threads: by default all cores if there is much to do.

    Returns:
        A Block, whose frames have their checksums: `TFRecordWriter.write_many` writes it as it is. The features of an
        Example are in the bytewise order of their names, so that equal columns become equal bytes.

    Raises:
        TypeError: a column or a value in it cannot be a feature; the text names the feature, the row and the value.
        ValueError: columns differ in length, or an integer does not fit into int64.

    >>> block = encode_examples({"label": [3, 5], "name": ["Ada", None]})
    >>> len(block), block[1]
    (2, b'\n\x10\n\x0e\n\x05label\x12\x05\x1a\x03\n\x01\x05')
    """
    read = _read_columns(columns, "feature", feature_column)
    if not read:
        raise ValueError("expected at least one column: without any, there is no number of rows")
    rows = _common_rows(read)
    return _encode(rows, read, None, threads)


def encode_sequence_examples(
    context_columns: Any = None, list_columns: Any = None, *, threads: int | None = None
) -> Block:
    """Make one SequenceExample for each row of some columns, in native code.

    Args:
        context_columns: the columns of the context features, as in `encode_examples`.
        list_columns: the columns of the feature lists, by name or as a table. A column has for each row some steps, and
            for each step one value or a list of values: a `Ragged` (of a `Ragged`, an array or a `BytesColumn`), an
            array of two dimensions (one value a step) or three (a list a step), a `Sparse`, an Arrow array of lists,
            or nested lists. Rows with None do not get the feature list.
        threads: by default all cores if there is much to do.

    Returns:
        A Block, as from `encode_examples`.

    Raises:
        TypeError, ValueError: as `encode_examples`; texts also name the step.

    >>> block = encode_sequence_examples({"user": ["u1", "u2"]}, {"ratings": [[4.5, 3.0], []]})
    >>> len(block)
    2
    """
    context = _read_columns(
        {} if context_columns is None else context_columns, "context feature", feature_column
    )
    lists = _read_columns({} if list_columns is None else list_columns, "feature list", list_column)
    if not context and not lists:
        raise ValueError("expected at least one column: without any, there is no number of rows")
    return _encode(_common_rows([*context, *lists]), context, lists, threads)


class ExampleEncoder:
    r"""Makes one serialised Example after the other from dicts or messages, and remembers their keys.

    >>> ExampleEncoder().encode({"a": 1})
    b'\n\x0c\n\n\n\x01a\x12\x05\x1a\x03\n\x01\x01'
    """

    def __init__(self) -> None:
        self._native = _core.DictEncoder(_unusual)

    def encode(self, features: Any) -> bytes:
        """Return the bytes of the Example that `make_example` makes, or of the message; keys are in bytewise order.

        Raises:
            TypeError, ValueError: as `make_example`.
        """
        if type(features) is not dict:
            if is_message(features):
                return _message(features)
            if not isinstance(features, Mapping):
                raise TypeError(
                    f"expected a dict of features by name, or an Example, but got {shown(features)}"
                )
            features = dict(features)
        return self._native.encode(features)


def bytes_of_kind(message: Message, kind: str, where: str) -> bytes:
    """Serialise a message that must be of a kind, such as "Feature".

    Raises:
        TypeError: it is of another one; the text begins with `where`.
    """
    if message_name(message) != f"tensorflow.{kind}":
        raise TypeError(f"{where}expected a {kind} but got a message of type {message_name(message)}")
    return message_bytes(message)


def _message(message: Any) -> bytes:
    if message_name(message) not in ("tensorflow.Example", "tensorflow.SequenceExample"):
        raise TypeError(f"expected an Example but got a message of type {message_name(message)}")
    return message_bytes(message)


def _unusual(key: object, value: Any) -> tuple[int, object]:
    """Convert what the native code does not: (kind, values), or UNSET and the bytes of the whole Feature."""
    check_name(key)
    where = f"feature {key!r}: "
    if is_message(value):
        return UNSET, bytes_of_kind(value, "Feature", where)
    kind, values = feature_values(value, where)
    return (kind, values) if kind != UNSET else (UNSET, b"")


def _read_columns(
    columns: Any, noun: str, read: Callable[[Any, str], InputColumn]
) -> list[tuple[str, str, InputColumn]]:
    """Read all columns: (name, where, column), sorted by name."""
    steps = read is list_column
    found: list[tuple[str, str, InputColumn]] = []
    if not isinstance(columns, Mapping) and hasattr(columns, "__arrow_c_stream__"):
        imported = import_stream(columns, indexed=not steps)
        for name, column in zip(imported.names, imported.columns, strict=True):
            if _UNNAMED_INDEX.fullmatch(name):
                continue
            where = f"{noun} {name!r}"
            found.append((name, where, decoded_column(column, where, steps=steps)))
    else:
        for name, value in _pairs(columns):
            check_name(name, noun)
            where = f"{noun} {name!r}"
            found.append((name, where, read(value, where)))
    found.sort(key=lambda item: item[0])  # str sorts by code points, which is the order of their UTF-8
    for (name, where, _), (after, _, _) in pairwise(found):
        if name == after:
            raise ValueError(f"{where}: expected names that differ but got this one twice")
    return found


def _pairs(columns: Any) -> Iterable[tuple[Any, Any]]:
    if not hasattr(columns, "items"):
        raise TypeError(f"expected a dict of columns by name, or a table, but got {shown(columns)}")
    pairs: Iterable[tuple[Any, Any]] = columns.items()
    return pairs


def _common_rows(found: list[tuple[str, str, InputColumn]]) -> int:
    name, _, first = found[0]
    for _, where, column in found:
        if column.rows != first.rows:
            raise ValueError(
                f"{where}: expected {first.rows} rows as in {name!r} but got {column.rows}. "
                "All columns need the same number of rows."
            )
    return first.rows


def _encode(
    rows: int,
    features: list[tuple[str, str, InputColumn]],
    lists: list[tuple[str, str, InputColumn]] | None,
    threads: int | None,
) -> Block:
    buffer, offsets, lengths = _core.encode_columns(
        rows, _native(features), None if lists is None else _native(lists), threads or 0
    )
    return Block(buffer, offsets, lengths)


def _native(found: list[tuple[str, str, InputColumn]]) -> list[tuple[object, ...]]:
    return [column.native(name) for name, _, column in found if column.values is not None]
