"""Which rows of a table become records: those for which an expression of `tfr select --where` holds.

The columns of the expression are encoded as they would be written, and the expression looks at these records: so it
means the same before a build as after it. No other column is encoded for rows that are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.build.tables.table_format import TableColumn
from tfrkit.errors import InvalidArgumentError
from tfrkit.parsing.encode import encode_examples
from tfrkit.records.where import WhereChoice

__all__ = ["RowChoice", "repeated"]


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Rows for which an expression on columns holds.

    Attributes:
        where: the expression.
        columns: those in it, by their names in the input.
    """

    where: WhereChoice
    columns: tuple[TableColumn, ...]

    @classmethod
    def of(cls, where: WhereChoice, columns: Sequence[TableColumn]) -> RowChoice:
        """Find the columns of an expression among those that are settled.

        Raises:
            InvalidArgumentError: a column cannot be compared, or is of another kind than its literal.
        """
        by_name = {column.name: column for column in columns}
        for name in where.keys:
            if by_name[name].steps:
                raise InvalidArgumentError(
                    f"where (--where): {name!r} is a feature list of SequenceExamples, which cannot be compared. "
                    "Compare a feature."
                )
        wrong = where.mismatch({name: by_name[name].kind for name in where.keys})
        if wrong is not None:
            name, text = wrong
            raise InvalidArgumentError(
                f"where (--where): {text}: the column is {by_name[name].kind}. Text stands in quotes; another kind can "
                f"be given: --column {name}:KIND."
            )
        return cls(where, tuple(by_name[name] for name in where.keys))

    def mask(
        self, batch: Mapping[str, Any], constants: Mapping[str, Any], rows: int
    ) -> npt.NDArray[np.bool_]:
        """Tell which rows of a batch are chosen; columns, and constants for all rows, are by `TableColumn.key`."""
        features = {}
        for column in self.columns:
            if column.key in batch:
                features[column.name] = batch[column.key]
            elif (value := constants.get(column.key)) is not None:
                features[column.name] = repeated(value, rows)
        return self.where.mask(0, encode_examples(features or {"": [None] * rows}, threads=1))


def repeated(value: Any, rows: int) -> Any:
    """Return a column that has one value in all rows. Pure: no I/O."""
    return [value] * rows if isinstance(value, (bytes, list)) else np.full(rows, value)
