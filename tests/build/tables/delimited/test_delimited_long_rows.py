"""Rows over the limit: one bad row each, whatever their quotes hold and wherever the file is cut."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.build.support.delimited import Table, read_table
from tfrkit.build.tables.delimited import delimited, row_survey, row_windows
from tfrkit.build.tables.table import table as build_table
from tfrkit.records.read.reader import read_records

UNCLOSED = "quote or escape without an end"
LONG = "line too long"
BYTES = {"a": {"kind": "bytes"}, "b": {"kind": "bytes"}}


@contextmanager
def small(window: int, row_bytes: int) -> Iterator[None]:
    """Have windows of so many bytes, and rows of so many more than a field."""
    with (
        mock.patch.object(row_windows, "WINDOW_BYTES", window),
        mock.patch.object(row_survey, "SECTION_BYTES", 3 * window),
        mock.patch.object(delimited, "_WINDOW_ROWS", window),
        mock.patch("tfrkit.build.tables.delimited.row_layout._ROW_BYTES", row_bytes),
    ):
        yield


def read_small(data: bytes, window: int, row_bytes: int, **options: Any) -> Table:
    with tempfile.TemporaryDirectory() as folder, small(window, row_bytes):
        return read_table(Path(folder), data, BYTES, **{"names": ("a", "b"), **options})


def csv_rows(text: str) -> list[tuple[list[str], int, int]]:
    """Rows of Python's csv module: fields, line number, and bytes without the line end."""
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            taken.append(line)
            yield line

    rows, line = [], 1
    for row in csv.reader(lines()):
        raw = "".join(taken)
        content = raw.removesuffix("\n").removesuffix("\r") if raw.endswith("\r\n") else raw
        content = content[:-1] if content == raw and raw[-1] in "\r\n" else content
        if row:
            rows.append((row, line, len(content.encode())))
        line += len(taken)
        taken.clear()
    return rows


@settings(max_examples=150, deadline=None)
@given(st.text('a1,"\n\ré', max_size=60), st.integers(1, 12), st.integers(1, 12))
def test_rows_over_the_limit_are_those_of_pythons_csv_module(text: str, window: int, max_field: int) -> None:
    assume(csv_rows(text + "\nlast")[-1][0] == ["last"])  # no quote is left open
    table = read_small(text.encode(), window, 4, max_field=max_field)
    rows = csv_rows(text)
    long = [(line, LONG) for _, line, size in rows if size > max_field + 4]
    wide = [
        (line, "wrong number of fields")
        for row, line, size in rows
        if size <= max_field + 4 and len(row) != 2
    ]
    others = [
        (line, reason)
        for line, reason in table.bad_lines
        if reason not in (LONG, "wrong number of fields", "field too long")
    ]
    assert [bad for bad in table.bad_lines if bad[1] == LONG] == long
    assert [bad for bad in table.bad_lines if bad[1] == "wrong number of fields"] == wide
    assert not others
    good = {line for _, line, _ in rows} - {line for line, _ in table.bad_lines}
    expected = [tuple(field.encode() for field in row) for row, line, _ in rows if line in good]
    assert list(zip(table.values["a"], table.values["b"], strict=True)) == expected


@settings(max_examples=100, deadline=None)
@given(
    st.text('a1,"\n\r中\\', max_size=60),
    st.integers(1, 12),
    st.integers(0, 12),
    st.sampled_from(["utf-8", "gbk", "shift_jis", "utf-16-le"]),
)
def test_every_size_of_windows_gives_the_same_long_rows(
    text: str, window: int, row_bytes: int, encoding: str
) -> None:
    data = text.encode(encoding)
    for options in ({}, {"escape": "\\"}, {"kind": "tsv", "delimiter": ","}):
        given: dict[str, Any] = {"encoding": encoding, "max_field": 3, **options}
        whole = read_small(data, 1 << 20, row_bytes, **given)
        cut = read_small(data, window, row_bytes, **given)
        assert (cut.values, cut.bad, cut.survey.columns) == (whole.values, whole.bad, whole.survey.columns)


def long_text(lines: int) -> bytes:
    return b'"' + b"".join(b"%d,never a record\n" % i for i in range(lines)) + b'"'


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("window", [64, 1 << 20])
def test_lines_in_a_quoted_field_over_the_limit_are_no_records(
    tmp_path: Path, window: int, compress: bool
) -> None:
    data = b"a,b\n1,x\n2," + long_text(300) + b"\n3,z\nbad\n"
    with small(window, 1000):
        table = read_table(tmp_path, gzip.compress(data) if compress else data, max_field=100)
    assert table.values == {"a": [1, 3], "b": [b"x", b"z"]}
    assert table.bad_lines == [(3, LONG), (305, "wrong number of fields")]
    assert table.bad[0].detail == "its row has more than 1100 bytes (--max-field)"


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
@pytest.mark.parametrize("window", [64, 1 << 20])
def test_quotes_without_an_end_cost_one_line_however_much_follows(
    tmp_path: Path, window: int, encoding: str, compress: bool
) -> None:
    lines = [b"%d,\xa4\xa4" % i if encoding == "gbk" else b"%d,x" % i for i in range(300)]
    lines[7] = b'7,"open'
    data = b"a,b\n" + b"\n".join(lines) + b"\n"
    with small(window, 500):
        table = read_table(
            tmp_path, gzip.compress(data) if compress else data, max_field=100, encoding=encoding
        )
    assert table.values["a"] == [i for i in range(300) if i != 7]
    assert table.bad_lines == [(9, UNCLOSED)]


def test_a_separator_in_quotes_behind_the_limit_is_seen(tmp_path: Path) -> None:
    data = b"a,b,c\n1," + b"x" * 2000 + b',"\n2,y,z\n"\n3,4,5\n'
    with small(64, 500):
        table = read_table(tmp_path, data, max_field=100)
    assert table.values == {"a": [3], "b": [4], "c": [5]}
    assert table.bad_lines == [(2, LONG)]


def test_a_table_with_a_long_quoted_field_is_built_without_its_lines(tmp_path: Path) -> None:
    rows = 17_000_000 // len(b"1,never a record\n")
    (tmp_path / "x.csv").write_bytes(b"a,b\n1,x\n2," + long_text(rows) + b"\n3,z\n")
    report = build_table(
        str(tmp_path / "x.csv"), str(tmp_path / "out"), shards=1, max_field=1000, on_bad="skip"
    )
    assert (report.records, report.bad) == (2, {LONG: 1})
    assert len(list(read_records(str(tmp_path / "out" / "*.tfrecord")))) == 2
