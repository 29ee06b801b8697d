"""ArrowEncoder: batches of rows as records, with the columns of `build.table`, for sinks that get rows and no files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tfrkit.build.job.job import BadInput, TaskReporter
from tfrkit.build.tables.arrow.arrow_columns import MISFIT, fit_arrays
from tfrkit.build.tables.arrow.arrow_types import FEATURE_LIST, leaf_arrays, leaves, survey_schema
from tfrkit.build.tables.table_format import InputFile
from tfrkit.build.tables.table_plan import FileColumns
from tfrkit.build.tables.table_schema import ColumnChoice, settle
from tfrkit.engines.local import Stop
from tfrkit.model.block import Block
from tfrkit.optional import lazy

__all__ = ["ArrowEncoder"]

pyarrow: Any = lazy("pyarrow", "ArrowEncoder")
_PIECE_BYTES: Final = 2 << 20  # as in `build.table`
_ROWS: Final = "rows"


class ArrowEncoder:
    """Makes Examples of the rows of batches, or SequenceExamples if there are feature lists."""

    def __init__(self, schema: Any, feature_lists: Sequence[str] = ()) -> None:
        """Settle what each column becomes.

        Args:
            schema: of the batches, in Arrow.
            feature_lists: columns of lists that are feature lists.

        Raises:
            InvalidArgumentError: no feature can hold a column.
        """
        marked = pyarrow.schema(
            [
                field.with_metadata({FEATURE_LIST: field.name}) if field.name in feature_lists else field
                for field in schema
            ]
        )
        file = InputFile(_ROWS, _ROWS, {}, 0)
        survey = survey_schema(marked, file, (), lambda _: True)
        self.columns = settle([survey], ColumnChoice())
        self._file_columns = FileColumns.of(survey, self.columns)
        paths = {leaf.name: leaf.path for leaf in leaves(marked)}
        self._paths = [paths[column.name] for column in self.columns]
        self._sequences = bool(feature_lists)
        self._reporter = TaskReporter(Stop(), "raise", lambda *_: None)

    def blocks(self, batch: Any) -> Iterator[Block]:
        """Yield the records of a batch, some MB at once.

        Raises:
            InvalidArgumentError: a value does not fit its column.
        """
        step = max(1, _PIECE_BYTES * batch.num_rows // max(1, batch.nbytes))
        for first in range(0, batch.num_rows, step):
            arrays = leaf_arrays(batch.slice(first, step), self._paths)
            fitted = fit_arrays(arrays, self.columns, self._reporter, self._misfit)
            block = self._file_columns.encode(fitted, sequences=self._sequences)
            if block is not None:
                yield block

    @staticmethod
    def _misfit(row: int, text: str) -> BadInput:
        return BadInput(f"{_ROWS}[{row}]", None, MISFIT, text)
