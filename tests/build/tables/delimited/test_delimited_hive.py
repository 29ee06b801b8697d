r"""Hive's text files: \x01, \x02 and \x03, \N, escapes."""

from __future__ import annotations

from pathlib import Path

from tests.build.support.delimited import read_table
from tfrkit.build.tables.table_format import Seen


def test_fields_are_numbered_and_null_is_a_backslash_and_n(tmp_path: Path) -> None:
    table = read_table(
        tmp_path, b"1\x01x\x010.5\n\\N\x01\\N\x01\\N\n2\x01\x01\n", kind="hive", name="000000_0"
    )
    assert table.values == {"_c0": [1, None, 2], "_c1": [b"x", None, b""], "_c2": [0.5, None, None]}


def test_names_can_be_given(tmp_path: Path) -> None:
    table = read_table(tmp_path, b"1\x01x\n", kind="hive", names=("id", "s"))
    assert table.values == {"id": [1], "s": [b"x"]}


def test_quotes_tabs_and_commas_are_characters(tmp_path: Path) -> None:
    table = read_table(tmp_path, b'"a\x01b,\tc"\n', kind="hive")
    assert table.values == {"_c0": [b'"a'], "_c1": [b'b,\tc"']}


def test_arrays_are_lists(tmp_path: Path) -> None:
    table = read_table(tmp_path, b"1\x022\x01a\x02b\n3\x01\n\x01c\n\\N\x01\\N\n", kind="hive")
    assert table.values == {"_c0": [[1, 2], [3], [], None], "_c1": [[b"a", b"b"], [], [b"c"], None]}
    assert table.survey.columns["_c0"] == Seen.INT | Seen.NULL | Seen.LIST


def test_maps_are_a_list_of_keys_and_a_list_of_values(tmp_path: Path) -> None:
    data = b"a\x031\x02b\x032\x01x\n\x01y\nc\x03\x01z\n\\N\x01v\nd\x01w\n"
    table = read_table(tmp_path, data, kind="hive", names=("m", "s"))
    assert table.values["m/key"] == [[b"a", b"b"], [], [b"c"], None]
    assert table.values["m/value"] == [[b"1", b"2"], [], [b""], None]
    assert table.values["s"] == [b"x", b"y", b"z", b"v"]
    assert [(bad.line, bad.reason, bad.detail) for bad in table.bad] == [
        (5, "map entry without a key", "column 'm': got 'd'")
    ]


def test_values_of_maps_can_be_numbers(tmp_path: Path) -> None:
    table = read_table(tmp_path, b"a\x031\x02b\x032.5\n7\x033\n", kind="hive", names=("m",))
    assert table.values == {"m/key": [[b"a", b"b"], [b"7"]], "m/value": [[1.0, 2.5], [3.0]]}


def test_nulls_inside_of_arrays_are_bad_lines(tmp_path: Path) -> None:
    table = read_table(tmp_path, b"1\x02\\N\n1\x022\n", kind="hive")
    assert table.values == {"_c0": [[b"1", b"2"]]}
    assert table.bad_lines == [(1, "null inside of a list")]


def test_escapes_hide_separators_and_line_ends(tmp_path: Path) -> None:
    data = b"a\\\x01b\x01back\\\\n\n\\N\x01two\\nlines\\r\nN\x01real\\\nend\nbad\n"
    table = read_table(tmp_path, data, kind="hive", escape="\\")
    assert table.values == {
        "_c0": [b"a\x01b", None, b"N"],
        "_c1": [b"back\\n", b"two\nlines\r", b"real\nend"],
    }
    assert table.bad_lines == [(5, "wrong number of fields")]


def test_one_column_has_empty_lines_as_values(tmp_path: Path) -> None:
    assert read_table(tmp_path, b"x\n\ny\n", kind="hive").values == {"_c0": [b"x", b"", b"y"]}
