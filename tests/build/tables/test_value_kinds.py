"""Which kind a column was settled to, and the first value because of which it is not what most values are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tfrkit import build
from tfrkit.build.job.column_report import ColumnCause
from tfrkit.build.job.job import dry_run
from tfrkit.build.tables.delimited import row_survey, row_windows
from tfrkit.build.tables.table import plan_table
from tfrkit.build.tables.table_format import ValueKinds, shown_value
from tfrkit.build.tables.table_options import TableOptions


def settled(inputs, tmp_path, **options):
    """Column by column: kind, counts, and what the cause is."""
    job = plan_table(inputs, tmp_path / "out", TableOptions(**options))
    return {column.name: (column.kind, dict(column.values), column.cause) for column in job.columns}


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("at", [0, 17, 40_000])
def test_one_text_among_integers_is_named_with_its_line(at, tmp_path):
    rows = [str(number) for number in range(40_001)]
    rows[at] = "oops"
    path = put(tmp_path / "in.csv", "n\n" + "\n".join(rows) + "\n")
    report = build.table(path, tmp_path / "out")
    [column] = report.columns
    assert (column.kind, column.values) == ("bytes", {"int64": 40_000, "bytes": 1})
    assert column.cause == ColumnCause("in.csv", at + 2, "oops")
    assert column.remark == (
        "column 'n' is bytes though 40,000 of 40,001 values are int64: the first other is 'oops' in in.csv, line "
        f"{at + 2}"
    )
    (entry,) = json.loads((tmp_path / "out" / "report.json").read_text())["jobs"].values()
    assert entry["columns"] == [
        {
            "name": "n",
            "feature": "n",
            "kind": "bytes",
            "values": {"int64": 40_000, "bytes": 1},
            "cause": {"source": "in.csv", "line": at + 2, "value": "oops", "most": "int64"},
        }
    ]
    assert dry_run(plan_table(path, tmp_path / "new", TableOptions())).columns == report.columns
    assert build.table(path, tmp_path / "out").columns == report.columns  # also if it is complete
    assert report.to_dict()["columns"] == entry["columns"]


def test_columns_that_are_what_most_values_are_have_no_cause(tmp_path):
    path = put(tmp_path / "in.csv", "i,f,t,e\n1,1.5,a,\n2,2.5,b,\n3,3,7,\n")
    assert settled(path, tmp_path) == {
        "i": ("int64", {"int64": 3}, None),
        "f": ("float", {"int64": 1, "float": 2}, None),
        "t": ("bytes", {"int64": 1, "bytes": 2}, None),
        "e": ("bytes", {}, None),
    }


def test_kinds_that_the_user_gives_have_no_cause(tmp_path):
    path = put(tmp_path / "in.csv", "n\n1\n2\nx\n")
    assert settled(path, tmp_path, column=["n:bytes"]) == {"n": ("bytes", {"int64": 2, "bytes": 1}, None)}


def test_first_fraction_among_integers(tmp_path):
    path = put(tmp_path / "in.tsv", "n\tm\n1\tx\n2\ty\n2.5\tz\n3.5\tz\n4\tz\n")
    assert settled(path, tmp_path)["n"] == (
        "float",
        {"int64": 3, "float": 2},
        ColumnCause("in.tsv", 4, "2.5"),
    )


def test_bad_rows_do_not_count_and_lines_in_quotes_do(tmp_path):
    path = put(tmp_path / "in.csv", 'n,t\n1,"a\nb"\noops\nno,x,y\n2,"c\n\nd"\n\n007,e\n3,f\n')
    found = settled(path, tmp_path)
    assert found["n"] == ("bytes", {"int64": 3, "bytes": 1}, ColumnCause("in.csv", 10, "007"))
    assert found["t"] == ("bytes", {"bytes": 4}, None)


@pytest.mark.parametrize("packed", [False, True])
def test_windows_and_sections_do_not_matter(packed, tmp_path, monkeypatch):
    rows = [str(number) for number in range(5000)]
    rows[3210] = '"a\nb"'
    rows[4000] = "later"
    text = ("n\n" + "\n".join(rows) + "\n").encode()
    path = tmp_path / ("in.csv.gz" if packed else "in.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    monkeypatch.setattr(row_windows, "WINDOW_BYTES", 300)
    monkeypatch.setattr(row_survey, "SECTION_BYTES", 2000)
    monkeypatch.setattr(row_survey, "_LOOK_BYTES", 100)
    assert settled(path, tmp_path)["n"] == (
        "bytes",
        {"int64": 4998, "bytes": 2},
        ColumnCause(path.name, 3212, "a\nb"),
    )


def test_the_first_file_that_has_such_a_value_is_named(tmp_path):
    put(tmp_path / "in" / "a.csv", "n\n1\n2\n")
    put(tmp_path / "in" / "b.csv", "n\n3\nx\n")
    put(tmp_path / "in" / "c.csv", "n\ny\n5\n6\n")
    assert settled(tmp_path / "in", tmp_path)["n"] == (
        "bytes",
        {"int64": 5, "bytes": 2},
        ColumnCause("b.csv", 3, "x"),
    )


def test_hive_lists_and_maps(tmp_path):
    rows = ["1\x022\x01a\x031\x02b\x032", "3\x01c\x033", "4\x02x\x01d\x03y", "5\x01e\x034"]
    path = put(tmp_path / "in", "\n".join(rows) + "\n")
    found = settled(path, tmp_path, format="hive", names=["ids", "m"])
    assert found["ids"] == ("bytes", {"int64": 3, "bytes": 1}, ColumnCause("in", 3, "4\x02x"))
    assert found["m/key"] == ("bytes", {"bytes": 4}, None)
    assert found["m/value"] == ("bytes", {"int64": 3, "bytes": 1}, ColumnCause("in", 3, "d\x03y"))


def test_values_of_folders(tmp_path):
    for name, rows in (("1", 3), ("2", 2), ("x", 1)):
        put(tmp_path / "in" / f"p={name}" / "a.csv", "n\n" + "7\n" * rows)
    assert settled(tmp_path / "in", tmp_path)["p"] == (
        "bytes",
        {"int64": 5, "bytes": 1},
        ColumnCause("p=x/a.csv", None, "x"),
    )


# -- JSON lines ------------------------------------------------------------------------------------------------------


def json_lines(values: list[str]) -> str:
    return "".join(f'{{"n": {value}}}\n' for value in values)


@pytest.mark.parametrize("odd", ['"oops"', "2.5", "2.0"])
@pytest.mark.parametrize("at", [0, 7, 99_999])
def test_one_odd_value_of_json_is_named_with_its_line(odd, at, tmp_path):
    values = [str(number) for number in range(100_000)]  # some blocks
    values[at] = odd
    path = put(tmp_path / "in.jsonl", json_lines(values))
    kind = "bytes" if odd.startswith('"') else "float"
    assert settled(path, tmp_path)["n"] == (
        kind,
        {"int64": 99_999, kind: 1},
        ColumnCause("in.jsonl", at + 1, odd.strip('"')),
    )


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (["1.0", "2.0", "3.0"], {"float": 3}),
        (["1.5", "2.0", "3.0"], {"float": 3}),
        (["1.5", "2", "3.5"], {"int64": 1, "float": 2}),
        (["1.5", "null", "3.5"], {"float": 2}),
        (["true", "2", "3"], {"int64": 3}),
        (["[1, 2]", "[2.5]", "[1.5]"], {"float": 3}),
    ],
)
def test_json_columns_without_a_cause(values, counts, tmp_path):
    path = put(tmp_path / "in.jsonl", json_lines(values))
    kind, found, cause = settled(path, tmp_path)["n"]
    assert (kind, found, cause) == (kind, counts, None)


def test_whole_numbers_of_later_blocks_count_as_the_file_writes_them(tmp_path):
    values = ["0.5", *(f"{number}.0" for number in range(200_000)), "1.5"]
    path = put(tmp_path / "in.jsonl", json_lines(values))
    assert settled(path, tmp_path)["n"] == ("float", {"float": 200_002}, None)


def test_empty_and_bad_lines_of_json_have_numbers(tmp_path):
    path = put(tmp_path / "in.jsonl", '{"n": 1}\n\n{"n": \n{"n": 2}\n{"n": "x"}\n{"n": 3}\n')
    assert settled(path, tmp_path)["n"] == (
        "bytes",
        {"int64": 3, "bytes": 1},
        ColumnCause("in.jsonl", 5, "x"),
    )


# -- formats with types ----------------------------------------------------------------------------------------------


def test_files_whose_types_differ(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "in").mkdir()
    parquet.write_table(pyarrow.table({"n": [1, 2, 3]}), tmp_path / "in" / "a.parquet")
    parquet.write_table(pyarrow.table({"n": ["x"]}), tmp_path / "in" / "b.parquet")
    assert settled(tmp_path / "in", tmp_path)["n"] == (
        "bytes",
        {"int64": 3, "bytes": 1},
        ColumnCause("b.parquet", None, "the type string"),
    )


def test_tables_in_memory_say_their_types(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    assert settled(pyarrow.table({"n": [1, 2], "f": [0.5, None]}), tmp_path) == {
        "n": ("int64", {"int64": 2}, None),
        "f": ("float", {"float": 2}, None),
    }


# -- the parts -------------------------------------------------------------------------------------------------------


def test_long_values_are_cut():
    assert shown_value("x" * 100) == "x" * 57 + "..."
    assert shown_value(b"\xff") == "\\xff"


def test_a_tie_is_no_cause():
    kinds = ValueKinds({"int64": 2, "bytes": 2}, {"bytes": ColumnCause("a", 1, "x")})
    assert kinds.cause("bytes") is None
    assert kinds.cause("float") is None
