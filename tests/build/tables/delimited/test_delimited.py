"""Delimited text: rows, quotes, line ends, headers, types and bad lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build.support.delimited import read_table
from tfrkit.build.tables.delimited.delimited import DelimitedFormat
from tfrkit.build.tables.table_format import Seen
from tfrkit.errors import InvalidArgumentError


def test_csv_gives_columns_by_the_names_of_its_header(tmp_path: Path) -> None:
    table = read_table(tmp_path, b'id,score,name\n1,0.5,Ada\n2,3,"Grace, H."\n')
    assert table.values == {"id": [1, 2], "score": [0.5, 3.0], "name": [b"Ada", b"Grace, H."]}
    assert dict(table.survey.columns) == {"id": Seen.INT, "score": Seen.INT | Seen.FLOAT, "name": Seen.TEXT}


def test_quoted_fields_hold_line_ends_separators_and_quotes(tmp_path: Path) -> None:
    table = read_table(tmp_path, b'a,b\n"x\ny","p,q"\r\n"say ""hi""","t\tu\r\nv"\n')
    assert table.values == {"a": [b"x\ny", b'say "hi"'], "b": [b"p,q", b"t\tu\r\nv"]}
    assert not table.bad


def test_quotes_inside_of_a_field_are_characters(tmp_path: Path) -> None:
    table = read_table(tmp_path, b'a,b\n5" pipe,x"y"\n"a"b,"c"" d\n')
    assert table.values == {"a": [b'5" pipe'], "b": [b'x"y"']}
    assert table.bad_lines == [(3, "quote or escape without an end")]
    assert read_table(tmp_path, b'a,b\n"a"b,c\n').values == {"a": [b"ab"], "b": [b"c"]}


def test_tsv_has_no_quotes_unless_asked_for(tmp_path: Path) -> None:
    data = b'a\tb\n"x\t1\n'
    assert read_table(tmp_path, data, kind="tsv").values == {"a": [b'"x'], "b": [1]}
    quoted = read_table(tmp_path, b'a\tb\n"x\ty\n"\t1\n', kind="tsv", quote='"')
    assert quoted.values == {"a": [b"x\ty\n"], "b": [1]}


def test_any_character_can_separate_fields(tmp_path: Path) -> None:
    assert read_table(tmp_path, b"a;b\n1,5;2\n", delimiter=";").values == {"a": [b"1,5"], "b": [2]}
    assert read_table(tmp_path, b"a|b\n1|2\n", kind="tsv", delimiter="|").values == {"a": [1], "b": [2]}


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_in_every_way_and_the_last_need_not(tmp_path: Path, end: bytes) -> None:
    data = end.join([b"a,b", b"1,x", b"2,y"])
    for text in (data, data + end, data + end + end):
        assert read_table(tmp_path, text).values == {"a": [1, 2], "b": [b"x", b"y"]}


def test_line_ends_may_be_mixed(tmp_path: Path) -> None:
    table = read_table(tmp_path, b"a,b\r\n1,x\n2,y\r3,z\r\n\n\r4\r\n5,v")
    assert table.values == {"a": [1, 2, 3, 5], "b": [b"x", b"y", b"z", b"v"]}
    assert table.bad_lines == [(7, "wrong number of fields")]


def test_rows_of_another_width_are_bad_lines(tmp_path: Path) -> None:
    table = read_table(tmp_path, b"a,b\n1,2\n3\n4,5,6\n,\n\n7,8\n")
    assert table.values == {"a": [1, None, 7], "b": [2, None, 8]}
    assert [(bad.source, bad.line, bad.reason, bad.detail) for bad in table.bad] == [
        ("table", 3, "wrong number of fields", "expected 2 but got 1"),
        ("table", 4, "wrong number of fields", "expected 2 but got 3"),
    ]


def test_bad_lines_are_fatal_if_asked_for(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^table, line 3: wrong number of fields: expected 2 but got 1"
    ):
        read_table(tmp_path, b"a,b\n1,2\n3\n", on_bad="raise")


def test_line_numbers_count_line_ends_inside_of_quotes(tmp_path: Path) -> None:
    table = read_table(tmp_path, b'a,b\n"1\n2\r3\r\n4",x\nbad\n"5\n",y,\n')
    assert table.bad_lines == [(6, "wrong number of fields"), (7, "wrong number of fields")]


