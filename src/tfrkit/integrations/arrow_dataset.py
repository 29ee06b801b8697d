"""A scan as a pyarrow.dataset.Dataset: what DuckDB, DataFusion and others ask for columns and rows.

They check that it is a Dataset, and call its methods. None of it is Arrow's own engine: `scanner` reads the scan, and
Arrow evaluates the conditions, so that they mean exactly what they mean elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfrkit.integrations.pushdown import Condition, read_rows
from tfrkit.optional import require
from tfrkit.scanning.chunks import Mask
from tfrkit.scanning.scan import Scan

__all__ = ["arrow_condition", "referenced_columns", "scan_dataset"]

_WHAT = "a scan as a dataset"
_BY_POSITION = "FieldPath("  # how Arrow writes a reference to a column by its place


def scan_dataset(scan: Scan) -> Any:
    """Return a scan as a pyarrow.dataset.Dataset; see `Scan.dataset`."""
    return _dataset_class()(scan)


def referenced_columns(expression: Any, schema: Any) -> list[str]:
    """Return the names of the columns that an Arrow expression looks at, in the order of the schema. Pure: no I/O.

    Arrow has no function for it, but refuses to bind an expression to a schema that lacks one of its columns. Where
    columns are named by their place, all of them count.

    Raises:
        pyarrow.ArrowInvalid and others: it does not fit the schema, in Arrow's words.
    """
    pyarrow = require("pyarrow", _WHAT)

    def binds(fields: Sequence[Any]) -> bool:
        try:
            _bind(expression, pyarrow.schema(fields))
        except (pyarrow.ArrowException, KeyError, ValueError, TypeError):
            return False
        return True

    _bind(expression, schema)  # what is wrong with it besides is an error here
    text = str(expression)
    if _BY_POSITION in text:
        return list(schema.names)
    # Names that stand in its text are few, and unless Arrow writes one differently the right ones are among them.
    fields = [field for field in schema if field.name in text]
    if not binds(fields):
        fields = list(schema)
    needed: list[Any] = []
    while not binds(needed):
        # The smallest beginning that it takes to bind ends with a column that is needed.
        low, high = 0, len(fields)
        while low < high:
            middle = (low + high) // 2
            if binds([*fields[:middle], *needed]):
                high = middle
            else:
                low = middle + 1
        needed.insert(0, fields[low - 1])
        fields = fields[: low - 1]
    return [field.name for field in needed]


def arrow_condition(expression: Any, schema: Any) -> Condition:
    """Return an Arrow expression as a condition on rows; where it is null, the row is not wanted."""
    dataset = require("pyarrow.dataset", _WHAT)
    compute = require("pyarrow.compute", _WHAT)

    def mask(batch: Any) -> Mask:
        found = dataset.Scanner.from_batches(
            iter([batch]), schema=batch.schema, columns={"keep": expression}, use_threads=False
        )
        keep = found.to_table().column(0).combine_chunks().cast("bool")
        return np.asarray(compute.fill_null(keep, False).to_numpy(zero_copy_only=False), np.bool_)

    return Condition(referenced_columns(expression, schema), mask, expression)


def _bind(expression: Any, schema: Any) -> None:
    dataset = require("pyarrow.dataset", _WHAT)
    dataset.Scanner.from_batches(iter([]), schema=schema, columns=[], filter=expression)


class ScanScanner:
    """One pass over a scan, as pyarrow.dataset.Scanner has it: some columns, some rows.

    Attributes:
        dataset_schema: the pyarrow.Schema of the whole table.
        projected_schema: that of what is read.
    """

    def __init__(
        self,
        scan: Scan,
        columns: Sequence[str] | Mapping[str, Any] | None,
        condition: Any,
        batch_size: int | None,
        failures: list[BaseException] | None = None,
    ) -> None:
        """Use `Dataset.scanner`."""
        self._dataset = require("pyarrow.dataset", _WHAT)
        self._pyarrow = require("pyarrow", _WHAT)
        self._scan = scan
        self._batch_size = batch_size
        self._failures = failures
        self.dataset_schema = schema = scan.schema
        self._condition = None if condition is None else arrow_condition(condition, schema)
        self._made: Mapping[str, Any] | None = None  # columns that Arrow makes of others
        if columns is None:
            self._names = list(schema.names)
        elif isinstance(columns, Mapping):
            self._made = columns
            asked = [referenced_columns(self._as_condition(each), schema) for each in columns.values()]
            found = {name for names in asked for name in names}
            self._names = [name for name in schema.names if name in found]
        else:
            self._names = list(dict.fromkeys(columns))
            self._asked = list(columns)
        source = self._pyarrow.schema([schema.field(name) for name in self._names])
        self.projected_schema = source
        if self._made is not None:
            self.projected_schema = self._project(self._empty(source)).schema
        elif columns is not None and len(self._asked) != len(self._names):
            self.projected_schema = self._pyarrow.schema([schema.field(name) for name in self._asked])

    def to_reader(self) -> Any:
        """Return the rows as a pyarrow.RecordBatchReader."""
        return self._pyarrow.RecordBatchReader.from_batches(self.projected_schema, self._noting_failures())

    def _noting_failures(self) -> Iterator[Any]:
        try:
            yield from self.to_batches()
        except Exception as error:
            if self._failures is not None:
                self._failures.append(error)
            raise

    def to_batches(self, limit: int | None = None) -> Iterator[Any]:
        """Return the rows as pyarrow.RecordBatches, in order; at most some of them."""
        names = self.projected_schema.names
        for batch in read_rows(self._scan, self._names, self._condition, limit=limit):
            made = batch
            if self._made is not None:
                made = self._project(batch)
            elif batch.schema.names != names:
                made = self._pyarrow.RecordBatch.from_arrays(
                    [batch.column(name) for name in names], schema=self.projected_schema
                )
            size = self._batch_size or made.num_rows
            for start in range(0, made.num_rows, size):
                yield made if size >= made.num_rows else made.slice(start, size)

    def to_table(self) -> Any:
        """Read all into a pyarrow.Table."""
        return self._pyarrow.Table.from_batches(self.to_batches(), schema=self.projected_schema)

    def head(self, num_rows: int) -> Any:
        """Read the first rows into a pyarrow.Table; what comes after them is not read."""
        return self._pyarrow.Table.from_batches(self.to_batches(num_rows), schema=self.projected_schema)

    def take(self, indices: Any) -> Any:
        """Read all, and return some rows as a pyarrow.Table."""
        return self.to_table().take(indices)

    def count_rows(self) -> int:
        """Count the rows; of the columns only those of the condition are decoded."""
        if self._condition is None:
            return self._scan.count()
        return sum(batch.num_rows for batch in read_rows(self._scan, [], self._condition))

    def _as_condition(self, expression: Any) -> Any:
        """Return a condition that looks at the same columns as an expression of any type."""
        return expression.is_null()

    def _empty(self, schema: Any) -> Any:
        return self._pyarrow.RecordBatch.from_arrays(
            [self._pyarrow.array([], field.type) for field in schema], schema=schema
        )

    def _project(self, batch: Any) -> Any:
        found = self._dataset.Scanner.from_batches(
            iter([batch]), schema=batch.schema, columns=dict(self._made or {}), use_threads=False
        )
        table = found.to_table().combine_chunks()
        arrays = [
            column.chunk(0) if column.num_chunks else self._pyarrow.array([], column.type)
            for column in table.columns
        ]
        return self._pyarrow.RecordBatch.from_arrays(arrays, schema=table.schema)


class _Fragment:
    """The whole scan, for engines that read a dataset by its fragments."""

    def __init__(self, scan: Scan, condition: Any) -> None:
        self._scan = scan
        self._condition = condition

    @property
    def physical_schema(self) -> Any:
        return self._scan.schema

    def scanner(
        self,
        schema: Any = None,
        columns: Any = None,
        filter: Any = None,  # noqa: A002 - the name that Arrow has
        **options: Any,
    ) -> ScanScanner:
        return ScanScanner(self._scan, columns, _and(self._condition, filter), options.get("batch_size"))

    def to_batches(self, schema: Any = None, **options: Any) -> Iterator[Any]:
        return self.scanner(schema, **options).to_batches()

    def to_table(self, schema: Any = None, **options: Any) -> Any:
        return self.scanner(schema, **options).to_table()

    def count_rows(self, **options: Any) -> int:
        return self.scanner(**options).count_rows()


def _and(one: Any, other: Any) -> Any:
    """Join two conditions, either of which may be None. DataFusion passes what is always true or false as a scalar."""
    compute = require("pyarrow.compute", _WHAT)
    if other is not None and not isinstance(other, compute.Expression):
        other = compute.scalar(other)
    if one is None or other is None:
        return one if other is None else other
    return one & other


class _DatasetMethods:
    """The methods of pyarrow.dataset.Dataset on a scan. Arrow's own state stays empty, so that none may be left out."""

    def __init__(self, scan: Scan, condition: Any = None) -> None:
        self._scan = scan
        self._condition = condition
        self.failures: list[BaseException] = []  # of which an engine may have kept the text only

    def __repr__(self) -> str:
        return f"<ScanDataset of {self._scan!r}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a dataset of a scan cannot be pickled: make it again with tfrkit.scan(...).dataset()"
        )

    @property
    def schema(self) -> Any:
        return self._scan.schema

    @property
    def partition_expression(self) -> Any:
        return require("pyarrow.compute", _WHAT).scalar(True)

    def scanner(
        self,
        columns: Any = None,
        filter: Any = None,  # noqa: A002 - the name that Arrow has
        batch_size: int | None = None,
        **options: Any,
    ) -> ScanScanner:
        condition = _and(self._condition, filter)
        return ScanScanner(self._scan, columns, condition, batch_size, self.failures)

    def get_fragments(self, filter: Any = None) -> Iterator[_Fragment]:  # noqa: A002 - the name that Arrow has
        return iter([_Fragment(self._scan, _and(self._condition, filter))])

    def filter(self, expression: Any) -> Any:
        return type(self)(self._scan, _and(self._condition, expression))

    def to_batches(self, **options: Any) -> Iterator[Any]:
        return self.scanner(**options).to_batches()

    def to_table(self, **options: Any) -> Any:
        return self.scanner(**options).to_table()

    def head(self, num_rows: int, **options: Any) -> Any:
        return self.scanner(**options).head(num_rows)

    def take(self, indices: Any, **options: Any) -> Any:
        return self.scanner(**options).take(indices)

    def count_rows(self, **options: Any) -> int:
        return self.scanner(**options).count_rows()

    def replace_schema(self, schema: Any) -> Any:
        raise TypeError("a dataset of a scan has the types of its features: cast what it returns instead")

    def join(self, right_dataset: Any, *args: Any, **options: Any) -> Any:
        return _in_memory(self).join(_in_memory(right_dataset), *args, **options)

    def join_asof(self, right_dataset: Any, *args: Any, **options: Any) -> Any:
        return _in_memory(self).join_asof(_in_memory(right_dataset), *args, **options)

    def sort_by(self, sorting: Any, **options: Any) -> Any:
        return _in_memory(self).sort_by(sorting, **options)


def _in_memory(given: Any) -> Any:
    """Return what Arrow's own engine takes: it would find nothing in a dataset of a scan."""
    if not isinstance(given, _DatasetMethods):
        return given
    return require("pyarrow.dataset", _WHAT).InMemoryDataset(given.to_table())


@functools.cache
def _dataset_class() -> Any:
    """Make the class, which derives from an optional package's."""
    return type("ScanDataset", (_DatasetMethods, require("pyarrow.dataset", _WHAT).Dataset), {})
