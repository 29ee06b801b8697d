"""What is said of a condition while it is typed."""

from __future__ import annotations

import pytest

from tfrkit.viewer.where_check import check_where

KINDS = {"label": "int64", "name": "bytes", "score": "float32", "a b": "int64", "mixed": ""}


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("label > 3 and name == 'x'", ["label", "name"]),
        ("`a b` in (1, 2) or not score", ["a b", "score"]),
        ("mixed == 'x'", ["mixed"]),
    ],
)
def test_condition_that_fits_names_its_features(text, features):
    assert check_where(text, KINDS, complete=True) == {"ok": True, "features": features, "unknown": []}


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("", 0, "Expected the name of a feature"),
        ("label >", 7, "Expected a number"),
        ("label > 3 and", 13, "Expected the name of a feature"),
        ("label > 3 and lable < 4", 14, "no record has a feature 'lable'"),
        ("score and label == 'x'", 10, "expected to compare 'label' with a number but got text: it is int64"),
        ("name < 2", 0, "expected to compare 'name' with text but got the number 2: it is bytes"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, at, expected):
    found = check_where(text, KINDS, complete=True)
    assert (found["ok"], found["at"]) == (False, at)
    assert expected in found["error"]


def test_names_may_be_unknown_until_all_features_were_seen():
    assert check_where("later == 3", KINDS, complete=False) == {
        "ok": True, "features": ["later"], "unknown": ["later"],
    }  # fmt: skip
