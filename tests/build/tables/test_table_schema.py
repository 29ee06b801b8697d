"""Kinds of columns are settled over all inputs, and what the user says about columns is checked."""

from __future__ import annotations

import pytest

from tfrkit.build.tables.table_format import InputFile, Seen, Survey, TablePiece
from tfrkit.build.tables.table_options import TableOptions
from tfrkit.build.tables.table_schema import ColumnChoice, choose_columns, feature_spec, parse_column, settle
from tfrkit.errors import InvalidArgumentError


def survey(
    columns: dict[str, Seen], partition: dict[str, str] | None = None, rows: int = 1, **more
) -> Survey:
    file = InputFile("f", "f", partition or {}, 10)
    return Survey(file, columns, (TablePiece(file, 0, 1, 0, rows, 1, 10),) if rows else (), **more)


def kinds(*surveys: Survey, **choice) -> dict[str, str]:
    return {column.name: column.kind for column in settle(surveys, ColumnChoice(**choice))}


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        (Seen.INT, "int64"),
        (Seen.INT | Seen.NULL, "int64"),
        (Seen.INT | Seen.FLOAT, "float"),
        (Seen.FLOAT, "float"),
        (Seen.INT | Seen.TEXT, "bytes"),
        (Seen.LIST | Seen.INT, "int64"),
        (Seen.NULL, "bytes"),
        (Seen.LIST, "bytes"),
    ],
)
def test_kind_is_the_narrowest_that_holds_all_values(seen, kind):
    assert kinds(survey({"a": seen})) == {"a": kind}


def test_kinds_are_settled_over_all_files():
    assert kinds(survey({"a": Seen.INT}), survey({"a": Seen.FLOAT}), survey({"b": Seen.TEXT})) == {
        "a": "float",
        "b": "bytes",
    }


def test_column_that_a_file_lacks_counts_as_null():
    a, b = settle([survey({"a": Seen.INT}), survey({"b": Seen.INT, "a": Seen.INT})], ColumnChoice())
    assert (a.seen, b.seen) == (Seen.INT, Seen.INT | Seen.NULL)


def test_file_without_rows_says_nothing():
    assert kinds(survey({"a": Seen.TEXT}, rows=0), survey({"a": Seen.INT})) == {"a": "int64"}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2"], "int64"),
        (["1", "__HIVE_DEFAULT_PARTITION__"], "int64"),
        (["1", "2.5"], "float"),
        (["01"], "bytes"),
        (["9223372036854775808"], "bytes"),
        (["2024-01-01"], "bytes"),
    ],
)
def test_columns_of_paths_are_settled_too(values, kind):
    assert kinds(*(survey({}, {"p": value}) for value in values)) == {"p": kind}


def test_column_in_file_and_path_is_an_error():
    with pytest.raises(InvalidArgumentError, match="'p' is both in the file and in the path"):
        settle([survey({"p": Seen.INT}, {"p": "1"})], ColumnChoice())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:float", ("a", "float", None)),
        ("a:int", ("a", "int64", None)),
        ("a b:string", ("a b", "bytes", None)),
        ("a:b:float32", ("a:b", "float", None)),
        ("t:bytes[|]", ("t", "bytes", "|")),
        ("t:bytes[:]", ("t", "bytes", ":")),
        ("t:bytes[]", ("t", "bytes", None)),
        (r"t:int64[\t]", ("t", "int64", "\t")),
        (r"t:int64[\x02]", ("t", "int64", "\x02")),
        (r"t:int64[\\]", ("t", "int64", "\\")),
        ("中:bytes[、]", ("中", "bytes", "、")),
    ],
)
def test_column_option_is_name_kind_separator(text, expected):
    assert parse_column(text) == expected


def test_column_option_of_another_form_is_an_error():
    with pytest.raises(InvalidArgumentError, match=r"Expected NAME:KIND or NAME:KIND\[SEPARATOR\].*'fea1'"):
        parse_column("fea1")
    with pytest.raises(
        InvalidArgumentError, match=r"Column 'fea1': expected int64, float or bytes.*'double'"
    ):
        parse_column("fea1:double")
    with pytest.raises(InvalidArgumentError, match="'a' is given twice, with different kinds"):
        choose_columns(TableOptions(column=["a:float", "a:bytes"]))


def test_given_kinds_win():
    assert kinds(survey({"a": Seen.TEXT, "b": Seen.INT}), kinds={"a": ("int64", None)}) == {
        "a": "int64",
        "b": "int64",
    }