def test_a_quote_without_an_end_costs_only_its_line(tmp_path: Path) -> None:
    table = read_table(tmp_path, b'a,b\n1,"x\n2,y\n3,z\n')
    assert table.values == {"a": [2, 3], "b": [b"y", b"z"]}
    assert table.bad_lines == [(2, "quote or escape without an end")]


def test_empty_numbers_are_null_and_empty_texts_are_texts(tmp_path: Path) -> None:
    table = read_table(tmp_path, b'i,f,s\n1,0.5,x\n,,\n"","",""\n')
    assert table.values == {"i": [1, None, None], "f": [0.5, None, None], "s": [b"x", b"", b""]}


def test_texts_for_null_are_null_in_every_column(tmp_path: Path) -> None:
    table = read_table(tmp_path, b"i,s\nNA,x\n1,NA\n2,-\n", nulls=("NA", "-"))
    assert table.values == {"i": [None, 1, 2], "s": [b"x", None, None]}
    empty = read_table(tmp_path, b"i,s\n,x\n1,\n", nulls=("",))
    assert empty.values == {"i": [None, 1], "s": [b"x", None]}


def test_null_values_stand_in_for_nulls(tmp_path: Path) -> None:
    given = {"i": {"null_value": -1}, "f": {"null_value": 0.5}, "s": {"null_value": b"?"}}
    table = read_table(tmp_path, b"i,f,s\n1,1.5,x\n,,NA\n", given, nulls=("NA",))
    assert table.values == {"i": [1, -1], "f": [1.5, 0.5], "s": [b"x", b"?"]}


def test_kinds_follow_from_all_values(tmp_path: Path) -> None:
    data = (
        b"whole,big,zeros,plus,real,minus,special,spaced,text,nothing\n"
        b"1,9223372036854775807,1,1,1,1,1,1,1,\n"
        b"-9223372036854775808,9223372036854775808,007,+5,1e5,-0,nan, 5 ,x,\n"
    )
    kinds = {name: seen & ~Seen.NULL for name, seen in read_table(tmp_path, data).survey.columns.items()}
    number = Seen.INT | Seen.FLOAT
    assert kinds == {
        "whole": Seen.INT,
        "big": Seen.TEXT,
        "zeros": Seen.TEXT,
        "plus": Seen.TEXT,
        "real": number,
        "minus": number,
        "special": number,
        "spaced": Seen.INT,
        "text": Seen.TEXT,
        "nothing": Seen.NOTHING,
    }


def test_a_misfit_with_given_types_is_a_bad_line(tmp_path: Path) -> None:
    given = {"i": {"kind": "int64"}, "f": {"kind": "float"}, "s": {"kind": "bytes"}}
    data = b"i,f,s\n007,+5,1\n1.5,1,2\n1,abc,3\n9223372036854775808,1,4\n0x10,1,5\n 8 ,1e400,6\n"
    table = read_table(tmp_path, data, given)
    assert table.values == {"i": [7, 8], "f": [5.0, float("inf")], "s": [b"1", b"6"]}
    assert [(bad.line, bad.reason, bad.detail) for bad in table.bad] == [
        (3, "not an int64", "column 'i': got '1.5'"),
        (4, "not a number", "column 'f': got 'abc'"),
        (5, "not an int64", "column 'i': got '9223372036854775808'"),
        (6, "not an int64", "column 'i': got '0x10'"),
    ]


def test_lists_are_cut_at_their_separator(tmp_path: Path) -> None:
    given = {
        "ids": {"kind": "int64", "separator": "|"},
        "w": {"kind": "float", "separator": ", "},
        "tags": {"kind": "bytes", "separator": "|"},
    }
    data = b'ids,w,tags\n1|2, 0.5,a||b\n,,\n 3 | 4,"1, 2",x\n1|x,1,y\n5,1|2,z\n'
    table = read_table(tmp_path, data, given)
    assert table.values == {
        "ids": [[1, 2], [], [3, 4]],
        "w": [[0.5], [], [1.0, 2.0]],
        "tags": [[b"a", b"", b"b"], [], [b"x"]],
    }
    assert table.bad_lines == [(5, "not an int64"), (6, "not a number")]


