"""sql: DuckDB over TFRecord files that are named in the query.

DuckDB parses the query and says which tables it needs. Names among them that look like TFRecord files become datasets
that are registered under just these names, so that the query runs as it stands.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tfrkit.codecs.table import record_codecs
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.interrupt import Query, interruptible
from tfrkit.optional import require
from tfrkit.scanning.scan import Scan, scan
from tfrkit.stores.paths import Paths
from tfrkit.stores.url import is_url

__all__ = ["connect", "names_records", "needed_tables", "prepare", "refused", "sql"]

_WHAT: Final = "sql"
# Nothing comes from the network by itself, and no variable of this module is taken for a table.
_CONFIG: Final = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
_ROWS: Final = 100_000  # of a batch that only counts
_COUNT: Final = {"count_star", "count"}
_NAME: Final = r"[-0-9A-Za-z*?\[\]!]*"
_SUFFIX: Final = r"\.(?:tfrecords?|tfrec|tfr)"
_SHARD: Final = r"-[0-9*?\[\]!-]+-of-[0-9*?\[\]!-]+"


def sql(
    query: str,
    *,
    tables: Mapping[str, Scan | Paths | Any] | None = None,
    text: bool = True,
    with_source: bool = False,
    con: Any = None,
    **options: Any,
) -> Any:
    """Query TFRecord files with DuckDB: `select label, count(*) from 'train-*.tfrecord' group by label`.

    Files are named in the query, in quotes: names, patterns and URLs that end as TFRecord files do (`.tfrecord`,
    `.tfrecords`, `.tfrec`, `.tfr`, with the suffix of a compression or the number of a shard). Only the features that
    the query needs are decoded: those of its conditions first, the others of the rows that are left. Scans and frames
    in variables of the caller may be named as tables, too.

    Args:
        query: one statement, in DuckDB's dialect. `describe from 'a.tfrecord'` lists the columns.
        tables: more tables by name: scans, paths of TFRecord files whose names do not tell, and whatever DuckDB takes.
        text: columns of bytes that look like UTF-8 text are VARCHAR; else all are BLOB.
        with_source: add the columns `_file` and `_record`: where each record comes from.
        con: a DuckDB connection to use, in which the tables stay registered. By default one of its own, which loads no
            extensions and so reaches no network by itself.
        options: of `scan`, for the files in the query: compression, crc, on_corrupt, threads, cache and others.

    Returns:
        A `Query`: it does what a duckdb.DuckDBPyRelation does, which is its `.relation`, and Ctrl-C ends it. Nothing is
        read before it is asked: `.fetchall()`, `.df()`, `.pl()`, `.arrow()`, `.show()`, or more conditions on top.

    Raises:
        InvalidArgumentError: DuckDB cannot parse or bind the query, and says where.
        NotFoundError: there are no such files.
        MissingExtraError: duckdb or pyarrow is not installed.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_batch({"label": [1, 2, 2], "name": ["a", "b", "c"]})
    >>> sql("select label, max(name) from 'a.tfrecord' group by label order by label").fetchall()
    [(1, 'a'), (2, 'c')]
    """
    frame = sys._getframe(1)  # noqa: SLF001 - the only way to a caller's variables
    seen = {**frame.f_globals, **frame.f_locals}
    con = connect() if con is None else con
    prepare(con, query, tables or {}, options | {"text": text, "with_source": with_source}, seen)
    duckdb = require("duckdb", _WHAT)
    try:
        made = interruptible(con, lambda: con.sql(query))
    except duckdb.Error as error:
        raise refused(error) from error
    return None if made is None else Query(con, made)


def connect() -> Any:
    """Return a DuckDB connection in memory that reaches no network by itself."""
    return require("duckdb", _WHAT).connect(":memory:", config=dict(_CONFIG))


def prepare(
    con: Any,
    query: str,
    tables: Mapping[str, Any],
    options: Mapping[str, Any],
    variables: Mapping[str, Any] | None = None,
) -> list[Any]:
    """Register what a query needs: some tables, the files that it names, and variables that are tables.

    Returns:
        The datasets of scans among them; their `failures` hold what went wrong while they were read.

    Raises:
        InvalidArgumentError: the query cannot be parsed, or two names differ only in case, which DuckDB ignores.
    """
    wanted, counted = needed_tables(con, query)
    files = {name: name for name in wanted if names_records(name) and name not in tables}
    found = {name: value for name, value in (variables or {}).items() if name in wanted and _is_table(value)}
    made: dict[str, Any] = {}
    for name, given in {**files, **found, **tables}.items():
        twin = made.get(name.lower())
        if twin is not None:
            raise InvalidArgumentError(
                f"{name!r} and another table differ only in upper and lower case, which DuckDB does not tell apart. "
                'Pass one of them under another name: tables={"other": path}.'
            )
        table = given
        if name in files or isinstance(given, (str, list, tuple)):
            table = scan(given, **options)
        if isinstance(table, Scan):
            table = _row_counts(table) if name in counted else _settled(table).dataset()
        made[name.lower()] = table
        con.register(name, table)
    return [table for table in made.values() if hasattr(table, "failures")]


def needed_tables(con: Any, query: str) -> tuple[list[str], set[str]]:
    """Return the tables that a query names, and those of them of which it only counts the rows.

    Raises:
        InvalidArgumentError: it cannot be parsed; the text is DuckDB's.
    """
    duckdb = require("duckdb", _WHAT)
    try:
        found = con.cursor().execute("select json_serialize_sql(?::varchar)", [query]).fetchall()[0][0]
        tree = json.loads(found)
        if tree.get("error") and tree.get("error_type") != "not implemented":
            duckdb.extract_statements(query)  # raises the same with more words
            raise InvalidArgumentError(str(tree.get("error_message")))
    except duckdb.Error as error:
        raise refused(error) from error
    if tree.get("error"):  # other statements than SELECT: what stands in quotes may be a table
        return list(dict.fromkeys(_quoted(query))), set()
    names = list(dict.fromkeys(_base_tables(tree)))
    return names, set(_only_counted(tree))


def names_records(name: str) -> bool:
    """Tell whether a name is one that TFRecord files have. Pure: no I/O.

    >>> [names_records(name) for name in ("a/train-*.tfrecord.gz", "x.tfrecord-00000-of-00010", "t.parquet", "label")]
    [True, True, False, False]
    """
    if is_url(name):
        name = re.split(r"\?(?=[^/]*=)", name, maxsplit=1)[0]
    suffixes = "|".join(re.escape(suffix) for each in record_codecs() for suffix in each.suffixes)
    file = name.rsplit("/", 1)[-1]
    packed = rf"(?:{suffixes}|\.)?\*?"
    form = rf"(?is).*{_SUFFIX}(?:-{_NAME}|[*?]{_NAME})?{packed}|.*{_SHARD}(?:{_SUFFIX})?{packed}"
    return re.fullmatch(form, file) is not None


def refused(error: Exception) -> InvalidArgumentError:
    """Return the error about a query that DuckDB does not take."""
    text = str(error)
    if "does not exist" in text and "Table" in text:
        text += "\nName files in quotes: from 'train-*.tfrecord'"
    return InvalidArgumentError(text)


def _settled(table: Scan) -> Scan:
    """Find out the columns of a scan, so that what is wrong is our error, and not DuckDB's about it."""
    table.columns  # noqa: B018 - kept by the scan
    return table


