"""Names of columns in one text: commas and backslashes can stand in names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit.build.tables.column_names import names_text
from tfrkit.options import read_list


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        ("", [""]),
        ("a,", ["a", ""]),
        (r"a\,b", ["a,b"]),
        (r"a\\,b", ["a\\", "b"]),
        (r"a\b", [r"a\b"]),
        ("a\\", ["a\\"]),
        ("a\nb,c", ["a\nb", "c"]),
        ("feat_*,[x]", ["feat_*", "[x]"]),
    ],
)
def test_text_is_split_at_commas_without_a_backslash(text, names):
    assert read_list([text]) == names


@given(st.lists(st.text("ab,\\*[ \n"), min_size=1))
def test_any_names_can_be_written_in_one_text(names):
    assert read_list([names_text(names)]) == names