def test_nulls_of_lists_are_absent_or_one_value(tmp_path: Path) -> None:
    data = b"a,b\nNA,NA\n1|2,3\n1|NA,3\n"
    given = {
        "a": {"kind": "int64", "separator": "|"},
        "b": {"kind": "int64", "separator": "|", "null_value": -1},
    }
    table = read_table(tmp_path, data, given, nulls=("NA",))
    assert table.values == {"a": [None, [1, 2]], "b": [[-1], [3]]}
    assert [(bad.line, bad.reason, bad.detail) for bad in table.bad] == [
        (4, "null inside of a list", "column 'a': got '1|NA'")
    ]


def test_names_can_be_given_instead_of_a_header(tmp_path: Path) -> None:
    assert read_table(tmp_path, b"1,x\n", names=("a", "b")).values == {"a": [1], "b": [b"x"]}
    assert read_table(tmp_path, b"p,q\n1,x\n", names=("a", "b"), header=True).values == {
        "a": [1],
        "b": [b"x"],
    }
    assert read_table(tmp_path, b"1,x\n", header=False).values == {"_c0": [1], "_c1": [b"x"]}


def test_names_of_another_number_make_all_lines_bad(tmp_path: Path) -> None:
    assert read_table(tmp_path, b"1,x\n", names=("a",)).bad_lines == [(1, "wrong number of fields")]


def test_empty_names_in_a_header_are_numbered(tmp_path: Path) -> None:
    assert read_table(tmp_path, b",b\n1,2\n").values == {"_c0": [1], "b": [2]}


def test_names_twice_in_a_header_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"table, line 1: expected names .* differ but got 'a' twice"
    ):
        read_table(tmp_path, b"a,b,a\n1,2,3\n")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_has_no_columns(tmp_path: Path, data: bytes) -> None:
    survey = read_table(tmp_path, data).survey
    assert (dict(survey.columns), survey.pieces) == ({}, ())


def test_a_header_alone_has_columns_and_no_rows(tmp_path: Path) -> None:
    survey = read_table(tmp_path, b"a,b\r\n").survey
    assert (dict(survey.columns), survey.pieces) == ({"a": Seen.NOTHING, "b": Seen.NOTHING}, ())


def test_blank_lines_are_values_only_in_one_column_without_quotes(tmp_path: Path) -> None:
    assert read_table(tmp_path, b"a\nx\n\ny\n", kind="tsv").values == {"a": [b"x", b"", b"y"]}
    assert read_table(tmp_path, b'a\nx\n\n""\ny\n', kind="csv").values == {"a": [b"x", b"", b"y"]}
    assert read_table(tmp_path, b"a\tb\nx\ty\n\nz\tv\n", kind="tsv").values == {
        "a": [b"x", b"z"],
        "b": [b"y", b"v"],
    }


def test_nul_bytes_are_bytes(tmp_path: Path) -> None:
    assert read_table(tmp_path, b"a,b\n\0,x\0y\n").values == {"a": [b"\0"], "b": [b"x\0y"]}


def test_escapes_make_plain_characters(tmp_path: Path) -> None:
    table = read_table(tmp_path, b'a,b\nx\\,y,\\"z\n"q\\"",n\\\nm\n', escape="\\")
    assert table.values == {"a": [b"x,y", b'q"'], "b": [b'"z', b"n\nm"]}


@pytest.mark.parametrize(
    "options", [{"delimiter": "||"}, {"delimiter": "\n"}, {"delimiter": "é"}, {"quote": "''"}]
)
def test_other_than_one_ascii_character_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(InvalidArgumentError, match="Expected one ASCII character"):
        DelimitedFormat(kind="csv", **options)  # type: ignore[arg-type]


def test_names_must_differ() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"Expected names \(--names\) that differ but got a, b, a\."
    ):
        DelimitedFormat(kind="csv", names=("a", "b", "a"))


def test_delimiter_quote_and_escape_must_differ() -> None:
    with pytest.raises(InvalidArgumentError, match="Expected delimiter, quote and escape to differ"):
        DelimitedFormat(kind="csv", delimiter='"')