def _row_counts(table: Scan) -> Any:
    """Return a table of as many rows as a scan has, without a column of it, for queries that only count."""
    pyarrow = require("pyarrow", _WHAT)
    rows = table.count()
    full = pyarrow.record_batch({"rows": pyarrow.nulls(_ROWS, pyarrow.bool_())})
    return pyarrow.Table.from_batches([full] * (rows // _ROWS) + [full.slice(0, rows % _ROWS)])


def _walk(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _walk(part)


def _base_tables(tree: Any) -> Iterator[str]:
    for node in _walk(tree):
        if node.get("type") == "BASE_TABLE" and not node.get("schema_name") and not node.get("catalog_name"):
            yield str(node["table_name"])


def _only_counted(tree: Any) -> Iterator[str]:
    """Yield the table of `select count(*) from x`, and of nothing that is more than that."""
    statements = tree.get("statements") or []
    node = statements[0].get("node", {}) if len(statements) == 1 else {}
    table = node.get("from_table") or {}
    plain = node.get("type") == "SELECT_NODE" and table.get("type") == "BASE_TABLE"
    items = node.get("select_list") or []
    rest = ("where_clause", "group_expressions", "having", "qualify", "sample", "modifiers")
    if not plain or any(node.get(each) for each in rest) or table.get("sample") or table.get("at_clause"):
        return
    if (node.get("cte_map") or {}).get("map"):
        return
    if items and all(_is_count(item) for item in items):
        yield str(table["table_name"])


def _is_count(item: Mapping[str, Any]) -> bool:
    counts = (
        item.get("class") == "FUNCTION" and item.get("function_name") in _COUNT and not item.get("children")
    )
    return counts and not item.get("filter") and not item.get("distinct")


def _quoted(query: str) -> Iterator[str]:
    """Yield what stands in quotes in a query, by DuckDB's own tokens."""
    data = query.encode()
    tokens = require("duckdb", _WHAT).tokenize(query)
    ends = [place for place, _ in tokens[1:]] + [len(data)]
    for (start, _), end in zip(tokens, ends, strict=True):
        token = data[start:end].decode(errors="replace").strip()
        for quote in ("'", '"'):
            if (found := re.match(f"(?s){quote}((?:[^{quote}]|{quote}{quote})*){quote}", token)) is not None:
                yield found[1].replace(quote * 2, quote)


def _is_table(value: Any) -> bool:
    kinds = ("__arrow_c_stream__", "collect_schema", "scanner")
    return isinstance(value, Scan) or any(hasattr(type(value), each) for each in kinds)
