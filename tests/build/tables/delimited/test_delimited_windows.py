"""Delimited text in windows and pieces: wherever a file is cut, its rows are the same."""

from __future__ import annotations

import csv
import io
import string
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.build.support.delimited import Table, input_file, quiet_watch, read_pieces, read_table, settled
from tfrkit import threads as thread_module
from tfrkit.build.tables.delimited import delimited, row_survey, row_windows
from tfrkit.build.tables.delimited.delimited import DelimitedFormat
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.threads import ThreadPool

UNCLOSED = "quote or escape without an end"
BYTES = {"a": {"kind": "bytes"}, "b": {"kind": "bytes"}}


def read_in_windows(data: bytes, size: int, **options: Any) -> Table:
    """Read a file as if windows had `size` bytes, and sections three times as many."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(row_windows, "WINDOW_BYTES", size),
        mock.patch.object(row_survey, "SECTION_BYTES", 3 * size),
        mock.patch.object(delimited, "_WINDOW_ROWS", size),
    ):
        return read_table(Path(folder), data, BYTES, names=("a", "b"), **options)


@settings(max_examples=100, deadline=None)
@given(st.text('a1,"\n\r é', max_size=40), st.integers(1, 12))
def test_rows_are_those_of_pythons_csv_module(text: str, size: int) -> None:
    table = read_in_windows(text.encode(), size)
    assume(UNCLOSED not in [reason for _, reason in table.bad_lines])
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    good = [[field.encode() for field in row] for row in rows if len(row) == 2]
    assert list(map(list, zip(table.values["a"], table.values["b"], strict=True))) == good
    assert len(table.bad) == len(rows) - len(good)


@settings(max_examples=50, deadline=None)
@given(
    st.text('a1,"\n\r中\\', max_size=40), st.integers(1, 12), st.sampled_from(["utf-8", "gbk", "utf-16-le"])
)
def test_every_size_of_windows_gives_the_same_rows(text: str, size: int, encoding: str) -> None:
    data = text.encode(encoding)
    for options in ({}, {"escape": "\\"}, {"kind": "tsv", "delimiter": ","}, {"max_field": 3}):
        whole = read_in_windows(data, 1 << 20, encoding=encoding, **options)
        cut = read_in_windows(data, size, encoding=encoding, **options)
        assert (cut.values, cut.bad, cut.survey.columns) == (whole.values, whole.bad, whole.survey.columns)


def test_rows_of_a_piece_can_be_read_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n" + b"".join(b"%d,x%d\nbad\n" % (i, i) for i in range(20)))
    form = DelimitedFormat(kind="csv")
    with mock.patch.object(row_windows, "WINDOW_BYTES", 40):
        survey = form.survey(input_file(path), quiet_watch())
        columns = settled(survey.columns, {})
        assert len(survey.pieces) > 5
        assert [piece.first_row for piece in survey.pieces][1:] == [
            piece.first_row + piece.rows for piece in survey.pieces
        ][:-1]
        whole, parts = quiet_watch(), quiet_watch()
        values = read_pieces(form, survey.pieces, columns, whole)
        again: list[Any] = []
        for piece in survey.pieces:
            for row in range(piece.rows):
                for batch in form.read(piece, range(row, row + 1), columns, parts):
                    again += batch["a"].to_pylist()
    assert values["a"] == again == list(range(20))
    assert whole.listed == parts.listed
    assert [bad.line for bad in whole.listed] == list(range(3, 43, 2))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_pieces_do_not_depend_on_the_number_of_threads(tmp_path: Path, threads: int) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n" + b"".join(b'%d,"x\ny%d"\n' % (i, i) for i in range(200)) + b'7,"\n8,9\n' * 9)
    form = DelimitedFormat(kind="csv")
    surveys = []
    for count in (1, threads):
        with (
            mock.patch.object(row_windows, "WINDOW_BYTES", 100),
            mock.patch.object(row_survey, "SECTION_BYTES", 250),
            mock.patch.object(thread_module, "default_threads", return_value=count),
            mock.patch.object(thread_module, "thread_pool", return_value=ThreadPool(count)),
        ):
            surveys.append(form.survey(input_file(path), quiet_watch()))
    assert surveys[0] == surveys[1]
    assert sum(piece.rows for piece in surveys[0].pieces) == 210


def test_a_row_larger_than_a_window_is_read(tmp_path: Path) -> None:
    with mock.patch.object(row_windows, "WINDOW_BYTES", 64):
        table = read_table(tmp_path, b"a,b\n1,x\n2," + b"y" * 5000 + b"\n3,z\n")
    assert table.values == {"a": [1, 2, 3], "b": [b"x", b"y" * 5000, b"z"]}
    assert len(table.survey.pieces) == 3


def test_a_field_over_the_limit_is_a_bad_line(tmp_path: Path) -> None:
    data = b'a,b\n1,12345\n2,123456\n"12345",1\n3,x\n'
    table = read_table(tmp_path, data, max_field=5)
    assert table.values == {"a": [1, 3], "b": [b"12345", b"x"]}
    assert [(bad.line, bad.reason, bad.detail) for bad in table.bad] == [
        (3, "field too long", "column 'b': more than 5 bytes (--max-field)"),
        (4, "field too long", "column 'a': more than 5 bytes (--max-field)"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
def test_a_line_of_any_length_is_passed_over_in_windows(tmp_path: Path, encoding: str) -> None:
    reads: list[int] = []
    long = "中".encode(encoding) * 1_000_000
    plain = row_windows.TextSource.text_of

    def text_of(self: Any, data: bytes) -> bytes:
        reads.append(len(data))
        return plain(self, data)

    with (
        mock.patch.object(row_windows, "WINDOW_BYTES", 1 << 12),
        mock.patch("tfrkit.build.tables.delimited.row_layout._ROW_BYTES", 1 << 14),
        mock.patch.object(row_windows.TextSource, "text_of", text_of),
    ):
        table = read_table(tmp_path, b"a,b\n1,x\n2," + long + b"\n3,z\n", max_field=10, encoding=encoding)
    assert table.values == {"a": [1, 3], "b": [b"x", b"z"]}
    assert table.bad_lines == [(3, "line too long")]
    assert max(reads) <= 1 << 16


def test_a_million_fields_in_a_row_are_a_bad_line(tmp_path: Path) -> None:
    table = read_table(tmp_path, b"a,b\n" + b"," * 1_000_000 + b"\n1,2\n")
    assert table.values == {"a": [1], "b": [2]}
    assert [bad.detail for bad in table.bad] == ["expected 2 but got 1000001"]


def test_a_million_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgumentError, match="line 1: expected at most 100,000 columns but got 1,000,001"
    ):
        read_table(tmp_path, b"," * 1_000_000 + b"\n")


def test_a_thousand_columns_are_read(tmp_path: Path) -> None:
    names = [f"{letter}{i}" for letter in string.ascii_lowercase for i in range(40)]
    data = ",".join(names) + "\n" + ",".join(map(str, range(len(names)))) + "\n"
    table = read_table(tmp_path, data.encode())
    assert table.values == {name: [i] for i, name in enumerate(names)}


def test_rows_that_pyarrow_refuses_are_found_one_by_one(tmp_path: Path) -> None:
    """The scanner is stricter than pyarrow; if ever it is not, the line is bad and the others are kept."""
    checks = "tfrkit.build.tables.delimited.delimited_columns.ColumnPlan.checks"
    with mock.patch(checks, lambda plan: [(0, 0, False, False, b"")] * plan.width):
        table = read_table(tmp_path, b"a,b\n1,x\nq,y\n3,z\nr,v\n", {"a": {"kind": "int64"}})
    assert table.values == {"a": [1, 3], "b": [b"x", b"z"]}
    assert table.bad_lines == [(3, "cannot be read"), (5, "cannot be read")]


def test_a_file_that_becomes_shorter_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n1,2\n3,4\n")
    form = DelimitedFormat(kind="csv")
    survey = form.survey(input_file(path), quiet_watch())
    path.write_bytes(b"a,b\n1,2")
    with pytest.raises(DataLossError, match="the file has become shorter while it was read"):
        read_pieces(form, survey.pieces, settled(survey.columns, {}), quiet_watch())