def test_columns_are_chosen_dropped_and_renamed():
    columns = dict.fromkeys("abcd", Seen.INT)
    found = settle([survey(columns)], ColumnChoice(only=("c", "a", "b"), drop=("b",), renamed={"a": "A"}))
    assert [(column.name, column.feature) for column in found] == [("c", "c"), ("a", "A")]


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ({"only": ("labe",)}, r"columns \(--columns\): no input has a column 'labe'. Did you mean 'label'"),
        ({"drop": ("x",)}, r"drop \(--drop\): no input has a column 'x'. There are 'label', 'b'"),
        ({"kinds": {"x": ("float", None)}}, r"column \(--column\): no input has a column 'x'"),
        ({"renamed": {"x": "y"}}, r"rename \(--name\): no input has a column 'x'"),
        ({"null_values": {"x": 1}}, r"null_value \(--null-value\): no input has a column 'x'"),
        ({"only": ("b", "b")}, "a name is given twice"),
        ({"drop": ("label", "b")}, "all of them are left out"),
        ({"renamed": {"b": "label"}}, "Columns 'label' and 'b' would both be the feature 'label'"),
        ({"null_value": "none"}, "'none' is not a valid int64, which column 'label' needs"),
        ({"null_values": {"b": "1.5"}}, "'1.5' is not a valid int64, which column 'b' needs"),
    ],
)
def test_wrong_choice_is_an_error(choice, text):
    with pytest.raises(InvalidArgumentError, match=text):
        settle([survey({"label": Seen.INT, "b": Seen.INT})], ColumnChoice(**choice))


@pytest.mark.parametrize("given", [2**53 + 1, str(2**53 + 3), -(2**63), 2**63 - 1, "-1", 3.0])
def test_null_values_of_integers_may_have_all_64_bits(given):
    [found] = settle([survey({"a": Seen.INT})], ColumnChoice(null_value=given))
    assert found.null_value == int(given)


@pytest.mark.parametrize("given", [2**63, str(-(2**63) - 1), 1.5, float("inf")])
def test_null_values_that_are_no_int64_are_refused(given):
    with pytest.raises(InvalidArgumentError, match="is not a valid int64, which column 'a' needs"):
        settle([survey({"a": Seen.INT})], ColumnChoice(null_value=given))


def test_null_values_are_of_the_kind_of_the_column():
    columns = {"i": Seen.INT, "f": Seen.FLOAT, "b": Seen.TEXT}
    found = settle([survey(columns)], ColumnChoice(null_value="-1", null_values={"b": b"\xff"}))
    assert [column.null_value for column in found] == [-1, -1.0, b"\xff"]


def test_refused_column_is_an_error_only_if_it_is_wanted():
    given = survey({"a": Seen.INT, "m": Seen.NOTHING}, refused={"m": "maps have no place. Cast it"})
    with pytest.raises(
        InvalidArgumentError, match=r"f: column 'm': maps have no place\. Cast it, or leave it out: --drop m"
    ):
        settle([given], ColumnChoice())
    assert kinds(given, drop=("m",)) == {"a": "int64"}


def test_too_many_columns_are_an_error():
    with pytest.raises(InvalidArgumentError, match="at most 20,000 columns"):
        settle([survey({str(n): Seen.INT for n in range(20_001)})], ColumnChoice())


def test_no_columns_are_an_error():
    with pytest.raises(InvalidArgumentError, match="columns in the inputs but found none"):
        settle([survey({})], ColumnChoice())


def test_spec_has_one_value_only_where_every_row_has_one():
    columns = {
        "a": Seen.INT,
        "b": Seen.INT | Seen.NULL,
        "c": Seen.FLOAT | Seen.LIST,
        "d": Seen.TEXT | Seen.NULL,
    }
    found = settle([survey(columns)], ColumnChoice(null_values={"d": "x"}))
    spec = feature_spec(found)
    assert spec is not None
    shown = {name: type(feature).__name__ for name, feature in spec.items()}
    assert shown == {
        "a": "FixedLenFeature",
        "b": "VarLenFeature",
        "c": "VarLenFeature",
        "d": "FixedLenFeature",
    }


