from __future__ import annotations

import pytest

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.records.where import parse_where

EXAMPLES = [
    {"label": 1, "score": 0.5, "name": "a", "tags": ["x", "y"], "image/width": 10},
    {"label": 2, "score": 0.1, "name": "b", "tags": ["y"], "名 字": 1},
    {"label": 3, "score": -1.5, "name": "", "empty": tfr.int64_list_feature([])},
    {"label": 2**62 + 1, "name": b"\xff"},
]
BLOCK = Block.from_records([tfr.make_example(example).SerializeToString() for example in EXAMPLES])


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("label == 1", [0]),
        ("label != 1", [1, 2, 3]),
        ("label<3", [0, 1]),
        ("label <= 3 and label > 1", [1, 2]),
        ("label >= 3", [2, 3]),
        ("label in (1, 3, 99)", [0, 2]),
        ("label in (1,)", [0]),
        ("label in (1, 3,)", [0, 2]),
        ("label in[1,3 , ]", [0, 2]),
        ("label not in (1, 3)", [1, 3]),
        ("not label in (1, 3)", [1, 3]),
        ("label not in [1] and label < 3", [1]),
        ("name in ('a',)", [0]),
        ("name in (b'a', b'\\xff', \"b\")", [0, 1, 3]),
        ("label > 1_000_000", [3]),
        ("label == 1 or label == 3 and name == 'none'", [0]),
        ("(label == 1 or label == 3) and name == 'a'", [0]),
        ("not label == 1", [1, 2, 3]),
        ("not not label", [0, 1, 2, 3]),
        ("score", [0, 1, 2]),
        ("not score", [3]),
        ("score == 0.1", [1]),
        ("score < 0", [2]),
        ("score > -2e0", [0, 1, 2]),
        ("score != 0.5", [1, 2]),
        ("label < 2.5", [0, 1]),
        ("label >= 1.5", [1, 2, 3]),
        ("label == 1.0", [0]),
        ("label == 1.5", []),
        ("label != 1.5", [0, 1, 2, 3]),
        ("label == 4611686018427387905", [3]),
        ("label == 4611686018427387904", []),
        ("label < 99999999999999999999", [0, 1, 2, 3]),
        ("label > -99999999999999999999", [0, 1, 2, 3]),
        ("label < 1e400", [0, 1, 2, 3]),
        ("score < 1e300", [0, 1, 2]),
        ('name == "b"', [1]),
        ("name == ''", [2]),
        (r"name == '\udcff'", [3]),
        ("name > 'a'", [1, 3]),
        ("tags == 'y'", [0, 1]),
        ("tags != 'y'", [0]),
        ("image/width == 10", [0]),
        ("`名 字`", [1]),
        ("名字", []),
        ("empty", [2]),
        ("empty == 0", []),
        ("nowhere == 1", []),
        ("not nowhere == 'x'", [0, 1, 2, 3]),
    ],
)
def test_expression_chooses_records(text, rows):
    assert parse_where(text).mask(0, BLOCK).nonzero()[0].tolist() == rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "Expected the name of a feature at character 1 of '' but got the end"),
        ("label ==", "Expected a number, or text in quotes at character 9 of 'label ==' but got the end"),
        ("label == other", "Expected a number, or text in quotes at character 10"),
        (
            "3 == label",
            "Expected the name of a feature, which comes first as in `label > 3`, at character 1 of '3 == label'",
        ),
        ("label = 3", "Expected `==` at character 7 of 'label = 3' but got '= 3'"),
        ("label == 3 && x", "Expected `and` at character 12 of 'label == 3 && x' but got '&& x'"),
        ("label == 3 || x", "Expected `or` at character 12"),
        ("label == 3 AND x", "Expected `and` at character 12 of 'label == 3 AND x' but got 'AND x'"),
        ("label in ()", "Expected a number, or text in quotes at character 11"),
        ("label in (,)", "Expected a number, or text in quotes at character 11"),
        ("label in (3,,)", "Expected a number, or text in quotes at character 13"),
        (
            "label in [3)",
            "Expected a comma or a closing bracket at character 12 of 'label in [3)' but got ')'",
        ),
        ("label not 3", "Expected `in` after `not` at character 11 of 'label not 3' but got '3'"),
        ("(label", "Expected a closing parenthesis"),
        ("label)", "Expected `and`, `or` or the end at character 6"),
        ("label in 3", "Expected an opening parenthesis"),
        ("label in (3", "Expected a comma or a closing parenthesis"),
        ("not", "Expected the name of a feature"),
        ("and", "Expected the name of a feature"),
        ("label == 3 4", "Expected `and`, `or` or the end"),
        ("label == 'open", "Expected a number, or text in quotes"),
        (r"label == '\x'", "Expected text without broken escapes"),
        ("__import__('os')", "Expected `and`, `or` or the end"),
        ("label == 3abc", "Expected a number"),
        ("(" * 60 + "label" + ")" * 60, "Expected at most 50 levels"),
        ("not " * 60 + "label", "Expected at most 50 levels"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text, expected):
    with pytest.raises(InvalidArgumentError) as caught:
        parse_where(text)
    assert expected in caught.value.message
    assert f"at character {caught.value.at + 1} of" in caught.value.message


def test_places_of_names_are_noted():
    choice = parse_where("a > 3 and (`b c` or not a)")
    assert (choice.keys, choice.places) == (("a", "b c"), (0, 11))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("label == '1'", "expected to compare 'label' with a number but got text: it is int64 in record 0"),
        ("name == 1", "expected to compare 'name' with text but got the number 1: it is bytes in record 0"),
    ],
)
def test_literal_of_another_kind_is_refused(text, expected):
    with pytest.raises(InvalidArgumentError) as caught:
        parse_where(text).mask(0, BLOCK)
    assert expected in caught.value.message


def test_feature_of_two_kinds_is_refused():
    block = Block.from_records([tfr.make_example({"a": value}).SerializeToString() for value in (1, "x")])
    with pytest.raises(InvalidArgumentError, match="it is int64 in record 0 and bytes in record 1"):
        parse_where("a == 1").mask(0, block)


def test_context_of_sequence_examples_is_compared_and_lists_are_not():
    sequence = tfr.make_sequence_example({"id": 7}, {"steps": [[1], [2]]}).SerializeToString()
    block = Block.from_records([sequence])
    assert parse_where("id == 7").mask(0, block).tolist() == [True]
    with pytest.raises(InvalidArgumentError, match="'steps' is a feature list in record 0"):
        parse_where("steps == 1").mask(0, block)


def test_record_that_is_no_example_is_refused():
    with pytest.raises(
        InvalidArgumentError, match="expected an Example or a SequenceExample but record 1 is neither"
    ):
        parse_where("a").mask(0, Block.from_records([BLOCK[0], b"\xff\xff"]))
