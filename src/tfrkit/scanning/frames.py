"""What other libraries see a scan as: the methods of `Scan` whose work is in `tfrkit.integrations`, imported there."""

from __future__ import annotations

import importlib
from typing import Any, Final

from tfrkit.optional import require

__all__ = ["FrameMethods"]

_INTEGRATIONS: Final = "tfrkit.integrations"


class FrameMethods:
    """Methods of `Scan`."""

    __slots__ = ()

    def dataset(self) -> Any:
        """Return a pyarrow.dataset.Dataset, for DuckDB, DataFusion and whatever else takes one.

        Columns and rows are chosen before anything else is decoded: what a condition looks at first, and of the rows
        that it keeps the other columns. `duckdb.sql("select avg(x) from ds where label = 3")` decodes two features.
        """
        return importlib.import_module(f"{_INTEGRATIONS}.arrow_dataset").scan_dataset(self)

    def to_polars(self) -> Any:
        """Return a polars.LazyFrame: its filters, columns and limits are applied before anything else is decoded."""
        return importlib.import_module(f"{_INTEGRATIONS}.polars").scan_frame(self)

    def to_pandas(self, **options: Any) -> Any:
        """Read all rows into a pandas.DataFrame.

        Args:
            options: of pyarrow.Table.to_pandas: `types_mapper=pandas.ArrowDtype` keeps whole numbers with nulls whole.
        """
        require("pandas", "a scan as a pandas.DataFrame")
        return self.to_table().to_pandas(**options)

    def to_table(self) -> Any:
        """Read all rows into a pyarrow.Table."""
        raise NotImplementedError