def test_all_refused_columns_are_named_in_one_error():
    with pytest.raises(InvalidArgumentError) as caught:
        settle(
            [
                survey(dict.fromkeys("amn", Seen.INT), refused={"m": "maps have no place. Cast it"}),
                Survey(
                    InputFile("g", "g", {}, 10),
                    {"x,y": Seen.NOTHING, "m": Seen.NOTHING},
                    (),
                    refused={"x,y": "unions have no place. Cast it", "m": "another"},
                ),
            ],
            ColumnChoice(),
        )
    # A file without rows says nothing of its columns, so what it has is not wanted.
    assert str(caught.value) == "f: column 'm': maps have no place. Cast it, or leave it out: --drop m."
    file = InputFile("g", "g", {}, 10)
    with pytest.raises(InvalidArgumentError) as caught:
        settle(
            [
                survey(dict.fromkeys("amn", Seen.INT), refused={"m": "maps have no place. Cast it"}),
                Survey(
                    file,
                    {"x,y": Seen.NOTHING},
                    (TablePiece(file, 0, 1, 0, 1, 1, 10),),
                    refused={"x,y": "unions have no place. Cast it"},
                ),
            ],
            ColumnChoice(),
        )
    assert str(caught.value) == (
        "f: 2 columns cannot be features. 'm': maps have no place. Cast it; 'x,y': unions have no place. Cast it "
        "(in g). Or leave them out: --drop 'm,x\\,y'."
    )


def test_of_many_refused_columns_twenty_are_explained_and_all_are_dropped():
    names = [f"c{number}" for number in range(23)]
    given = survey(dict.fromkeys(names, Seen.NOTHING), refused=dict.fromkeys(names, "no place. Cast it"))
    with pytest.raises(InvalidArgumentError) as caught:
        settle([given], ColumnChoice())
    text = str(caught.value)
    assert text.startswith("f: 23 columns cannot be features. 'c0': no place. Cast it; 'c1'")
    assert text.endswith(
        f"'c19': no place. Cast it; and 3 more. Or leave them out: --drop {','.join(names)}."
    )


class TestPatterns:
    COLUMNS = dict.fromkeys(["id", "feat_b", "feat_a", "tmp_1", "tmp_12", "f*", "fx"], Seen.INT)

    def names(self, **choice):
        return [column.name for column in settle([survey(self.COLUMNS)], ColumnChoice(**choice))]

    def test_columns_that_match_are_taken_in_the_order_of_the_table(self):
        assert self.names(only=("tmp_?", "feat_*")) == ["tmp_1", "feat_b", "feat_a"]

    def test_column_that_several_match_is_taken_once(self):
        assert self.names(only=("feat_a", "feat_*")) == ["feat_a", "feat_b"]

    def test_columns_that_match_are_dropped(self):
        assert self.names(drop=("tmp_*", "feat_[ab]")) == ["id", "f*", "fx"]

    def test_exact_name_wins_over_the_pattern(self):
        assert self.names(only=("f*",)) == ["f*"]
        assert self.names(only=("f[*]",)) == ["f*"]
        assert self.names(only=("f**",)) == ["feat_b", "feat_a", "f*", "fx"]

    def test_kinds_and_null_values_go_by_patterns_and_names_win(self):
        choice = ColumnChoice(
            kinds={"feat_*": ("float", None), "feat_a": ("bytes", "|")},
            null_values={"tmp_*": 0, "tmp_1": 7},
        )
        found = {column.name: column for column in settle([survey(self.COLUMNS)], choice)}
        assert (found["feat_b"].kind, found["feat_a"].kind, found["feat_a"].separator) == (
            "float",
            "bytes",
            "|",
        )
        assert (found["tmp_12"].null_value, found["tmp_1"].null_value) == (0, 7)
        assert [name for name, column in found.items() if column.given] == ["feat_b", "feat_a"]

    @pytest.mark.parametrize(
        ("choice", "text"),
        [
            (
                {"only": ("fet_*",)},
                "columns (--columns): no input has a column that matches 'fet_*'. Did you mean ",
            ),
            ({"drop": ("x*",)}, "drop (--drop): no input has a column that matches 'x*'. "),
            (
                {"kinds": {"a?": ("float", None)}},
                "column (--column): no input has a column that matches 'a?'. ",
            ),
            ({"renamed": {"feat_*": "f"}}, "rename (--name): no input has a column 'feat_*'. "),
            (
                {"kinds": {"feat_*": ("float", None), "*_a": ("bytes", None)}},
                "column (--column): 'feat_*' and '*_a' both match the column 'feat_a', and differ. Give ",
            ),
        ],
    )
    def test_pattern_that_cannot_be_meant_is_an_error(self, choice, text):
        with pytest.raises(InvalidArgumentError) as caught:
            self.names(**choice)
        assert str(caught.value).startswith(text)

    def test_patterns_that_say_the_same_agree(self):
        choice = ColumnChoice(kinds={"feat_*": ("float", None), "*_a": ("float", None)})
        assert [column.kind for column in settle([survey(self.COLUMNS)], choice)].count("float") == 2
