"""What is wrong with rows of delimited text, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tfrkit.build.tables.delimited.delimited_columns import ColumnPlan
from tfrkit.build.tables.delimited.row_layout import split_row

__all__ = ["REFUSED", "fault_text"]

REFUSED: Final = 0  # pyarrow does not read it; the other numbers are the scanner's
_FIELDS, _VALUE, _LONG_FIELD, _LONG_ROW, _UNCLOSED, _UTF8, _NULL_ITEM, _NO_KEY = range(1, 9)
_SHOWN: Final = 40  # characters of a value


def fault_text(fault: int, detail: int, plan: ColumnPlan, text: bytes | bytearray | None) -> tuple[str, str]:
    """Return the reason, by which bad rows are counted, and what exactly is wrong with a row.

    The scanner has a number for the fault, and a detail; without the text of the row, its value is not shown.
    """
    reason, explained = _REASONS[fault], ""
    if fault == _FIELDS:
        explained = f"expected {plan.width} but got {detail}"
    elif fault == _LONG_ROW:
        explained = f"its row has more than {plan.dialect.max_row} bytes (--max-field)"
    elif fault == _UTF8:
        reason = f"not valid {plan.dialect.encoding}"
    elif fault in (_VALUE, _LONG_FIELD, _NULL_ITEM, _NO_KEY):
        explained = _of_column(detail, plan.names)
        if fault == _LONG_FIELD:
            explained += f": more than {plan.dialect.max_field} bytes (--max-field)"
        elif text is not None:
            explained += f": got {_shown(split_row(text, plan.width, plan.dialect)[detail])}"
        if fault == _VALUE:
            kinds = {target.position: target.column.kind for target in plan.targets}
            reason = f"not {_KINDS[kinds[detail]]}"
    return reason, explained


_REASONS: Final = {
    REFUSED: "cannot be read",
    _FIELDS: "wrong number of fields",
    _VALUE: "not the kind of its column",
    _LONG_FIELD: "field too long",
    _LONG_ROW: "line too long",
    _UNCLOSED: "quote or escape without an end",
    _UTF8: "not valid utf-8",
    _NULL_ITEM: "null inside of a list",
    _NO_KEY: "map entry without a key",
}
_KINDS: Final = {"int64": "an int64", "float": "a number", "bytes": "a number"}


def _of_column(position: int, names: Sequence[str]) -> str:
    return f"column {names[position]!r}" if position < len(names) else f"field {position + 1}"


def _shown(field: bytes) -> str:
    text = field.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
