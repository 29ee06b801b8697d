"""The rows of a query, kept as Parquet files beside the output until its shards are complete.

Spark's tasks write them under names of their attempts and return what they wrote; the driver takes one attempt of each.
A job that is interrupted resumes with the rows that were read the first time, however the table has changed since.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.build.tables.arrow.folder_rows import rows_by_folder
from tfrkit.build.tables.format_table import PARQUET
from tfrkit.build.tables.hive.hive_query import FEATURE, HiveQuery
from tfrkit.engines.spark_session import check_installed, first_line
from tfrkit.errors import FailedPreconditionError, UnavailableError
from tfrkit.optional import require
from tfrkit.stores import files
from tfrkit.stores.object_config import adopt_settings, settings_of
from tfrkit.stores.output import SIDECAR_FOLDER

__all__ = ["KeptRows", "keep_rows"]

_FILE_BYTES: Final = 64 << 20  # of rows in a Parquet file, in memory
_SUFFIX: Final = PARQUET.suffixes[0]
_LIST: Final = "rows.json"
_BEGUN: Final = "begun"  # there while the query runs, for all machines to see
_RESULT: Final = "task int, attempt string, number int, within string, rows long"


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Parquet files with the rows of a query.

    Attributes:
        home: the folder that they are in.
        paths: of the files, in order, by the folder that their rows belong into; "" is the output folder itself.
    """

    home: str
    paths: dict[str, list[str]]

    def remove(self) -> None:
        """Remove them: the shards are complete."""
        files.remove_tree(self.home)


def keep_rows(query: HiveQuery, out: str) -> KeptRows:
    """Have Spark write the rows of a query, unless an earlier run has.

    Raises:
        UnavailableError: Spark failed.
    """
    home = os.path.join(out, SIDECAR_FOLDER, f"hive-{query.digest}")
    listed = os.path.join(home, _LIST)
    if not files.is_there(listed):
        files.remove_tree(home)
        files.make_folder(home)
        files.write_bytes(os.path.join(home, _BEGUN), b"")
        found = _run(query, home)
        files.write_bytes(listed, json.dumps(found).encode())
    paths: dict[str, list[str]] = {}
    for within, name in json.loads(files.read_bytes(listed)):
        paths.setdefault(within, []).append(os.path.join(home, name))
    return KeptRows(home, paths)


def _run(query: HiveQuery, home: str) -> list[list[str]]:
    """Run the query; returns the folder and the name of each file, in order."""
    folders = query.folders
    names = query.rows.columns
    stores = settings_of([home])

    def write(batches: Iterable[Any]) -> Iterator[Any]:
        adopt_settings(stores)
        return write_rows((_named(batch, names) for batch in batches), home, names, folders)

    try:
        # Spark does not find columns whose names have dots or backticks.
        plain = query.rows.toDF(*map(str, range(len(names))))
        written = plain.mapInArrow(write, _RESULT).collect()
    except require("pyspark.errors", FEATURE).PySparkException as error:
        files.remove_tree(home)
        check_installed(error, query.source)
        raise UnavailableError(
            f"{query.source}; Spark could not read the rows: {first_line(error)}"
        ) from error
    made = []
    for number, each in enumerate(sorted(written, key=lambda row: (row.within, row.task, row.number))):
        old = os.path.join(home, _temporary(each.task, each.attempt, each.number))
        name = f"{number:06d}{_SUFFIX}"
        files.move(old, os.path.join(home, name))
        made.append([each.within, name])
    kept = {_LIST, *(name for _, name in made)}
    for name in files.list_names(home):
        if name not in kept:  # of attempts that were lost
            files.remove(os.path.join(home, name))
    return made


def _temporary(task: int, attempt: str, number: int) -> str:
    return f"task-{task:06d}-{attempt}-{number:06d}{_SUFFIX}"


def _named(batch: Any, names: Sequence[str]) -> Any:
    """Return a batch with other names of its columns. Pure: no I/O."""
    fields = [field.with_name(name) for field, name in zip(batch.schema, names, strict=True)]
    pyarrow = require("pyarrow", FEATURE)
    return pyarrow.RecordBatch.from_arrays(batch.columns, schema=pyarrow.schema(fields))


def _check_begun(home: str) -> None:
    if not files.is_there(os.path.join(home, _BEGUN)):
        raise FailedPreconditionError(
            f"{home}; the machine {socket.gethostname()!r} does not see this folder. All machines must see the output: "
            "a shared file system, or an object store.",
            path=home,
        )


def write_rows(
    batches: Iterable[Any], home: str, names: Sequence[str], folders: Sequence[str]
) -> Iterator[Any]:
    """Write the rows of a task, in an executor; yields a batch that says what was written."""
    _check_begun(home)
    pyarrow = require("pyarrow", FEATURE)
    task = require("pyspark", FEATURE).TaskContext.get().partitionId()
    attempt = os.urandom(6).hex()
    held: dict[str, list[Any]] = {}
    done: list[tuple[int, str, int, str, int]] = []

    def flush(within: str) -> None:
        _check_begun(home)  # after an error of another task all is removed, and nothing is to be left behind
        table = pyarrow.Table.from_batches(held.pop(within))
        sink = pyarrow.BufferOutputStream()
        require("pyarrow.parquet", FEATURE).write_table(table, sink, compression="snappy")
        path = os.path.join(home, _temporary(task, attempt, len(done)))
        files.write_bytes(path, sink.getvalue().to_pybytes())
        done.append((task, attempt, len(done), within, table.num_rows))

    for batch in batches:
        for within, part in rows_by_folder(batch, names, folders):
            held.setdefault(within, []).append(part)
        while sum(each.nbytes for parts in held.values() for each in parts) > _FILE_BYTES:
            flush(max(held, key=lambda within: sum(each.nbytes for each in held[within])))
    for within in sorted(held):
        flush(within)
    if done:
        columns = [list(column) for column in zip(*done, strict=True)]
        kinds = (pyarrow.int32(), pyarrow.string(), pyarrow.int32(), pyarrow.string(), pyarrow.int64())
        arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        yield pyarrow.RecordBatch.from_arrays(arrays, names=["task", "attempt", "number", "within", "rows"])
